#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fclib_loader/hdf5_file.hpp"
#include "problems/types.hpp"

namespace conebench::hdf5 {

/// What a text is declared as. FCLIB's library declares its own ASCII, and HDF5 converts neither into the other: a
/// reader that asks for ASCII gets only that.
enum class TextType { utf8, ascii_where_it_is };

/// An HDF5 file made or changed in memory and then saved whole: HDF5 itself never meets a full disk, after which it
/// can neither close the file nor end the process in order. Methods throw Failure.
class Image {
 public:
  explicit Image(bool compress);
  /// A copy of `file` to be changed. A user block before the HDF5 part is left behind.
  Image(const std::filesystem::path& file, bool compress);

  /// Makes the group and its parents.
  void make_group(const std::string& path);
  /// Removes the link, where there is one; nothing is followed.
  void remove(const std::string& path);
  /// int32 of shape (1), as FCLIB writes its sizes.
  void write_size(const std::string& path, Index value);
  void write_sizes(const std::string& path, const std::vector<int>& values);
  void write_long(const std::string& path, std::int64_t value);
  /// With `columns`, row by row.
  void write_longs(const std::string& path, const std::vector<std::int64_t>& values, Index columns = 0);
  /// uint64 of shape (1).
  void write_seed(const std::string& path, std::uint64_t value);
  /// uint8.
  void write_bytes(const std::string& path, const std::vector<std::uint8_t>& values);
  void write_reals(const std::string& path, ConstVectorRef values);
  /// Row by row, of the given shape.
  void write_array(const std::string& path, const std::vector<Index>& shape, ConstVectorRef values);
  /// Fixed length, NUL-terminated.
  void write_text(const std::string& path, const std::string& text, TextType as = TextType::utf8);
  /// Of fixed length, that of the longest one.
  void write_texts(const std::string& path, const std::vector<std::string>& texts);

  std::vector<char> bytes();

  /// Writes a temporary file beside `target`, then renames it: `target` is old or new, never half.
  void save(const std::filesystem::path& target);

 private:
  void write_numbers(const std::string& path, Id file_type, Id memory_type, const std::vector<Index>& shape,
                     const void* values);

  std::string name_ = "HDF5 image";
  bool compress_;
  Handle file_;
};

}  // namespace conebench::hdf5
