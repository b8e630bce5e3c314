#pragma once

#include <map>
#include <string>
#include <tuple>

#include "store/records.hpp"

namespace conebench {

/// What a cell is in every store: problem, setting, tolerance, criterion, verdict and start, whatever the solver's
/// version and the limits. Its key tells those apart.
using CellIdentity = std::tuple<std::string, std::string, double, std::string, std::string, std::string>;

/// The settings of a store, by their hash; it must outlive this.
class SettingIndex {
 public:
  explicit SettingIndex(const StoreContents& contents);
  /// Of the cell; one without a name where the store lacks it.
  const SettingRecord& of(const CellRecord& cell) const;
  CellIdentity identity(const CellRecord& cell) const;

 private:
  std::map<std::string, const SettingRecord*> by_hash_;
};

}  // namespace conebench
