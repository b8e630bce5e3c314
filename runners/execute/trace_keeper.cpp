#include "runners/execute/trace_keeper.hpp"

#include <algorithm>

namespace conebench {

TraceKeeper::TraceKeeper(long max_traces, const std::vector<CellRecord>& stored)
    : max_traces_(static_cast<std::size_t>(std::max(0L, max_traces))) {
  for (const CellRecord& record : stored) {
    if (!record.trace.empty()) add(record);
  }
}

TraceKeeper::Rank TraceKeeper::rank_of(const CellRecord& record) { return {!record.solved, record.total.cold}; }

void TraceKeeper::add(const CellRecord& record) {
  const Rank rank = rank_of(record);
  kept_.emplace(rank, record.key);
  rank_of_[record.key] = rank;
}

void TraceKeeper::remove(const std::string& key) {
  const auto rank = rank_of_.find(key);
  if (rank == rank_of_.end()) return;
  auto [first, last] = kept_.equal_range(rank->second);
  kept_.erase(std::find_if(first, last, [&](const auto& one) { return one.second == key; }));
  rank_of_.erase(rank);
}

void TraceKeeper::choose(CellRecord& record) {
  remove(record.key);  // the record replaces it
  if (record.trace.empty()) return;
  if (kept_.size() < max_traces_) return add(record);
  if (kept_.empty() || rank_of(record) <= kept_.begin()->first) {
    record.trace.clear();
    return;
  }
  dropped_.push_back(kept_.begin()->second);
  remove(dropped_.back());
  add(record);
}

Result<void> TraceKeeper::make_room(Store& store) {
  while (!dropped_.empty()) {
    CONEBENCH_CHECK(store.drop_trace(dropped_.back()));
    dropped_.pop_back();
  }
  return {};
}

}  // namespace conebench
