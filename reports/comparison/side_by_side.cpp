#include "metrics/change/side_by_side.hpp"

#include <algorithm>

#include "reports/comparison/comparison.hpp"

namespace conebench::reports {

namespace {

bool same_compiler(const Side& base, const Side& fresh) {
  for (const RunRecord& a : base.runs) {
    for (const RunRecord& b : fresh.runs) {
      if (a.build.compiler != b.build.compiler || a.build.flags != b.build.flags || a.build.native != b.build.native ||
          a.machine.cpu != b.machine.cpu) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool ran_side_by_side(const Side& base, const Side& fresh) {
  const auto all = [](const Side& side, const char* name) {
    return !side.runs.empty() &&
           std::all_of(side.runs.begin(), side.runs.end(), [&](const RunRecord& run) { return run.side == name; });
  };
  return all(base, "base") && all(fresh, "new");
}

double side_by_side_effect(const Side& base, const Side& fresh) {
  return same_compiler(base, fresh) ? side_by_side_rules().minimum_effect : other_compiler_effect;
}

TimeComparison side_by_side_times(const Side& base, const Side& fresh, const std::vector<CellPair>& pairs,
                                  std::size_t settings, double minimum_effect) {
  TimeRules rules = side_by_side_rules();
  rules.minimum_effect = minimum_effect;
  rules.alarm_share /= static_cast<double>(std::max<std::size_t>(1, base.requests.size()));
  std::vector<ReplicatedCell> cells;
  for (const CellPair& pair : pairs) {
    if (!is_timed(pair.change)) continue;
    cells.push_back(
        {pair.setting, pair.problem, base.cells[*pair.base].replicates_s, fresh.cells[*pair.fresh].replicates_s});
  }
  return compare_side_by_side(cells, settings, rules);
}

}  // namespace conebench::reports
