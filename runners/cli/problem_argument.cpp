#include "runners/cli/problem_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "fclib_loader/fclib_file.hpp"
#include "problems/scenes/scene_table.hpp"
#include "runners/cli/arguments.hpp"

namespace conebench::cli {

namespace {

constexpr std::string_view seed_word = "seed=";

Result<GivenProblem> make_scene(const SceneRow& scene, std::istringstream& words) {
  std::vector<std::string> settings;
  std::uint64_t seed = 1;
  for (std::string word; words >> word;) {
    if (!word.starts_with(seed_word)) {
      settings.push_back(word);
      continue;
    }
    const char* const end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data() + seed_word.size(), end, seed);
    if (parsed.ec != std::errc{} || parsed.ptr != end) {
      return Error{ErrorCode::wrong_usage, fmt::format("{}: {} must be a whole number", scene.id, word)};
    }
  }
  const auto values = parse_settings(settings, scene.options, scene.id);
  if (!values) return values.error();
  auto problem = scene.make(*values, seed);
  if (!problem) return problem.error();
  return GivenProblem{*problem, {}};
}

}  // namespace

std::filesystem::path find_problem_file(const std::string& file) {
  const std::filesystem::path given(file);
  std::error_code ignored;
  if (given.is_absolute() || std::filesystem::exists(given, ignored)) return given;
  if (const char* data = std::getenv("CONEBENCH_DATA"); data != nullptr && *data != '\0') {
    auto below = std::filesystem::path(data) / given;
    if (std::filesystem::exists(below, ignored)) return below;
  }
  return given;
}

Result<GivenProblem> load_given_problem(const std::string& text) {
  const auto file = find_problem_file(text);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    std::istringstream words(text);
    std::string first;
    words >> first;
    const auto table = scene_table();
    const auto scene = std::find_if(table.begin(), table.end(), [&](const SceneRow& row) { return row.id == first; });
    if (scene != table.end()) return make_scene(*scene, words);
  }
  const auto problem = load_fclib(file);
  if (!problem) return problem.error();
  return GivenProblem{*problem, file};
}

}  // namespace conebench::cli
