#include "cli/judge_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/recording.hpp"
#include "metrics/answer_residuals.hpp"
#include "metrics/statistics.hpp"
#include "reports/recording/recording_page.hpp"
#include "reports/text.hpp"
#include "reports/write_files.hpp"
#include "runners/execute/solve_cell.hpp"
#include "solvers/registry.hpp"
#include "store/cell_status.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

constexpr long worst_steps = 10;

/// One answer to one step.
struct Verdicts {
  std::string name, law, status, error;
  bool of_engine = true;
  std::optional<std::int64_t> iterations;
  std::optional<double> seconds, tolerance;
  AnswerResiduals residuals;

  bool claims() const { return status == "converged"; }
  bool within(double bound) const { return error.empty() && residuals.own.scaled <= bound; }
};

/// One step, and all that was answered to it.
struct JudgedStep {
  std::string address, description;
  std::optional<std::int64_t> number;
  std::optional<double> time, time_step;
  Index contacts = 0, rows = 0;
  double unit = 1.0;  ///< V [m/s]
  std::optional<double> least_gap;
  Index least_gap_block = -1;
  std::vector<std::string> names;
  std::vector<std::int64_t> bodies;
  std::vector<std::string> body_names;
  std::vector<BlockCone> cone;
  std::vector<Verdicts> answers;
  bool has_solution = false;  ///< /solution, which --reaction can take

  std::string name_of(Index block) const {
    return names.empty() ? std::string() : names.at(static_cast<std::size_t>(block));
  }
  std::vector<std::string> bodies_of(Index block) const {
    std::vector<std::string> result;
    if (bodies.empty()) return result;
    for (const std::size_t side : {0U, 1U}) {
      const std::int64_t body = bodies.at(2 * static_cast<std::size_t>(block) + side);
      result.push_back(body < 0 ? "–" : body_names.at(static_cast<std::size_t>(body)));
    }
    return result;
  }
  std::string label_of(Index block) const {
    const bool contact = cone.at(static_cast<std::size_t>(block)) != BlockCone::none;
    return fmt::format("{} {}", contact ? "contact" : "row", block);
  }
  /// "contact 4 (foot, floor)".
  std::string place_of(Index block) const {
    if (block < 0) return "–";
    const std::string name = name_of(block);
    const auto between = bodies_of(block);
    return (name.empty() ? label_of(block) : name) +
           (between.empty() ? "" : fmt::format(" ({})", fmt::join(between, ", ")));
  }
};

void find_least_gap(const GivenProblem& given, JudgedStep& step) {
  for (Index block = 0; block < given.gaps.size(); ++block) {
    if (given.blocks.cone[static_cast<std::size_t>(block)] == BlockCone::none) continue;
    if (!std::isfinite(given.gaps[block]) || (step.least_gap && *step.least_gap <= given.gaps[block])) continue;
    step.least_gap = given.gaps[block];
    step.least_gap_block = block;
  }
}

Verdicts judged(const AnswerJudge& judge, const ContactProblem& problem, const EngineAnswer& answer) {
  Verdicts result{.name = answer.name,
                  .law = answer.law.empty() ? judge.law() : answer.law,
                  .status = answer.status,
                  .error = {},
                  .of_engine = true,
                  .iterations = answer.iterations,
                  .seconds = answer.seconds,
                  .tolerance = answer.tolerance,
                  .residuals = {}};
  const auto& rows = problem.given_rows();
  if (rows) {
    const auto fits = rows->check(answer.impulse, "answer", "r");
    if (!fits) {
      result.error = fits.error().message;
      return result;
    }
  }
  result.residuals = judge(rows ? rows->to_problem(answer.impulse, problem.rows()) : answer.impulse, result.law);
  return result;
}

Result<Verdicts> solved(const AnswerJudge& judge, const ContactProblem& problem, const std::string& solver,
                        double tolerance) {
  CellRequest request;
  request.solver = solver;
  request.tolerance = tolerance;
  const bool convex = find_solver(solver)->info.formulation == Formulation::ccp;
  request.verdict = convex ? "natural_map_ccp_scaled" : "natural_map_scaled";
  request.stop_by = *stop_by_for("", solver);
  request.repeats = {1, 0.0, 1};
  CONEBENCH_TRY(const auto record, solve_cell(problem, request));
  Verdicts result{.name = solver,
                  .law = convex ? "ccp" : "ncp",
                  .status = std::string(conebench::name(record.status)),
                  .error = {},
                  .of_engine = false,
                  .iterations = record.iterations,
                  .seconds = record.setup.median + record.solve.median,
                  .tolerance = tolerance,
                  .residuals = {}};
  if (static_cast<Index>(record.reaction.size()) != problem.rows()) {
    result.error = record.reason.empty() ? std::string("no answer") : record.reason;
  } else {
    result.residuals = judge(Eigen::Map<const Vector>(record.reaction.data(), problem.rows()), result.law);
  }
  return result;
}

