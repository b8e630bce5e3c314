#include "runners/store/residual_list.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

namespace conebench {

namespace {

/// One string for all that are equal. It is there until the process ends.
const std::string* kept_once(std::string_view text) {
  static std::mutex guard;
  static std::set<std::string, std::less<>> texts;
  const std::lock_guard lock(guard);
  auto found = texts.find(text);
  if (found == texts.end()) found = texts.emplace(text).first;
  return &*found;
}

}  // namespace

void ResidualList::set(std::string_view name, const ResidualRecord& record) {
  auto place = rows_.end();
  if (!rows_.empty() && *rows_.back().name >= name) {
    place = std::lower_bound(rows_.begin(), rows_.end(), name,
                             [](const Row& row, std::string_view wanted) { return *row.name < wanted; });
  }
  if (place == rows_.end() || *place->name != name) place = rows_.insert(place, Row{0.0, kept_once(name), nullptr, -1});
  const bool finite = record.value && std::isfinite(*record.value);
  place->value = finite ? *record.value : std::numeric_limits<double>::quiet_NaN();
  place->missing = kept_once(record.missing);
  place->worst_block = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(record.worst_block, -1, std::numeric_limits<std::int32_t>::max()));
}

std::optional<ResidualRecord> ResidualList::find(std::string_view name) const {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) { return *one.name == name; });
  if (row == rows_.end()) return std::nullopt;
  return record_of(*row);
}

ResidualRecord ResidualList::record_of(const Row& row) {
  return {std::isnan(row.value) ? std::nullopt : std::optional(row.value), *row.missing, row.worst_block};
}

}  // namespace conebench
