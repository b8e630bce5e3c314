#include "reports/analysis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "metrics/residuals.hpp"
#include "reports/analysis_parts.hpp"
#include "reports/text.hpp"
#include "store/late_answer.hpp"
#include "store/run_mode.hpp"

namespace conebench::reports {

std::string id(Cost cost) {
  switch (cost) {
    case Cost::time: return "time";
    case Cost::solve_time: return "solve_time";
    case Cost::condensed_time: return "condensed_time";
    case Cost::iterations: return "iterations";
    case Cost::factorizations: return "factorizations";
    case Cost::operator_products: return "operator_products";
  }
  throw std::logic_error("unknown cost");
}

std::string title(Cost cost) {
  switch (cost) {
    case Cost::time: return "set-up + solve time";
    case Cost::solve_time: return "solve time alone";
    case Cost::condensed_time: return "set-up + solve time with condensation";
    case Cost::iterations: return "iterations";
    case Cost::factorizations: return "factorizations";
    case Cost::operator_products: return "operator products";
  }
  throw std::logic_error("unknown cost");
}

bool is_time(Cost cost) { return cost == Cost::time || cost == Cost::solve_time || cost == Cost::condensed_time; }

std::string id(Outcome outcome) {
  switch (outcome) {
    case Outcome::solved: return "solved";
    case Outcome::false_claim: return "false_claim";
    case Outcome::failed: return "failed";
    case Outcome::unsupported: return "unsupported";
    case Outcome::not_run: return "not_run";
  }
  throw std::logic_error("unknown outcome");
}

Outcome outcome(const CellRecord* cell) {
  if (cell == nullptr || class_of(cell->status) == StatusClass::not_run) return Outcome::not_run;
  if (cell->solved) return Outcome::solved;
  if (class_of(cell->status) == StatusClass::unsupported) return Outcome::unsupported;
  return claims(*cell) ? Outcome::false_claim : Outcome::failed;
}

bool claims(const CellRecord& cell) { return cell.claimed && cell.status != CellStatus::flaky; }

namespace {

std::optional<double> measured(double seconds) {
  constexpr double clock_tick = 1e-9;
  return std::isfinite(seconds) ? std::optional(std::max(seconds, clock_tick)) : std::nullopt;
}

}  // namespace

std::optional<double> cost(const CellRecord* cell, Cost kind) {
  if (outcome(cell) != Outcome::solved) return std::nullopt;
  const auto count = [](std::int64_t n) {
    return n < 0 ? std::nullopt : std::optional(static_cast<double>(std::max<std::int64_t>(n, 1)));
  };
  switch (kind) {
    case Cost::time: return measured(cell->total.median);
    case Cost::solve_time: return measured(cell->solve.median);
    case Cost::condensed_time: return measured(cell->total.median + cell->condensation_s.value_or(0.0));
    case Cost::iterations: return count(cell->iterations);
    case Cost::factorizations: return count(cell->factorizations);
    case Cost::operator_products: return count(cell->operator_products);
  }
  throw std::logic_error("unknown cost");
}

std::optional<double> cold_cost(const CellRecord* cell, Cost kind) {
  if (outcome(cell) != Outcome::solved) return std::nullopt;
  const double condensation_s = kind == Cost::condensed_time ? cell->condensation_s.value_or(0.0) : 0.0;
  return measured(cell->total.cold + condensation_s);
}

Cost shown_cost(const Analysis& analysis) {
  if (!analysis.times_shown) return Cost::iterations;
  return analysis.deformable && analysis.condensation_shown ? Cost::condensed_time : Cost::time;
}

const RankingRow& Ranking::row(std::size_t column) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.column == column; });
  if (found == rows.end()) throw std::out_of_range("a column that is not ranked");
  return *found;
}

std::vector<const Ranking*> Analysis::rankings_of(std::size_t slice, const std::string& family) const {
  std::vector<const Ranking*> found;
  for (const Ranking& ranking : rankings) {
    if (ranking.slice == slice && ranking.family == family) found.push_back(&ranking);
  }
  return found;
}

