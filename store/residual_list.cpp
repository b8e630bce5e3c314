#include "store/residual_list.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace conebench {

const ResidualList::Label* ResidualList::kept_once(std::string_view name, std::string_view missing) {
  static std::mutex guard;
  // Reasons are few, and the empty one is the usual.
  static std::map<std::string, std::map<std::string, Label, std::less<>>, std::less<>> labels;
  const std::lock_guard lock(guard);
  auto of_name = labels.find(name);
  if (of_name == labels.end()) of_name = labels.try_emplace(std::string(name)).first;
  auto found = of_name->second.find(missing);
  if (found == of_name->second.end()) {
    found = of_name->second.emplace(missing, Label{std::string(name), std::string(missing)}).first;
  }
  return &found->second;
}

void ResidualList::set(std::string_view name, const ResidualRecord& record) {
  auto index = rows_.end();
  if (!rows_.empty() && rows_.back().label->name >= name) {
    index = std::lower_bound(rows_.begin(), rows_.end(), name,
                             [](const Row& row, std::string_view wanted) { return row.label->name < wanted; });
  }
  if (index == rows_.end() || index->label->name != name) index = rows_.insert(index, Row{});
  const bool finite = record.value && std::isfinite(*record.value);
  index->value = finite ? *record.value : std::numeric_limits<double>::quiet_NaN();
  index->label = kept_once(name, record.missing);
  index->worst_block = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(record.worst_block, -1, std::numeric_limits<std::int32_t>::max()));
}

std::optional<ResidualRecord> ResidualList::find(std::string_view name) const {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) { return one.label->name == name; });
  if (row == rows_.end()) return std::nullopt;
  return record_of(*row);
}

ResidualRecord ResidualList::record_of(const Row& row) {
  return {std::isnan(row.value) ? std::nullopt : std::optional(row.value), row.label->missing, row.worst_block};
}

}  // namespace conebench
