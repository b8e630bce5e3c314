#include "reports/comparison/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "metrics/change/two_stores.hpp"
#include "metrics/statistics.hpp"
#include "reports/comparison/alarms.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/comparison/differences.hpp"
#include "reports/comparison/pairs.hpp"
#include "reports/text.hpp"
#include "store/run_mode.hpp"
#include "store/time_doubts.hpp"

namespace conebench::reports {

namespace {

std::optional<double> log_ratio(double baseline, double candidate) {
  return baseline > 0.0 && candidate > 0.0 ? std::optional(std::log(candidate / baseline)) : std::nullopt;
}

/// Sums of log ratios of the counts.
struct CountRatios {
  double iterations = 0.0, factorizations = 0.0, products = 0.0;
  long cells = 0, more = 0;  ///< `more`: with more of something
};

void add_counts(CountRatios& sums, const ComparedCell& baseline, const ComparedCell& candidate) {
  const auto ratio = [](std::int64_t before, std::int64_t after) {
    return log_ratio(static_cast<double>(before), static_cast<double>(after));
  };
  // A solver that begins to factorize, or to iterate, works more; one that begins to count its products need not.
  const auto from_zero = [&](std::int64_t before, std::int64_t after) {
    return before == 0 || after == 0 ? ratio(before + 1, after + 1) : ratio(before, after);
  };
  sums.iterations += from_zero(baseline.iterations, candidate.iterations).value_or(0.0);
  sums.factorizations += from_zero(baseline.factorizations, candidate.factorizations).value_or(0.0);
  sums.products += ratio(baseline.products, candidate.products).value_or(0.0);
  sums.more += candidate.iterations > baseline.iterations || candidate.factorizations > baseline.factorizations ||
                       candidate.products > baseline.products
                   ? 1
                   : 0;
  ++sums.cells;
}

/// Slower by work: one count rose by more than the bar, and no other fell. The effect is that of the count that changed
/// most.
JudgedEffect judge_counts(const CountRatios& sums, double bar) {
  const double cells = std::max(1.0, static_cast<double>(sums.cells));
  const double least = std::min({sums.iterations, sums.factorizations, sums.products}) / cells;
  const double most = std::max({sums.iterations, sums.factorizations, sums.products}) / cells;
  const double effect = most > -least ? most : least;
  if (most > bar && least < -bar) return {ChangeState::undecided, effect};
  if (most > bar) return {ChangeState::slower, effect};
  return {least < -bar ? ChangeState::faster : ChangeState::same, effect};
}

/// If counts hardly differ, the time of the changed cells decides, since one more iteration can cost much. Gains and
/// losses that balance are undecided, not the same.
JudgedEffect judge_work(const CountRatios& sums, const WorkChange& work, double together, double minimum_effect) {
  if (work.changed == work.trivial) return {ChangeState::same};
  constexpr double noise_of_a_cell = 0.06;  // three times the 2 % of docs/experiments/performance.md
  const double bar = std::log1p(minimum_effect);
  const JudgedEffect counts = judge_counts(sums, bar);
  if (counts.verdict != ChangeState::same) return counts;
  if (work.time_over_configuration > bar && work.time - together > noise_of_a_cell) {
    return {ChangeState::slower, work.time_over_configuration};
  }
  return {work.spread > bar ? ChangeState::undecided : ChangeState::same, counts.effect};
}

/// Sums over a configuration's cells in a slice.
struct Sums {
  CountRatios all;
  std::vector<double> times, per_product, accuracy;
  std::map<std::size_t, CountRatios> families;
};

/// Whether λ = 0 solves the cell's problem: no headline of a report counts it either (docs/reports.md).
bool is_trivial(const Side& side, const ComparedCell& cell) {
  const Request& request = side.requests[cell.request];
  const auto& at_zero = side.problems[cell.problem].zero_impulse;
  const auto residual = at_zero.find(request.verdict);
  return residual != at_zero.end() && residual->second <= request.tolerance;
}

void add_pair(ConfigurationChange& change, Sums& sums, const ComparedCell& baseline, const ComparedCell& candidate,
              CellChange what, std::size_t family, bool trivial) {
  change.solved += baseline.solved || candidate.solved ? 1 : 0;
  change.doubtful += baseline.doubts.empty() && candidate.doubts.empty() ? 0 : 1;
  if ((what == CellChange::hit_limit || what == CellChange::flaky) && baseline.solved && !candidate.solved)
    ++change.unclear_losses;
  if (what == CellChange::flaky) {
    change.flaky_before += baseline.status == CellStatus::flaky ? 1 : 0;
    change.newly_flaky += baseline.status != CellStatus::flaky && baseline.solved ? 1 : 0;
  }
  if (!is_timed(what) && what != CellChange::other_work) return;
  if (trivial) {
    if (what == CellChange::other_work) ++change.work.changed, ++change.work.trivial;
    return;
  }
  add_counts(sums.all, baseline, candidate);
  add_counts(sums.families[family], baseline, candidate);
  if (what == CellChange::other_work) {
    ++change.work.changed;
    if (const auto time = log_ratio(baseline.minimum_s, candidate.minimum_s)) {
      sums.times.push_back(*time);
      const auto products = log_ratio(static_cast<double>(baseline.products), static_cast<double>(candidate.products));
      if (products) sums.per_product.push_back(*time - *products);
    }
  }
  if (!baseline.verdict_value || !candidate.verdict_value) return;
  ++change.accuracy_known;
  if (baseline.answer_crc != candidate.answer_crc) {
    constexpr double exact = 1e-16;  // below it a residual is rounding
    sums.accuracy.push_back(
        std::log10(std::max(*candidate.verdict_value, exact) / std::max(*baseline.verdict_value, exact)));
  }
}

void finish_sums(ConfigurationChange& change, const Sums& sums, double together, double minimum_effect,
                 const std::vector<std::string>& families) {
  // Tenfold on the median cell; a few cells scatter by as much where a stop test is met by chance.
  constexpr double much = 1.0;
  constexpr std::size_t fewest = 3;
  const double cells = std::max(1.0, static_cast<double>(sums.all.cells));
  change.work.iterations = sums.all.iterations / cells;
  change.work.factorizations = sums.all.factorizations / cells;
  change.work.products = sums.all.products / cells;
  change.work.time = mean(sums.times).value_or(0.0);
  change.work.time_per_product = mean(sums.per_product).value_or(0.0);
  for (const double time : sums.times) {
    change.work.time_over_configuration += (time - together) / cells;
    change.work.spread += std::abs(time - together) / cells;
  }
  change.work.cells = sums.all.cells;
  const JudgedEffect work = judge_work(sums.all, change.work, together, minimum_effect);
  change.work.verdict = work.verdict;
  change.work.effect = work.effect;
  // A family is few cells: most of them have to show it, and by as much as in times.
  constexpr double family_effect = TimeRules{}.family_effect;
  for (const auto& [family, counts] : sums.families) {
    JudgedEffect judged;
    if (counts.cells >= static_cast<long>(fewest)) {
      judged = judge_counts(counts, std::log1p(std::max(family_effect, minimum_effect)));
    }
    const bool most = 4 * counts.more >= 3 * counts.cells;
    if (judged.verdict == ChangeState::slower && !most) judged.verdict = ChangeState::undecided;
    change.work.families.push_back({families[family], judged});
  }
  // Five of a kind where there was none are chance once in 32 times.
  constexpr long more_than_chance = 5;
  change.became_flaky = change.flaky_before == 0 && change.newly_flaky > 0 &&
                        (change.newly_flaky >= more_than_chance || change.newly_flaky == change.solved);
  change.accuracy = median(sums.accuracy);
  change.less_accurate = sums.accuracy.size() >= fewest && *change.accuracy > much;
}

/// Findings in families that the whole configuration does not show.
void add_families(const ConfigurationChange& change, const std::vector<FamilyChange>& families, ChangeState verdict,
                  std::vector<std::string>& into) {
  constexpr std::size_t most = 3;
  if (change.times.verdict == verdict) return;
  std::size_t found = 0;
  for (const FamilyChange& family : families) {
    if (family.configuration != change.configuration || family.times.verdict != verdict || ++found > most) continue;
    into.push_back(fmt::format("{} on {} {}", to_string(verdict), family.family, per_cent(family.times.median)));
  }
  if (found > most) into.push_back(fmt::format("{} more families", found - most));
}

/// Less work that takes more time is no gain. `together`: the change of all configurations, by the machine.
bool pays_off(const WorkChange& work, double together, double minimum_effect) {
  return work.time - together <= std::log1p(minimum_effect);
}

/// The configuration's assessment: what is worse first. One that lost a problem, or whose problem is gone, or that a
/// limit ended where it did not before, is never better.
void judge_configuration(ConfigurationChange& change, const TimeSlice& slice, const Comparison& comparison) {
  if (change.count(CellChange::added) == std::accumulate(change.counts.begin(), change.counts.end(), 0L)) {
    change.assessment = Assessment::added;
    return;
  }
  std::vector<std::string> worse, better;
  const auto counted = [](long count, const char* word, std::vector<std::string>& into) {
    if (count > 0) into.push_back(fmt::format("{} {}", count, word));
  };
  counted(change.count(CellChange::lost), "lost", worse);
  counted(change.count(CellChange::broke), "broke", worse);
  if (change.became_flaky) counted(change.newly_flaky, "flaky, none before", worse);
  counted(change.missed - change.missed_with_problem, "missing", worse);
  counted(change.count(CellChange::won), "won", better);
  if (change.less_accurate) worse.push_back(fmt::format("less accurate by {:.1f} digits", *change.accuracy));
  if (change.work.verdict == ChangeState::slower) worse.push_back("slower: more work");
  for (const FamilyWork& family : change.work.families) {
    const bool alone = change.work.verdict != ChangeState::slower && family.judged.verdict == ChangeState::slower;
    if (alone) worse.push_back("slower: more work on " + family.family);
  }
  bool undecided = change.work.verdict == ChangeState::undecided || change.unclear_losses > 0 || change.compared() == 0;
  if (change.work.verdict == ChangeState::faster) {
    const bool gain =
        !comparison.times_compared || pays_off(change.work, slice.times.together, comparison.minimum_effect);
    undecided = undecided || !gain;
    if (gain) better.push_back("faster: less work");
  }
  if (!comparison.times_compared) {
    undecided = undecided || (change.solved > 0 && !comparison.quick);
  } else {
    if (change.times.verdict == ChangeState::slower) worse.push_back("slower " + per_cent(change.times.corrected));
    if (change.times.verdict == ChangeState::faster) better.push_back("faster " + per_cent(change.times.corrected));
    add_families(change, slice.families, ChangeState::slower, worse);
    add_families(change, slice.families, ChangeState::faster, better);
    // A configuration that solves nothing, before and now, has no times to be undecided about.
    undecided = undecided || change.times.verdict == ChangeState::undecided ||
                (change.times.verdict == ChangeState::none && change.solved > 0);
  }
  change.assessment = !worse.empty()                                                        ? Assessment::worse
                      : !better.empty() && change.missed == 0 && change.unclear_losses == 0 ? Assessment::better
                      : undecided || !better.empty()                                        ? Assessment::undecided
                                                                                            : Assessment::same;
  change.reasons = std::move(worse);
  change.reasons.insert(change.reasons.end(), better.begin(), better.end());
  if (change.unclear_losses > 0) change.reasons.push_back(plural(change.unclear_losses, "cell") + " no longer solved");
  if (change.missed_with_problem > 0) {
    change.reasons.push_back(plural(change.missed_with_problem, "cell") + " missing with the problem");
  }
}

/// The pairs of each slice; they lie one slice after the other.
std::vector<std::pair<std::size_t, std::size_t>> ranges_of(const Comparison& comparison) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges(comparison.slices.size(), {0, 0});
  for (std::size_t begin = 0; begin < comparison.pairs.size();) {
    std::size_t end = begin;
    while (end < comparison.pairs.size() && comparison.pairs[end].slice == comparison.pairs[begin].slice) ++end;
    ranges[comparison.pairs[begin].slice] = {begin, end};
    begin = end;
  }
  return ranges;
}

class Judge {
 public:
  Judge(Comparison& comparison, const CompareOptions& options) : comparison_(comparison), options_(options) {
    for (const ComparedProblem& problem : comparison.problems) {
      family_of_.push_back(families_.emplace(problem.family, families_.size()).first->second);
    }
    family_names_.resize(families_.size());
    for (const auto& [name, position] : families_) family_names_[position] = name;
  }

