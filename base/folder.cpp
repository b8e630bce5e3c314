#include "base/folder.hpp"

#include <fmt/format.h>

#include <system_error>

namespace conebench {

Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
  if (!failure) return {};
  return Error{ErrorCode::bad_input, fmt::format("{}: cannot be made: {}; give a folder that you may write to",
                                                 folder.string(), failure.message())};
}

}  // namespace conebench
