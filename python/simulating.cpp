#include <fmt/format.h>
#include <pybind11/stl.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/option_parsing.hpp"
#include "problems/scaled_rows.hpp"
#include "python/core.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "simulation/scene_plan.hpp"
#include "simulation/simulation.hpp"
#include "solvers/solver.hpp"

namespace conebench::python {

namespace {

namespace py = pybind11;
using simulation::StepRecord;

SolveStatus status_of(const std::string& name) {
  for (const SolveStatus one : {SolveStatus::converged, SolveStatus::max_iterations, SolveStatus::time_limit,
                                SolveStatus::stalled, SolveStatus::diverged}) {
    if (name == to_string(one)) return one;
  }
  return SolveStatus::breakdown;
}

/// A Python function as a solver: (problem, start, tolerance, max_iterations) gives r and a dictionary with `status`.
/// It stops by its own test alone, and what it raises leaves solve().
class OwnSolver final : public Solver {
 public:
  OwnSolver(SolverInfo info, py::function call) : info_(std::move(info)), call_(std::move(call)) {}
  ~OwnSolver() override {
    const py::gil_scoped_acquire held;
    call_ = py::function();
  }

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  /// Orthotropic contacts come in scaled rows, as ordinary ones, unless it takes any law of friction.
  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = std::make_unique<ContactProblem>(problem);
    row_units_.resize(0);
    if (info_.friction_cones || !problem.cones().scales() || !problem.cones().coulomb_when_scaled()) return {};
    row_units_ = row_units_of(problem);
    CONEBENCH_TRY(*problem_, in_row_units(problem, row_units_));
    return {};
  }

  /// As programs are run: where the judge decides, with a tolerance ten times tighter until it accepts.
  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    constexpr double tightest = 1e-16;
    Vector before;
    double tolerance = stop.tolerance;
    for (long attempt = 1;; ++attempt, tolerance *= 0.1) {
      SolveSummary summary = run(guess, tolerance, stop.max_iterations, impulse);
      if (stop.stop_by == StopBy::solver) return summary;
      if (monitor.propose(attempt, impulse, summary.own_residual) == Decision::accept) {
        summary.status = SolveStatus::converged;
        return summary;
      }
      if (summary.status != SolveStatus::converged || !impulse.allFinite()) return summary;
      if (0.1 * tolerance < tightest || (attempt > 1 && impulse == before)) {
        summary.status = SolveStatus::stalled;
        if (summary.message.empty()) summary.message = "the judge refuses its answer";
        return summary;
      }
      before = impulse;
    }
  }

 private:
  SolveSummary run(ConstVectorRef guess, double tolerance, long max_iterations, VectorRef impulse) const {
    const bool scaled = row_units_.size() > 0;
    const py::gil_scoped_acquire held;
    const py::tuple given = call_(*problem_, array_of(scaled ? Vector(guess.cwiseQuotient(row_units_)) : Vector(guess)),
                                  tolerance, max_iterations);
    const auto reported = given[1].cast<py::dict>();
    impulse = vector_of(given[0].cast<Numbers>());
    if (scaled) impulse = row_units_.cwiseProduct(impulse).eval();
    SolveSummary summary;
    summary.status = status_of(reported["status"].cast<std::string>());
    if (reported.contains("iterations")) summary.iterations = reported["iterations"].cast<long>();
    if (reported.contains("message")) summary.message = reported["message"].cast<std::string>();
    summary.factorizations = summary.operator_products = not_counted;
    return summary;
  }

  SolverInfo info_;
  py::function call_;
  std::unique_ptr<ContactProblem> problem_;
  Vector row_units_;  ///< of its rows; empty: 1
};

/// A simulation under way.
class Loop {
 public:
  Loop(simulation::Simulation simulation, long steps, double tolerance)
      : simulation_(std::move(simulation)), steps_(steps), tolerance_(tolerance) {}

  /// Ends with the error of the step, or of the step before, where that ends the run.
  py::dict step() {
    if (end_) raise(*end_);
    auto record = [&] {
      const py::gil_scoped_release others_may_run;
      return simulation_.step();
    }();
    if (!record) raise(record.error());
    end_ = simulation_.end_after(*record);
    py::dict fields;
    fields["step"] = record->step;
    fields["time"] = record->time;
    fields["position"] = array_of(simulation_.state().position);
    fields["velocity"] = array_of(simulation_.state().velocity);
    fields["impulse"] = array_of(record->impulse);
    fields["solved"] = record->solved;
    fields["status"] = to_string(record->summary.status);
    fields["message"] = record->summary.message;
    fields["fallback"] = to_string(record->fallback);
    fields["residual"] = record->residual;
    fields["iterations"] = record->summary.iterations;
    fields["problem"] = std::move(record->problem);
    return fields;
  }

