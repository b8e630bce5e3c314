#include <set>
#include <unordered_set>

#include "reports/comparison/comparison.hpp"
#include "runners/store/suite_scope.hpp"

namespace conebench::reports {

std::pair<Side, Side> split_builds(const std::string& name, StoreContents contents,
                                   const std::function<bool(const RunRecord&)>& is_base,
                                   const std::function<bool(const RunRecord&)>& is_new) {
  std::set<std::int64_t> of_base, of_new;
  for (const RunRecord& run : contents.runs) {
    if (is_base(run)) of_base.insert(run.id);
    if (is_new(run)) of_new.insert(run.id);
  }
  const StoreContents present = present_contents(contents);
  if (!present.suites.empty()) {
    // The store still asks for them, so that the new build found them there; what it measured anew has other keys.
    std::unordered_set<std::string> taken_over;
    for (const CellRecord& cell : present.cells) {
      if (!of_new.contains(cell.run_id)) taken_over.insert(cell.key);
    }
    std::erase_if(contents.cells, [&](const CellRecord& cell) { return taken_over.contains(cell.key); });
  }
  return {make_side(name + " base", contents, [&](const RunRecord& run) { return of_base.contains(run.id); }),
          make_side(name + " new", contents, [&](const RunRecord& run) { return of_new.contains(run.id); })};
}

}  // namespace conebench::reports