  void run() {
    const auto ranges = ranges_of(comparison_);
    for (std::size_t slice = 0; slice < comparison_.slices.size(); ++slice) judge_slice(slice, ranges[slice]);
  }

 private:
  void judge_slice(std::size_t index, std::pair<std::size_t, std::size_t> range) {
    TimeSlice& slice = comparison_.slices[index];
    const std::vector<CellPair> pairs(comparison_.pairs.begin() + static_cast<std::ptrdiff_t>(range.first),
                                      comparison_.pairs.begin() + static_cast<std::ptrdiff_t>(range.second));
    if (comparison_.times_compared) slice.times = times_of(pairs);
    for (const FamilyTimes& family : slice.times.families) {
      slice.families.push_back({family, family_names_[family.family], family.configuration, index});
    }
    std::sort(slice.families.begin(), slice.families.end(), [](const FamilyChange& a, const FamilyChange& b) {
      return std::abs(a.times.median) / a.times.bar > std::abs(b.times.median) / b.times.bar;
    });
    std::map<std::size_t, ConfigurationChange> changes;
    std::map<std::size_t, Sums> sums;
    for (const CellPair& pair : pairs) {
      ConfigurationChange& change = changes[pair.configuration];
      ++change.counts[static_cast<std::size_t>(pair.change)];
      if (pair.change == CellChange::missing && is_missed(comparison_.baseline.cells[*pair.baseline])) {
        ++change.missed;
        change.missed_with_problem += missed_with_problem(comparison_, pair) ? 1 : 0;
      }
      if (pair.baseline && pair.candidate) {
        const ComparedCell& before = comparison_.baseline.cells[*pair.baseline];
        const ComparedCell& after = comparison_.candidate.cells[*pair.candidate];
        add_pair(change, sums[pair.configuration], before, after, pair.change, family_of_[pair.problem],
                 is_trivial(comparison_.baseline, before) || is_trivial(comparison_.candidate, after));
      }
    }
    for (auto& [configuration, change] : changes) {
      change.configuration = configuration;
      change.slice = index;
      finish_sums(change, sums[configuration], slice.times.together, comparison_.minimum_effect, family_names_);
      if (configuration < slice.times.configurations.size()) change.times = slice.times.configurations[configuration];
      judge_configuration(change, slice, comparison_);
      slice.configurations.push_back(std::move(change));
    }
    std::stable_sort(slice.configurations.begin(), slice.configurations.end(),
                     [](const ConfigurationChange& a, const ConfigurationChange& b) {
                       return a.assessment != b.assessment ? a.assessment < b.assessment
                                                           : a.times.corrected > b.times.corrected;
                     });
  }

