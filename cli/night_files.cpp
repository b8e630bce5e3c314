#include "cli/night_files.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/plural.hpp"
#include "cli/output.hpp"
#include "store/night_folder.hpp"

namespace conebench::cli {

namespace fs = std::filesystem;

Result<void> copy_pages(const fs::path& folder, const fs::path& store, const fs::path& out) {
  if (out.empty()) return {};
  const fs::path pages = night_pages(store);
  std::error_code failure;
  const auto copy = [&](const fs::path& from, const fs::path& into) {
    if (!failure) fs::create_directories(into, failure);
    for (fs::directory_iterator entry(from, failure), end; !failure && entry != end; entry.increment(failure)) {
      const fs::path name = entry->path().filename();
      if (!entry->is_regular_file() || name.string().find(".sqlite") != std::string::npos) continue;
      fs::copy_file(entry->path(), (name == "night.xml" ? out : into) / name, fs::copy_options::overwrite_existing,
                    failure);
    }
  };
  copy(folder / "history", out / "history");
  copy(pages, out / pages.filename());
  if (fs::exists(pages / "pinned")) copy(pages / "pinned", out / pages.filename() / "pinned");
  if (!failure) return {};
  return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", out.string(), failure.message())};
}

void prune_nights(const fs::path& folder, const std::string& suite, long keep, const std::vector<fs::path>& spared) {
  if (keep == 0) return;
  const auto nights = read_night_folder(folder, suite);
  if (!nights) return;
  for (const fs::path& old : nights_to_delete(*nights, static_cast<std::size_t>(keep), spared)) {
    delete_night(old);
    print_note("deleted: " + old.string());
  }
}

void prune_stores(const fs::path& folder, const std::string& suite, long keep, const std::vector<fs::path>& spared) {
  if (keep == 0) return;
  const auto nights = read_night_folder(folder, suite);
  if (!nights) return;
  long deleted = 0;
  for (const fs::path& old : nights_to_delete(*nights, static_cast<std::size_t>(keep), spared)) {
    if (std::error_code ignored; !fs::exists(old, ignored)) continue;
    delete_store(old);
    ++deleted;
  }
  if (deleted > 0) print_note("deleted " + plural(deleted, "store") + "; their summaries are kept");
}

void keep_builds(const fs::path& folder, const std::string& executable, const fs::path& pin) {
  constexpr std::size_t newest = 8;
  if (const auto kept = keep_build(folder, executable); !kept) return print_note(kept.error().message);
  const auto nights = read_night_folder(folder, "");
  if (!nights) return;
  std::set<std::string> executables = {executable}, have_good;
  std::map<std::string, std::size_t> seen;  // suite → nights
  for (auto night = nights->nights.rbegin(); night != nights->nights.rend(); ++night) {
    const bool is_last_good = is_good(*night) && have_good.insert(night->suite).second;
    if (++seen[night->suite] <= newest || is_last_good) executables.insert(night->executable);
  }
  if (const auto pinned = read_night(pin); pinned) executables.insert(pinned->executable);
  delete_builds_but(folder, executables);
}

}  // namespace conebench::cli
