#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

/// Sets of problem files that have a name: a manifest each in one folder, with what every file was when it was added.
/// docs/data_sets.md has the layout.
namespace conebench {

struct DataFile {
  std::string path;  ///< relative to DataSet::folder, with '/'
  std::uintmax_t bytes = 0;
  std::string hash;  ///< file_xxh128()
};

struct DataSet {
  std::string name;
  std::string version;            ///< 12 digits over paths and hashes: the same files have the same version
  std::string licence;            ///< in words; empty: not stated
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
/// Where the manifest of a set is, there or not.
std::filesystem::path manifest_file(const std::string& name);

/// Letters, digits, '.', '_' and '-', the first a letter or digit; at most 64.
bool is_data_name(const std::string& name);

/// A set that is known by its name and can be fetched.
struct KnownSource {
  const char *name, *url, *what;
};
std::span<const KnownSource> known_sources();
/// The command that adds the set, as far as it can be told: "conebench data add mine FOLDER".
std::string add_command(const std::string& name);

/// Names of all manifests, in order.
std::vector<std::string> data_set_names();
/// "NAME" or "NAME@VERSION" (its first digits do). Errors (bad_input): no such set (lists the known), another version,
/// a manifest that can't be read.
Result<DataSet> find_data_set(const std::string& name_and_version);
/// The set that a data folder means: none where it is a folder, or no name of a set. Errors as find_data_set, of a
/// manifest that is there.
Result<std::optional<DataSet>> data_set_of(const std::filesystem::path& folder_or_name);
/// The folder itself, or that of the set it names.
std::filesystem::path data_folder(const std::filesystem::path& folder_or_name);

/// Fills in files and version from `folder` and `only`: HDF5 files (.hdf5, .h5) at any depth. Errors (bad_input): none
/// there, Git LFS pointers among them (with the command that fetches the data), one that can't be read.
Result<void> take_files(DataSet& set);

/// The manifest as JSON, "conebench.data_set/1".
std::string manifest_text(const DataSet& set);

struct DataFault {
  std::string path, what;
};
/// Files that are gone, differ, are pointers, or are there and not in the manifest.
std::vector<DataFault> check_data_set(const DataSet& set);

/// The command that turns the pointers of a clone into data.
std::string fetch_command(const DataSet& set);

}  // namespace conebench
