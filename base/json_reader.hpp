#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace conebench {

/// Reads a JSON document written by a person. Every error names the key's path. The first error is kept, so that
/// callers need not check after each value.
class JsonReader {
 public:
  using Json = nlohmann::json;

  /// `where`: prefix of every error (a file's name).
  explicit JsonReader(std::string where) : where_(std::move(where)) {}

  void fail(const std::string& path, const std::string& what);
  const std::optional<Error>& error() const { return error_; }

  /// Errors: the value at `path` is no object, or has a key that is not in `known`.
  bool is_object(const Json& value, const std::string& path, std::initializer_list<const char*> known);

  /// A text of 1 to 65,536 bytes.
  std::string text(const Json& value, const std::string& path);
  bool flag(const Json& value, const std::string& path);
  double number(const Json& value, const std::string& path, double minimum, double maximum);
  long integer(const Json& value, const std::string& path, long minimum, long maximum);
  /// One of `choices`.
  std::string choice(const Json& value, const std::string& path, const std::vector<std::string>& choices);
  /// A value of the option `name`: true, false, a number or a text. An object is taken as solver_options:
  /// {"increment": 0.02, "ratio": 5} is the text "increment=0.02,ratio=5".
  OptionValue option(const Json& value, const std::string& path, const std::string& name = {});

 private:
  std::string where_;
  std::optional<Error> error_;
};

/// Parses a document. Errors (wrong_usage) name `where` and the position: invalid JSON, a key twice in one object,
/// brackets more than 64 deep.
Result<nlohmann::json> parse_json(const std::string& text, const std::string& where);

/// "problems[2].grid" and the like.
std::string child_path(const std::string& path, const std::string& key);
std::string child_path(const std::string& path, std::size_t index);

}  // namespace conebench
