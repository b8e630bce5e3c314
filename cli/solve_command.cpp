#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/plural.hpp"
#include "cli/answer_output.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/foreign_code.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "cli/solver_origin.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/recording.hpp"
#include "metrics/residuals.hpp"
#include "reports/write_files.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/solve_cell.hpp"
#include "solvers/registry.hpp"
#include "store/late_answer.hpp"
#include "store/time_doubts.hpp"

namespace conebench::cli {

namespace {

constexpr const char* solve_footer = R"(Examples:
  conebench solve problem.hdf5 --solver NSGS
  conebench solve problem.hdf5 --solver ADMM-NCP-SA --tolerance 1e-8 --json
  conebench solve problem.hdf5 --solver PGS-NCP --set relaxation=0.8 --trace trace.csv
  conebench solve problem.hdf5 --solver NSGS --write-solution solved.hdf5 --require-solved
  conebench solve "box-stack boxes=5 mass_ratio=1000 seed=1" --solver NSGS
  conebench solve "box-on-plane speed=2 step=12" --solver CASCADE)";

struct SolveArguments {
  std::string file;
  std::string solver;
  std::vector<std::string> set_values;
  CellRequest request;
  std::string stop_by;  ///< empty: by the solver
  std::string start = "cold";
  std::string trace;
  bool all = false;
  std::string solution;
  bool json = false;
  bool require_solved = false;
  ForeignCode code;
};

/// The request, checked without the problem, so that wrong usage is reported before a large file is read.
Result<OptionValues> complete(SolveArguments& arguments) {
  const auto row = require_solver(arguments.solver);
  if (!row) return Error{row.error().code, "--solver: " + with_foreign_code(row.error(), arguments.code).message};
  CONEBENCH_TRY(auto values, parse_set_values(arguments.set_values, (*row)->all_options(), arguments.solver));
  CONEBENCH_TRY(auto effective, (*row)->effective_options(values));
  arguments.request.solver = arguments.solver;
  arguments.request.options = values;
  arguments.request.stop_by = *stop_by_for(arguments.stop_by, arguments.solver);
  arguments.request.start = arguments.start == "guess" ? Start::guess : Start::cold;
  arguments.request.repeats = {1, 0.0, 1};
  return effective;
}

/// Null for what the solver's library does not count.
nlohmann::json counter(std::int64_t count) { return count < 0 ? nlohmann::json(nullptr) : nlohmann::json(count); }

nlohmann::json to_json(const SolveArguments& arguments, const ContactProblem& problem, const OptionValues& options,
                       const CellRecord& record) {
  nlohmann::json out = {{"problem", arguments.file},
                        {"solver", arguments.solver},
                        {"options", cli::to_json(options)},
                        {"stop_by", record.stop_by},
                        {"start", record.start},
                        {"max_iterations", record.max_iterations},
                        {"time_limit_s", number(record.limit_s)},
                        {"status", record.status},
                        {"reason", whole_reason(record)},
                        {"claimed", record.claimed},
                        {"stage", record.stage},
                        {"iterations", record.iterations},
                        {"factorizations", counter(record.factorizations)},
                        {"operator_products", counter(record.operator_products)},
                        {"setup_s", number(record.setup.median)},
                        {"solve_s", number(record.solve.median)},
                        {"cold_s", number(record.total.cold)},
                        {"doubts", record.doubts},
                        {"wall_s", number(record.wall_s)},
                        {"own_setup_s", number(record.own_setup_s)},
                        {"own_solve_s", number(record.own_solve_s)},
                        {"judge_s", number(record.judge_s)},
                        {"solved_symmetrised", record.solved_symmetrised}};
  out["own_residual"] = record.own_residual_known ? number(record.own_residual) : nlohmann::json(nullptr);
  out["verdict_symmetrised"] = number(record.verdict_symmetrised);
  out["compliance_share"] = number(record.compliance_share);
  out["verdict_compliant"] = number(record.verdict_compliant);
  out["ccp_compliant"] = number(record.ccp_compliant);
  add_origin(out, find_solver(arguments.solver)->info);
  add_judgement(out, problem, record);
  return out;
}

std::string to_text(const SolveArguments& arguments, const ContactProblem& problem, const CellRecord& record) {
  const auto& cones = problem.cones();
  std::string text =
      fmt::format("problem    {} ({} contacts, {} rows)\n", arguments.file, cones.contacts(), problem.rows());
  text += fmt::format("solver     {} (stop_by {})\n", arguments.solver, record.stop_by);
  text += fmt::format("origin     {}\n", origin_text(*find_solver(arguments.solver)));
  const auto counted = [](std::int64_t count, const char* noun) {
    return count < 0 ? fmt::format("uncounted {}s", noun) : plural(count, noun);
  };
  text += fmt::format(
      "status     {}{}{} after {}, {}, {}\n", name(record.status), record.stage.empty() ? "" : " by " + record.stage,
      record.reason.empty() ? "" : " (" + record.reason + ")", plural(record.iterations, "iteration"),
      counted(record.factorizations, "factorization"), counted(record.operator_products, "operator product"));
  text +=
      fmt::format("time       set-up {}, solve {}\n", short_time(record.setup.median), short_time(record.solve.median));
  if (record.total.cold != record.total.median) {
    text += fmt::format("           first run {}, ranked {}\n", short_time(record.total.cold),
                        short_time(record.total.median));
  }
  if (record.own_solve_s) {
    text += fmt::format("           by the runner's clock {}; it says itself: set-up {}, solve {}\n",
                        short_time(record.wall_s.value_or(0.0)), short_time(record.own_setup_s.value_or(0.0)),
                        short_time(*record.own_solve_s));
  }
  if (!record.doubts.empty()) text += fmt::format("doubtful   {}\n", describe_doubts(record.doubts));
  if (record.solved_symmetrised) {
    text += fmt::format("note       the solver solved the symmetrised problem, where {} = {}\n", record.verdict,
                        short_number(record.verdict_symmetrised));
  }
  if (record.compliance_share > 0.0) {
    text += fmt::format("note       the solver added compliance R = {:g} diag(G); with it {} = {}, {} = {}\n",
                        record.compliance_share, record.verdict, short_number(record.verdict_compliant),
                        "natural_map_ccp_scaled", short_number(record.ccp_compliant));
  }
  const bool answered = class_of(record.status) == StatusClass::answer;
  return text + judgement_text(problem, record, arguments.all) +
         (answered ? feasibility_hint(record, arguments.file) : "");
}

bool finite(const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

Result<void> save_solution(const SolveArguments& arguments, const LoadedProblem& given, const CellRecord& record) {
  if (static_cast<Index>(record.reaction.size()) != given.problem.rows()) {
    return Error{ErrorCode::unsupported, fmt::format("{}: not written, because there is no answer (status {})",
                                                     arguments.solution, name(record.status))};
  }
  if (!finite(record.reaction)) {
    return Error{ErrorCode::unsupported, fmt::format("{}: not written, because the answer is not finite (status {})",
                                                     arguments.solution, name(record.status))};
  }
  const Vector impulse = Eigen::Map<const Vector>(record.reaction.data(), static_cast<Index>(record.reaction.size()));
  if (!given.file.empty()) return write_solution(given.file, arguments.solution, given.problem, impulse);
  FclibWriteOptions options;
  options.solution = FclibAnswer{impulse, Vector(given.problem.rows())};
  given.problem.velocity(impulse, options.solution->velocity);
  return write_fclib(given.problem, arguments.solution, options);
}

/// Every step of a recording, a line each.
Result<int> solve_steps(const SolveArguments& arguments, const std::vector<std::filesystem::path>& steps) {
  if (!arguments.trace.empty() || !arguments.solution.empty()) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: --trace and --write-solution take one step of a recording, such "
                             "as {}",
                             arguments.file, steps.front().string())};
  }
  nlohmann::json all = nlohmann::json::array();
  std::vector<std::vector<std::string>> table = {
      {"step", "contacts", "rows", "status", "iterations", "set-up", "solve", arguments.request.verdict}};
  long solved = 0;
  ProgressPrinter progress = progress_on_stderr();
  for (const auto& address : steps) {
    CONEBENCH_TRY(const auto problem, load_fclib(address));
    CONEBENCH_TRY(const auto record, solve_cell(problem, arguments.request));
    solved += record.solved ? 1 : 0;
    SolveArguments step = arguments;
    step.file = address.string();
    if (arguments.json) {
      all.push_back(to_json(step, problem, arguments.request.options, record));
    } else {
      table.push_back({address.filename().string(), std::to_string(problem.cones().contacts()),
                       std::to_string(problem.rows()), std::string(name(record.status)),
                       std::to_string(record.iterations), short_time(record.setup.median),
                       short_time(record.solve.median), short_number(record.verdict_value)});
    }
    progress.stepped(static_cast<long>(table.size() + all.size()) - 1, static_cast<long>(steps.size()));
  }
  progress.clear();
  const std::string count =
      fmt::format("{} solves {} of {}", arguments.solver, solved, plural(static_cast<long>(steps.size()), "step"));
  if (arguments.json) {
    print_json("solve_steps", {{"recording", arguments.file}, {"solved", solved}, {"steps", all}});
  } else {
    print_text(align_columns(table, output_columns()) + "\n" + count + "\n");
  }
  if (!arguments.require_solved || solved == static_cast<long>(steps.size())) return done;
  print_error(fmt::format("{}: {}", arguments.file, count));
  return gate_failed;
}

