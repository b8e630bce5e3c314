#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "store/store.hpp"

namespace conebench {

/// Which traces a store keeps: so many at most, of cells that are not solved first, then of the slowest. What is kept
/// is stored with its cell, so that a kill loses none.
class TraceKeeper {
 public:
  /// `stored`: the store's cells, whose traces count.
  TraceKeeper(long max_traces, const std::vector<CellRecord>& stored);

  /// Before `record` is stored: clears its trace where others come before it.
  void choose(CellRecord& record);
  /// Afterwards: removes the trace that made room. Errors: the store's.
  Result<void> make_room(Store& store);

 private:
  using Rank = std::pair<bool, double>;  ///< not solved; seconds
  static Rank rank_of(const CellRecord& record);
  void add(const CellRecord& record);
  void remove(const std::string& key);

  std::size_t max_traces_;
  std::multimap<Rank, std::string> kept_;  ///< keys of cells
  std::map<std::string, Rank> rank_of_;
  std::vector<std::string> dropped_;
};

}  // namespace conebench