Result<JudgedStep> judge_step(const fs::path& address, const AnswersRequest& request) {
  CONEBENCH_TRY(const auto content, read_fclib(address));
  JudgedStep step;
  step.address = address.string();
  step.has_solution = !step_address(address) && (content.solution || (content.blocks && content.blocks->reference));
  if (!content.blocks) return step;
  const GivenProblem& given = *content.blocks;
  CONEBENCH_TRY(const auto problem, to_problem(content, address));
  CONEBENCH_TRY(const auto judge, AnswerJudge::create(problem, given));
  const auto place = step_address(address);
  step.number = given.configuration.step ? given.configuration.step : place ? place->number() : std::nullopt;
  step.time = given.configuration.time;
  step.description = given.provenance.description;
  step.time_step = given.configuration.time_step;
  step.contacts = problem.cones().contacts();
  step.rows = problem.rows();
  step.unit = judge.velocity_scale();
  step.names = given.names;
  step.bodies = given.bodies;
  step.body_names = given.body_names;
  step.cone = given.blocks.cone;
  find_least_gap(given, step);
  for (const EngineAnswer& answer : given.answers) step.answers.push_back(judged(judge, problem, answer));
  if (problem.rows() == 0) return step;
  for (const std::string& solver : request.solvers) {
    CONEBENCH_TRY(auto answer, solved(judge, problem, solver, request.tolerance));
    step.answers.push_back(std::move(answer));
  }
  return step;
}

/// A step is quiet whose V is below this share of the recording's median: in free fall V is only rounding. There the
/// median is V.
constexpr double quiet = 1e-6;

void scale_quiet_steps(std::vector<JudgedStep>& steps) {
  std::vector<double> units;
  for (const JudgedStep& step : steps) {
    if (step.rows > 0) units.push_back(step.unit);
  }
  const double usual = median(units).value_or(1.0);
  for (JudgedStep& step : steps) {
    if (step.unit >= quiet * usual) continue;
    step.unit = usual;
    for (Verdicts& one : step.answers) {
      AnswerResiduals& found = one.residuals;
      for (LawResidual* law : {&found.own, &found.compliant, found.rigid ? &*found.rigid : nullptr}) {
        if (law != nullptr) law->scaled = law->speed / step.unit;
      }
    }
  }
}

/// Of one answer's name over all steps.
struct Over {
  std::string name, law;
  bool of_engine = true;
  struct Law {
    std::vector<double> scaled;
    double max_speed = 0.0, max = 0.0;
    std::string max_step;
    std::optional<std::int64_t> max_number;
    long within = 0;

    void take(const LawResidual& one, const JudgedStep& step, double tolerance) {
      if (scaled.empty() || !(one.scaled <= max)) {
        max = one.scaled;
        max_step = step.address;
        max_number = step.number;
      }
      scaled.push_back(one.scaled);
      max_speed = std::max(max_speed, one.speed);
      if (one.scaled <= tolerance) ++within;
    }
    double middle() const { return median(scaled).value_or(0.0); }
  } own, compliant, rigid;
  std::vector<double> iterations, seconds;
  long answers = 0, claimed = 0, claimed_wrong = 0, failed = 0;
};

std::vector<Over> summarise(const std::vector<JudgedStep>& steps, double tolerance) {
  std::vector<Over> result;
  for (const JudgedStep& step : steps) {
    if (step.rows == 0) continue;
    for (const Verdicts& one : step.answers) {
      auto found = std::ranges::find_if(result, [&](const Over& over) {
        return over.name == one.name && over.law == one.law && over.of_engine == one.of_engine;
      });
      if (found == result.end()) {
        found = result.insert(result.end(), Over());
        found->name = one.name;
        found->law = one.law;
        found->of_engine = one.of_engine;
      }
      ++found->answers;
      if (one.claims()) {
        ++found->claimed;
        if (!one.within(tolerance)) ++found->claimed_wrong;
      }
      if (one.iterations && *one.iterations >= 0) found->iterations.push_back(static_cast<double>(*one.iterations));
      if (one.seconds) found->seconds.push_back(*one.seconds);
      if (!one.error.empty()) {
        ++found->failed;
        continue;
      }
      found->own.take(one.residuals.own, step, tolerance);
      found->compliant.take(one.residuals.compliant, step, tolerance);
      if (one.residuals.rigid) found->rigid.take(*one.residuals.rigid, step, tolerance);
    }
  }
  std::ranges::stable_sort(result, {}, [](const Over& over) { return !over.of_engine; });
  return result;
}

