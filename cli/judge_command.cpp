#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/option_parsing.hpp"
#include "cli/answer_output.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/foreign_code.hpp"
#include "cli/judge_answers.hpp"
#include "cli/judge_submission.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "metrics/residuals.hpp"
#include "runners/execute/cell_run.hpp"

namespace conebench::cli {

namespace {

constexpr const char* judge_footer = R"(R.hdf5 holds FCLIB's /solution (r, and l where the problem has joints); R.npy is
one row of float64 in FCLIB's order: l, then r with each contact's normal first. Of a
problem by blocks (/conebench of version 4) /solution/r and R.npy have the file's rows,
joints among them.

Examples:
  conebench judge problem.hdf5 --reaction solved.hdf5
  conebench judge problem.hdf5 --reaction r.npy --tolerance 1e-8 --json
  conebench judge problem.hdf5 r.npy --require-solved
  conebench judge robot.hdf5 --answers
  conebench judge robot.hdf5 --answers --solvers CASCADE,NSGS --html robot.html
  conebench judge jane --submission --suite fclib --data problems --db jane.sqlite)";

struct JudgeArguments {
  std::string file;
  std::string reaction;
  double tolerance = 1e-6;
  std::string verdict = "natural_map_scaled";
  bool all = false;
  bool json = false;
  bool require_solved = false;
  bool answers = false;
  std::string solvers = "CASCADE";
  std::string page;
  bool submission = false;
  SubmissionRequest submitted;
  ForeignCode code;
};

/// The answer of a program that keeps a contact's tangents before its normal, as if it had written them behind it.
Vector tangents_first(const ContactProblem& problem, const Vector& values) {
  const ConeProduct& cones = problem.cones();
  Vector swapped = values;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index row = cones.contact_row(i);
    const int normal = cones.normal_of(i);
    swapped[row] = values[row + normal];
    swapped.segment(row + 1, normal) = values.segment(row, normal);
  }
  return swapped;
}

/// The first number of the answer that is not finite, counted in the file's order: "entry 2 of r is nan (counted from
/// 0)"; empty where there is none.
std::string not_finite(const ContactProblem& problem, const Vector& values) {
  const Vector all = answer_rows(problem).to_given(values);
  // Where the file describes blocks, r has the joints, too.
  const Index joints = problem.given_rows() || !fits_fclib(problem) ? 0 : problem.cones().joints();
  for (Index k = 0; k < all.size(); ++k) {
    if (std::isfinite(all[k])) continue;
    return fmt::format("entry {} of {} is {} (counted from 0)", k < joints ? k : k - joints, k < joints ? "l" : "r",
                       all[k]);
  }
  return {};
}

CellRecord judged(const ContactProblem& problem, const Vector& reaction, const JudgeArguments& arguments) {
  CellRecord record;
  record.status = CellStatus::converged;
  record.claimed = true;
  record.tolerance = arguments.tolerance;
  record.verdict = arguments.verdict;
  record.reaction.assign(reaction.data(), reaction.data() + reaction.size());
  judge_cell(problem, record);
  return record;
}

