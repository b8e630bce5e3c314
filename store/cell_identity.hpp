#pragma once

#include <map>
#include <string>
#include <tuple>

#include "store/records.hpp"

namespace conebench {

/// Identity of a cell across stores: problem, configuration, tolerance, stop_by, verdict and start, without the
/// solver's version and the limits, which the key has in addition.
using CrossStoreIdentity = std::tuple<std::string, std::string, double, std::string, std::string, std::string>;

/// The configurations of a store, by their hash; it must outlive this.
class ConfigurationIndex {
 public:
  explicit ConfigurationIndex(const StoreContents& contents);
  /// Of the cell; one without a name where the store lacks it.
  const ConfigurationRecord& of(const CellRecord& cell) const;
  CrossStoreIdentity identity(const CellRecord& cell) const;

 private:
  std::map<std::string, const ConfigurationRecord*> by_hash_;
};

}  // namespace conebench
