#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace conebench::lcp {

/// The pivot sets met so far, by their signatures. Allocates beyond the capacity asked for only.
class PivotSets {
 public:
  void reserve(std::size_t sets) {
    std::size_t slots = 64;
    while (slots < 2 * sets) slots *= 2;
    slots_.assign(slots, 0);
    count_ = 0;
  }
  void clear() {
    if (count_ > 0) slots_.assign(slots_.size(), 0);
    count_ = 0;
  }
  /// False where it was there.
  bool insert(std::uint64_t set) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    std::uint64_t& slot = slots_[find(set | 1U)];
    if (slot != 0) return false;
    slot = set | 1U;  // 0 means an empty slot
    ++count_;
    return true;
  }

 private:
  std::size_t find(std::uint64_t set) const {
    std::size_t at = (set >> 20U) & (slots_.size() - 1);
    while (slots_[at] != 0 && slots_[at] != set) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<std::uint64_t> old(slots_.size() * 2, 0);
    old.swap(slots_);
    for (const std::uint64_t set : old) {
      if (set != 0) slots_[find(set)] = set;
    }
  }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(64, 0);
  std::size_t count_ = 0;
};

}  // namespace conebench::lcp