const Ranking& Analysis::ranking(std::size_t slice, const std::string& family) const {
  const auto found = rankings_of(slice, family);
  if (found.empty()) throw std::out_of_range("no ranking of family '" + family + "'");
  return *found.front();
}

namespace {

/// `names` made unique: repeated names get as many digits of their hashes as are needed to distinguish them.
void tell_apart(std::vector<std::string>& names, const std::vector<std::string>& hashes) {
  std::map<std::string, std::vector<std::size_t>> same;
  for (std::size_t i = 0; i < names.size(); ++i) same[names[i]].push_back(i);
  for (const auto& [name, indices] : same) {
    if (indices.size() == 1) continue;
    std::size_t length = 6;
    for (std::set<std::string> heads; heads.size() < indices.size() && length < 128; ++length) {
      heads.clear();
      for (const std::size_t i : indices) heads.insert(hashes[i].substr(0, length));
    }
    for (const std::size_t i : indices) names[i] += fmt::format(" #{}", hashes[i].substr(0, length - 1));
  }
}

/// "ID b=2 a=1" → "ID a=1 b=2", as long as no value has a blank.
std::string in_order(const std::string& label) {
  const std::size_t equals = label.find('=');
  const std::size_t begin = label.rfind(' ', equals);
  if (equals == std::string::npos || begin == std::string::npos) return label;
  std::set<std::string> words;
  std::istringstream stream(label.substr(begin + 1));
  for (std::string word; stream >> word;) {
    if (word.find('=') == std::string::npos) return label;
    words.insert(word);
  }
  return fmt::format("{} {}", label.substr(0, begin), fmt::join(words, " "));
}

/// Adds the default of an option to a label that lacks it, if other configurations of the solver vary the option, so
/// that a grid shows all of its axes.
void add_grid_options(const std::vector<const ConfigurationRecord*>& configurations, std::vector<std::string>& labels) {
  const auto kind = [](const ConfigurationRecord& one) { return std::pair(one.solver, one.solver_version); };
  std::map<std::pair<std::string, int>, std::map<std::string, std::set<std::string>>> values;  // by option
  std::vector<nlohmann::json> options;
  for (const auto* configuration : configurations) {
    options.push_back(nlohmann::json::parse(configuration->options_json, nullptr, false));
    if (!options.back().is_object()) options.back() = nlohmann::json::object();
    for (const auto& [name, value] : options.back().items()) values[kind(*configuration)][name].insert(value.dump());
  }
  const auto text = [](const nlohmann::json& value) {
    if (value == "") return std::string("default");
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
  };
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    std::string added;
    for (const auto& [name, known] : values[kind(*configurations[i])]) {
      const auto value = options[i].find(name);
      if (known.size() < 2 || value == options[i].end()) continue;
      if (!configurations[i]->sets_option(name)) added += fmt::format(" {}={}", name, text(*value));
    }
    if (!added.empty()) labels[i] = in_order(labels[i] + added);
  }
}

std::vector<Column> make_columns(const StoreContents& contents, const std::set<std::string>& used) {
  std::vector<const ConfigurationRecord*> configurations;
  for (const auto& configuration : contents.configurations) {
    if (used.contains(configuration.hash)) configurations.push_back(&configuration);
  }
  std::sort(configurations.begin(), configurations.end(),
            [](const ConfigurationRecord* a, const ConfigurationRecord* b) {
              return std::tie(a->label, a->solver_version, a->hash) < std::tie(b->label, b->solver_version, b->hash);
            });
  std::map<std::string, std::set<int>> versions;
  for (const auto* configuration : configurations) versions[configuration->label].insert(configuration->solver_version);
  std::vector<std::string> labels;
  std::vector<std::string> hashes;
  for (const auto* configuration : configurations) {
    const std::string& label = configuration->label.empty() ? configuration->solver : configuration->label;
    const bool one_version = versions[configuration->label].size() == 1;
    labels.push_back(one_version ? label : fmt::format("{} v{}", label, configuration->solver_version));
    hashes.push_back(configuration->hash);
  }
  add_grid_options(configurations, labels);
  tell_apart(labels, hashes);
  std::vector<Column> columns;
  for (std::size_t i = 0; i < configurations.size(); ++i) columns.push_back({configurations[i], labels[i]});
  return columns;
}

