#include "cli/explain.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "cli/answer_output.hpp"
#include "cli/output.hpp"
#include "metrics/feasibility.hpp"
#include "metrics/noise_level.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/certify.hpp"
#include "runners/plan/cell_plan.hpp"
#include "runners/plan/grid.hpp"
#include "store/late_answer.hpp"
#include "store/run_mode.hpp"

namespace conebench::cli {

namespace {

/// Processor time for a certificate; thousands of contacts take a second or two.
constexpr double certificate_s = 10.0;

Finding finding_of(Trend trend) {
  switch (trend) {
    case Trend::falls: return Finding::falls;
    case Trend::rests: return Finding::rests;
    case Trend::cycles: return Finding::cycles;
    case Trend::wanders: return Finding::wanders;
    case Trend::grows: return Finding::grows;
    case Trend::unseen:
    case Trend::few:
    case Trend::reached: break;
  }
  throw std::logic_error("this trend is no finding");
}

bool is_finding(Trend trend) { return trend != Trend::unseen && trend != Trend::few && trend != Trend::reached; }

std::vector<Finding> findings_of(const Explanation& known) {
  const CellRecord& record = known.record;
  std::vector<Finding> found;
  if (known.feasibility.state == "infeasible" && known.feasibility.excludes(record.verdict, record.tolerance))
    found.push_back(Finding::infeasible);
  if (known.noise_ratio && *known.noise_ratio <= 1.0) found.push_back(Finding::noise_level);
  if (record.solved) {
    found.push_back(Finding::solved);
  } else {
    const StatusClass kind = class_of(record.status);
    const bool at_limit = record.status == CellStatus::max_iterations;
    if (kind == StatusClass::unsupported) found.push_back(Finding::unsupported);
    if (kind == StatusClass::broke) found.push_back(Finding::broke);
    if (passes_too_late(record)) {
      found.push_back(Finding::late);
    } else if (record.status == CellStatus::time_limit || kind == StatusClass::clock) {
      found.push_back(Finding::time_up);
    }
    if (record.claimed) found.push_back(Finding::false_claim);
    if (at_limit) found.push_back(Finding::iterations_up);
    if (kind == StatusClass::answer && !at_limit && !record.claimed && record.status != CellStatus::time_limit &&
        !passes_too_late(record))
      found.push_back(Finding::gave_up);
    if (known.course && is_finding(known.course->trend)) found.push_back(finding_of(known.course->trend));
    if (known.course && !known.course->flapping.empty()) found.push_back(Finding::modes_flap);
    if (known.rounding && record.verdict == "natural_map_scaled" && record.verdict_value &&
        *record.verdict_value <= *known.rounding)
      found.push_back(Finding::rounding);
  }
  if (known.features.spectrum.rank < known.rows) found.push_back(Finding::redundant);
  return found;
}

ComparedCell compared(const CellRecord& record, const std::string& solver, const std::string& label, bool own) {
  ComparedCell cell;
  cell.solver = solver;
  cell.label = label;
  cell.own = own;
  cell.status = record.status;
  cell.solved = record.solved;
  cell.verdict_value = record.verdict_value;
  cell.iterations = record.iterations;
  cell.total_s = record.total.cold;
  return cell;
}

/// Those that solve it first, by time, those without a time last, then the others by how near they came.
void sort(std::vector<ComparedCell>& cells) {
  std::ranges::stable_sort(cells, [](const ComparedCell& a, const ComparedCell& b) {
    if (a.solved != b.solved) return a.solved;
    constexpr double none = std::numeric_limits<double>::infinity();
    return a.solved ? a.total_s.value_or(none) < b.total_s.value_or(none)
                    : a.verdict_value.value_or(none) < b.verdict_value.value_or(none);
  });
}

/// The stored cells of the same problem, to the same tolerance, from the same start, within the same limits and stopped
/// by the same.
class StoredCells {
 public:
  explicit StoredCells(const StoredCell& subject) : subject_(subject) {
    for (const ConfigurationRecord& one : subject.contents->configurations) configurations_[one.hash] = &one;
    for (const RunRecord& run : subject.contents->runs) {
      if (run.mode == timed_mode) timed_.insert(run.id);
    }
  }