Result<int> run_solve(SolveArguments& arguments) {
  CONEBENCH_CHECK(load_foreign_code(arguments.code));
  CONEBENCH_TRY(const auto options, complete(arguments));
  for (const std::string& file : {arguments.trace, arguments.solution}) {
    if (file.empty()) continue;
    CONEBENCH_CHECK(check_location(file));
  }
  if (const auto steps = recording_steps(find_problem_file(arguments.file)); steps && !steps->empty()) {
    return solve_steps(arguments, *steps);
  }
  const auto given = load_given_problem(arguments.file);
  if (!given) {
    if (given.error().code == ErrorCode::unsupported && arguments.json) {
      CellRecord none = blank_record(arguments.request);
      none.status = CellStatus::unsupported;
      none.reason = given.error().message;
      ContactProblemData nothing;
      nothing.delassus = make_dense_delassus(Matrix(0, 0));
      print_json("solve", to_json(arguments, ContactProblem::create(nothing).value(), options, none));
    }
    return given.error();
  }
  const ContactProblem& problem = given->problem;
  if (arguments.request.start == Start::guess && !problem.guess()) {
    return Error{ErrorCode::bad_input, fmt::format("{}: has no guess to start from; use --start cold", arguments.file)};
  }
  std::string trace;
  CONEBENCH_TRY(auto record, solve_cell(problem, arguments.request, arguments.trace.empty() ? nullptr : &trace));

  if (arguments.json) {
    auto out = to_json(arguments, problem, options, record);
    out["problem_hash"] = problem.content_hash();
    print_json("solve", out);
  } else {
    print_text(to_text(arguments, problem, record));
  }
  const StatusClass ended = class_of(record.status);
  if (ended == StatusClass::unsupported || ended == StatusClass::broke) {
    print_error(fmt::format("{}: {} {} this problem: {}", arguments.file, arguments.solver,
                            ended == StatusClass::unsupported ? "does not support" : "failed on", record.reason));
    return not_run;
  }
  if (!arguments.trace.empty()) CONEBENCH_CHECK(write_files({}, {{arguments.trace, trace}}));
  if (!arguments.solution.empty()) CONEBENCH_CHECK(save_solution(arguments, *given, record));
  if (arguments.require_solved && !record.solved) {
    const bool late = passes_too_late(record);
    print_error(fmt::format("{}: not solved by {}: {} = {} {} {:g}{} (status {})", arguments.file, arguments.solver,
                            record.verdict, short_number(record.verdict_value), late ? "passes" : "exceeds",
                            record.tolerance, late ? ", but came after the time limit" : "", name(record.status)));
    return gate_failed;
  }
  return done;
}

}  // namespace

