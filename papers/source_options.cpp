#include "papers/source_options.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace conebench::papers {

using Json = nlohmann::json;

namespace {

constexpr long largest_seed = 1'000'000'000;

std::string value_text(JsonReader& read, const Json& value, const std::string& path) {
  if (value.is_string()) return read.text(value, path);
  if (!value.is_number() && !value.is_boolean()) read.fail(path, "must be a number, a text, true or false");
  return value.dump();
}

}  // namespace

SourceOptions read_options(JsonReader& read, const Json& item, const std::string& path) {
  SourceOptions options;
  if (!item.contains("options")) return options;
  const std::string here = child_path(path, "options");
  if (!item["options"].is_object()) {
    read.fail(here, "must be {\"NAME\": value, …}");
    return options;
  }
  for (const auto& [name, value] : item["options"].items()) {
    options.emplace_back(name, value_text(read, value, child_path(here, name)));
  }
  return options;
}

std::vector<SourceOptions> read_grid(JsonReader& read, const Json& item, const std::string& path,
                                     const SourceOptions& options) {
  std::vector<SourceOptions> points = {options};
  if (!item.contains("grid")) return points;
  const std::string here = child_path(path, "grid");
  for (const auto& [name, values] : item["grid"].items()) {
    if (!values.is_array() || values.empty()) {
      read.fail(child_path(here, name), "must be a list of values");
      return points;
    }
    std::vector<SourceOptions> more;
    for (const SourceOptions& point : points) {
      for (const Json& value : values) {
        more.push_back(point);
        more.back().emplace_back(name, value_text(read, value, child_path(here, name)));
      }
    }
    points = std::move(more);
  }
  return points;
}

std::vector<long> read_seeds(JsonReader& read, const Json& item, const std::string& path) {
  if (!item.contains("seeds")) return {1};
  const std::string here = child_path(path, "seeds");
  if (!item["seeds"].is_array() || item["seeds"].empty()) {
    read.fail(here, "must be a list of whole numbers");
    return {};
  }
  std::vector<long> seeds;
  for (std::size_t i = 0; i < item["seeds"].size(); ++i) {
    seeds.push_back(read.integer(item["seeds"][i], child_path(here, i), 0, largest_seed));
  }
  return seeds;
}

std::string source_text(const std::string& scene, const SourceOptions& options, long seed) {
  std::string text = scene;
  for (const auto& [option, value] : options) text += " " + option + "=" + value;
  return seed == 1 ? text : fmt::format("{} seed={}", text, seed);
}

}  // namespace conebench::papers
