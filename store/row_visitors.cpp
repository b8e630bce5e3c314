#include "store/row_visitors.hpp"

#include <nlohmann/json.hpp>

namespace conebench {

namespace {

/// Texts from the outside (CPU names, paths) need not be UTF-8; what is not becomes U+FFFD.
std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class T>
void read(const std::string& text, T& into) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  into = {};
  try {
    if (!value.is_discarded()) into = value.get<T>();
  } catch (const std::exception&) {
    into = {};
  }
}

}  // namespace

std::string to_column(const std::vector<std::string>& list) { return dump(list); }
std::string to_column(const std::vector<NoiseRecord>& list) { return dump(list); }
std::string to_column(const std::map<std::string, std::string>& map) { return dump(map); }
std::string to_column(const std::map<std::string, double>& map) { return dump(map); }
void from_column(const std::string& text, std::vector<std::string>& list) { read(text, list); }
void from_column(const std::string& text, std::vector<NoiseRecord>& list) { read(text, list); }
void from_column(const std::string& text, std::map<std::string, std::string>& map) { read(text, map); }
void from_column(const std::string& text, std::map<std::string, double>& map) { read(text, map); }

}  // namespace conebench
