#include <fmt/format.h>

#include "metrics/conditioning_bands.hpp"
#include "reports/report.hpp"

namespace conebench {

Result<ReportGroups> parse_report_groups(const std::string& name) {
  if (name == "family") return ReportGroups::family;
  if (name == "category") return ReportGroups::category;
  if (name == "conditioning") return ReportGroups::conditioning;
  return Error{ErrorCode::wrong_usage,
               fmt::format("unknown grouping '{}'; known: family, category, conditioning", name)};
}

StoreContents grouped(StoreContents contents, ReportGroups groups) {
  if (groups == ReportGroups::family) return contents;
  const bool by_category = groups == ReportGroups::category;
  contents.group = by_category ? "category" : "band of conditioning";
  const ConditioningBands bands;
  for (ProblemRecord& problem : contents.problems) {
    if (by_category) {
      problem.family = problem.category;
    } else if (!problem.rank) {
      problem.family = "conditioning unknown";
    } else {
      problem.family = "conditioning " + bands.name(bands.band_of(problem.conditioning));
    }
  }
  return contents;
}

}  // namespace conebench
