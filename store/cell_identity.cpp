#include "store/cell_identity.hpp"

namespace conebench {

SettingIndex::SettingIndex(const StoreContents& contents) {
  for (const SettingRecord& setting : contents.settings) by_hash_[setting.hash] = &setting;
}

const SettingRecord& SettingIndex::of(const CellRecord& cell) const {
  static const SettingRecord unknown;
  const auto found = by_hash_.find(cell.setting);
  return found == by_hash_.end() ? unknown : *found->second;
}

CellIdentity SettingIndex::identity(const CellRecord& cell) const {
  return {cell.problem, of(cell).label, cell.tolerance, cell.criterion, cell.verdict, cell.start};
}

}  // namespace conebench
