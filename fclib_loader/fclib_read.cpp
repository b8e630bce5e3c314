#include "fclib_loader/fclib_read.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "fclib_loader/block_group.hpp"
#include "fclib_loader/fclib_extension.hpp"
#include "fclib_loader/fclib_matrix.hpp"
#include "fclib_loader/fclib_transfer.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "fclib_loader/isolation.hpp"
#include "fclib_loader/recording.hpp"
#include "fclib_loader/siconos_text.hpp"

namespace conebench {

namespace {

using hdf5::Object;
using hdf5::ReadFile;
using Values = ReadFile::Values;

constexpr std::int64_t max_guesses = 1000;

/// Sizes of the answers that /solution and /guesses hold.
struct AnswerSizes {
  Index rows = 0;
  Index joints = 0;
  Index velocities = 0;
};

class Reader {
 public:
  /// A file, or a step of a recording.
  explicit Reader(const std::filesystem::path& path) : Reader(path, step_address(path)) {}

  FclibContent read() {
    const bool local = file_.has(root_, "fclib_local");
    const bool global = file_.has(root_, "fclib_global");
    const bool rolling = file_.has(root_, "fclib_global_rolling");
    if (!local && !global && !rolling) {
      if (version_of(file_, root_) == block_version) {
        content_.format = FileFormat::blocks;
        content_.kind = FclibKind::blocks;
        content_.blocks = read_block_group(file_, root_);
        return std::move(content_);
      }
      const std::string hint = file_.has(root_, "conebench") ? "; a file by blocks needs /conebench/version 4"
                               : file_.has(root_, "steps")   ? "; of a recording give a step, as FILE/000001"
                                                             : "";
      file_.fail(root_.path,
                 "holds none of fclib_local, fclib_global and fclib_global_rolling; not an FCLIB file" + hint);
    }
    content_.also_other_kind = int{local} + int{global} + int{rolling} > 1;
    problem_ = file_.open_group(root_, local ? "fclib_local" : global ? "fclib_global" : "fclib_global_rolling");
    read_dimension(local, rolling && !global && !local);
    if (local) {
      read_local();
    } else {
      read_global();
    }
    read_info();
    if (file_.has(root_, "solution")) optional_part([&] { content_.solution = read_answer(root_, "solution"); });
    if (file_.has(root_, "guesses")) optional_part([&] { read_guesses(); });
    if (file_.has(root_, "conebench")) {
      optional_part([&] { content_.extension = read_extension(file_, root_, content_); });
    }
    return std::move(content_);
  }

 private:
  Reader(const std::filesystem::path& path, const std::optional<StepAddress>& address)
      : file_(address ? address->file : path), root_(file_.root()) {
    if (address) root_ = open_step(file_.open_group(root_, "steps"), address->step);
  }

  hdf5::Object open_step(const hdf5::Object& steps, const std::string& step) const {
    if (!file_.has(steps, step)) {
      const auto names = file_.names(steps, 10'000'000);
      const auto [first, last] = std::ranges::minmax_element(names);
      file_.fail("/steps/" + step, names.empty() ? std::string("is missing; the recording has no step")
                                                 : fmt::format("is missing; the steps are {} to {}", *first, *last));
    }
    return file_.open_group(steps, step);
  }

  void read_dimension(bool local, bool rolling_group) {
    const std::int64_t dimension = file_.read_scalar(problem_, "spacedim");
    vectors_ = file_.open_group(problem_, "vectors");
    const bool has_rolling_friction = file_.has(vectors_, "mu_r");
    const std::string path = problem_.path + "/spacedim";
    rolling_ = rolling_group || (local && dimension == 5);
    if (rolling_group && dimension != 5 && dimension != 3) {
      file_.fail(path, fmt::format("is {}, expected 5 (or 3 in the plane) for rolling friction", dimension));
    }
    if (!rolling_ && dimension != 2 && dimension != 3) {
      file_.fail(path,
                 fmt::format("is {}, expected {}", dimension, local ? "2, 3, or 5 for rolling friction" : "2 or 3"));
    }
    if (rolling_ && !has_rolling_friction)
      file_.fail(vectors_.path + "/mu_r", "is missing, spacedim says rolling friction");
    if (!rolling_ && has_rolling_friction) {
      file_.fail(vectors_.path + "/mu_r",
                 fmt::format("is there, but spacedim is {}: friction with rolling or without?", dimension));
    }
    content_.space_dimension = static_cast<int>(dimension);
  }