Result<int> run_judge(const JudgeArguments& arguments) {
  if (arguments.submission) {
    SubmissionRequest request = arguments.submitted;
    request.folder = arguments.file;
    request.json = arguments.json;
    return judge_submission(request);
  }
  if (arguments.answers) {
    CONEBENCH_CHECK(load_foreign_code(arguments.code));
    return judge_answers(
        {.file = arguments.file,
         .tolerance = arguments.tolerance,
         .solvers = arguments.solvers == "none" ? std::vector<std::string>() : split_list(arguments.solvers),
         .page = arguments.page,
         .all = arguments.all,
         .json = arguments.json,
         .require_solved = arguments.require_solved});
  }
  if (arguments.reaction.empty()) {
    return Error{ErrorCode::wrong_usage, "judge: give the answer with --reaction, or --answers for those of the file"};
  }
  CONEBENCH_TRY(const auto given, load_given_problem(arguments.file));
  const ContactProblem& problem = given.problem;
  CONEBENCH_CHECK(Verdict::create(arguments.verdict, problem));
  CONEBENCH_TRY(const auto reaction, read_reaction(arguments.reaction, problem));

  const CellRecord record = judged(problem, reaction, arguments);
  const std::string wrong = not_finite(problem, reaction);
  std::string hint;
  if (!record.solved && wrong.empty()) {
    const CellRecord swapped = judged(problem, tangents_first(problem, reaction), arguments);
    if (swapped.solved) {
      hint = fmt::format("read with each contact's tangents first and its normal behind them, it solves: {} = {}",
                         swapped.verdict, short_number(swapped.verdict_value));
    }
  }
  if (arguments.json) {
    nlohmann::json out = {
        {"problem", arguments.file}, {"problem_hash", problem.content_hash()}, {"reaction", arguments.reaction}};
    out["not_finite"] = wrong.empty() ? nlohmann::json(nullptr) : nlohmann::json(wrong);
    out["hint"] = hint.empty() ? nlohmann::json(nullptr) : nlohmann::json(hint);
    add_judgement(out, problem, record);
    print_json("judge", out);
  } else {
    print_text(fmt::format("problem    {}\nanswer     {}\n", arguments.file, arguments.reaction));
    if (!wrong.empty()) print_text(fmt::format("not finite {}\n", wrong));
    if (!hint.empty()) print_text(fmt::format("hint       {}\n", hint));
    print_text(judgement_text(problem, record, arguments.all));
    if (wrong.empty() && hint.empty()) print_text(feasibility_hint(record, arguments.file));
  }
  if (arguments.require_solved && !record.solved) {
    print_error(fmt::format("{}: does not solve {}: {}", arguments.reaction, arguments.file,
                            !wrong.empty() ? wrong
                                           : fmt::format("{} = {} exceeds {:g}", record.verdict,
                                                         short_number(record.verdict_value), record.tolerance)));
    return gate_failed;
  }
  return done;
}

}  // namespace

Command add_judge(CLI::App& root) {
  auto arguments = std::make_shared<JudgeArguments>();
  CLI::App* app = root.add_subcommand("judge", "Residuals of an answer from anywhere");
  app->footer(judge_footer);
  app->add_option("FILE", arguments->file,
                  "FCLIB HDF5 file of the problem, a recording, or a scene (see `conebench solve --help`); with "
                  "--submission a folder")
      ->required();
  auto* const reaction =
      app->add_option("REACTION,--reaction", arguments->reaction, "The answer")->type_name("R.hdf5|R.npy");
  auto* const answers = app->add_flag("--answers", arguments->answers,
                                      "Judge the answers that came with a recording's steps, or with one problem, on "
                                      "their own laws and on Coulomb's")
                            ->excludes(reaction);
  app->add_option("--solvers", arguments->solvers,
                  "With --answers: solvers that solve the same steps, separated by commas; none")
      ->type_name("LIST")
      ->capture_default_str()
      ->needs(answers);
  app->add_option("--html", arguments->page, "With --answers: write a page, too")->type_name("FILE")->needs(answers);
  auto* const submission =
      app->add_flag("--submission", arguments->submission,
                    "Judge a folder of answers to a suite's problems (docs/submissions.md) and store the verdicts")
          ->excludes(reaction)
          ->excludes(answers);
  app->add_option("--suite", arguments->submitted.suite, "With --submission: the suite, as for `conebench run`")
      ->type_name("SUITE")
      ->needs(submission);
  app->add_option("--data", arguments->submitted.data, "With --submission: folder of the problems, or a data set")
      ->type_name("DIR")
      ->needs(submission);
  app->add_option("--db", arguments->submitted.store, "With --submission: the store, which must not exist")
      ->type_name("FILE")
      ->needs(submission);
  add_foreign_code(*app, arguments->code, false);
  add_real(*app, "--tolerance", arguments->tolerance, {.minimum = 0.0, .above_minimum = true},
           "Upper bound for the verdict")
      ->excludes(submission);
  app->add_option("--verdict", arguments->verdict, "Residual that decides, see `conebench list metrics`")
      ->type_name("NAME")
      ->capture_default_str()
      ->excludes(submission);
  app->add_flag("--all", arguments->all,
                "Print all residuals, not only the five most informative; with --answers all steps");
  app->add_flag("--json", arguments->json, "Print one JSON object");
  app->add_flag("--require-solved", arguments->require_solved, "Exit with 1 unless the answer solves the problem")
      ->excludes(submission);
  add_read_limit(*app);
  return {app, [arguments] { return run_judge(*arguments); }};
}

}  // namespace conebench::cli
