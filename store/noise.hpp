#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace conebench {

/// Why the times of a run are noisy.
enum class NoiseKind : std::uint8_t {
  stolen,     ///< by the hypervisor: share of the processor time
  throttled,  ///< because of heat: how many times
  governor,   ///< `text`, which is not performance
  workers,    ///< how many ran side by side
  loaded,     ///< by other processes: share of the cells of 5 ms or more whose median is a tenth above the minimum
  joined,     ///< from stores that differ in what `text` says
};

/// By NoiseKind, in stores.
inline constexpr std::array<std::string_view, 6> noise_kind_names = {"stolen",  "throttled", "governor",
                                                                     "workers", "loaded",    "joined"};

struct NoiseRecord {
  NoiseKind kind = NoiseKind::stolen;
  double value = 0.0;     ///< a share or a count, as the kind says; 0 where it has none
  std::string text = {};  ///< as the kind says, else empty

  auto operator<=>(const NoiseRecord&) const = default;
};

/// For nlohmann's json.
template <class Json>
void to_json(Json& json, const NoiseRecord& noise) {
  json = {{"kind", std::string(noise_kind_names.at(static_cast<std::size_t>(noise.kind)))},
          {"value", noise.value},
          {"text", noise.text}};
}
template <class Json>
void from_json(const Json& json, NoiseRecord& noise) {
  const auto found = std::find(noise_kind_names.begin(), noise_kind_names.end(),
                               json.at("kind").template get_ref<const std::string&>());
  if (found == noise_kind_names.end()) throw std::out_of_range("no kind of noise");
  noise.kind = static_cast<NoiseKind>(found - noise_kind_names.begin());
  json.at("value").get_to(noise.value);
  json.at("text").get_to(noise.text);
}

}  // namespace conebench
