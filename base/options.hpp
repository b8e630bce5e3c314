#pragma once

#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace conebench {

using OptionValue = std::variant<bool, long, double, std::string>;
/// Values set by a user, by option name. Other options keep their defaults.
using OptionValues = std::map<std::string, OptionValue>;

enum class OptionScale { linear, logarithmic };

/// One option as users see it: in listings, docs, grids, JSON and a configuration's hash.
struct OptionSpec {
  std::string name;
  OptionValue default_value;
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  std::string unit;  ///< empty: none
  OptionScale scale = OptionScale::linear;
  std::vector<std::string> choices;  ///< for texts: the values allowed; empty: any
  std::string doc;                   ///< one line: meaning, source
};

/// Declares the options of one algorithm over the fields of its options struct, once:
///
///     static void declare(OptionBinder& bind, PgsOptions& o) {
///       bind.real("relaxation", o.relaxation, {.minimum = 0, .maximum = 2, .doc = "ω of Tsounis Alg. 3"});
///     }
///
/// Everything else (listing, parsing, bounds, effective values) is derived from that.
class OptionBinder {
 public:
  struct Details {
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    std::string unit = {};
    OptionScale scale = OptionScale::linear;
    std::string doc = {};
  };
  // Each throws std::logic_error for a name that is declared already.
  void real(const std::string& name, double& field, Details details);
  void integer(const std::string& name, long& field, Details details);
  void flag(const std::string& name, bool& field, const std::string& doc);
  void choice(const std::string& name, std::string& field, std::vector<std::string> choices, const std::string& doc);
  /// Any text: a path, a name.
  void text(const std::string& name, std::string& field, const std::string& doc);

  /// The declared options with the current values of the fields as defaults.
  std::vector<OptionSpec> specs() const;
  /// Writes `values` into the bound fields. Integers are taken where a real is expected. Errors (wrong_usage) name the
  /// option, the value and the bound; that of an unknown option lists the known ones. If a value is wrong, nothing is
  /// written.
  Result<void> assign(const OptionValues& values);
  /// Current values of all bound fields.
  OptionValues effective() const;

 private:
  using Field = std::variant<bool*, long*, double*, std::string*>;
  struct Entry {
    OptionSpec spec;
    Field field;
  };
  void add(OptionSpec spec, Field field);
  std::vector<Entry> entries_;
};

/// "0.05", "true", "spectral": the text on the command line and in listings; reals round-trip.
std::string to_text(const OptionValue& value);
/// Parses `text` as a value of `spec`'s type. Errors (wrong_usage).
Result<OptionValue> parse_option(const OptionSpec& spec, const std::string& text);

}  // namespace conebench
