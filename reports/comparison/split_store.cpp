#include <algorithm>
#include <set>
#include <unordered_set>

#include "reports/comparison/comparison.hpp"
#include "store/suite_scope.hpp"

namespace conebench::reports {

std::pair<Side, Side> split_builds(StoreContents contents, const NamedRuns& baseline, const NamedRuns& candidate) {
  std::set<std::int64_t> of_baseline, of_candidate;
  for (const RunRecord& run : contents.runs) {
    if (baseline.has(run)) of_baseline.insert(run.id);
    if (candidate.has(run)) of_candidate.insert(run.id);
  }
  const bool candidate_is_later =
      of_baseline.empty() || (!of_candidate.empty() && *of_candidate.rbegin() > *of_baseline.rbegin());
  const std::set<std::int64_t>& later = candidate_is_later ? of_candidate : of_baseline;
  const StoreContents present = present_contents(contents);
  if (!present.suites.empty()) {
    // The store still asks for them, so that the later build found them there; what it measured anew has other keys.
    std::unordered_set<std::string> taken_over;
    for (const CellRecord& cell : present.cells) {
      if (!later.contains(cell.run_id)) taken_over.insert(cell.key);
    }
    std::erase_if(contents.cells, [&](const CellRecord& cell) { return taken_over.contains(cell.key); });
  }
  return {make_side(baseline.name, contents, [&](const RunRecord& run) { return of_baseline.contains(run.id); }),
          make_side(candidate.name, contents, [&](const RunRecord& run) { return of_candidate.contains(run.id); })};
}

std::pair<Side, Side> split_side_by_side(const std::string& name, const StoreContents& contents) {
  const auto side = [&](const char* which) {
    return make_side(name + " " + which, contents, [&](const RunRecord& run) { return run.side == which; });
  };
  return {side("baseline"), side("candidate")};
}

}  // namespace conebench::reports
