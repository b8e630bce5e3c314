#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace conebench {

/// What of a problem had to be made for its reader.
enum class UsedParts : std::uint8_t {
  unknown,
  none,
  primal,    ///< M, J or v_free alone
  diagonal,  ///< the blocks G_ii alone
  products,  ///< G times a vector
  products_and_diagonal,
  delassus,  ///< G, assembled
};

/// By UsedParts, in stores and JSON.
inline constexpr std::array<std::string_view, 7> used_parts_names = {
    "", "none", "primal", "diagonal", "products", "products+diagonal", "delassus"};

inline std::string to_string(UsedParts parts) {
  const auto index = static_cast<std::size_t>(parts);
  return std::string(index < used_parts_names.size() ? used_parts_names[index] : "");
}
/// `unknown` where none has this name.
inline UsedParts used_parts(std::string_view name) {
  const auto found = std::find(used_parts_names.begin(), used_parts_names.end(), name);
  return found == used_parts_names.end() ? UsedParts::unknown
                                         : static_cast<UsedParts>(found - used_parts_names.begin());
}

/// For nlohmann's json.
template <class Json>
void to_json(Json& json, UsedParts parts) {
  json = to_string(parts);
}
template <class Json>
void from_json(const Json& json, UsedParts& parts) {
  parts = used_parts(json.template get_ref<const std::string&>());
}

}  // namespace conebench
