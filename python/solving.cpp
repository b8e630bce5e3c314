#include <fmt/format.h>
#include <pybind11/stl.h>

#include <limits>

#include "metrics/residuals.hpp"
#include "python/core.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/solve_cell.hpp"
#include "solvers/batch/batch.hpp"
#include "store/late_answer.hpp"
#include "store/records.hpp"

namespace conebench::python {

namespace {

namespace py = pybind11;

/// A record as a dictionary.
class Fields {
 public:
  void operator()(const Field& field, CellStatus value) { put(field.name, py::str(conebench::name(value))); }
  void operator()(const Field& field, UsedParts value) { put(field.name, py::str(to_string(value))); }
  void operator()(const Field& field, const std::string& value) { put(field.name, py::str(value)); }
  template <class Number>
  void operator()(const Field& field, Number value) {
    put(field.name, py::cast(value));
  }
  template <class T>
  void operator()(const Field& field, const std::optional<T>& value) {
    if (value) {
      (*this)(field, *value);
    } else {
      put(field.name, py::none());
    }
  }
  template <class Inner>
  void group(const char* name, Inner fields) {
    const std::string outer = prefix_;
    prefix_ += std::string(name) + "_";
    fields(*this);
    prefix_ = outer;
  }
  py::dict all;

 private:
  void put(const char* name, const py::object& value) { all[py::str(prefix_ + name)] = value; }
  std::string prefix_;
};

py::dict to_dict(const CellRecord& record) {
  Fields fields;
  CellRecord::fields(fields, record);
  py::dict residuals;
  for (const ResidualInfo& row : residual_table()) {
    const auto found = record.residuals.find(row.name);
    residuals[py::str(row.name)] =
        found && found->missing.empty()
            ? py::object(py::float_(found->value.value_or(std::numeric_limits<double>::infinity())))
            : py::object(py::none());
  }
  fields.all["reason"] = whole_reason(record);
  fields.all["residuals"] = residuals;
  fields.all["r"] = py::array_t<double>(static_cast<py::ssize_t>(record.reaction.size()), record.reaction.data());
  return fields.all;
}

void check_length(const ContactProblem& problem, const Numbers& impulse, const char* what) {
  if (impulse.size() == problem.rows()) return;
  raise({ErrorCode::wrong_usage,
         fmt::format("{}: has {} entries, the problem {} rows", what, impulse.size(), problem.rows())});
}

void check_tolerance(double tolerance) {
  if (!(tolerance > 0.0)) raise({ErrorCode::wrong_usage, fmt::format("tolerance: {} must be above 0", tolerance)});
}

OptionValues options_of(const py::dict& given) {
  OptionValues values;
  for (const auto& [key, value] : given) {
    const auto name = py::cast<std::string>(key);
    if (py::isinstance<py::bool_>(value)) {
      values[name] = py::cast<bool>(value);
    } else if (py::isinstance<py::int_>(value)) {
      values[name] = py::cast<long>(value);
    } else if (py::isinstance<py::float_>(value)) {
      values[name] = py::cast<double>(value);
    } else {
      values[name] = py::cast<std::string>(py::str(value));
    }
  }
  return values;
}

StopBy stop_by_of(const std::string& text, const std::string& solver) {
  if (const auto known = stop_by_for(text, solver)) return *known;
  raise({ErrorCode::wrong_usage, "stop_by: must be solver, judge or judge_timed, not " + text});
}

py::dict solve(const ContactProblem& problem, const std::string& solver, double tolerance, long max_iterations,
               double time_limit, const std::string& stop_by, const std::string& verdict,
               const std::optional<Numbers>& start, const py::dict& options) {
  CellRequest request;
  request.solver = solver;
  request.options = options_of(options);
  request.tolerance = tolerance;
  request.max_iterations = max_iterations;
  request.seconds = time_limit;
  request.stop_by = stop_by_of(stop_by, solver);
  request.verdict = verdict;
  request.repeats = {1, 0.0, 1};
  check_tolerance(tolerance);
  if (start) {
    check_length(problem, *start, "start");
    request.start = Start::previous;
    request.start_impulse = vector_of(*start);
  }
  auto record = [&] {
    const py::gil_scoped_release others_may_run;
    return solve_cell(problem, request);
  }();
  return to_dict(value_or_raise(std::move(record)));
}

py::dict judge(const ContactProblem& problem, const Numbers& impulse, double tolerance, const std::string& verdict) {
  check_length(problem, impulse, "r");
  check_tolerance(tolerance);
  if (const auto known = Verdict::create(verdict, problem); !known) raise(known.error());
  CellRecord record;
  record.status = CellStatus::converged;
  record.tolerance = tolerance;
  record.verdict = verdict;
  record.reaction.assign(impulse.data(), impulse.data() + impulse.size());
  {
    const py::gil_scoped_release others_may_run;
    judge_cell(problem, record);
  }
  return to_dict(record);
}

Batch batch_of(const std::vector<ContactProblem>& problems, const std::string& solver, double tolerance,
               long max_iterations, double time_limit, const std::string& stop_by, const std::string& verdict,
               int threads, const py::dict& options) {
  check_tolerance(tolerance);
  const BatchOptions wanted{.solver = solver,
                            .options = options_of(options),
                            .stop = {tolerance, max_iterations, stop_by_of(stop_by, solver)},
                            .verdict = verdict,
                            .time_limit_s = time_limit,
                            .threads = threads};
  auto batch = [&] {
    const py::gil_scoped_release others_may_run;
    return Batch::create(wanted, problems);
  }();
  return value_or_raise(std::move(batch));
}

template <class Of>
auto list_of(std::span<const BatchAnswer> answers, Of of) {
  std::vector<decltype(of(answers.front()))> values;
  for (const BatchAnswer& answer : answers) values.push_back(of(answer));
  return values;
}

py::dict solve_batch(Batch& batch, const Numbers& starts) {
  if (starts.size() != batch.rows()) {
    raise({ErrorCode::wrong_usage,
           fmt::format("starts: have {} entries, the problems {} rows", starts.size(), batch.rows())});
  }
  py::array_t<double> impulses(batch.rows());
  const auto answers = [&] {
    const Eigen::Map<const Vector> from(starts.data(), starts.size());
    Eigen::Map<Vector> to(impulses.mutable_data(), impulses.size());
    const py::gil_scoped_release others_may_run;
    return batch.solve(from, to);
  }();
  py::dict all;
  all["r"] = impulses;
  all["solved"] = list_of(answers, [](const BatchAnswer& a) { return a.solved; });
  all["verdict_value"] = list_of(answers, [](const BatchAnswer& a) { return a.verdict; });
  all["status"] = list_of(answers, [](const BatchAnswer& a) { return to_string(a.summary.status); });
  all["reason"] = list_of(answers, [](const BatchAnswer& a) { return a.summary.message; });
  all["iterations"] = list_of(answers, [](const BatchAnswer& a) { return a.summary.iterations; });
  all["setup_s"] = list_of(answers, [](const BatchAnswer& a) { return a.setup_s; });
  all["solve_s"] = list_of(answers, [](const BatchAnswer& a) { return a.solve_s; });
  all["wall_s"] = batch.wall_s();
  return all;
}

}  // namespace

void add_solving(py::module_& module) {
  py::class_<Batch>(module, "Batch").def(py::init(&batch_of)).def("solve", &solve_batch);
  module.def("solve", &solve);
  module.def("judge", &judge);
}

}  // namespace conebench::python
