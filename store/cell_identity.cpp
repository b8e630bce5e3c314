#include "store/cell_identity.hpp"

namespace conebench {

ConfigurationIndex::ConfigurationIndex(const StoreContents& contents) {
  for (const ConfigurationRecord& configuration : contents.configurations)
    by_hash_[configuration.hash] = &configuration;
}

const ConfigurationRecord& ConfigurationIndex::of(const CellRecord& cell) const {
  static const ConfigurationRecord unknown;
  const auto found = by_hash_.find(cell.configuration);
  return found == by_hash_.end() ? unknown : *found->second;
}

CrossStoreIdentity ConfigurationIndex::identity(const CellRecord& cell) const {
  return {cell.problem, of(cell).label, cell.tolerance, cell.stop_by, cell.verdict, cell.start};
}

}  // namespace conebench