nlohmann::json to_json(const JudgedStep& step, const LawResidual& one) {
  nlohmann::json worst = nullptr;
  if (one.block >= 0) {
    const std::string name = step.name_of(one.block);
    const auto bodies = step.bodies_of(one.block);
    worst = {{"block", step.label_of(one.block)},
             {"name", name.empty() ? nlohmann::json(nullptr) : nlohmann::json(name)},
             {"bodies", bodies.empty() ? nlohmann::json(nullptr) : nlohmann::json(bodies)}};
  }
  return {{"scaled", number(one.scaled)}, {"absolute_m_s", number(one.speed)}, {"worst", worst}};
}

nlohmann::json to_json(const JudgedStep& step, const Verdicts& one) {
  const auto law = [&](const std::optional<LawResidual>& residual) {
    return residual && one.error.empty() ? to_json(step, *residual) : nlohmann::json(nullptr);
  };
  const ContactModes& modes = one.residuals.modes;
  const bool counted = one.iterations && *one.iterations >= 0;
  return {
      {"name", one.name},
      {"of", one.of_engine ? "engine" : "solver"},
      {"law", one.law},
      {"status", one.status},
      {"iterations", counted ? nlohmann::json(*one.iterations) : nlohmann::json(nullptr)},
      {"seconds", number(one.seconds)},
      {"tolerance", number(one.tolerance)},
      {"error", one.error.empty() ? nlohmann::json(nullptr) : nlohmann::json(one.error)},
      {"own", law(one.residuals.own)},
      {"compliant", law(one.residuals.compliant)},
      {"rigid", law(one.residuals.rigid)},
      {"modes", one.error.empty() ? nlohmann::json{{"open", modes.open}, {"stick", modes.stick}, {"slip", modes.slip}}
                                  : nlohmann::json(nullptr)}};
}

nlohmann::json to_json(const JudgedStep& step) {
  nlohmann::json out = {
      {"step", step.address},      {"number", step.number ? nlohmann::json(*step.number) : nlohmann::json(nullptr)},
      {"time", number(step.time)}, {"time_step", number(step.time_step)},
      {"contacts", step.contacts}, {"rows", step.rows},
      {"unit_m_s", step.unit},     {"gap_min_m", number(step.least_gap)},
      {"gap_min_at", nullptr},     {"answers", nlohmann::json::array()}};
  if (step.least_gap_block >= 0) {
    out["gap_min_at"] = {{"name", step.name_of(step.least_gap_block)},
                         {"bodies", step.bodies_of(step.least_gap_block)}};
  }
  for (const Verdicts& one : step.answers) out["answers"].push_back(to_json(step, one));
  return out;
}

nlohmann::json to_json(const Over::Law& law) {
  if (law.scaled.empty()) return nullptr;
  return {{"median", number(law.middle())},
          {"max", number(law.max)},
          {"max_step", law.max_number ? nlohmann::json(*law.max_number) : nlohmann::json(law.max_step)},
          {"within", law.within}};
}

nlohmann::json to_json(const Over& over) {
  const auto spread = [](const std::vector<double>& values) -> nlohmann::json {
    if (values.empty()) return nullptr;
    return {{"median", number(median(values))}, {"max", number(std::ranges::max(values))}};
  };
  const auto speed = [](const Over::Law& law) {
    return law.scaled.empty() ? nlohmann::json(nullptr) : number(law.max_speed);
  };
  return {{"name", over.name},
          {"of", over.of_engine ? "engine" : "solver"},
          {"law", over.law},
          {"answers", over.answers},
          {"own", to_json(over.own)},
          {"compliant", to_json(over.compliant)},
          {"rigid", to_json(over.rigid)},
          {"absolute_max_m_s",
           {{"own", speed(over.own)}, {"compliant", speed(over.compliant)}, {"rigid", speed(over.rigid)}}},
          {"iterations", spread(over.iterations)},
          {"seconds", spread(over.seconds)},
          {"claimed", over.claimed},
          {"claimed_wrong", over.claimed_wrong},
          {"failed", over.failed}};
}

