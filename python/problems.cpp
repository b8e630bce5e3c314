#include <pybind11/stl.h>

#include <algorithm>
#include <utility>

#include "cli/problem_argument.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "problems/blocks.hpp"
#include "problems/contact_problem.hpp"
#include "python/core.hpp"

namespace conebench::python {

namespace {

namespace py = pybind11;

using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// (values, columns, row starts, shape), as scipy.sparse.csr_array takes it.
py::tuple compressed(RowMajor matrix) {
  matrix.makeCompressed();
  const auto entries = static_cast<py::ssize_t>(matrix.nonZeros());
  return py::make_tuple(
      py::array_t<double>(entries, matrix.valuePtr()), py::array_t<int>(entries, matrix.innerIndexPtr()),
      py::array_t<int>(matrix.outerSize() + 1, matrix.outerIndexPtr()), py::make_tuple(matrix.rows(), matrix.cols()));
}

py::object array_or_none(const std::optional<Vector>& values) {
  return values ? py::object(array_of(*values)) : py::object(py::none());
}

py::object list_of(std::span<const double> values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

template <class Like>
py::array_t<Like> integers_of(const auto& values) {
  py::array_t<Like> copied(static_cast<py::ssize_t>(values.size()));
  std::transform(values.begin(), values.end(), copied.mutable_data(),
                 [](const auto& value) { return static_cast<Like>(value); });
  return copied;
}

/// What a simulation's step has beside its arrays over rows, by the names of files. Absent: what is not known.
void add_step(const Configuration& known, const Provenance& provenance, const std::optional<PrimalForm>& primal,
              py::dict& result) {
  if (primal && primal->metric != Metric::unknown) result["metric"] = to_string(primal->metric);
  if (!provenance.law.empty()) result["law"] = provenance.law;
  if (!provenance.description.empty()) result["description"] = provenance.description;
  if (known.velocity) result["velocity"] = array_of(*known.velocity);
  if (known.time_step) result["time_step"] = *known.time_step;
  if (known.step) result["step"] = *known.step;
  if (known.time) result["time"] = *known.time;
}

py::dict answer_of(const EngineAnswer& answer) {
  py::dict result;
  result["r"] = array_of(answer.impulse);
  if (answer.iterations) result["iterations"] = *answer.iterations;
  if (answer.seconds) result["seconds"] = *answer.seconds;
  if (answer.tolerance) result["tolerance"] = *answer.tolerance;
  if (!answer.status.empty()) result["status"] = answer.status;
  if (!answer.law.empty()) result["law"] = answer.law;
  return result;
}

py::dict known_of(const GivenProblem& given) {
  py::dict result;
  add_step(given.configuration, given.provenance, given.primal, result);
  if (given.gaps.size() > 0) result["gap"] = array_of(given.gaps);
  if (!given.identities.empty()) result["identity"] = integers_of<std::int64_t>(given.identities);
  if (given.frames) result["frame"] = array_of(*given.frames).reshape({-1, 3, 3});
  if (given.points) result["point"] = array_of(*given.points).reshape({-1, 3});
  if (!given.names.empty()) result["names"] = given.names;
  if (!given.bodies.empty()) result["bodies"] = integers_of<std::int64_t>(given.bodies).reshape({-1, 2});
  if (!given.body_names.empty()) result["body_names"] = given.body_names;
  py::dict answers;
  for (const EngineAnswer& answer : given.answers) answers[answer.name.c_str()] = answer_of(answer);
  if (!given.answers.empty()) result["answers"] = std::move(answers);
  return result;
}

/// The same in the order of a ConeProduct: gaps and axes (t1, t2, n or t, n) one a contact, identities of contacts and
/// of limits.
py::dict known_in_order(const ContactProblem& problem) {
  py::dict result;
  const Configuration known = problem.configuration().value_or(Configuration());
  add_step(known, problem.provenance(), problem.primal(), result);
  if (known.gaps) result["gaps"] = array_of(*known.gaps);
  if (known.contact_frames) result["contact_frames"] = array_of(*known.contact_frames);
  for (const auto& [name, identities] : {std::pair("contact_identities", &known.contact_identities),
                                         std::pair("limit_identities", &known.limit_identities)}) {
    if (*identities) result[name] = integers_of<std::int64_t>(**identities);
  }
  return result;
}

/// What a file says of rows by blocks, by its names. Absent: what it does not have.
py::dict parts_of(const GivenProblem& given) {
  const BlockTable& table = given.blocks;
  py::dict result;
  result["block_rows"] = integers_of<std::int64_t>(table.first_row);
  result["lower"] = array_of(table.lower);
  result["upper"] = array_of(table.upper);
  result["cone"] = integers_of<std::uint8_t>(table.cone);
  result["mu"] = array_of(table.mu);
  if (!table.group.empty()) result["groups"] = integers_of<std::int64_t>(table.group);
  if (table.shift.size() > 0) result["shift"] = array_of(table.shift);
  if (given.delassus) result["G"] = compressed(*given.delassus);
  if (given.primal) {
    result["M"] = compressed(given.primal->mass);
    result["J"] = compressed(given.primal->jacobian);
    result["v_free"] = array_of(given.primal->free_velocity);
  }
  if (given.free_term) result["g"] = array_of(*given.free_term);
  if (given.bias) result["b"] = array_of(*given.bias);
  if (given.compliance.size() > 0) result["R"] = array_of(given.compliance);
  if (given.guess) result["guess"] = array_of(*given.guess);
  if (given.reference) result["reference"] = array_of(given.reference->reaction);
  return result;
}

/// The problem, and what its file says by blocks: nothing of a scene and of FCLIB's files.
std::pair<ContactProblem, std::optional<GivenProblem>> load(const std::string& text) {
  std::optional<FclibContent> content;
  auto problem = [&]() -> Result<ContactProblem> {
    const py::gil_scoped_release others_may_run;
    CONEBENCH_TRY(const auto scene, cli::make_named_scene(text));
    if (scene) return *scene;
    const auto file = cli::find_problem_file(text);
    CONEBENCH_CHECK(cli::check_problem_file(file));
    CONEBENCH_TRY(content, read_fclib(file));
    return to_problem(*content, file);
  }();
  ContactProblem made = value_or_raise(std::move(problem));
  return {std::move(made), content ? std::move(content->blocks) : std::nullopt};
}

/// W as coordinates; `parts`: whatever else is given, by the names of the package's problem().
ContactProblem make(Index joints, Index limits, int dimension, const Numbers& mu, const py::array_t<std::int64_t>& row,
                    const py::array_t<std::int64_t>& column, const Numbers& value, const Numbers& g,
                    const std::optional<Numbers>& compliance, const std::optional<Numbers>& guess,
                    const std::optional<Numbers>& mu_rolling, const std::string& name) {
  ContactProblemData data;
  const auto list = [](const Numbers& values) {
    return std::vector<double>(values.data(), values.data() + values.size());
  };
  data.cones = value_or_raise(
      ConeProduct::create(joints, limits, list(mu), dimension, mu_rolling ? list(*mu_rolling) : std::vector<double>()));
  std::vector<Eigen::Triplet<double>> entries;
  for (py::ssize_t k = 0; k < value.size(); ++k) {
    if (row.at(k) < 0 || row.at(k) >= data.cones.rows() || column.at(k) < 0 || column.at(k) >= data.cones.rows()) {
      raise({ErrorCode::bad_input, "G: must be " + std::to_string(data.cones.rows()) +
                                       " by as many, as mu, joints, limits and dimension say"});
    }
    entries.emplace_back(static_cast<int>(row.at(k)), static_cast<int>(column.at(k)), value.at(k));
  }
  RowMajor matrix(data.cones.rows(), data.cones.rows());
  matrix.setFromTriplets(entries.begin(), entries.end());
  data.delassus = make_block_sparse_delassus(BlockSparseMatrix::from_sparse(matrix, data.cones));
  data.free_term = vector_of(g);
  if (compliance) data.compliance = vector_of(*compliance);
  if (guess) data.guess = vector_of(*guess);
  data.provenance.name = name;
  data.provenance.form = "local";
  return value_or_raise(ContactProblem::create(std::move(data)));
}

/// What a dictionary may hold.
class Parts {
 public:
  explicit Parts(const py::dict& all) : all_(all) {}

  bool has(const char* name) const { return all_.contains(name) && !all_[name].is_none(); }
  std::optional<Vector> vector(const char* name) const {
    return has(name) ? std::optional(vector_of(py::cast<Numbers>(all_[name]))) : std::nullopt;
  }
  Vector required(const char* name) const { return vector(name).value_or(Vector()); }
  template <class Integer>
  std::vector<Integer> integers(const char* name) const {
    std::vector<Integer> result;
    if (!has(name)) return result;
    const auto values = py::cast<py::array_t<std::int64_t>>(all_[name]);
    for (py::ssize_t k = 0; k < values.size(); ++k) result.push_back(static_cast<Integer>(values.at(k)));
    return result;
  }
  /// (rows, columns, values, (m, n)).
  std::optional<SparseMatrix> matrix(const char* name) const {
    if (!has(name)) return std::nullopt;
    const auto [row, column, value, shape] =
        py::cast<std::tuple<py::array_t<std::int64_t>, py::array_t<std::int64_t>, Numbers, std::pair<Index, Index>>>(
            all_[name]);
    std::vector<Eigen::Triplet<double>> entries;
    for (py::ssize_t k = 0; k < value.size(); ++k) {
      entries.emplace_back(static_cast<int>(row.at(k)), static_cast<int>(column.at(k)), value.at(k));
    }
    SparseMatrix result(shape.first, shape.second);
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
  }
  std::string text(const char* name) const { return has(name) ? py::cast<std::string>(all_[name]) : std::string(); }
  template <class T>
  std::optional<T> optional(const char* name) const {
    return has(name) ? std::optional(py::cast<T>(all_[name])) : std::nullopt;
  }

 private:
  const py::dict& all_;
};

std::vector<EngineAnswer> answers_from(const py::dict& all) {
  std::vector<EngineAnswer> result;
  for (const auto& [name, given] : all) {
    const auto entries = py::cast<py::dict>(given);
    const Parts parts(entries);
    result.push_back({.name = py::cast<std::string>(name),
                      .impulse = parts.required("r"),
                      .iterations = parts.optional<std::int64_t>("iterations"),
                      .seconds = parts.optional<double>("seconds"),
                      .tolerance = parts.optional<double>("tolerance"),
                      .status = parts.text("status"),
                      .law = parts.text("law")});
  }
  return result;
}

/// Blocks with the normal first, by the names of files.
std::pair<ContactProblem, GivenProblem> make_of_blocks(const py::dict& all) {
  const Parts parts(all);
  GivenProblem given;
  BlockTable& table = given.blocks;
  table.first_row = parts.integers<Index>("block_rows");
  table.lower = parts.required("lower");
  table.upper = parts.required("upper");
  for (const int cone : parts.integers<int>("cone")) table.cone.push_back(static_cast<BlockCone>(cone));
  table.mu = parts.required("mu");
  table.group = parts.integers<int>("groups");
  table.shift = parts.required("shift");
  given.delassus = parts.matrix("G");
  if (auto jacobian = parts.matrix("J")) {
    given.primal = PrimalForm{parts.matrix("M").value_or(SparseMatrix()), std::move(*jacobian),
                              parts.required("v_free"), metric_of(parts.text("metric")).value_or(Metric::unknown)};
  }
  given.free_term = parts.vector("g");
  given.bias = parts.vector("b");
  given.compliance = parts.required("R");
  given.guess = parts.vector("guess");
  given.gaps = parts.required("gap");
  given.identities = parts.integers<std::int64_t>("identity");
  given.frames = parts.vector("frame");
  given.points = parts.vector("point");
  given.names = parts.optional<std::vector<std::string>>("names").value_or(std::vector<std::string>());
  given.bodies = parts.integers<std::int64_t>("bodies");
  given.body_names = parts.optional<std::vector<std::string>>("body_names").value_or(std::vector<std::string>());
  if (parts.has("answers")) given.answers = answers_from(py::cast<py::dict>(all["answers"]));
  given.configuration.velocity = parts.vector("velocity");
  given.configuration.time_step = parts.optional<double>("time_step");
  given.configuration.step = parts.optional<std::int64_t>("step");
  given.configuration.time = parts.optional<double>("time");
  given.provenance.name = parts.text("name");
  given.provenance.law = parts.text("law");
  given.provenance.description = parts.text("description");
  given.provenance.form = "blocks";
  ContactProblem made = value_or_raise(problem_from_blocks(given));
  return {std::move(made), std::move(given)};
}

/// The blocks over the problem's own rows, by the names of files, with the row of each normal.
py::dict blocks_of(const ContactProblem& problem) {
  const auto [table, normal_row] = blocks_in_order(problem.cones());
  py::dict result;
  result["block_rows"] = integers_of<std::int64_t>(table.first_row);
  result["lower"] = array_of(table.lower);
  result["upper"] = array_of(table.upper);
  result["cone"] = integers_of<std::uint8_t>(table.cone);
  result["mu"] = array_of(table.mu);
  result["groups"] = integers_of<std::int32_t>(table.group);
  result["shift"] = array_of(Vector::Zero(table.blocks()));
  result["normal_row"] = integers_of<std::int64_t>(normal_row);
  return result;
}

/// (the problem's row of each given one, −1 where no force acts; what its impulse is short of the problem's); None
/// where the rows are as they were given.
py::object given_rows_of(const ContactProblem& problem) {
  const auto& rows = problem.given_rows();
  if (!rows) return py::none();
  return py::make_tuple(py::array_t<std::int64_t>(static_cast<py::ssize_t>(rows->row.size()), rows->row.data()),
                        array_of(rows->shift));
}

/// As the answer of the file that the problem was read from.
py::array_t<double> in_file_order(const ContactProblem& problem, const Numbers& impulse) {
  if (impulse.size() != problem.rows()) {
    raise({ErrorCode::wrong_usage, "r: has " + std::to_string(impulse.size()) + " entries, the problem " +
                                       std::to_string(problem.rows()) + " rows"});
  }
  return array_of(answer_rows(problem).to_given(vector_of(impulse)));
}

}  // namespace

void add_problems(py::module_& module) {
  module.def("load", &load, py::arg("text"));
  module.def("make", &make);
  module.def("make_of_blocks", &make_of_blocks);
  module.def("save", [](const ContactProblem& problem, const GivenProblem* given, const std::string& file) {
    FclibWriteOptions options;
    options.given = given;
    if (const auto written = write_fclib(problem, file, options); !written) raise(written.error());
  });
  py::class_<GivenProblem>(module, "Given")
      .def_property_readonly("parts", &parts_of)
      .def_property_readonly("known", &known_of);
  py::class_<ContactProblem>(module, "Core")
      .def_property_readonly("rows", &ContactProblem::rows)
      .def_property_readonly("joints", [](const ContactProblem& p) { return p.cones().joints(); })
      .def_property_readonly("limits", [](const ContactProblem& p) { return p.cones().limits(); })
      .def_property_readonly("intervals", [](const ContactProblem& p) { return p.cones().intervals().size(); })
      .def_property_readonly("contacts", [](const ContactProblem& p) { return p.cones().contacts(); })
      .def_property_readonly("dimension", [](const ContactProblem& p) { return p.cones().contact_dimension(); })
      .def_property_readonly("mu", [](const ContactProblem& p) { return list_of(p.cones().friction()); })
      .def_property_readonly("mu_rolling",
                             [](const ContactProblem& p) { return list_of(p.cones().rolling_friction()); })
      .def_property_readonly("blocks", &blocks_of)
      .def_property_readonly("given_rows", &given_rows_of)
      .def_property_readonly("known", &known_in_order)
      .def_property_readonly("g", [](const ContactProblem& p) { return array_of(p.free_term()); })
      .def_property_readonly("compliance", [](const ContactProblem& p) { return array_of(p.compliance()); })
      .def_property_readonly("bias", [](const ContactProblem& p) { return array_or_none(p.bias()); })
      .def_property_readonly("guess", [](const ContactProblem& p) { return array_or_none(p.guess()); })
      .def_property_readonly("reference",
                             [](const ContactProblem& p) {
                               const auto& reference = p.reference();
                               return array_or_none(reference ? std::optional(reference->reaction) : std::nullopt);
                             })
      .def_property_readonly("delassus", [](const ContactProblem& p) { return compressed(p.blocks().sparse()); })
      .def_property_readonly("mass",
                             [](const ContactProblem& p) -> py::object {
                               return p.primal() ? py::object(compressed(p.primal()->mass)) : py::none();
                             })
      .def_property_readonly("jacobian",
                             [](const ContactProblem& p) -> py::object {
                               return p.primal() ? py::object(compressed(p.primal()->jacobian)) : py::none();
                             })
      .def_property_readonly("free_velocity",
                             [](const ContactProblem& p) -> py::object {
                               return p.primal() ? py::object(array_of(p.primal()->free_velocity)) : py::none();
                             })
      .def_property_readonly("name", [](const ContactProblem& p) { return p.provenance().name; })
      .def_property_readonly("family", [](const ContactProblem& p) { return p.provenance().family; })
      .def_property_readonly("hash", [](const ContactProblem& p) { return p.data_hash(); })
      .def("in_file_order", &in_file_order);
}

}  // namespace conebench::python