  /// With one option of the solver changed.
  std::vector<ComparedCell> variants() const {
    std::vector<ComparedCell> cells;
    const auto base = nlohmann::json::parse(subject_.configuration->options_json, nullptr, false);
    for_each([&](const CellRecord& cell, const ConfigurationRecord& configuration) {
      if (configuration.solver != subject_.configuration->solver || cell.key == subject_.cell->key) return;
      const auto options = nlohmann::json::parse(configuration.options_json, nullptr, false);
      const auto changed = only_difference(base, options);
      if (!changed) return;
      ComparedCell one = stored(cell, configuration);
      one.option = *changed;
      const auto value = options.find(*changed);
      one.value = value == options.end() ? "default" : value->is_string() ? value->get<std::string>() : value->dump();
      cells.push_back(std::move(one));
    });
    std::ranges::stable_sort(cells, {}, &ComparedCell::option);
    return cells;
  }

  /// Of every other solver the cell that sort() puts first.
  std::vector<ComparedCell> solvers() const {
    std::map<std::string, std::vector<ComparedCell>> by_solver;
    for_each([&](const CellRecord& cell, const ConfigurationRecord& configuration) {
      if (configuration.solver == subject_.configuration->solver || cell.status == CellStatus::unsupported) return;
      by_solver[configuration.solver].push_back(stored(cell, configuration));
    });
    std::vector<ComparedCell> cells;
    for (auto& [solver, list] : by_solver) {
      sort(list);
      cells.push_back(std::move(list.front()));
    }
    sort(cells);
    return cells;
  }

 private:
  void for_each(const std::function<void(const CellRecord&, const ConfigurationRecord&)>& visit) const {
    const CellRecord& like = *subject_.cell;
    for (const CellRecord& cell : subject_.contents->cells) {
      if (cell.problem != like.problem || cell.tolerance != like.tolerance || cell.verdict != like.verdict ||
          cell.start != like.start || cell.stop_by != like.stop_by || cell.limit_s != like.limit_s ||
          cell.max_iterations != like.max_iterations)
        continue;
      const auto configuration = configurations_.find(cell.configuration);
      if (configuration != configurations_.end()) visit(cell, *configuration->second);
    }
  }

  ComparedCell stored(const CellRecord& cell, const ConfigurationRecord& configuration) const {
    ComparedCell one = compared(cell, configuration.solver, configuration.label, configuration.origin == "own");
    one.stored = true;
    one.key = cell.key;
    one.times_rank = timed_.contains(cell.run_id);
    if (configuration.origin == submitted_origin) one.total_s.reset();
    return one;
  }

  static std::optional<std::string> only_difference(const nlohmann::json& one, const nlohmann::json& other) {
    if (!one.is_object() || !other.is_object()) return std::nullopt;
    std::set<std::string> names, differ;
    for (const auto& [name, value] : one.items()) names.insert(name);
    for (const auto& [name, value] : other.items()) names.insert(name);
    for (const std::string& name : names) {
      if (one.value(name, nlohmann::json()) != other.value(name, nlohmann::json())) differ.insert(name);
    }
    return differ.size() == 1 ? std::optional(*differ.begin()) : std::nullopt;
  }