  void push(const std::string& body, const Numbers& force, const Numbers& torque) {
    const auto number = simulation_.engine().body_number(body);
    if (!number || *number == 0) raise({ErrorCode::bad_input, fmt::format("push: no body '{}' that moves", body)});
    const Vector f = vector_of(force), t = vector_of(torque);
    if (f.size() != 3 || t.size() != 3 || !f.allFinite() || !t.allFinite())
      raise({ErrorCode::bad_input, "push: force and torque are three finite numbers each"});
    if (!simulation_.engine().push(*number, f, t))
      raise({ErrorCode::unsupported, "push: bodies of this scene can't be pushed"});
  }

  /// Of the last step, one a contact, at its start.
  py::list contacts() {
    const auto& mechanics = simulation_.mechanics();
    py::list all;
    Index row = mechanics.first_contact_row();
    for (const simulation::ContactPoint& contact : mechanics.contacts) {
      py::dict one;
      one["bodies"] = py::make_tuple(simulation_.engine().body_name(contact.first_body),
                                     simulation_.engine().body_name(contact.second_body));
      one["point"] = array_of(contact.position);
      one["frame"] = py::make_tuple(array_of(contact.frame.col(0)), array_of(contact.frame.col(1)),
                                    array_of(contact.frame.col(2)));
      one["gap"] = contact.gap;
      one["row"] = row;
      one["rows"] = contact.rows();
      all.append(one);
      row += contact.rows();
    }
    return all;
  }

  long steps() const { return steps_; }
  double tolerance() const { return tolerance_; }
  double time_step() const { return simulation_.time_step(); }
  std::vector<std::string> notes() const { return simulation_.notes(); }

 private:
  simulation::Simulation simulation_;
  long steps_;
  double tolerance_;
  std::optional<Error> end_;
};

/// The scene of that id, or that of a model's file. `texts`: options as "speed=2"; a file's path is added to them.
Result<const SimulatedSceneRow*> scene_of(const std::string& scene, std::vector<std::string>& texts) {
  auto row = require_simulated_scene(scene);
  std::error_code ignored;
  if (row) return row;
  if (!std::filesystem::exists(scene, ignored))
    return Error{row.error().code, row.error().message + "; nor is it a file"};
  texts.push_back("path=" + scene);
  return require_simulated_scene("file");
}

Result<std::unique_ptr<Solver>> own_solver(const std::string& description, py::function call) {
  CONEBENCH_TRY(auto read, read_description(nlohmann::json::parse(description, nullptr, false), "solver"));
  return std::unique_ptr<Solver>(std::make_unique<OwnSolver>(std::move(read.info), std::move(call)));
}

/// `own`: a description as of docs/program_protocol.md and the function of OwnSolver, in place of the option `solver`.
std::unique_ptr<Loop> simulation(const std::string& scene, std::vector<std::string> texts, std::uint64_t seed,
                                 const std::optional<std::pair<std::string, py::function>>& own) {
  std::unique_ptr<Solver> solver;
  if (own) solver = value_or_raise(own_solver(own->first, own->second));
  auto made = [&]() -> Result<std::unique_ptr<Loop>> {
    const py::gil_scoped_release others_may_run;
    CONEBENCH_TRY(const auto row, scene_of(scene, texts));
    CONEBENCH_TRY(const auto values, parse_options(texts, simulation::all_options(*row), row->id, ""));
    CONEBENCH_TRY(const auto plan, simulation::plan_scene(*row, values, seed));
    CONEBENCH_TRY(auto loop, simulation::simulate(plan, std::move(solver)));
    return std::make_unique<Loop>(std::move(loop), static_cast<long>(plan.model.steps), plan.options.tolerance);
  }();
  return value_or_raise(std::move(made));
}

}  // namespace

void add_simulating(py::module_& module) {
  py::class_<Loop>(module, "Loop")
      .def("step", &Loop::step)
      .def("push", &Loop::push)
      .def("contacts", &Loop::contacts)
      .def_property_readonly("steps", &Loop::steps)
      .def_property_readonly("time_step", &Loop::time_step)
      .def_property_readonly("tolerance", &Loop::tolerance)
      .def_property_readonly("notes", &Loop::notes);
  module.def("simulation", &simulation);
}

}  // namespace conebench::python
