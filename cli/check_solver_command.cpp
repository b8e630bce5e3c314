#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/foreign_code.hpp"
#include "cli/output.hpp"
#include "cli/own_solver_commands.hpp"
#include "runners/execute/solve_cell.hpp"
#include "scenes/micro_problems.hpp"
#include "solvers/registry.hpp"

namespace conebench::cli {

namespace {

constexpr const char* check_solver_footer =
    R"(Each problem has an answer in closed form; the judge decides, not the solver.
Without an ID: all solvers of the plug-ins and programs.

Examples:
  conebench check-solver CASCADE
  conebench check-solver --plugin ./jacobi.so
  conebench check-solver --program "python3 jacobi.py" --json)";

constexpr double tolerance = 1e-8;
/// Of a velocity where the verdict is met [m/s].
constexpr double nearness = 1e-5;

struct Arguments {
  std::string id;
  std::vector<std::string> set_values;
  bool json = false;
  ForeignCode code;
};

struct Check {
  std::string outcome;  ///< passed, failed, unsupported, other model
  std::string detail;
};

Check check(const SolverRow& row, const OptionValues& options, const closed_form::MicroProblem& micro) {
  CellRequest request;
  request.solver = row.info.id;
  request.options = options;
  request.tolerance = tolerance;
  request.max_iterations = 200'000;
  if (row.info.formulation == Formulation::ccp) request.verdict = "natural_map_ccp_scaled";
  request.repeats = {2, 0.0, 2};
  const auto solved = solve_cell(micro.problem, request);
  if (!solved) return {"failed", solved.error().message};
  const CellRecord& record = *solved;
  if (record.status == CellStatus::unsupported) return {"unsupported", record.reason};
  const bool other_model = micro.relaxed_differs && row.info.formulation != Formulation::ncp;
  const std::string ended = fmt::format("{}{}", name(record.status), record.reason.empty() ? "" : ": " + record.reason);
  if (!record.solved || record.status != CellStatus::converged) {
    if (other_model && row.info.formulation != Formulation::ccp) {
      return {"other model", "something slides, where its model has another answer"};
    }
    return {"failed", fmt::format("{}; {} = {}{}", ended, record.verdict, short_number(record.verdict_value),
                                  record.claimed && !record.solved ? ", though it claims to have converged" : "")};
  }
  if (micro.velocity && !other_model) {
    Vector velocity(micro.problem.rows());
    micro.problem.velocity(Eigen::Map<const Vector>(record.reaction.data(), static_cast<Index>(record.reaction.size())),
                           velocity);
    const double away = (velocity - *micro.velocity).norm();
    if (!(away <= nearness)) {
      return {"failed", fmt::format("the velocity is {} m/s from the known one", short_number(away))};
    }
  }
  return {"passed", fmt::format("{}, the same bits twice", plural(record.iterations, "iteration"))};
}

Result<int> check_solvers(const Arguments& arguments) {
  const std::size_t built_in = solver_table().size();
  CONEBENCH_CHECK(load_foreign_code(arguments.code));
  std::vector<std::string> ids;
  if (!arguments.id.empty()) ids.push_back(arguments.id);
  for (std::size_t k = built_in; arguments.id.empty() && k < solver_table().size(); ++k) {
    ids.push_back(solver_table()[k].info.id);
  }
  if (ids.empty()) {
    return Error{ErrorCode::wrong_usage,
                 "check-solver: name a solver (`conebench list solvers`), a plug-in or a program"};
  }
  nlohmann::json all = nlohmann::json::array();
  bool failed = false;
  for (const std::string& id : ids) {
    const auto row = require_solver(id);
    if (!row) return with_foreign_code(row.error(), arguments.code);
    CONEBENCH_TRY(const auto options, parse_set_values(arguments.set_values, (*row)->all_options(), id));
    CONEBENCH_CHECK((*row)->effective_options(options));
    std::vector<std::vector<std::string>> table = {{"problem", "outcome", "how", "what it asks"}};
    nlohmann::json checks = nlohmann::json::array();
    long passed = 0, unsupported = 0;
    for (const auto& micro : closed_form::micro_problems()) {
      const Check made = check(**row, options, micro);
      if (made.outcome == "passed") ++passed;
      if (made.outcome == "unsupported") ++unsupported;
      failed = failed || made.outcome == "failed";
      table.push_back({micro.name, made.outcome, made.detail, micro.asks});
      checks.push_back(
          {{"problem", micro.name}, {"asks", micro.asks}, {"outcome", made.outcome}, {"detail", made.detail}});
    }
    all.push_back({{"solver", id}, {"passed", passed}, {"checks", checks}});
    if (!arguments.json) {
      print_text(
          fmt::format("{}: passed {} of {}{}\n\n{}\n", id, passed, plural(long(checks.size()), "problem"),
                      unsupported == 0 ? "" : fmt::format("; {} not supported, which is no failure", unsupported),
                      align_columns(table, output_columns())));
    }
  }
  if (arguments.json) print_json("check-solver", {{"solvers", all}});
  if (failed) print_error("check-solver: some problems failed; their lines say how");
  return failed ? gate_failed : done;
}

}  // namespace

Command add_check_solver(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = root.add_subcommand("check-solver", "Try a solver on small problems with known answers");
  app->footer(check_solver_footer);
  app->add_option("ID", arguments->id, "Solver, see `conebench list solvers`");
  add_set_option(*app, arguments->set_values, "Set an option of the solver; may be repeated");
  app->add_flag("--json", arguments->json, "Print one JSON object");
  add_foreign_code(*app, arguments->code, false);
  return {app, [arguments] { return check_solvers(*arguments); }};
}

}  // namespace conebench::cli
