#include <algorithm>
#include <set>
#include <unordered_set>

#include "reports/comparison/comparison.hpp"
#include "store/suite_scope.hpp"

namespace conebench::reports {

std::pair<Side, Side> split_builds(StoreContents contents, const NamedRuns& base, const NamedRuns& fresh) {
  std::set<std::int64_t> of_base, of_fresh;
  for (const RunRecord& run : contents.runs) {
    if (base.has(run)) of_base.insert(run.id);
    if (fresh.has(run)) of_fresh.insert(run.id);
  }
  const bool fresh_is_later = of_base.empty() || (!of_fresh.empty() && *of_fresh.rbegin() > *of_base.rbegin());
  const std::set<std::int64_t>& later = fresh_is_later ? of_fresh : of_base;
  const StoreContents present = present_contents(contents);
  if (!present.suites.empty()) {
    // The store still asks for them, so that the later build found them there; what it measured anew has other keys.
    std::unordered_set<std::string> taken_over;
    for (const CellRecord& cell : present.cells) {
      if (!later.contains(cell.run_id)) taken_over.insert(cell.key);
    }
    std::erase_if(contents.cells, [&](const CellRecord& cell) { return taken_over.contains(cell.key); });
  }
  return {make_side(base.name, contents, [&](const RunRecord& run) { return of_base.contains(run.id); }),
          make_side(fresh.name, contents, [&](const RunRecord& run) { return of_fresh.contains(run.id); })};
}

std::pair<Side, Side> split_side_by_side(const std::string& name, const StoreContents& contents) {
  const auto side = [&](const char* which) {
    return make_side(name + " " + which, contents, [&](const RunRecord& run) { return run.side == which; });
  };
  return {side("base"), side("new")};
}

}  // namespace conebench::reports
