#include "reports/pictures.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/source_text.hpp"
#include "base/text_file.hpp"
#include "reports/packed_text.hpp"

namespace conebench::reports {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest = 1 << 20;
constexpr std::uintmax_t largest_list = 64 << 20;

std::optional<std::string> read_picture(const fs::path& file) {
  constexpr std::string_view png("\x89PNG\r\n\x1a\n", 8);
  const auto bytes = read_text_file(file, largest);
  if (!bytes || !bytes->starts_with(png)) return std::nullopt;
  return *bytes;
}

/// Decide which steps become samples, and are left out of their sources.
constexpr std::array<std::string_view, 5> of_the_sampling = {"sample", "every", "per_stratum", "categories", "bands"};

/// A simulation as its samples' sources begin: "hand object=ball seed=2".
std::string simulation_text(const nlohmann::json& list) {
  const auto& options = list.at("options");
  std::string text = options.contains("path") ? "file" : list.at("scene").get<std::string>();
  for (const auto& [name, value] : options.items()) {
    if (std::find(of_the_sampling.begin(), of_the_sampling.end(), name) != of_the_sampling.end()) continue;
    text += ' ' + source_word(name, value.get<std::string>());
  }
  return text + " seed=" + std::to_string(list.at("seed").get<std::uint64_t>());
}

/// The folders of a sweep's own samples (samples.json), by their simulations.
std::map<std::string, fs::path> sample_folders(const std::vector<fs::path>& folders) {
  std::map<std::string, fs::path> found;
  std::error_code failed;
  for (const fs::path& base : folders) {
    for (const auto& entry : fs::directory_iterator(base, failed)) {
      const auto text = read_text_file(entry.path() / "samples.json", largest_list);
      if (!text) continue;
      try {
        found.emplace(simulation_text(nlohmann::json::parse(*text)), entry.path());
      } catch (const nlohmann::json::exception&) {
        continue;  // not a list of samples
      }
    }
  }
  return found;
}

}  // namespace

Pictures find_pictures(const std::vector<ProblemRecord>& problems, const std::vector<fs::path>& folders) {
  Pictures pictures;
  const std::map<std::string, fs::path> samples = sample_folders(folders);
  std::map<fs::path, std::optional<std::size_t>> known;  // by folder
  for (const ProblemRecord& problem : problems) {
    fs::path folder = fs::path(problem.source).parent_path();
    if (!problem.source.ends_with(".hdf5")) {
      const auto own = samples.find(problem.source.substr(0, problem.source.rfind(" step=")));
      if (own == samples.end()) continue;
      folder = fs::absolute(own->second);
    }
    const auto [target, is_new] = known.emplace(folder, std::nullopt);
    if (is_new) {
      auto image = read_picture(folder / "picture.png");
      for (const fs::path& base : folders) {
        if (!image) image = read_picture(base / folder / "picture.png");
      }
      if (image) {
        target->second = pictures.images.size();
        pictures.images.push_back(std::move(*image));
      }
    }
    if (target->second) pictures.of[problem.hash] = *target->second;
  }
  return pictures;
}

std::string pictures_json(const Pictures& pictures) {
  nlohmann::json json = {{"images", nlohmann::json::array()}, {"of", nlohmann::json::object()}};
  for (const std::string& image : pictures.images) json["images"].push_back(base64(image));
  for (const auto& [hash, index] : pictures.of) json["of"][hash] = index;
  return json.dump();
}

}  // namespace conebench::reports