/// What the writer said of the first step of which it said anything.
std::string description_of(const std::vector<JudgedStep>& steps) {
  const auto found = std::ranges::find_if(steps, [](const JudgedStep& step) { return !step.description.empty(); });
  return found == steps.end() ? std::string() : found->description;
}

std::string heading(const AnswersRequest& request, const std::vector<JudgedStep>& steps) {
  Index least = steps.front().contacts, most = least;
  const JudgedStep* deepest = nullptr;
  for (const JudgedStep& step : steps) {
    least = std::min(least, step.contacts);
    most = std::max(most, step.contacts);
    if (step.least_gap && (deepest == nullptr || *step.least_gap < *deepest->least_gap)) deepest = &step;
  }
  const auto empty = std::ranges::count_if(steps, [](const JudgedStep& step) { return step.rows == 0; });
  const std::string without = empty > 0 ? fmt::format(" ({} of them without rows)", empty) : std::string();
  std::string text =
      fmt::format("{}: {}{}, {}\n", request.file, plural(static_cast<long>(steps.size()), "step"), without,
                  least == most ? plural(least, "contact") : fmt::format("{} to {} contacts", least, most));
  if (const std::string said = description_of(steps); !said.empty()) text += said + "\n";
  if (deepest != nullptr) {
    text += fmt::format("least gap {} m, {}: {}\n", short_number(deepest->least_gap), deepest->address,
                        deepest->place_of(deepest->least_gap_block));
  }
  return text;
}

std::vector<std::string> row_of(const Over& over) {
  std::vector<std::string> row = {
      over.name, over.law,
      over.failed == 0 ? std::to_string(over.answers) : fmt::format("{} ({} none)", over.answers, over.failed)};
  row.push_back(over.own.scaled.empty() ? "–" : std::to_string(over.own.within));
  for (const Over::Law* law : {&over.own, &over.compliant, &over.rigid}) {
    const bool known = !law->scaled.empty();
    row.push_back(known ? short_number(law->middle()) : "–");
    row.push_back(known ? short_number(law->max) : "–");
    row.push_back(known ? short_number(law->max_speed) : "–");
  }
  row.push_back(over.iterations.empty() ? "–" : fmt::format("{:g}", *median(over.iterations)));
  row.push_back(over.seconds.empty() ? "–" : short_time(*median(over.seconds)));
  row.push_back(over.claimed == 0 ? "–" : fmt::format("{} of {}", over.claimed_wrong, over.claimed));
  return row;
}

std::string steps_table(const AnswersRequest& request, const std::vector<JudgedStep>& steps, const std::string& name) {
  std::vector<std::pair<const JudgedStep*, const Verdicts*>> rows;
  for (const JudgedStep& step : steps) {
    for (const Verdicts& one : step.answers) {
      if (one.name == name && one.of_engine) rows.emplace_back(&step, &one);
    }
  }
  const auto order = [](const auto& row) {
    return row.second->error.empty() ? -row.second->residuals.own.scaled : 0.0;
  };
  if (!request.all) {
    std::ranges::stable_sort(rows, {}, order);
    rows.resize(std::min<std::size_t>(rows.size(), worst_steps));
  }
  std::vector<std::vector<std::string>> table = {{"step", "time", "own law", "m/s", "NCP with R", "m/s", "rigid NCP",
                                                  "m/s", "open/stick/slip", "least gap", "it.", "says", "worst"}};
  for (const auto& [step, one] : rows) {
    const AnswerResiduals& found = one->residuals;
    const auto both = [&](std::vector<std::string>& row, const std::optional<LawResidual>& law) {
      row.push_back(law ? short_number(law->scaled) : "–");
      row.push_back(law ? short_number(law->speed) : "–");
    };
    std::vector<std::string> row = {step->number ? std::to_string(*step->number) : step->address,
                                    step->time ? fmt::format("{:g}", *step->time) : "–"};
    const bool known = one->error.empty();
    both(row, known ? std::optional(found.own) : std::nullopt);
    both(row, known ? std::optional(found.compliant) : std::nullopt);
    both(row, known ? found.rigid : std::nullopt);
    row.push_back(fmt::format("{}/{}/{}", found.modes.open, found.modes.stick, found.modes.slip));
    row.push_back(short_number(step->least_gap));
    row.push_back(one->iterations ? std::to_string(*one->iterations) : "–");
    row.push_back(one->status.empty() ? "–" : one->status);
    row.push_back(known ? step->place_of(found.own.block) : one->error);
    table.push_back(std::move(row));
  }
  const std::string title = request.all ? "steps" : fmt::format("worst steps ({} of them)", rows.size());
  return fmt::format("\n{} of {}\n", title, name) + align_columns(table, output_columns());
}

