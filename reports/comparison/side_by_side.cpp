#include "metrics/change/side_by_side.hpp"

#include <algorithm>

#include "reports/comparison/comparison.hpp"

namespace conebench::reports {

namespace {

bool same_compiler(const Side& baseline, const Side& candidate) {
  for (const RunRecord& a : baseline.runs) {
    for (const RunRecord& b : candidate.runs) {
      if (a.build.compiler != b.build.compiler || a.build.flags != b.build.flags || a.build.native != b.build.native ||
          a.machine.cpu != b.machine.cpu) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool ran_side_by_side(const Side& baseline, const Side& candidate) {
  const auto all = [](const Side& side, const char* name) {
    return !side.runs.empty() &&
           std::all_of(side.runs.begin(), side.runs.end(), [&](const RunRecord& run) { return run.side == name; });
  };
  return all(baseline, "baseline") && all(candidate, "candidate");
}

double side_by_side_effect(const Side& baseline, const Side& candidate) {
  return same_compiler(baseline, candidate) ? side_by_side_rules().minimum_effect : other_compiler_effect;
}

TimeComparison side_by_side_times(const Side& baseline, const Side& candidate, const std::vector<CellPair>& pairs,
                                  std::size_t configurations, double minimum_effect) {
  TimeRules rules = side_by_side_rules();
  rules.minimum_effect = minimum_effect;
  rules.alarm_share /= static_cast<double>(std::max<std::size_t>(1, baseline.requests.size()));
  std::vector<TimedRounds> cells;
  for (const CellPair& pair : pairs) {
    if (!is_timed(pair.change)) continue;
    cells.push_back({pair.configuration, pair.problem, baseline.cells[*pair.baseline].rounds_s,
                     candidate.cells[*pair.candidate].rounds_s});
  }
  return compare_side_by_side(cells, configurations, rules);
}

}  // namespace conebench::reports