  TimeComparison times_of(const std::vector<CellPair>& pairs) const {
    if (options_.timing) {
      return options_.timing(comparison_.baseline, comparison_.candidate, pairs, comparison_.configurations.size());
    }
    std::vector<PairedTime> times;
    for (const CellPair& pair : pairs) {
      if (!is_timed(pair.change)) continue;
      const auto ratio = log_ratio(comparison_.baseline.cells[*pair.baseline].minimum_s,
                                   comparison_.candidate.cells[*pair.candidate].minimum_s);
      if (ratio)
        times.push_back({pair.configuration, pair.problem, family_of_[pair.problem], *ratio,
                         comparison_.baseline.cells[*pair.baseline].minimum_s});
    }
    const bool loaded = comparison_.baseline.loaded || comparison_.candidate.loaded;
    TimeRules rules = options_.rules;
    rules.minimum_effect = comparison_.minimum_effect;
    rules.alarm_share /= static_cast<double>(comparison_.slices.size());
    return compare_times(times, comparison_.configurations.size(), loaded, rules);
  }

  Comparison& comparison_;
  const CompareOptions& options_;
  std::map<std::string, std::size_t> families_;
  std::vector<std::size_t> family_of_;
  std::vector<std::string> family_names_;
};

/// By kind: number of the configuration's cells, or 1 for the configuration itself.
std::map<std::string, long> alarms_of(const ConfigurationChange& change, const std::vector<FamilyChange>& families) {
  const auto judged = [&](ChangeState verdict) {
    const auto is_slower = [](const FamilyWork& family) { return family.judged.verdict == ChangeState::slower; };
    const bool more_work =
        change.work.verdict == ChangeState::slower || std::ranges::any_of(change.work.families, is_slower);
    return (more_work && verdict == ChangeState::slower) || change.times.verdict == verdict ||
           std::any_of(families.begin(), families.end(), [&](const FamilyChange& family) {
             return family.configuration == change.configuration && family.times.verdict == verdict;
           });
  };
  std::map<std::string, long> alarms = {
      {"lost", change.count(CellChange::lost) + (change.became_flaky ? change.newly_flaky : 0)},
      {"won", change.count(CellChange::won)},
      {"broke", change.count(CellChange::broke)},
      {"flaky", change.count(CellChange::flaky)},
      {"at-limit", change.count(CellChange::hit_limit)},
      {"missing", change.missed - change.missed_with_problem},
      {"slower", judged(ChangeState::slower) ? 1 : 0},
      {"less-accurate", change.less_accurate ? 1 : 0},
      {"undecided", change.assessment == Assessment::undecided ? 1 : 0}};
  // One that lost a problem is no better for being faster.
  const bool faster = judged(ChangeState::faster) || change.work.verdict == ChangeState::faster;
  alarms["faster"] = faster && change.assessment == Assessment::better ? 1 : 0;
  std::erase_if(alarms, [](const auto& alarm) { return alarm.second == 0; });
  return alarms;
}

void find_alarms(Comparison& comparison) {
  for (TimeSlice& slice : comparison.slices) {
    for (ConfigurationChange& change : slice.configurations) change.alarms = alarms_of(change, slice.families);
  }
}

/// The smallest change that would have been found in a configuration; 0: none is judged.
double finest_bar(const Comparison& comparison) {
  double finest = 0.0;
  for (const TimeSlice& slice : comparison.slices) {
    for (const ConfigurationTimes& configuration : slice.times.configurations) {
      if (configuration.bar > 0.0 && (finest == 0.0 || configuration.bar < finest)) finest = configuration.bar;
    }
  }
  return finest;
}

/// Solvers of which either side has a configuration that the other lacks: they can be ranked, not compared.
void note_other_options(Comparison& comparison) {
  std::map<std::string, std::array<std::vector<std::string>, 2>>
      labels;  // by solver, of the baseline alone and of the candidate alone
  for (const ComparedConfiguration& configuration : comparison.configurations) {
    if (configuration.in_baseline != configuration.in_candidate && configuration.note.empty())
      labels[configuration.solver][configuration.in_candidate ? 1 : 0].push_back(configuration.label);
  }
  // A report takes stores that have no cell in common.
  const std::string how = comparison.compared > 0
                              ? "a suite that has both ranks them side by side"
                              : fmt::format("`conebench report {} {} --out DIR` ranks them side by side",
                                            comparison.baseline.name, comparison.candidate.name);
  for (const auto& [solver, of] : labels) {
    if (of[0].size() != 1 || of[1].size() != 1) continue;
    comparison.notes.push_back(
        fmt::format("{} and {} are one solver with different options: {}", of[0][0], of[1][0], how));
  }
}

void note_other_versions(Comparison& comparison) {
  std::set<std::string> changes;
  for (const ComparedConfiguration& configuration : comparison.configurations) {
    if (!configuration.in_baseline || !configuration.in_candidate ||
        configuration.baseline_version == configuration.candidate_version)
      continue;
    changes.insert(fmt::format("{} {} → {}", configuration.solver, configuration.baseline_version,
                               configuration.candidate_version));
  }
  if (!changes.empty()) comparison.notes.push_back(fmt::format("versions of solvers: {}", fmt::join(changes, ", ")));
}

/// Compared cells whose times are doubtful (store/time_doubts.hpp).
void note_doubts(Comparison& comparison) {
  struct Cells {
    std::set<std::string> labels;
    long count = 0;
  };
  for (const Side* side : {&comparison.baseline, &comparison.candidate}) {
    std::map<std::string, Cells> doubtful;  // by code
    for (const CellPair& pair : comparison.pairs) {
      if (!pair.baseline || !pair.candidate) continue;
      for (const std::string& code :
           side->cells[side == &comparison.baseline ? *pair.baseline : *pair.candidate].doubts) {
        doubtful[code].labels.insert(comparison.configurations[pair.configuration].label);
        ++doubtful[code].count;
      }
    }
    for (const auto& [code, cells] : doubtful) {
      comparison.notes.push_back(fmt::format("doubtful times in {} of {} in {}: {}", plural(cells.count, "cell"),
                                             fmt::join(cells.labels, ", "), side->name, describe_doubts({code})));
    }
  }
}

void add_notes(Comparison& comparison) {
  note_other_options(comparison);
  note_other_versions(comparison);
  note_doubts(comparison);
  if (comparison.repeated > 0) {
    comparison.notes.push_back(plural(comparison.repeated, "cell") +
                               " measured by several builds: the newest of each is compared; --builds selects others");
  }
  const double finest = finest_bar(comparison);
  for (const Side* side : {&comparison.baseline, &comparison.candidate}) {
    if (!side->loaded) continue;
    std::string note = fmt::format("{} was loaded ({} of long cells): no family is judged", side->name,
                                   human_share(side->loaded_share));
    if (finest > 0.0) note += fmt::format(", effects below {:.0f} % are undecided", 100.0 * std::expm1(finest));
    comparison.notes.push_back(std::move(note));
  }
  for (const TimeSlice& slice : comparison.slices) {
    if (std::abs(slice.times.together) <= comparison.minimum_effect) continue;
    comparison.notes.push_back(
        fmt::format("at {} all configurations together {}: {}", human_tolerance(slice.request.tolerance),
                    per_cent(slice.times.together),
                    ran_side_by_side(comparison.baseline, comparison.candidate)
                        ? "code that they share, or how it is compiled"
                        : "machine or shared code; an A/B run decides (conebench run SUITE --ab OTHER)"));
  }
  if (!comparison.times_refused.empty()) {
    comparison.notes.push_back(comparison.times_compared
                                   ? "times are compared all the same (--force), although " + comparison.times_refused
                                   : "times are not compared: " + comparison.times_refused);
  }
}

}  // namespace

