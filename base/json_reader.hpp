#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace conebench {

/// Reads a JSON document written by a person: every complaint names the key's path, and the first one is kept, so that
/// callers read on without asking after each value.
class JsonReader {
 public:
  using Json = nlohmann::json;

  /// `where` is put in front of every complaint (a file's name).
  explicit JsonReader(std::string where) : where_(std::move(where)) {}

  void fail(const std::string& path, const std::string& what);
  const std::optional<Error>& error() const { return error_; }

  /// Complains about keys of the object at `path` that are not in `known`, and about a value that is no object.
  bool is_object(const Json& value, const std::string& path, std::initializer_list<const char*> known);

  /// Not empty, of 65,536 bytes at most.
  std::string text(const Json& value, const std::string& path);
  bool flag(const Json& value, const std::string& path);
  double number(const Json& value, const std::string& path, double minimum, double maximum);
  long integer(const Json& value, const std::string& path, long minimum, long maximum);
  /// One of `words`.
  std::string word(const Json& value, const std::string& path, const std::vector<std::string>& words);
  /// A value of the option `name`: true, false, a number or a text. An object is taken as solver_options:
  /// {"increment": 0.02, "ratio": 5} is the text "increment=0.02,ratio=5".
  OptionValue option(const Json& value, const std::string& path, const std::string& name = {});

 private:
  std::string where_;
  std::optional<Error> error_;
};

/// The document, with a key given twice in one object an error, and so are brackets more than 64 deep. Errors
/// (wrong_usage) name `where` and the position.
Result<nlohmann::json> parse_json(const std::string& text, const std::string& where);

/// "problems[2].grid" and the like.
std::string child_path(const std::string& path, const std::string& key);
std::string child_path(const std::string& path, std::size_t index);

}  // namespace conebench