Command add_solve(CLI::App& root) {
  auto arguments = std::make_shared<SolveArguments>();
  CLI::App* app = root.add_subcommand("solve", "Solve one problem with one solver and judge the answer");
  app->footer(solve_footer);
  app->add_option("FILE", arguments->file,
                  "FCLIB HDF5 file (also searched for below CONEBENCH_DATA), a recording or a step of it, or a scene "
                  "with its options, a simulated one with "
                  "step=K")
      ->required();
  app->add_option("--solver", arguments->solver, "Solver, see `conebench list solvers`")->required()->type_name("ID");
  auto& request = arguments->request;
  add_real(*app, "--tolerance", request.tolerance, {.minimum = 0.0, .above_minimum = true},
           "Upper bound for the verdict");
  add_integer(*app, "--max-iterations", request.max_iterations, {.minimum = 0.0}, "Limit on iterations");
  add_real(*app, "--time-limit", request.seconds, {.minimum = 0.0, .above_minimum = true},
           "Limit on set-up and solve together [s]");
  app->add_option("--stop-by,--criterion", arguments->stop_by,
                  "Who stops the solver: its own test, the judge, or the judge with its cost timed; by default "
                  "judge, judge_timed for a solver that pays for tests of its own (a peer, a program)")
      ->check(CLI::Validator(
          [](const std::string& word) {
            return stop_by_named(word) ? std::string() : word + " is none of solver, judge, judge_timed";
          },
          "{solver,judge,judge_timed}"));
  app->add_option("--verdict", request.verdict, "Residual that decides, see `conebench list metrics`")
      ->type_name("NAME")
      ->capture_default_str();
  add_set_option(*app, arguments->set_values, "Set an option of the solver; may be repeated");
  app->add_option("--start", arguments->start, "Start from zero or from the file's first guess")
      ->check(CLI::IsMember({"cold", "guess"}))
      ->capture_default_str();
  app->add_option("--trace", arguments->trace, "Write the residuals of every iteration, from a second, untimed run")
      ->type_name("FILE.csv");
  app->add_option("--write-solution", arguments->solution, "Write the problem with the answer as its /solution")
      ->type_name("OUT.hdf5");
  add_foreign_code(*app, arguments->code, false);
  app->add_flag("--all", arguments->all, "Print all residuals, not only the five most informative");
  app->add_flag("--json", arguments->json, "Print one JSON object");
  app->add_flag("--require-solved", arguments->require_solved, "Exit with 1 unless the judge says solved");
  add_read_limit(*app);
  return {app, [arguments] { return run_solve(*arguments); }};
}

}  // namespace conebench::cli