using Why = Exclusion::Why;

/// " at 1e-6, 1e-8"; empty: everywhere.
std::string where_text(const Exclusion& exclusion, const std::vector<Slice>& slices) {
  std::string text;
  for (const std::size_t s : exclusion.slices) text += (text.empty() ? " at " : ", ") + slices[s].label;
  return text;
}

std::string text_of(const Exclusion& exclusion, const std::vector<Slice>& slices) {
  const std::string where = where_text(exclusion, slices);
  switch (exclusion.why) {
    case Why::taken_by_none: return "no solver takes it: " + exclusion.detail;
    case Why::not_loaded: return "could not be loaded: " + exclusion.detail;
    case Why::repeats: return "repeats " + exclusion.detail;
    case Why::noise_level: return "at noise level";
    case Why::no_solution:
      return "without a solution (certified)" + where + (exclusion.detail.empty() ? "" : ": ") + exclusion.detail;
    case Why::zero_impulse: return "zero impulse solves it" + where;
    case Why::gaps: return "not run by every solver" + where;
  }
  throw std::logic_error("unknown exclusion");
}

/// How the notes count the problem: by its first exclusion, without details of this problem.
std::string counted_as(const Problem& problem, const std::vector<Slice>& slices) {
  const Exclusion& first = problem.exclusions.front();
  switch (first.why) {
    case Why::taken_by_none: return "that no solver takes";
    case Why::not_loaded: return "could not be loaded";
    case Why::repeats: return "repeats of another problem";
    case Why::no_solution: {
      const bool counts = std::find(problem.counted.begin(), problem.counted.end(), true) != problem.counted.end();
      return "without a solution (certified)" + where_text(first, slices) + (counts ? " (elsewhere it counts)" : "");
    }
    case Why::gaps: return "not run by every solver yet";
    case Why::noise_level: return text_of(first, slices);
    case Why::zero_impulse: break;
  }
  std::string text = "solved by zero impulse" + where_text(first, slices);
  for (std::size_t i = 1; i < problem.exclusions.size(); ++i) text += "; " + text_of(problem.exclusions[i], slices);
  return text;
}

std::vector<Problem> make_problems(const StoreContents& contents, const std::set<std::string>& used) {
  std::vector<const ProblemRecord*> records;
  for (const auto& record : contents.problems) {
    if (used.contains(record.hash) || !record.error.empty()) records.push_back(&record);
  }
  std::sort(records.begin(), records.end(), [](const ProblemRecord* a, const ProblemRecord* b) {
    return std::tie(a->family, a->contacts, a->rows, a->name, a->hash) <
           std::tie(b->family, b->contacts, b->rows, b->name, b->hash);
  });
  std::vector<std::string> names;
  std::vector<std::string> hashes;
  std::map<std::string, std::string> name_of;
  for (const auto* record : records) {
    names.push_back(record->name.empty() ? record->source : record->name);
    hashes.push_back(record->hash);
  }
  tell_apart(names, hashes);
  for (std::size_t i = 0; i < records.size(); ++i) name_of[hashes[i]] = names[i];

  // A valid file that no solver takes (rolling friction) has the same record as a broken one; its cells tell.
  std::set<std::string> not_taken;
  for (const auto& cell : contents.cells) {
    if (class_of(cell.status) == StatusClass::unsupported) not_taken.insert(cell.problem);
  }

  std::vector<Problem> problems;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const ProblemRecord& record = *records[i];
    Problem problem;
    problem.record = &record;
    problem.name = names[i];
    const auto original = name_of.find(record.duplicate_of);
    if (!record.error.empty()) {
      const Why why = not_taken.contains(record.hash) ? Why::taken_by_none : Why::not_loaded;
      problem.exclusions.push_back({why, record.error});
    } else if (original != name_of.end() && original->first != record.hash) {
      problem.exclusions.push_back({Why::repeats, original->second});
    } else if (record.noise_level()) {
      problem.exclusions.push_back({Why::noise_level});
    }
    problem.headline = problem.exclusions.empty();
    problems.push_back(std::move(problem));
  }
  return problems;
}

