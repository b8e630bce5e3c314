#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.hpp"
#include "base/utf8.hpp"
#include "problems/types.hpp"

/// A thin layer over HDF5's C API: handles that close themselves, and reading that checks first. Private to
/// this folder; HDF5's own header stays in the .cpp files.
namespace conebench::hdf5 {

/// HDF5's hid_t, as 1.10 and later have it.
using Id = std::int64_t;

/// A file that can't be used, on its way to the public functions, which turn it into an Error. Never leaves the folder.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& message, ErrorCode code = ErrorCode::bad_input)
      : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// Held by every public function while it uses HDF5: one thread at a time (Debian's HDF5 is not thread-safe), and
/// HDF5's own error printing off; what the caller had set is restored.
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

 private:
  std::scoped_lock<std::mutex> lock_;
  void* printer_ = nullptr;
  void* printer_data_ = nullptr;
};

/// Owns any HDF5 id.
class Handle {
 public:
  Handle() = default;
  explicit Handle(Id id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(other.id_) { other.id_ = -1; }
  Handle& operator=(Handle&& other) noexcept;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();

  Id get() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  Id id_ = -1;
};

using conebench::one_line;

/// The innermost message on HDF5's error stack, for a person.
std::string last_error();

/// A group or dataset found in the file, with the path under which it was asked for.
struct Object {
  Handle handle;
  std::string path;
};

/// A file opened for reading. All methods throw Failure with one line: file, object, reason.
///
/// Objects are looked up link by link: hard links and soft links within the file are followed (16 deep and 200 soft
/// links in all at most), external and user-defined links are refused.
class ReadFile {
 public:
  explicit ReadFile(const std::filesystem::path& file);

  [[noreturn]] void fail(const std::string& object, const std::string& reason) const;

  Object root() const;
  bool has(const Object& group, const std::string& name) const;
  bool is_group(const Object& parent, const std::string& name) const;
  /// Nothing there: fails with "is missing".
  Object open_group(const Object& parent, const std::string& name) const;

  enum class Values { integers, reals };
  /// A dataset that was checked: numbers of the right class, stored inside the file.
  struct Dataset {
    Object object;
    std::vector<Index> extent;  ///< empty: a scalar
    Index length = 0;           ///< of all numbers
    Index element_bytes = 0;
  };
  /// Checks type and shape, which must be one column; reads nothing.
  Dataset open_dataset(const Object& parent, const std::string& name, Values values) const;
  /// As above, and the length must be `expected`. Checks layout, filters and that what is stored can fill what is
  /// declared.
  Dataset open_dataset(const Object& parent, const std::string& name, Values values, Index expected) const;
  /// The same of an array, which is read row by row.
  Dataset open_array(const Object& parent, const std::string& name, Values values,
                     const std::vector<Index>& shape) const;

  /// A dataset of one integer.
  std::int64_t read_scalar(const Object& parent, const std::string& name) const;
  /// The same, of numbers that are not negative.
  std::uint64_t read_unsigned(const Object& parent, const std::string& name) const;
  /// Names of what a group holds, at most `max_names` of them.
  std::vector<std::string> names(const Object& group, std::size_t max_names) const;
  /// The first `count` numbers (all of them where count < 0).
  std::vector<std::int64_t> read_integers(const Dataset& dataset, Index count = -1) const;
  Vector read_reals(const Dataset& dataset, Index count = -1) const;
  /// As read_reals; fails where a value is NaN or infinite.
  Vector read_finite(const Dataset& dataset, Index count = -1) const;
  /// Free text; empty where there is none or it can't be read safely. Never fails.
  std::string read_text(const Object& parent, const std::string& name) const;
  /// A dataset of `expected` texts (-1: any number), of fixed or variable length. Fails where it is none.
  std::vector<std::string> read_texts(const Object& parent, const std::string& name, Index expected) const;
  /// An integer attribute of a group; nothing where there is none or it isn't one number. Never fails.
  std::optional<std::int64_t> read_attribute(const Object& group, const std::string& name) const;

 private:
  Handle find(const Object& parent, const std::string& name, int depth) const;
  Handle follow(const Object& parent, const std::string& path, const std::string& shown, int depth) const;
  Dataset open_numbers(const Object& parent, const std::string& name, Values values) const;
  void check_storage(const Dataset& dataset) const;
  void check_chunks(const Dataset& dataset, Id properties) const;
  void read(const Dataset& dataset, Index count, Id memory_type, void* out) const;

  std::string name_;
  std::filesystem::path path_;
  Handle file_;
  mutable int soft_links_followed_ = 0;
};

/// Runs `body`, which may throw Failure, and gives its value or the error. Nothing else escapes.
template <class Body>
auto guarded(const std::string& file, Body&& body) -> Result<decltype(body())> {
  try {
    const Session session;
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return {};
    } else {
      return body();
    }
  } catch (const Failure& failure) {
    return Error{failure.code(), failure.what()};
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::bad_input, one_line(file) + ": not enough memory for what the file declares"};
  } catch (const std::exception& exception) {
    return Error{ErrorCode::internal, one_line(file) + ": " + one_line(exception.what())};
  }
}

}  // namespace conebench::hdf5
