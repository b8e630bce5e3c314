#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/fclib_loader/file_maker.hpp"

namespace conebench::testing {

/// One kind of file that must be refused: how it is made, and what the refusal must name.
struct Malformed {
  std::string name;
  std::function<void(const std::filesystem::path&)> make;
  std::vector<std::string> says;
};

/// Parts missing, sizes and values that contradict each other.
std::vector<Malformed> malformed_content();
/// What is no FCLIB file, holds other types, lies outside the file, is damaged, or asks for too much memory.
std::vector<Malformed> malformed_storage();

// Ways to damage a good file.

using Edit = std::function<void(FileMaker&)>;

inline const std::string w = "/fclib_local/W";
inline const std::string q = "/fclib_local/vectors/q";
inline const std::string mu = "/fclib_local/vectors/mu";

inline std::function<void(const std::filesystem::path&)> from(void (*base)(FileMaker&), const Edit& edit) {
  return [=](const std::filesystem::path& file) {
    FileMaker maker(file);
    base(maker);
    edit(maker);
  };
}

inline std::function<void(const std::filesystem::path&)> local(const Edit& edit) { return from(make_local, edit); }
inline std::function<void(const std::filesystem::path&)> mixed(const Edit& edit) {
  return from(make_mixed_local, edit);
}
inline std::function<void(const std::filesystem::path&)> global(const Edit& edit) { return from(make_global, edit); }

/// W as a triplet or compressed, after `change`.
inline Edit changed_w(int kind, const std::function<void(StoredMatrix&)>& change) {
  return [=](FileMaker& maker) {
    StoredMatrix matrix = stored(local_w(), 12, 12, kind);
    change(matrix);
    maker.remove(w);
    write_matrix(maker, w, matrix);
  };
}

inline Edit integer_at(const std::string& path, std::int64_t value) {
  return [=](FileMaker& maker) { maker.integers(path, {value}); };
}

inline Edit removed(const std::string& path) {
  return [=](FileMaker& maker) { maker.remove(path); };
}

inline Edit both(const Edit& first, const Edit& second) {
  return [=](FileMaker& maker) {
    first(maker);
    second(maker);
  };
}

inline FileMaker::Storage shaped(const std::vector<hsize_t>& shape) {
  FileMaker::Storage storage;
  storage.shape = shape;
  return storage;
}

}  // namespace conebench::testing