using SliceKey = std::tuple<double, std::string, std::string, std::string>;  // −tolerance first: loosest in front

SliceKey slice_key(const CellRecord& cell) { return {-cell.tolerance, cell.stop_by, cell.verdict, cell.start}; }

/// Labels of slices that show only what differs between them.
void label_slices(std::vector<Slice>& slices) {
  std::set<std::string> stopped_by;
  std::set<std::string> verdicts;
  std::set<std::string> starts;
  for (const auto& slice : slices) {
    stopped_by.insert(slice.stop_by);
    verdicts.insert(slice.verdict);
    starts.insert(slice.start);
  }
  for (auto& slice : slices) {
    slice.label = human_tolerance(slice.tolerance);
    if (stopped_by.size() > 1) slice.label += " " + slice.stop_by;
    if (verdicts.size() > 1) slice.label += " " + slice.verdict;
    if (starts.size() > 1) slice.label += " " + slice.start;
  }
}

std::vector<Slice> make_slices(const StoreContents& contents, const std::vector<Column>& columns,
                               const std::vector<Problem>& problems, long& superseded) {
  std::unordered_map<std::string, std::size_t> column_of;
  std::unordered_map<std::string, std::size_t> problem_of;
  for (std::size_t i = 0; i < columns.size(); ++i) column_of.emplace(columns[i].configuration->hash, i);
  for (std::size_t i = 0; i < problems.size(); ++i) problem_of.emplace(problems[i].record->hash, i);
  std::map<SliceKey, Slice> by_key;
  for (const auto& cell : contents.cells) {
    const auto column = column_of.find(cell.configuration);
    const auto problem = problem_of.find(cell.problem);
    if (column == column_of.end() || problem == problem_of.end()) continue;
    Slice& slice = by_key[slice_key(cell)];
    if (slice.grid.empty()) {
      slice.tolerance = cell.tolerance;
      slice.stop_by = cell.stop_by;
      slice.verdict = cell.verdict;
      slice.start = cell.start;
      slice.grid.assign(problems.size(), std::vector<const CellRecord*>(columns.size(), nullptr));
    }
    const CellRecord*& latest = slice.grid[problem->second][column->second];
    if (latest != nullptr) ++superseded;
    if (latest == nullptr || cell.run_id >= latest->run_id) latest = &cell;
  }
  std::vector<Slice> slices;
  slices.reserve(by_key.size());
  for (auto& [key, slice] : by_key) slices.push_back(std::move(slice));
  label_slices(slices);
  return slices;
}

/// Excludes the problem from the slices for which `holds` is true.
void exclude_where(const Analysis& analysis, Problem& problem, Exclusion exclusion, auto holds) {
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    if (!holds(analysis.slices[s])) continue;
    problem.counted[s] = false;
    exclusion.slices.push_back(s);
  }
  if (exclusion.slices.empty()) return;
  if (exclusion.slices.size() == analysis.slices.size()) exclusion.slices.clear();
  problem.exclusions.push_back(std::move(exclusion));
}

/// Excludes problems that λ = 0 solves, or that are certified to have no solution, from the slices for which this
/// holds.
void count_problems(Analysis& analysis) {
  for (Problem& problem : analysis.problems) {
    problem.counted.assign(analysis.slices.size(), problem.headline);
    if (!problem.headline) continue;
    const ProblemRecord& record = *problem.record;
    const std::optional<double> bound = record.feasibility.verdict_bound;
    exclude_where(analysis, problem, {Why::no_solution, bound.value_or(0.0) > 0.0 ? bound_text(*bound) : ""},
                  [&](const Slice& slice) { return record.infeasible_at(slice.verdict, slice.tolerance); });
    exclude_where(analysis, problem, {Why::zero_impulse}, [&](const Slice& slice) {
      const auto at_zero = record.zero_impulse.find(slice.verdict);
      return at_zero != record.zero_impulse.end() && at_zero->second <= slice.tolerance;
    });
    if (problem.exclusions.empty()) continue;
    problem.headline = std::find(problem.counted.begin(), problem.counted.end(), true) != problem.counted.end();
  }
}