std::string to_text(const AnswersRequest& request, const std::vector<JudgedStep>& steps,
                    const std::vector<Over>& summary) {
  std::vector<std::vector<std::string>> table = {{"answer", "law", "steps",
                                                  fmt::format("own law <= {:g}", request.tolerance), "median", "max",
                                                  "max m/s", "NCP with R, median", "max", "max m/s", "rigid NCP", "max",
                                                  "max m/s", "iterations", "time", "says converged, off"}};
  for (const Over& over : summary) table.push_back(row_of(over));
  std::string text = heading(request, steps) + "\n" + align_columns(table, output_columns());
  text +=
      "\n" +
      paragraph(
          "Natural maps over V = max ‖g_i‖ of the step (of one whose V is only rounding: the median's), as medians and "
          "maxima over the steps with rows, and in m/s (rad/s on rows of joints). At rest V is only g Δt. own law: "
          "what the answer was computed for, with its R. rigid NCP: limits and contacts with R = 0 and b = max(gap, "
          "0) / Δt. says converged, off: steps that it calls converged and that exceed the tolerance on its own "
          "law; its own test is another. Times: an engine's as it says, warm where it starts so; a solver's set-up "
          "and solve, from a cold start.");
  for (const Over& over : summary) {
    if (over.of_engine) text += steps_table(request, steps, over.name);
  }
  return text;
}

}  // namespace

Result<int> judge_answers(const AnswersRequest& request) {
  for (const std::string& solver : request.solvers) CONEBENCH_CHECK(require_solver(solver));
  if (!request.page.empty()) CONEBENCH_CHECK(check_location(request.page));
  const fs::path file = find_problem_file(request.file);
  CONEBENCH_TRY(auto addresses, recording_steps(file));
  if (addresses.empty()) addresses = {file};
  ProgressPrinter progress = progress_on_stderr();
  std::vector<JudgedStep> steps;
  for (const fs::path& address : addresses) {
    auto step = judge_step(address, request);
    if (!step) progress.clear();
    CONEBENCH_CHECK(step);
    steps.push_back(std::move(*step));
    progress.stepped(static_cast<long>(steps.size()), static_cast<long>(addresses.size()));
  }
  progress.clear();
  scale_quiet_steps(steps);
  const auto summary = summarise(steps, request.tolerance);
  const auto answered = [](const JudgedStep& step) { return std::ranges::any_of(step.answers, &Verdicts::of_engine); };
  if (std::ranges::none_of(steps, answered)) {
    const auto alone = std::ranges::find_if(steps, &JudgedStep::has_solution);
    const std::string instead = alone == steps.end()
                                    ? std::string("; judge one of another file with --reaction")
                                    : fmt::format(
                                          ", but a solution (/solution): `conebench judge {0} --reaction {0}` "
                                          "judges it",
                                          reports::shell(alone->address));
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: has no answers (/conebench/answers/NAME/r){}", request.file, instead)};
  }
  if (request.json || !request.page.empty()) {
    nlohmann::json out = {{"recording", request.file},
                          {"description", description_of(steps)},
                          {"tolerance", request.tolerance},
                          {"steps", nlohmann::json::array()},
                          {"summary", nlohmann::json::array()}};
    for (const JudgedStep& step : steps) out["steps"].push_back(to_json(step));
    for (const Over& over : summary) out["summary"].push_back(to_json(over));
    if (!request.page.empty()) CONEBENCH_CHECK(write_files({}, {{request.page, reports::recording_page(out)}}));
    if (request.json) print_json("judge_answers", std::move(out));
  }
  if (!request.json) print_text(to_text(request, steps, summary));
  if (!request.require_solved) return done;
  for (const Over& over : summary) {
    if (!over.of_engine || over.own.within == over.answers) continue;
    print_error(fmt::format("{}: {} solves {} of {} on its own law within {:g}", request.file, over.name,
                            over.own.within, plural(over.answers, "step"), request.tolerance));
    return gate_failed;
  }
  return done;
}

}  // namespace conebench::cli
