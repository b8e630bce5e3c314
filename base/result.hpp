#pragma once

#include <string>
#include <utility>
#include <variant>

namespace conebench {

/// Kinds of failure that a user can cause or meet; each maps to one exit code of the command line.
enum class ErrorCode {
  wrong_usage,  ///< an unknown option, a value out of range (exit code 2)
  bad_input,    ///< a file or problem that can't be read or makes no sense (exit code 3)
  unsupported,  ///< a valid request that this build, solver or problem can't serve (exit code 4)
  killed,    ///< something outside killed a process at work: nothing is known, and it may be tried again (exit code 4)
  internal,  ///< a fault of Conebench itself (exit code 70)
};

/// One line for a person: what went wrong, where, and what to do.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

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
  const Error& error() const { return std::get<1>(state_); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace conebench