const char* to_string(Assessment assessment) {
  switch (assessment) {
    case Assessment::worse: return "worse";
    case Assessment::undecided: return "undecided";
    case Assessment::same: return "same";
    case Assessment::better: return "better";
    case Assessment::added: return "new";
  }
  return "";
}

bool is_missed(const ComparedCell& baseline) {
  const StatusClass kind = class_of(baseline.status);
  return kind != StatusClass::unsupported && kind != StatusClass::unreadable;
}

bool missed_with_problem(const Comparison& comparison, const CellPair& pair) {
  return pair.change == CellChange::missing && is_missed(comparison.baseline.cells[*pair.baseline]) &&
         comparison.configurations[pair.configuration].in_candidate && !comparison.problems[pair.problem].in_candidate;
}

void count_alarms(Comparison& comparison, const std::set<std::string>& fail_on) {
  comparison.alarms.clear();
  for (TimeSlice& slice : comparison.slices) {
    for (ConfigurationChange& change : slice.configurations) {
      change.failed = false;
      for (const auto& [word, count] : change.alarms) {
        if (change.accepted.contains(word)) continue;
        comparison.alarms[word] += count;
        change.failed = change.failed || fail_on.contains(word);
      }
      if (change.missed_with_problem > 0 && !comparison.accepted_missing)
        comparison.alarms["missing"] += change.missed_with_problem;
    }
  }
  comparison.failed = std::any_of(comparison.alarms.begin(), comparison.alarms.end(),
                                  [&](const auto& alarm) { return fail_on.contains(alarm.first); });
}

