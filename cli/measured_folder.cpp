#include "cli/measured_folder.hpp"

#include <fmt/format.h>

#include <system_error>

#include "base/content_address.hpp"
#include "base/text_file.hpp"

namespace conebench::cli {

namespace {

constexpr const char* maker_name = "made_by";  ///< file with the hash of the executable
constexpr std::uintmax_t max_hash = 10'000;

}  // namespace

Result<bool> fill_once(const std::filesystem::path& place, const std::string& executable, const FillFolder& fill) {
  const auto maker = read_text_file(place / maker_name, max_hash);
  if (maker && *maker == executable) return true;
  std::error_code failed;
  const std::filesystem::path unfinished = place.string() + ".unfinished";
  std::filesystem::remove_all(place, failed);
  std::filesystem::remove_all(unfinished, failed);
  std::filesystem::create_directories(place.parent_path(), failed);
  CONEBENCH_TRY(const auto notes, fill(unfinished));
  if (!notes) return false;
  std::vector<ReportFile> files = *notes;
  files.push_back({maker_name, executable});
  CONEBENCH_CHECK(write_files(unfinished, files));
  std::filesystem::rename(unfinished, place, failed);
  if (failed) return Error{ErrorCode::bad_input, fmt::format("{}: {}", place.string(), failed.message())};
  return true;
}

std::string folder_name(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + "\n";
  return content_address({text});
}

}  // namespace conebench::cli