/// Columns that have run on at least `share` of the problems, and the problems that all of these have run.
struct Comparable {
  std::vector<bool> columns;
  std::vector<std::size_t> problems;
};

Comparable comparable(const Slice& slice, const std::vector<std::size_t>& problems, std::size_t columns, double share) {
  Comparable found;
  std::vector<std::size_t> runs(columns, 0);
  for (const std::size_t p : problems) {
    for (std::size_t c = 0; c < columns; ++c) runs[c] += outcome(slice.grid[p][c]) != Outcome::not_run ? 1 : 0;
  }
  const std::size_t most = runs.empty() ? 0 : *std::max_element(runs.begin(), runs.end());
  for (const std::size_t run : runs) {
    found.columns.push_back(run > 0 && double(run) >= std::min(double(most), share * double(problems.size())));
  }
  for (const std::size_t p : problems) {
    bool by_all = true;
    for (std::size_t c = 0; c < columns; ++c) {
      by_all = by_all && (!found.columns[c] || outcome(slice.grid[p][c]) != Outcome::not_run);
    }
    if (by_all) found.problems.push_back(p);
  }
  return found;
}

/// If cells are missing (an interrupted run, a filter, a solver added later), only problems that all columns ran are
/// compared. Counting missing cells as unsolved, or each column on its own problems, would rank the gaps.
void leave_out_gaps(Analysis& analysis) {
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    Slice& slice = analysis.slices[s];
    std::vector<std::size_t> problems;
    for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
      const auto& row = slice.grid[p];
      const bool present = std::any_of(row.begin(), row.end(), [](const auto* cell) { return cell != nullptr; });
      if (present && analysis.problems[p].counted[s]) problems.push_back(p);
    }
    Comparable kept;
    for (const double share : {0.5, 0.9, 1.0}) {
      kept = comparable(slice, problems, analysis.columns.size(), share);
      if (2 * kept.problems.size() >= problems.size()) break;
    }
    slice.ranked = kept.columns;
    for (const std::size_t p : problems) {
      if (std::binary_search(kept.problems.begin(), kept.problems.end(), p)) continue;
      Problem& problem = analysis.problems[p];
      problem.counted[s] = false;
      if (!problem.excluded_by(Why::gaps)) problem.exclusions.push_back({Why::gaps});
      problem.exclusions.back().slices.push_back(s);
      problem.headline = std::find(problem.counted.begin(), problem.counted.end(), true) != problem.counted.end();
    }
  }
}

std::vector<StatusRow> make_statuses(const Analysis& analysis) {
  std::vector<StatusRow> rows;
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    std::map<std::tuple<std::size_t, std::string_view, std::string>, long> counts;
    for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
      if (!analysis.problems[p].counted[s]) continue;
      for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
        const CellRecord* cell = analysis.slices[s].grid[p][c];
        if (cell != nullptr) ++counts[{c, name(cell->status), whole_reason(*cell)}];
      }
    }
    for (const auto& [key, cells] : counts) {
      rows.push_back({s, std::get<0>(key), cell_status(std::get<1>(key)), std::get<2>(key), cells});
    }
  }
  return rows;
}

ProblemRow make_problem_row(const Analysis& analysis, std::size_t s, std::size_t p) {
  ProblemRow row;
  row.slice = s;
  row.problem = p;
  const Cost kind = shown_cost(analysis);
  for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
    const CellRecord* cell = analysis.slices[s].grid[p][c];
    const Outcome what = outcome(cell);
    if (what == Outcome::not_run || what == Outcome::unsupported) continue;
    ++row.tried_by;
    row.solved_by += what == Outcome::solved;
    const auto spent = cost(cell, kind);
    if (spent && (!row.fastest_cost || *spent < *row.fastest_cost)) {
      row.fastest_cost = spent;
      row.fastest = c;
    }
    if (cell->verdict_value && (!row.best_verdict || *cell->verdict_value < *row.best_verdict)) {
      row.best_verdict = cell->verdict_value;
      row.best_verdict_by = c;
    }
  }
  return row;
}