Comparison compare(Side baseline, Side candidate, const CompareOptions& options) {
  Comparison comparison;
  comparison.baseline = std::move(baseline);
  comparison.candidate = std::move(candidate);
  comparison.minimum_effect = options.min_change.value_or(options.rules.minimum_effect);
  comparison.times_refused = refuse_times(comparison);
  CompareOptions chosen = options;
  if (!chosen.timing && ran_side_by_side(comparison.baseline, comparison.candidate)) {
    comparison.times_refused.clear();  // other compilers and flags are what it is for
    const double effect = options.min_change.value_or(side_by_side_effect(comparison.baseline, comparison.candidate));
    comparison.minimum_effect = effect;
    chosen.timing = [effect](const Side& a, const Side& b, const std::vector<CellPair>& pairs,
                             std::size_t configurations) {
      return side_by_side_times(a, b, pairs, configurations, effect);
    };
  }
  comparison.quick =
      any_in_mode(comparison.baseline.runs, quick_mode) || any_in_mode(comparison.candidate.runs, quick_mode) ||
      any_in_mode(comparison.baseline.runs, submitted_mode) || any_in_mode(comparison.candidate.runs, submitted_mode);
  comparison.times_compared = comparison.times_refused.empty() || (options.force && !comparison.quick);
  add_other_code(comparison);
  add_other_limits(comparison, options.force);
  pair_cells(comparison, options.force);
  add_other_data(comparison);
  Judge(comparison, chosen).run();
  find_alarms(comparison);
  mark_accepted(comparison);
  count_alarms(comparison, options.fail_on);
  add_notes(comparison);
  return comparison;
}

}  // namespace conebench::reports
