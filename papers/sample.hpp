#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "papers/language.hpp"
#include "runners/plan/filter.hpp"
#include "store/records.hpp"

namespace conebench::papers {

/// What the language sees of one cell: texts to select it by, numbers to reduce. A truth is 0 or 1; a number that the
/// cell does not have (the times of an unsupported one) is not in the map.
struct Sample {
  FilterSubject subject;
  std::map<std::string, double> numbers;
  bool own = false;  ///< of a solver by Conebench's authors

  /// The text by which it is put into groups.
  std::string group(const std::string& key) const;
};

/// The cells of a store with the `keys` (all where that is empty) as samples, without those of problems that repeat
/// another's data under another name and of problems that could not be loaded. In the store's order.
std::vector<Sample> samples_of(const StoreContents& contents, const std::set<std::string>& keys = {});

/// A field and what it is, for messages and documents.
struct FieldInfo {
  std::string name;
  Kind kind = Kind::number;
  std::string meaning;    ///< with its unit
  std::string noun = {};  ///< in a sentence: "number of iterations"; of a truth what holds: "solved"
  std::string unit = {};
};
/// Those with a fixed name; residuals have their own (residual_table()), and `scene.NAME` and `option.NAME` are the
/// numbers among the options of a problem's scene and of a configuration, `step.COLUMN` and `run.…` those of
/// trajectories (trajectory_samples.hpp).
const std::vector<FieldInfo>& field_table();
/// Nothing for a name that is no field.
std::optional<Kind> field_kind(const std::string& name);
/// Why a name is none, with the one that was perhaps meant.
std::string unknown_field(const std::string& name);

}  // namespace conebench::papers