/// Whether some headline problem had to be condensed, and whether all are of deformable bodies.
void look_for_condensation(Analysis& analysis) {
  bool any = false;
  analysis.deformable = true;
  for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
    const Problem& problem = analysis.problems[p];
    if (!problem.headline) continue;
    any = true;
    analysis.deformable = analysis.deformable && problem.record->given == given_as_deformable;
    for (const Slice& slice : analysis.slices) {
      analysis.condensation_shown =
          analysis.condensation_shown || std::any_of(slice.grid[p].begin(), slice.grid[p].end(), [](const auto* cell) {
            return cell != nullptr && cell->condensation_s.has_value();
          });
    }
  }
  analysis.deformable = analysis.deformable && any;
  analysis.condensation_shown = analysis.condensation_shown && analysis.times_shown;
}

/// "fclib, mini, solver=NSGS, by category".
std::string title_of(const StoreContents& contents) {
  std::set<std::string> parts;
  for (const auto& run : contents.runs) parts.insert(run.suite_name);
  std::string title = fmt::format("{}", fmt::join(parts, ", "));
  if (!contents.filter.empty()) title += ", " + contents.filter;
  if (contents.group != "family") title += contents.group == "category" ? ", by category" : ", by conditioning";
  return title;
}

}  // namespace

Analysis analyse(const StoreContents& contents, bool force_time_profiles, const std::string& given_title) {
  Analysis analysis;
  analysis.contents = &contents;
  std::set<std::string> used_problems;
  std::set<std::string> used_configurations;
  std::set<std::string> residuals;
  for (const auto& cell : contents.cells) {
    used_problems.insert(cell.problem);
    used_configurations.insert(cell.configuration);
    for (const auto& [name, value] : cell.residuals) residuals.insert(name);
  }
  analysis.title = given_title.empty() ? title_of(contents) : given_title;
  for (const auto& row : residual_table()) {
    if (residuals.erase(row.name) > 0) analysis.residuals.push_back(row.name);
  }
  analysis.residuals.insert(analysis.residuals.end(), residuals.begin(), residuals.end());
  analysis.columns = make_columns(contents, used_configurations);
  analysis.problems = make_problems(contents, used_problems);
  long superseded = 0;
  analysis.slices = make_slices(contents, analysis.columns, analysis.problems, superseded);

  count_problems(analysis);
  leave_out_gaps(analysis);
  std::set<std::string> families;
  for (const auto& problem : analysis.problems) {
    if (problem.headline) families.insert(problem.record->family);
  }
  analysis.families.assign(families.begin(), families.end());
  for (Problem& problem : analysis.problems) {
    if (problem.exclusions.empty()) continue;
    for (const Exclusion& exclusion : problem.exclusions) {
      problem.left_out += (problem.left_out.empty() ? "" : "; ") + text_of(exclusion, analysis.slices);
    }
    ++analysis.left_out[counted_as(problem, analysis.slices)];
  }

  const bool throughput = any_in_mode(contents.runs, throughput_mode);
  const bool untimed = any_in_mode(contents.runs, quick_mode) || any_in_mode(contents.runs, submitted_mode);
  analysis.times_shown = !untimed && (!throughput || force_time_profiles);
  look_for_condensation(analysis);
  analysis.notes = make_notes(analysis, superseded);
  analysis.statuses = make_statuses(analysis);
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
      const auto& row = analysis.slices[s].grid[p];
      const bool present = std::any_of(row.begin(), row.end(), [](const auto* cell) { return cell != nullptr; });
      if (present) analysis.problem_rows.push_back(make_problem_row(analysis, s, p));
    }
  }
  add_profiles(analysis);
  add_budgets(analysis);
  add_rankings(analysis);
  add_option_studies(analysis);
  return analysis;
}

}  // namespace conebench::reports
