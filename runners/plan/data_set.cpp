#include "runners/plan/data_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/content_address.hpp"
#include "base/glob.hpp"
#include "base/json_reader.hpp"
#include "base/plural.hpp"
#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "fclib_loader/siconos_text.hpp"

namespace conebench {

namespace fs = std::filesystem;

namespace {

constexpr const char* manifest_schema = "conebench.data_set/1";
constexpr std::size_t version_digits = 12;
constexpr std::uintmax_t largest_manifest = std::uintmax_t{256} << 20;
constexpr long largest_file = std::numeric_limits<long>::max();

Error bad(std::string message) { return {ErrorCode::bad_input, std::move(message)}; }

bool is_pointer(const fs::path& file) {
  constexpr std::string_view head = "version https://git-lfs";
  std::string text(head.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(text.data(), static_cast<std::streamsize>(text.size())) && text == head;
}

std::string version_of(const std::vector<DataFile>& files) {
  std::string text;
  for (const DataFile& file : files) text += file.path + '\n' + file.hash + '\n';
  return content_address({text}).substr(0, version_digits);
}

/// Below the set's folder, whatever somebody wrote into a manifest or made a link to.
bool stays_below(const fs::path& path) {
  return !path.empty() && !path.is_absolute() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

/// Paths of the HDF5 files and of Siconos' texts, relative to the folder.
Result<std::set<std::string>> files_in(const fs::path& folder, const std::vector<std::string>& only) {
  std::set<std::string> paths;
  for (const std::string& part : only.empty() ? std::vector<std::string>{""} : only) {
    CONEBENCH_TRY(const auto files, glob_files(folder / part, "**"));
    for (const fs::path& file : files) {
      const std::string extension = file.extension().string();
      const bool text = extension == ".dat" && read_siconos_text(folder / part / file).ok();
      if (extension != ".hdf5" && extension != ".h5" && !text) continue;
      const fs::path path = fs::path(part) / file;
      std::error_code failed;
      const fs::path target = fs::canonical(folder / path, failed).lexically_relative(fs::canonical(folder, failed));
      if (failed || !stays_below(target)) {
        return bad(
            fmt::format("{}: is a link that leads out of the folder; give the folder that holds the file, or a "
                        "copy",
                        (folder / path).string()));
      }
      paths.insert(path.generic_string());
    }
  }
  return paths;
}

Result<DataSet> read_manifest(const fs::path& file) {
  CONEBENCH_TRY(const auto text, read_text_file(file, largest_manifest));
  const auto json = parse_json(text, file.string());
  if (!json) return bad(json.error().message);
  JsonReader read(file.string());
  DataSet set;
  if (read.is_object(*json, "",
                     {"schema", "name", "version", "licence", "source", "revision", "only", "folder", "files"})) {
    const auto text_of = [&](const nlohmann::json& object, const std::string& path, const char* key) {
      const std::string here = child_path(path, key);
      if (object.contains(key)) return read.text(object[key], here);
      read.fail(here, "is missing");
      return std::string();
    };
    read.choice(json->value("schema", nlohmann::json()), "schema", {manifest_schema});
    set.name = text_of(*json, "", "name");
    set.source = text_of(*json, "", "source");
    set.folder = (file.parent_path() / text_of(*json, "", "folder")).lexically_normal();
    set.version = text_of(*json, "", "version");
    if (json->contains("licence")) set.licence = text_of(*json, "", "licence");
    if (json->contains("revision")) set.revision = text_of(*json, "", "revision");
    const auto each = [&](const char* key, const auto& take) {
      const auto list = json->value(key, nlohmann::json::array());
      if (!list.is_array()) return read.fail(key, "must be a list");
      for (std::size_t i = 0; i < list.size(); ++i) take(list[i], child_path(key, i));
    };
    each("only",
         [&](const nlohmann::json& item, const std::string& path) { set.only.push_back(read.text(item, path)); });
    each("files", [&](const nlohmann::json& item, const std::string& path) {
      if (!read.is_object(item, path, {"path", "bytes", "xxh128"})) return;
      DataFile one;
      one.path = text_of(item, path, "path");
      if (!stays_below(one.path)) read.fail(child_path(path, "path"), "must be below the folder of the set");
      one.bytes = static_cast<std::uintmax_t>(
          read.integer(item.value("bytes", nlohmann::json()), child_path(path, "bytes"), 0, largest_file));
      one.hash = text_of(item, path, "xxh128");
      set.files.push_back(std::move(one));
    });
  }
  if (!read.error() && set.name + ".json" != file.filename()) read.fail("name", "is not that of the file");
  std::sort(set.files.begin(), set.files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  if (!read.error() && set.version != version_of(set.files)) read.fail("version", "is not that of the files");
  if (!read.error()) return set;
  return bad(fmt::format("{}; once it is deleted, `{}` writes it anew", read.error()->message,
                         add_command(file.stem().string())));
}

}  // namespace

const DataFile* DataSet::find(const std::string& path) const {
  const auto found =
      std::lower_bound(files.begin(), files.end(), path,
                       [](const DataFile& file, const std::string& wanted) { return file.path < wanted; });
  return found != files.end() && found->path == path ? &*found : nullptr;
}

std::uintmax_t DataSet::bytes() const {
  std::uintmax_t sum = 0;
  for (const DataFile& file : files) sum += file.bytes;
  return sum;
}

fs::path data_home() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  std::error_code ignored;
  if (const auto home = variable("CONEBENCH_DATA_HOME"); !home.empty()) return fs::absolute(home, ignored);
  if (const auto home = variable("XDG_DATA_HOME"); home.is_absolute()) return home / "conebench";
  if (const auto home = variable("HOME"); home.is_absolute()) return home / ".local/share/conebench";
  return {};
}

fs::path manifest_file(const std::string& name) { return data_home() / (name + ".json"); }

bool is_data_name(const std::string& name) {
  constexpr std::size_t longest = 64;
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) < 128 && std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  return !name.empty() && name.size() <= longest && plain(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return plain(c) || c == '.' || c == '_' || c == '-'; });
}

std::span<const KnownSource> known_sources() {
  static constexpr KnownSource sources[] = {{"fclib-library",
                                             "https://github.com/FrictionalContactLibrary/fclib-library",
                                             "FCLIB's collection, some 3,200 problems"}};
  return sources;
}

std::string add_command(const std::string& name) {
  const auto known = known_sources();
  const bool fetched = std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
  return fmt::format("conebench data add {} {}FOLDER", is_data_name(name) ? name : "NAME", fetched ? "--only " : "");
}

std::vector<std::string> data_set_names() {
  std::vector<std::string> names;
  std::error_code failed;
  if (data_home().empty()) return names;
  for (const auto& entry : fs::directory_iterator(data_home(), failed)) {
    if (entry.path().extension() != ".json" || !entry.is_regular_file(failed)) continue;
    if (is_data_name(entry.path().stem().string())) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<DataSet> find_data_set(const std::string& name_and_version) {
  const auto at = name_and_version.find('@');
  const std::string name = name_and_version.substr(0, at);
  if (data_home().empty()) return bad(name + ": no folder for data sets; set CONEBENCH_DATA_HOME");
  std::error_code ignored;
  if (!is_data_name(name) || !fs::exists(manifest_file(name), ignored)) {
    const auto known = data_set_names();
    return bad(fmt::format("{}: no such data set; {}`{}` adds it", one_line(name),
                           known.empty() ? "" : fmt::format("there are {}; ", fmt::join(known, ", ")),
                           add_command(name)));
  }
  auto set = read_manifest(manifest_file(name));
  if (!set || at == std::string::npos || set->version.starts_with(name_and_version.substr(at + 1))) return set;
  return bad(fmt::format("{}: version {} is wanted, and here is {}", name, one_line(name_and_version.substr(at + 1)),
                         set->version));
}

Result<std::optional<DataSet>> data_set_of(const fs::path& folder_or_name) {
  const std::string text = folder_or_name.string();
  const std::string name = text.substr(0, text.find('@'));
  std::error_code ignored;
  if (text.empty() || fs::is_directory(folder_or_name, ignored) || !is_data_name(name) ||
      !fs::exists(manifest_file(name), ignored)) {
    return std::optional<DataSet>();
  }
  CONEBENCH_TRY(auto set, find_data_set(text));
  return std::optional<DataSet>(std::move(set));
}

fs::path data_folder(const fs::path& folder_or_name) {
  const auto set = data_set_of(folder_or_name);
  return set && *set ? (*set)->folder : folder_or_name;
}

std::string fetch_command(const DataSet& set) {
  std::string parts;
  for (const std::string& part : set.only) parts += (parts.empty() ? "" : ",") + part;
  return fmt::format("git -C '{}' lfs pull{}", set.folder.string(), parts.empty() ? "" : " --include '" + parts + "'");
}

Result<std::vector<std::string>> problem_files_below(const fs::path& folder) {
  CONEBENCH_TRY(const auto files, files_in(folder, {}));
  return std::vector<std::string>(files.begin(), files.end());
}

Result<void> take_files(DataSet& set) {
  CONEBENCH_TRY(const auto paths, files_in(set.folder, set.only));
  if (paths.empty()) {
    return bad(fmt::format("{}: holds no .hdf5 or .h5 file and no problem in Siconos' text{}", set.folder.string(),
                           set.only.empty() ? "" : fmt::format(" in {}", fmt::join(set.only, ", "))));
  }
  std::vector<std::string> pointers;
  set.files.clear();
  for (const std::string& path : paths) {
    const fs::path file = set.folder / path;
    if (is_pointer(file)) pointers.push_back(path);
    std::error_code failed;
    DataFile one{valid_utf8(path), fs::file_size(file, failed), file_xxh128(file)};
    if (one.path != path) return bad(fmt::format("{}: its name is not UTF-8; rename it", valid_utf8(file.string())));
    if (failed || (one.hash.empty() && one.bytes > 0)) return bad(file.string() + ": cannot be read");
    if (one.bytes == 0) return bad(file.string() + ": is empty");
    set.files.push_back(std::move(one));
  }
  if (!pointers.empty()) {
    return bad(fmt::format(
        "{}: Git LFS pointers instead of data, {} of {} ({}{}); fetch the data by `{}`, then the same command again",
        set.name, pointers.size(), plural(static_cast<long>(paths.size()), "file"), pointers.front(),
        pointers.size() > 1 ? ", …" : "", fetch_command(set)));
  }
  set.version = version_of(set.files);
  return {};
}

std::string manifest_text(const DataSet& set) {
  nlohmann::ordered_json json = {{"schema", manifest_schema}, {"name", set.name}, {"version", set.version}};
  if (!set.licence.empty()) json["licence"] = set.licence;
  json["source"] = set.source;
  if (!set.revision.empty()) json["revision"] = set.revision;
  if (!set.only.empty()) json["only"] = set.only;
  const fs::path home = data_home();
  json["folder"] = set.folder == home / set.name ? set.name : set.folder.string();
  json["files"] = nlohmann::ordered_json::array();
  for (const DataFile& file : set.files) {
    json["files"].push_back({{"path", file.path}, {"bytes", file.bytes}, {"xxh128", file.hash}});
  }
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<DataFault> check_data_set(const DataSet& set) {
  std::vector<DataFault> faults;
  for (const DataFile& file : set.files) {
    const fs::path path = set.folder / file.path;
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) {
      faults.push_back({file.path, "is gone"});
    } else if (is_pointer(path)) {
      faults.push_back(
          {file.path, fmt::format("is a Git LFS pointer, not the data; fetch it by `{}`", fetch_command(set))});
    } else if (fs::file_size(path, failed) != file.bytes || file_xxh128(path) != file.hash) {
      faults.push_back({file.path, "holds other data than when it was added"});
    }
  }
  if (const auto paths = files_in(set.folder, set.only)) {
    for (const std::string& path : *paths) {
      if (set.find(path) == nullptr) faults.push_back({valid_utf8(path), "is new"});
    }
  }
  return faults;
}

}  // namespace conebench
