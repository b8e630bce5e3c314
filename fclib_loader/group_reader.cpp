#include "fclib_loader/group_reader.hpp"

#include <fmt/format.h>

#include <cmath>

namespace conebench {

namespace {

constexpr std::size_t max_residuals = 100;

}  // namespace

void GroupReader::fail(const std::string& part, const std::string& reason) const {
  file_.fail(group_.path + "/" + part, reason);
}

std::optional<Vector> GroupReader::read_reals(const char* part, Index size) const {
  if (!has(part)) return std::nullopt;
  return file_.read_finite(file_.open_dataset(group_, part, Values::reals, size));
}

std::optional<Index> GroupReader::read_count(const char* part) const {
  if (!has(part)) return std::nullopt;
  const std::int64_t count = file_.read_scalar(group_, part);
  if (count < 0 || count >= (std::int64_t{1} << 31)) fail(part, "is out of range");
  return static_cast<Index>(count);
}

std::optional<std::vector<std::int64_t>> GroupReader::read_integers(const char* part, Index size) const {
  if (!has(part)) return std::nullopt;
  return file_.read_integers(file_.open_dataset(group_, part, Values::integers, size));
}

Metric GroupReader::read_metric() const {
  if (!has("metric")) return Metric::unknown;
  const std::string name = file_.read_text(group_, "metric");
  const std::optional<Metric> metric = metric_of(name);
  if (!metric) fail("metric", "is '" + name + "', expected mass or effective");
  return *metric;
}

void GroupReader::read_step(const char* body_count, Configuration& known) const {
  if (const std::optional<Vector> step = read_reals("time_step", 1)) {
    known.time_step = (*step)[0];
    if (!(*known.time_step > 0.0)) fail("time_step", fmt::format("is {}, expected more than 0", *known.time_step));
  }
  known.bodies = read_count(body_count);
  known.generalised_velocities = read_count("generalised_velocities");
  known.joint_count = read_count("joint_count");
  if (has("coordinates")) {
    const std::string name = file_.read_text(group_, "coordinates");
    known.coordinates = coordinates_of(name);
    if (!known.coordinates) fail("coordinates", "is '" + name + "', expected reduced or maximal");
  }
  if (has("body_masses")) {
    known.body_masses = read_reals("body_masses", known.bodies ? *known.bodies : length_of("body_masses"));
    if ((known.body_masses->array() < 0.0).any()) fail("body_masses", "has a negative mass");
  }
  known.scene = file_.read_text(group_, "scene");
  if (has("step")) known.step = file_.read_scalar(group_, "step");
  if (const auto time = read_reals("time", 1)) known.time = (*time)[0];
  if (has("seed")) known.seed = file_.read_unsigned(group_, "seed");
}

void GroupReader::read_reference(std::string& source, std::map<std::string, double>& residuals) const {
  if (!has("reference")) return;
  const hdf5::Object reference = file_.open_group(group_, "reference");
  source = file_.read_text(reference, "source");
  if (!file_.has(reference, "residuals")) return;
  const hdf5::Object group = file_.open_group(reference, "residuals");
  for (const std::string& name : file_.names(group, max_residuals)) {
    residuals[hdf5::one_line(name)] = file_.read_finite(file_.open_dataset(group, name, Values::reals, 1))[0];
  }
}

std::optional<LoopSolve> GroupReader::read_loop() const {
  if (!has("loop")) return std::nullopt;
  const hdf5::Object group = file_.open_group(group_, "loop");
  const std::string name = file_.read_text(group, "outcome");
  const auto outcome = step_outcome_of(name);
  if (!outcome) fail("loop/outcome", "is '" + name + "', expected solved, unsolved, frictionless or failed");
  const auto real = [&](const char* part) {
    return file_.read_finite(file_.open_dataset(group, part, Values::reals, 1))[0];
  };
  LoopSolve solve{*outcome, hdf5::one_line(file_.read_text(group, "status")), HUGE_VAL, real("tolerance")};
  if (file_.has(group, "residual")) solve.residual = real("residual");
  return solve;
}

void write_step(const Configuration& known, const char* body_count, hdf5::Image& image, const std::string& group) {
  if (known.time_step) image.write_reals(group + "/time_step", Vector::Constant(1, *known.time_step));
  if (known.bodies) image.write_size(group + "/" + body_count, *known.bodies);
  if (known.generalised_velocities) image.write_size(group + "/generalised_velocities", *known.generalised_velocities);
  if (known.joint_count) image.write_size(group + "/joint_count", *known.joint_count);
  if (known.coordinates) image.write_text(group + "/coordinates", to_string(*known.coordinates));
  if (known.body_masses) image.write_reals(group + "/body_masses", *known.body_masses);
}

void write_metric(Metric metric, hdf5::Image& image, const std::string& group) {
  if (metric != Metric::unknown) image.write_text(group + "/metric", to_string(metric));
}

void write_scene(const Configuration& known, hdf5::Image& image, const std::string& group) {
  if (!known.scene.empty()) image.write_text(group + "/scene", known.scene);
  if (known.step) image.write_long(group + "/step", *known.step);
  if (known.time) image.write_reals(group + "/time", Vector::Constant(1, *known.time));
  if (known.seed) image.write_seed(group + "/seed", *known.seed);
}

void write_reference(const Reference& reference, hdf5::Image& image, const std::string& group) {
  image.make_group(group + "/reference");
  image.write_text(group + "/reference/source", reference.source);
  if (reference.residuals.empty()) return;
  image.make_group(group + "/reference/residuals");
  for (const auto& [name, value] : reference.residuals) {
    image.write_reals(group + "/reference/residuals/" + name, Vector::Constant(1, value));
  }
}

void write_origin(const Provenance& provenance, hdf5::Image& image, const std::string& group) {
  image.write_text(group + "/family", provenance.family);
  if (!provenance.category.empty()) image.write_text(group + "/category", provenance.category);
  if (provenance.conditioning) {
    image.write_reals(group + "/conditioning", Vector::Constant(1, *provenance.conditioning));
  }
  if (!provenance.loop) return;
  const std::string loop = group + "/loop";
  image.make_group(loop);
  image.write_text(loop + "/outcome", to_string(provenance.loop->outcome));
  image.write_text(loop + "/status", provenance.loop->status);
  if (std::isfinite(provenance.loop->residual)) {
    image.write_reals(loop + "/residual", Vector::Constant(1, provenance.loop->residual));
  }
  image.write_reals(loop + "/tolerance", Vector::Constant(1, provenance.loop->tolerance));
}

}  // namespace conebench
