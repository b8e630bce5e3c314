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

Result<bool> fill_once(const std::filesystem::path& target, const std::string& executable, const FillFolder& fill) {
  const auto maker = read_text_file(target / maker_name, max_hash);
  if (maker && *maker == executable) return true;
  std::error_code failed;
  const std::filesystem::path unfinished = target.string() + ".unfinished";
  std::filesystem::remove_all(target, failed);
  std::filesystem::remove_all(unfinished, failed);
  std::filesystem::create_directories(target.parent_path(), failed);
  CONEBENCH_TRY(const auto notes, fill(unfinished));
  if (!notes) return false;
  std::vector<ReportFile> files = *notes;
  files.push_back({maker_name, executable});
  CONEBENCH_CHECK(write_files(unfinished, files));
  std::filesystem::rename(unfinished, target, failed);
  if (failed) return Error{ErrorCode::bad_input, fmt::format("{}: {}", target.string(), failed.message())};
  return true;
}

std::string folder_name(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + "\n";
  return content_address({text});
}

}  // namespace conebench::cli
