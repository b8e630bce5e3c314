#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

/// Named sets of problem files. Each has a manifest with the size and hash of every file when it was added
/// (docs/data_sets.md).
namespace conebench {

struct DataFile {
  std::string path;  ///< relative to DataSet::folder, with '/'
  std::uintmax_t bytes = 0;
  std::string hash;  ///< file_xxh128()
};

struct DataSet {
  std::string name;
  std::string version;            ///< 12 digits over paths and hashes: the same files have the same version
  std::string licence;            ///< as text; empty: not stated
  std::string source;             ///< a URL, a folder, or the scenes
  std::string revision;           ///< commit of a clone; else empty
  std::vector<std::string> only;  ///< folders of the source that are in the set; empty: all
  std::filesystem::path folder;   ///< absolute
  std::vector<DataFile> files;    ///< by path

  const DataFile* find(const std::string& path) const;
  std::uintmax_t bytes() const;
};

/// CONEBENCH_DATA_HOME, else XDG_DATA_HOME/conebench, else HOME/.local/share/conebench; empty without any of them.
std::filesystem::path data_home();
/// Path of a set's manifest, whether it exists or not.
std::filesystem::path manifest_file(const std::string& name);

/// Letters, digits, '.', '_' and '-', the first a letter or digit; at most 64.
bool is_data_name(const std::string& name);

/// A set that is known by its name and can be fetched.
struct KnownSource {
  const char *name, *url, *what;
};
std::span<const KnownSource> known_sources();
/// A command that adds the set: "conebench data add mine FOLDER".
std::string add_command(const std::string& name);

/// Names of all manifests, in order.
std::vector<std::string> data_set_names();
/// "NAME" or "NAME@VERSION" (the first digits of a version suffice). Errors (bad_input): no such set (lists the known),
/// another version, a manifest that can't be read.
Result<DataSet> find_data_set(const std::string& name_and_version);
/// The set of that name; nullopt: it is a folder, or no set has that name. Errors as find_data_set, if there is a
/// manifest.
Result<std::optional<DataSet>> data_set_of(const std::filesystem::path& folder_or_name);
/// The folder itself, or the folder of the set of that name.
std::filesystem::path data_folder(const std::filesystem::path& folder_or_name);

/// The problem files below a folder, as take_files() finds them: relative to it, in order. Errors (bad_input): as
/// glob_files; a link out of the folder.
Result<std::vector<std::string>> problem_files_below(const std::filesystem::path& folder);

/// Fills in files and version from `folder` and `only`: HDF5 files (.hdf5, .h5) and .dat files that hold a problem in
/// Siconos' text, at any depth. Errors (bad_input): no
/// such file, Git LFS pointers (with the command that fetches the data), a file that can't be read.
Result<void> take_files(DataSet& set);

/// The manifest as JSON, "conebench.data_set/1".
std::string manifest_text(const DataSet& set);

struct DataFault {
  std::string path, what;
};
/// Files that are missing, differ from the manifest, are pointers, or are not in the manifest.
std::vector<DataFault> check_data_set(const DataSet& set);

/// The command that replaces the Git LFS pointers of a clone by data.
std::string fetch_command(const DataSet& set);

}  // namespace conebench
