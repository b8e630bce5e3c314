#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/conditioning_bands.hpp"
#include "metrics/features.hpp"

namespace conebench::simulation {

/// Samples of one category (Tsounis VII-C) and one band of conditioning.
struct Stratum {
  SampleCategory category = SampleCategory::unknown;
  std::size_t band = 0;
  std::string band_name;
  long met = 0;     ///< candidates that belong to it
  long taken = 0;   ///< of them, samples
  long wanted = 0;  ///< samples that it should have

  bool is_short() const { return taken < wanted; }
  std::string name() const;  ///< "sparse contacts, conditioning 1e2 to 1e4"
};

nlohmann::json to_json(const Stratum& stratum);
/// Throws where it is none, as nlohmann::json does. Its `band` is not known.
Stratum stratum_of_json(const nlohmann::json& json);

/// Counts samples by stratum, so that each gets as many as wanted.
class Strata {
 public:
  /// categories: names with - for blanks ("sparse-contacts"), commas between them; empty: those that are met. edges: of
  /// the bands, "1e2,1e4"; empty: one band. Errors (wrong_usage): a name that is none, an edge that is no number above
  /// 1 or not above the one before.
  static Result<Strata> create(const std::string& categories, const std::string& edges, long per_stratum);

  /// Counts a candidate. True where its stratum is wanted and not full: then it counts as taken.
  bool take(const Features& features);
  /// Where categories are asked for: whether all of them are full in every band. Else never: another may be met.
  bool full() const;
  /// Those that are wanted or were met, in the order of categories and bands.
  const std::vector<Stratum>& all() const { return strata_; }

 private:
  Strata(ConditioningBands bands, long per_stratum) : bands_(std::move(bands)), per_stratum_(per_stratum) {}
  Stratum& find(SampleCategory category, std::size_t band);

  ConditioningBands bands_;
  long per_stratum_ = 0;
  bool asked_ = false;
  std::vector<Stratum> strata_;
};

}  // namespace conebench::simulation