  Index contacts_of(Index rows, const std::string& what) const {
    if (rows % content_.space_dimension != 0) {
      file_.fail(what, fmt::format("is {}, not a multiple of spacedim, {}", rows, content_.space_dimension));
    }
    return rows / content_.space_dimension;
  }

  void require(const Object& matrix, const char* field, Index value, Index expected, const std::string& reason) const {
    if (value != expected) {
      file_.fail(matrix.path + "/" + field, fmt::format("is {}, expected {} ({})", value, expected, reason));
    }
  }

  Vector read_friction(const ReadFile::Dataset& dataset) const {
    Vector friction = file_.read_finite(dataset);
    for (Index k = 0; k < friction.size(); ++k) {
      if (friction[k] < 0.0) file_.fail(dataset.object.path, fmt::format("entry {} is negative ({})", k, friction[k]));
    }
    return friction;
  }

  /// All sizes are compared before the first array is read.
  void read_local() {
    const MatrixHeader w = open_matrix(file_, problem_, "W");
    require(w.group, "n", w.cols, w.rows, "W is square");
    const Index contacts = contacts_of(w.rows, w.group.path + "/m");
    const ReadFile::Dataset q = file_.open_dataset(vectors_, "q", Values::reals, w.rows);
    const ReadFile::Dataset mu = file_.open_dataset(vectors_, "mu", Values::reals, contacts);
    std::optional<ReadFile::Dataset> mu_rolling;
    if (rolling_) mu_rolling = file_.open_dataset(vectors_, "mu_r", Values::reals, contacts);

    std::optional<MatrixHeader> v, r;
    std::optional<ReadFile::Dataset> s;
    const bool bilateral = file_.has(problem_, "V") || file_.has(problem_, "R") || file_.has(vectors_, "s");
    if (bilateral) {
      v = open_matrix(file_, problem_, "V");
      r = open_matrix(file_, problem_, "R");
      require(v->group, "m", v->rows, w.rows, "rows of W");
      require(r->group, "m", r->rows, v->cols, "columns of V");
      require(r->group, "n", r->cols, v->cols, "columns of V");
      s = file_.open_dataset(vectors_, "s", Values::reals, v->cols);
    }

    content_.mu = read_friction(mu);
    if (mu_rolling) content_.mu_rolling = read_friction(*mu_rolling);
    content_.q = file_.read_finite(q);
    content_.w_matrix = read_matrix(file_, w);
    content_.v_matrix.resize(w.rows, 0);
    if (bilateral) {
      content_.s = file_.read_finite(*s);
      content_.v_matrix = read_matrix(file_, *v);
      content_.r_matrix = read_matrix(file_, *r);
    }
    content_.kind = content_.s.size() > 0 ? FclibKind::mixed_local : FclibKind::local;
    if (rolling_) content_.kind = FclibKind::local_rolling;
    sizes_ = {w.rows, content_.s.size(), 0};
  }

