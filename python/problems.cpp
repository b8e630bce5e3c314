#include <pybind11/stl.h>

#include "cli/problem_argument.hpp"
#include "fclib_loader/component_order.hpp"
#include "fclib_loader/fclib_file.hpp"
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

ContactProblem load(const std::string& text) {
  auto given = [&] {
    const py::gil_scoped_release others_may_run;
    return cli::load_given_problem(text);
  }();
  return value_or_raise(std::move(given)).problem;
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

/// In the order of answer files: joints, then contacts with the normal first, then limits as contacts.
py::array_t<double> in_fclib_order(const ContactProblem& problem, const Numbers& impulse) {
  if (impulse.size() != problem.rows()) {
    raise({ErrorCode::wrong_usage, "r: has " + std::to_string(impulse.size()) + " entries, the problem " +
                                       std::to_string(problem.rows()) + " rows"});
  }
  const RowOrder order = RowOrder::of(problem.cones());
  const Vector values = vector_of(impulse);
  Vector all(order.joints + order.reaction_rows());
  all << values.head(order.joints), order.reaction(values);
  return array_of(all);
}

}  // namespace

void add_problems(py::module_& module) {
  module.def("load", &load, py::arg("text"));
  module.def("make", &make);
  module.def("save", [](const ContactProblem& problem, const std::string& file) {
    if (const auto written = write_fclib(problem, file); !written) raise(written.error());
  });
  py::class_<ContactProblem>(module, "Core")
      .def_property_readonly("rows", &ContactProblem::rows)
      .def_property_readonly("joints", [](const ContactProblem& p) { return p.cones().joints(); })
      .def_property_readonly("limits", [](const ContactProblem& p) { return p.cones().limits(); })
      .def_property_readonly("contacts", [](const ContactProblem& p) { return p.cones().contacts(); })
      .def_property_readonly("dimension", [](const ContactProblem& p) { return p.cones().contact_dimension(); })
      .def_property_readonly("mu", [](const ContactProblem& p) { return list_of(p.cones().friction()); })
      .def_property_readonly("mu_rolling",
                             [](const ContactProblem& p) { return list_of(p.cones().rolling_friction()); })
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
      .def("in_fclib_order", &in_fclib_order);
}

}  // namespace conebench::python
