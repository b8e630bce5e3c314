#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace conebench {

/// Kinds of failure that a user can cause or meet; each maps to one exit code of the command line.
enum class ErrorCode {
  wrong_usage,  ///< an unknown option, a value out of range (exit code 2)
  bad_input,    ///< a file or problem that can't be read or makes no sense (exit code 3)
  unsupported,  ///< a valid request that this build, solver or problem can't serve (exit code 4)
  killed,       ///< a process was terminated externally: nothing is known, and it may be tried again (exit code 4)
  internal,     ///< a fault of Conebench itself (exit code 70)
};

/// One line for people: what failed, where, and what to do.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

/// The error with a location in front: "location: message".
inline Error within(std::string_view location, Error error) {
  error.message.insert(0, std::string(location) + ": ");
  return error;
}

/// A value or the reason why there is none. Bad input travels in it; exceptions are for programming errors.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  /// The same result, with the location in front of its error.
  Result within(std::string_view location) && {
    return ok() ? std::move(*this) : Result(conebench::within(location, std::move(*this).error()));
  }

 private:
  std::variant<T, Error> state_;
};

/// Success (the default) or an error. True is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return error_.value(); }
  Error&& error() && { return std::move(error_).value(); }

  Result within(std::string_view location) && {
    return ok() ? Result() : Result(conebench::within(location, std::move(*this).error()));
  }

 private:
  std::optional<Error> error_;
};

}  // namespace conebench

#define CONEBENCH_JOIN_(left, right) left##right
#define CONEBENCH_JOIN(left, right) CONEBENCH_JOIN_(left, right)
#define CONEBENCH_TRY_(result, declaration, ...) \
  auto result = __VA_ARGS__;                     \
  if (!result) return std::move(result).error(); \
  declaration = *std::move(result)

/// Declares a variable by the value of a Result, or returns the Result's error from the enclosing function:
/// `CONEBENCH_TRY(const auto text, read_text_file(file));`. Without a type it assigns: `CONEBENCH_TRY(plan.model, …);`.
/// It expands to several statements, so use it in a block.
#define CONEBENCH_TRY(declaration, ...) \
  CONEBENCH_TRY_(CONEBENCH_JOIN(conebench_result_, __LINE__), declaration, __VA_ARGS__)

/// Returns the error of a Result from the enclosing function, and discards its value:
/// `CONEBENCH_CHECK(make_folder(folder));`. The value is destroyed at once, so declare an object that holds a lock by
/// TRY.
#define CONEBENCH_CHECK(...)                                                                               \
  do {                                                                                                     \
    if (const auto& conebench_checked = __VA_ARGS__; !conebench_checked) return conebench_checked.error(); \
  } while (false)