  const StoredCell& subject_;
  std::map<std::string, const ConfigurationRecord*> configurations_;
  std::set<std::int64_t> timed_;
};

/// Solves it in a process of its own; the label as records have it.
Result<ComparedCell> try_once(const ContactProblem& problem, CellRequest request, const ExplainScope& scope) {
  CONEBENCH_TRY(const SolverRow* const row, require_solver(request.solver));
  CONEBENCH_TRY(const auto effective, row->effective_options(request.options));
  const std::string label = configuration_record(*row, effective).label;
  const std::string solver = row->info.id;
  const bool own = row->info.origin == Origin::own;
  if (scope.progress) scope.progress(label);
  request.trace = TraceKind::none;
  request.repeats = {1, 0.0, 1};
  CONEBENCH_TRY(const auto run, solve_cell_apart(problem, request));
  return compared(run.record, solver, label, own);
}

Result<void> add_variants(const ContactProblem& problem, const CellRequest& request, const ExplainScope& scope,
                          Explanation& known) {
  CONEBENCH_TRY(const SolverRow* const row, require_solver(request.solver));
  const auto variants = option_variants(*row, request.options);
  const auto enough = static_cast<std::size_t>(scope.run ? scope.max_variants : 0);
  std::size_t tried = 0;
  for (const auto& [option, options] : variants) {
    if (tried == enough) break;
    ++tried;
    CellRequest changed = request;
    changed.options = options;
    CONEBENCH_TRY(auto cell, try_once(problem, changed, scope));
    cell.option = option;
    cell.value = to_text(options.at(option));
    known.variants.push_back(std::move(cell));
  }
  std::ranges::stable_sort(known.variants, {}, &ComparedCell::option);
  known.variants_left = static_cast<long>(variants.size() - tried);
  return {};
}

Result<void> add_solvers(const ContactProblem& problem, const CellRequest& request, const ExplainScope& scope,
                         Explanation& known) {
  for (const std::string& solver : scope.solvers) {
    const auto same = [&](const ComparedCell& one) { return one.solver == solver; };
    if (solver == request.solver || std::ranges::any_of(known.solvers, same)) continue;
    CellRequest other = request;
    other.solver = solver;
    other.options = {};
    CONEBENCH_TRY(auto cell, try_once(problem, other, scope));
    if (cell.status != CellStatus::unsupported) known.solvers.push_back(std::move(cell));
  }
  sort(known.solvers);
  return {};
}

bool ended_by_time(const CellRecord& record) {
  return record.status == CellStatus::time_limit || class_of(record.status) == StatusClass::clock ||
         passes_too_late(record);
}

/// Runs the cell for its iterates. `record`: of the cell; replaced where it is not stored. One that ended by its time
/// is run to the same iterate, so that the machine's speed now does not matter.
Result<void> add_course(const ContactProblem& problem, CellRequest request, bool stored, Explanation& known) {
  constexpr double times_limit = 10.0, least_s = 10.0;
  if (stored && ended_by_time(known.record) && known.record.iterations > 0) {
    request.max_iterations = static_cast<long>(known.record.iterations);
    request.seconds = std::max(times_limit * request.seconds, least_s);
  }
  request.trace = TraceKind::course;
  request.repeats = {1, 0.0, 1};
  CONEBENCH_TRY(auto run, solve_cell_apart(problem, request));
  // No text: it was killed, or had no answer.
  if (const auto seen = read_seen_iterates(run.trace)) known.course = analyse_course(*seen, request.tolerance);
  if (stored) {
    known.again = std::move(run.record);
  } else {
    known.record = std::move(run.record);
  }
  return {};
}

}  // namespace

std::string to_string(Finding finding) {
  switch (finding) {
    case Finding::solved: return "solved";
    case Finding::infeasible: return "infeasible";
    case Finding::noise_level: return "noise_level";
    case Finding::unsupported: return "unsupported";
    case Finding::broke: return "broke";
    case Finding::late: return "late";
    case Finding::false_claim: return "false_claim";
    case Finding::gave_up: return "gave_up";
    case Finding::iterations_up: return "iterations_up";
    case Finding::time_up: return "time_up";
    case Finding::falls: return "falls";
    case Finding::rests: return "rests";
    case Finding::cycles: return "cycles";
    case Finding::wanders: return "wanders";
    case Finding::grows: return "grows";
    case Finding::modes_flap: return "modes_flap";
    case Finding::rounding: return "rounding";
    case Finding::redundant: return "redundant";
  }
  throw std::logic_error("unknown finding");
}

std::vector<std::pair<std::string, OptionValues>> option_variants(const SolverRow& row, const OptionValues& options) {
  const auto effective = row.effective_options(options);
  if (!effective) return {};
  const auto other_values = [&](const OptionSpec& spec) -> std::vector<OptionValue> {
    const auto found = effective->find(spec.name);
    const OptionValue now = found == effective->end() ? spec.default_value : found->second;
    std::vector<OptionValue> values;
    if (const bool* const flag = std::get_if<bool>(&now)) return {!*flag};
    if (std::holds_alternative<std::string>(now)) {
      for (const std::string& choice : spec.choices) {
        if (OptionValue(choice) != now) values.emplace_back(choice);
      }
      return values;
    }
    const double factor = spec.scale == OptionScale::logarithmic ? 10.0 : 2.0;
    for (const double times : {factor, 1.0 / factor}) {
      const long* const whole = std::get_if<long>(&now);
      const double before = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(now);
      const double value = std::clamp(times * before, spec.minimum, spec.maximum);
      const OptionValue changed = whole != nullptr ? OptionValue(std::lround(value)) : OptionValue(value);
      if (std::isfinite(value) && changed != now) values.push_back(changed);
    }
    return values;
  };
  std::vector<std::pair<std::string, OptionValues>> variants;
  std::set<std::string> known = {configuration_record(row, *effective).hash};
  for (std::size_t turn = 0, added = 1; added > 0; ++turn) {
    added = 0;
    for (const OptionSpec& spec : row.all_options()) {
      if (spec.name == "threads") continue;
      const auto values = other_values(spec);
      if (turn >= values.size()) continue;
      ++added;
      OptionValues changed = options;
      changed[spec.name] = values[turn];
      const auto all = row.effective_options(changed);  // an error: the options contradict each other
      if (all && known.insert(configuration_record(row, *all).hash).second) variants.emplace_back(spec.name, changed);
    }
  }
  return variants;
}

Result<Explanation> explain(const ContactProblem& problem, const CellRequest& request, const StoredCell* stored,
                            const ExplainScope& scope) {
  CONEBENCH_TRY(const SolverRow* const row, require_solver(request.solver));
  CONEBENCH_TRY(const auto effective, row->effective_options(request.options));
  const MovingParts parts(problem);
  Explanation known{.solver = request.solver,
                    .label = configuration_record(*row, effective).label,
                    .options = request.options,
                    .record = blank_record(request),
                    .contacts = problem.cones().contacts(),
                    .rows = problem.rows(),
                    .features = extract_features(problem),
                    .parts = parts,
                    .structure = analyse_structure(problem, parts),
                    .noise_ratio = noise_ratio(problem),
                    .of = problem};
  if (stored != nullptr) {
    known.key = stored->cell->key;
    known.record = *stored->cell;
    known.feasibility = stored->problem->feasibility;
  }
  const StatusClass kind = class_of(known.record.status);
  const bool traced = stored == nullptr || (kind != StatusClass::unsupported && kind != StatusClass::unreadable);
  if (scope.run && traced) {
    if (scope.progress) scope.progress(known.label);
    CONEBENCH_CHECK(add_course(problem, request, stored != nullptr, known));
  }
  const std::vector<double>& answer = known.again ? known.again->reaction : known.record.reaction;
  if (static_cast<Index>(answer.size()) == problem.rows() && problem.rows() > 0) {
    const auto impulse = Eigen::Map<const Vector>(answer.data(), problem.rows());
    const double scale = known.structure.velocity_scale;
    if (const auto left = velocity_rounding(problem, impulse); left && impulse.allFinite())
      known.rounding = *left / (scale > 0.0 ? scale : 1.0);
  }
  if (known.feasibility.state.empty() && !known.record.solved)
    known.feasibility = record_of(check_feasibility(problem, certificate_s));
  known.findings = findings_of(known);
  if (stored != nullptr) {
    const StoredCells cells(*stored);
    known.variants = cells.variants();
    known.solvers = cells.solvers();
  }
  if (known.variants.empty() || scope.max_variants > 0) CONEBENCH_CHECK(add_variants(problem, request, scope, known));
  const bool solved_elsewhere = std::ranges::any_of(known.solvers, &ComparedCell::solved);
  if (scope.run && !solved_elsewhere) CONEBENCH_CHECK(add_solvers(problem, request, scope, known));
  return known;
}

namespace {

nlohmann::json to_json(const ComparedCell& cell) {
  return {{"solver", cell.solver},
          {"label", cell.label},
          {"by_conebench_authors", cell.own},
          {"option", cell.option.empty() ? nlohmann::json(nullptr) : nlohmann::json(cell.option)},
          {"value", cell.option.empty() ? nlohmann::json(nullptr) : nlohmann::json(cell.value)},
          {"stored", cell.stored},
          {"key", cell.stored ? nlohmann::json(cell.key) : nlohmann::json(nullptr)},
          {"status", cell.status},
          {"solved", cell.solved},
          {"verdict_value", number(cell.verdict_value)},
          {"iterations", cell.iterations},
          {"total_s", number(cell.total_s)},
          {"times_rank", cell.times_rank}};
}

nlohmann::json to_json(const std::optional<Spread>& spread, bool of_blocks, const ContactProblem& problem) {
  if (!spread) return nullptr;
  const auto name = [&](Index index) {
    return of_blocks ? nlohmann::json(block_name(problem.cones(), index)) : nlohmann::json(index);
  };
  return {{"minimum", spread->minimum},
          {"maximum", spread->maximum},
          {"ratio", spread->ratio()},
          {"smallest", name(spread->smallest)},
          {"largest", name(spread->largest)}};
}

nlohmann::json to_json(const Course& course, const Explanation& known) {
  nlohmann::json worst = nlohmann::json::array(), flapping = nlohmann::json::array();
  for (const Course::Share& one : course.worst) {
    worst.push_back({{"block", block_name(known.of.cones(), one.block)},
                     {"index", one.block},
                     {"share", one.share},
                     {"bodies", known.parts.of(one.block)}});
  }
  for (const Course::Flapping& one : course.flapping) {
    nlohmann::json modes = nlohmann::json::array();
    for (const ContactMode mode : one.modes) modes.push_back(to_string(mode));
    flapping.push_back({{"contact", one.contact},
                        {"changes", one.changes},
                        {"modes", std::move(modes)},
                        {"bodies", known.parts.of(known.of.cones().first_contact_row() + one.contact)}});
  }
  return {{"trend", to_string(course.trend)},
          {"iterations", course.iterations},
          {"seen", course.seen},
          {"first", number(course.first)},
          {"last", number(course.last)},
          {"best", number(course.best)},
          {"best_iteration", course.best_iteration},
          {"low", number(course.low)},
          {"high", number(course.high)},
          {"last_step", number(course.last_step)},
          {"factor_per_iteration", number(course.factor)},
          {"iterations_to_tolerance", number(course.to_tolerance)},
          {"estimate", course.estimate == Course::Estimate::about      ? nlohmann::json("about")
                       : course.estimate == Course::Estimate::at_least ? nlohmann::json("at_least")
                                                                       : nlohmann::json(nullptr)},
          {"at_the_end", course.at_the_end},
          {"period", course.period ? nlohmann::json(*course.period) : nlohmann::json(nullptr)},
          {"worst", std::move(worst)},
          {"flapping", std::move(flapping)},
          {"compared", course.compared}};
}

nlohmann::json ending(const CellRecord& record) {
  return {{"status", record.status},
          {"reason", whole_reason(record)},
          {"claimed", record.claimed},
          {"solved", record.solved},
          {"verdict_value", number(record.verdict_value)},
          {"iterations", record.iterations},
          {"total_s", number(record.total.median)}};
}

}  // namespace

nlohmann::json to_json(const Explanation& known) {
  const CellRecord& record = known.record;
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
  };
  nlohmann::json out = {{"problem", known.problem},
                        {"problem_hash", known.of.data_hash()},
                        {"store", or_null(known.store)},
                        {"key", or_null(known.key)},
                        {"solver", known.solver},
                        {"label", known.label},
                        {"options", cli::to_json(known.options)},
                        {"tolerance", number(record.tolerance)},
                        {"verdict", record.verdict},
                        {"stop_by", record.stop_by},
                        {"start", record.start},
                        {"max_iterations", record.max_iterations},
                        {"time_limit_s", number(record.limit_s)},
                        {"ended", record.status == CellStatus::unknown ? nlohmann::json(nullptr) : ending(record)},
                        {"ended_again", known.again ? ending(*known.again) : nlohmann::json(nullptr)},
                        {"findings", nlohmann::json::array()},
                        {"variants", nlohmann::json::array()},
                        {"variants_left", known.variants_left},
                        {"solvers", nlohmann::json::array()}};
  for (const Finding finding : known.findings) out["findings"].push_back(to_string(finding));
  for (const ComparedCell& cell : known.variants) out["variants"].push_back(to_json(cell));
  for (const ComparedCell& cell : known.solvers) out["solvers"].push_back(to_json(cell));
  out["course"] = known.course ? to_json(*known.course, known) : nlohmann::json(nullptr);
  const Spectrum& spectrum = known.features.spectrum;
  const Structure& structure = known.structure;
  out["facts"] = {
      {"contacts", known.contacts},
      {"rows", known.rows},
      {"rank", spectrum.rank},
      {"conditioning", number(spectrum.conditioning)},
      {"estimated", spectrum.estimated},
      {"positive_semidefinite", spectrum.positive_semidefinite},
      {"symmetry_error", number(known.features.symmetry_error)},
      {"coupling", number(known.features.coupling)},
      {"coupling_between", number(structure.coupling_between)},
      {"coupled_block", structure.coupled_block < 0
                            ? nlohmann::json(nullptr)
                            : nlohmann::json(block_name(known.of.cones(), structure.coupled_block))},
      {"islands", structure.islands},
      {"largest_island", structure.largest_island},
      {"effective_mass", to_json(structure.effective_mass, true, known.of)},
      {"mass", to_json(structure.mass, false, known.of)},
      {"velocity_scale", number(structure.velocity_scale)},
      {"noise_ratio", number(known.noise_ratio)},
      {"rounding", number(known.rounding)},
      {"feasibility", or_null(known.feasibility.state)},
      {"feasibility_margin", number(known.feasibility.margin)},
      {"verdict_bound", number(known.feasibility.verdict_bound)},
      {"infeasible_block", known.feasibility.worst_block
                               ? nlohmann::json(block_name(known.of.cones(), *known.feasibility.worst_block))
                               : nlohmann::json(nullptr)}};
  return out;
}

}  // namespace conebench::cli
