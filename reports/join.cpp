#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/plural.hpp"
#include "reports/report.hpp"
#include "store/cell_identity.hpp"
#include "store/certificates.hpp"

namespace conebench {

namespace {

/// Appends records whose `id` `into` lacks; a newer record replaces the older one.
template <class Record, class Owner>
void merge(std::vector<Record>& into, std::vector<Record>&& from, std::string Owner::*id) {
  if (into.empty()) {
    into = std::move(from);
    return;
  }
  const auto hash = [&](std::size_t i) { return std::hash<std::string>()(into[i].*id); };
  const auto same = [&](std::size_t i, std::size_t j) { return into[i].*id == into[j].*id; };
  std::unordered_set<std::size_t, decltype(hash), decltype(same)> known(into.size() + from.size(), hash, same);
  into.reserve(into.size() + from.size());
  for (std::size_t i = 0; i < into.size(); ++i) known.insert(i);
  for (auto& record : from) {
    into.push_back(std::move(record));
    const auto [index, is_new] = known.insert(into.size() - 1);
    if (is_new) continue;
    into[*index] = std::move(into.back());
    into.pop_back();
  }
  from = {};
}

std::set<WantedCell> all_of(const SuiteState& suite) {
  std::set<WantedCell> cells = suite.present;
  cells.insert(suite.missing.begin(), suite.missing.end());
  return cells;
}

/// Shards of a suite ask for the same cells, so a cell that one of them has is not missing.
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

Result<void> check_disjoint(const std::vector<StoreContents>& stores, const std::vector<std::string>& names) {
  if (stores.size() < 2) return {};
  std::map<std::pair<std::string, CrossStoreIdentity>, std::size_t> first;  // suite and cell → the store that has it
  std::map<std::pair<std::size_t, std::size_t>, long> shared;
  std::string suite;
  for (std::size_t s = 0; s < stores.size(); ++s) {
    const ConfigurationIndex configurations(stores[s]);
    std::map<std::int64_t, std::string> suites;
    for (const RunRecord& run : stores[s].runs) suites[run.id] = run.suite_name;
    for (const CellRecord& cell : stores[s].cells) {
      const auto [index, is_new] = first.emplace(std::pair{suites[cell.run_id], configurations.identity(cell)}, s);
      if (index->second == s) continue;
      if (shared.empty()) suite = suites[cell.run_id];
      ++shared[{index->second, s}];
    }
  }
  if (shared.empty()) return {};
  const auto& [pair, cells] = *shared.begin();
  const std::string &earlier = names[pair.first], &later = names[pair.second];
  return Error{
      ErrorCode::bad_input,
      fmt::format("{} and {} have both run {} of the suite {}; set them side by side with `conebench compare {} "
                  "{}` (report joins shards, and different suites)",
                  earlier, later, plural(cells, "cell"), suite, earlier, later)};
}

namespace {

/// A problem that stores of older builds have under its alias gets that name in all of them.
void name_alike(std::vector<StoreContents>& stores) {
  std::set<std::string> known;
  for (const StoreContents& store : stores) {
    for (const ProblemRecord& problem : store.problems) known.insert(problem.hash);
  }
  for (StoreContents& store : stores) {
    std::map<std::string, std::string> renamed;
    for (ProblemRecord& problem : store.problems) {
      if (problem.alias.empty() || problem.alias == problem.hash || !known.contains(problem.alias)) continue;
      renamed.emplace(problem.hash, problem.alias);
      problem.hash = problem.alias;
    }
    if (renamed.empty()) continue;
    for (ProblemRecord& problem : store.problems) {
      if (const auto found = renamed.find(problem.duplicate_of); found != renamed.end()) {
        problem.duplicate_of = found->second;
      }
    }
    for (CellRecord& cell : store.cells) {
      if (const auto found = renamed.find(cell.problem); found != renamed.end()) cell.problem = found->second;
    }
  }
}

}  // namespace

StoreContents join_contents(std::vector<StoreContents> stores) {
  name_alike(stores);
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
    // The record of a later store may be of a build that did not look for noise, or of a run for no certificate.
    std::map<std::string, const ProblemRecord*> earlier;
    for (const ProblemRecord& problem : joined.problems) earlier.emplace(problem.hash, &problem);
    for (ProblemRecord& problem : store.problems) {
      if (const auto known = earlier.find(problem.hash); known != earlier.end()) take_findings(*known->second, problem);
    }
    merge(joined.problems, std::move(store.problems), &ProblemRecord::hash);
    merge(joined.configurations, std::move(store.configurations), &ConfigurationRecord::hash);
    merge(joined.cells, std::move(store.cells), &CellRecord::key);
  }
  resolve_certificates(joined);
  return joined;
}

}  // namespace conebench
