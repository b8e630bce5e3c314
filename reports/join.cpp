#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "problems/plural.hpp"
#include "reports/report.hpp"
#include "runners/store/cell_identity.hpp"

namespace conebench {

namespace {

/// Appends what `into` does not have yet, told apart by `id`; the newer record replaces the older one in its place.
template <class Record, class Id>
void merge(std::vector<Record>& into, std::vector<Record>&& from, Id id) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < into.size(); ++i) known.emplace(id(into[i]), i);
  for (auto& record : from) {
    const auto [place, is_new] = known.emplace(id(record), into.size());
    if (is_new) {
      into.push_back(std::move(record));
    } else {
      into[place->second] = std::move(record);
    }
  }
}

std::set<WantedCell> all_of(const SuiteState& suite) {
  std::set<WantedCell> cells = suite.present;
  cells.insert(suite.missing.begin(), suite.missing.end());
  return cells;
}

/// Shards of a suite ask for the same cells: what one of them has is not missing.
void add(std::vector<SuiteState>& suites, SuiteState&& suite) {
  const auto same = std::find_if(suites.begin(), suites.end(), [&](const SuiteState& earlier) {
    return earlier.name == suite.name && all_of(earlier) == all_of(suite);
  });
  if (same == suites.end()) {
    suites.push_back(std::move(suite));
    return;
  }
  std::erase_if(same->missing, [&](const WantedCell& cell) { return suite.present.contains(cell); });
  same->present.merge(suite.present);
}

}  // namespace

std::optional<Error> check_disjoint(const std::vector<StoreContents>& stores, const std::vector<std::string>& names) {
  if (stores.size() < 2) return std::nullopt;
  std::map<std::pair<std::string, CellIdentity>, std::size_t> first;  // suite and cell → the store that has it
  std::map<std::pair<std::size_t, std::size_t>, long> shared;
  std::string suite;
  for (std::size_t s = 0; s < stores.size(); ++s) {
    const SettingIndex settings(stores[s]);
    std::map<std::int64_t, std::string> suites;
    for (const RunRecord& run : stores[s].runs) suites[run.id] = run.suite_name;
    for (const CellRecord& cell : stores[s].cells) {
      const auto [place, is_new] = first.emplace(std::pair{suites[cell.run_id], settings.identity(cell)}, s);
      if (place->second == s) continue;
      if (shared.empty()) suite = suites[cell.run_id];
      ++shared[{place->second, s}];
    }
  }
  if (shared.empty()) return std::nullopt;
  const auto& [pair, cells] = *shared.begin();
  const std::string &earlier = names[pair.first], &later = names[pair.second];
  return Error{
      ErrorCode::bad_input,
      fmt::format("{} and {} have both run {} of the suite {}; set them side by side with `conebench compare {} "
                  "{}` (report joins shards, and different suites)",
                  earlier, later, plural(cells, "cell"), suite, earlier, later)};
}

StoreContents join_contents(std::vector<StoreContents> stores) {
  StoreContents joined;
  std::int64_t last_id = 0;
  for (auto& store : stores) {
    std::map<std::int64_t, std::int64_t> renumbered;
    for (auto& run : store.runs) {
      const std::int64_t id = ++last_id;
      renumbered.emplace(std::exchange(run.id, id), id);
      joined.runs.push_back(std::move(run));
    }
    for (auto& cell : store.cells) {
      const auto found = renumbered.find(cell.run_id);
      cell.run_id = found == renumbered.end() ? 0 : found->second;
    }
    for (SuiteState& suite : store.suites) add(joined.suites, std::move(suite));
    joined.outdated_cells += store.outdated_cells;
    merge(joined.problems, std::move(store.problems), [](const ProblemRecord& p) { return p.hash; });
    merge(joined.settings, std::move(store.settings), [](const SettingRecord& s) { return s.hash; });
    merge(joined.cells, std::move(store.cells), [](const CellRecord& c) { return c.key; });
  }
  return joined;
}

}  // namespace conebench