  void read_global() {
    const MatrixHeader m = open_matrix(file_, problem_, "M");
    const MatrixHeader h = open_matrix(file_, problem_, "H");
    require(m.group, "n", m.cols, m.rows, "M is square");
    require(h.group, "m", h.rows, m.rows, "rows of M");
    const Index contacts = contacts_of(h.cols, h.group.path + "/n");
    const ReadFile::Dataset f = file_.open_dataset(vectors_, "f", Values::reals, m.rows);
    const ReadFile::Dataset w = file_.open_dataset(vectors_, "w", Values::reals, h.cols);
    const ReadFile::Dataset mu = file_.open_dataset(vectors_, "mu", Values::reals, contacts);
    std::optional<ReadFile::Dataset> mu_rolling;
    if (rolling_) mu_rolling = file_.open_dataset(vectors_, "mu_r", Values::reals, contacts);

    std::optional<MatrixHeader> g;
    std::optional<ReadFile::Dataset> b;
    const bool bilateral = file_.has(problem_, "G") || file_.has(vectors_, "b");
    if (bilateral) {
      g = open_matrix(file_, problem_, "G");
      require(g->group, "m", g->rows, m.rows, "rows of M");
      b = file_.open_dataset(vectors_, "b", Values::reals, g->cols);
    }

    content_.mu = read_friction(mu);
    if (mu_rolling) content_.mu_rolling = read_friction(*mu_rolling);
    content_.f = file_.read_finite(f);
    content_.w = file_.read_finite(w);
    content_.m_matrix = read_matrix(file_, m);
    content_.h_matrix = read_matrix(file_, h);
    content_.g_matrix.resize(m.rows, 0);
    if (bilateral) {
      content_.b = file_.read_finite(*b);
      content_.g_matrix = read_matrix(file_, *g);
    }
    content_.kind = content_.b.size() > 0 ? FclibKind::mixed_global : FclibKind::global;
    if (rolling_) content_.kind = FclibKind::global_rolling;
    sizes_ = {h.cols, content_.b.size(), m.rows};
  }

  void read_info() {
    optional_part([&] {
      if (!file_.has(problem_, "info")) return;
      const Object info = file_.open_group(problem_, "info");
      content_.title = file_.read_text(info, "title");
      content_.description = file_.read_text(info, "description");
      content_.math_info = file_.read_text(info, "math_info");
      const std::optional<std::int64_t> bodies = file_.read_attribute(info, "numberOfInvolvedDS");
      if (bodies && *bodies > 0 && *bodies < (std::int64_t{1} << 31)) content_.bodies = static_cast<Index>(*bodies);
    });
  }

  /// What the problem does not need is left out, with a note, where it is malformed.
  template <class Body>
  void optional_part(const Body& body) {
    try {
      body();
    } catch (const hdf5::Failure& failure) {
      content_.notes.push_back(std::string(failure.what()) + "; left out");
    }
  }

  FclibContent::Guess read_answer(const Object& parent, const std::string& name) const {
    const Object group = file_.open_group(parent, name);
    FclibContent::Guess answer;
    const auto read_part = [&](const char* part, Index size, bool needed) -> Vector {
      if (!needed && !file_.has(group, part)) return {};
      return file_.read_finite(file_.open_dataset(group, part, Values::reals, size));
    };
    answer.r = read_part("r", sizes_.rows, true);
    answer.u = read_part("u", sizes_.rows, false);
    answer.l = sizes_.joints > 0 ? read_part("l", sizes_.joints, false) : Vector();
    answer.v = sizes_.velocities > 0 ? read_part("v", sizes_.velocities, false) : Vector();
    return answer;
  }

  void read_guesses() {
    const Object guesses = file_.open_group(root_, "guesses");
    const std::int64_t count = file_.read_scalar(guesses, "number_of_guesses");
    if (count < 0 || count > max_guesses) {
      file_.fail("/guesses/number_of_guesses", fmt::format("is {}, expected 0 to {}", count, max_guesses));
    }
    for (std::int64_t k = 1; k <= count; ++k) content_.guesses.push_back(read_answer(guesses, std::to_string(k)));
  }

  ReadFile file_;
  Object root_, problem_, vectors_;
  bool rolling_ = false;
  AnswerSizes sizes_;
  FclibContent content_;
};

}  // namespace

Result<FclibContent> read_fclib_here(const std::filesystem::path& file) {
  return hdf5::guarded(file.string(), [&] { return Reader(file).read(); });
}

Result<FclibContent> read_fclib(const std::filesystem::path& file) {
  if (is_siconos_text(file)) return read_siconos_text(file);
  const auto address = step_address(file);
  CONEBENCH_TRY(const auto bytes,
                hdf5::isolated(address ? address->file : file, [&] { return pack(Reader(file).read()); }));
  return hdf5::guarded(file.string(), [&] { return unpack(bytes); });
}

}  // namespace conebench
