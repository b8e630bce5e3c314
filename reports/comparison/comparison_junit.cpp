#include <fmt/format.h>

#include <map>

#include "reports/comparison/comparison.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/junit.hpp"

namespace conebench::reports {

namespace {

using End = JunitCase::End;

/// What fails the gate without making a configuration worse, such as a problem that is gone, fails here alone.
JunitCase whole_comparison(const Comparison& comparison) {
  const std::string name = "nothing is worse";
  if (comparison.compared == 0) return {name, End::failed, "no cell is in both"};
  if (!comparison.failed) return {name};
  return {name, End::failed, headline(comparison), problem_and_configuration_lines(comparison)};
}

}  // namespace

std::vector<JunitSuite> comparison_tests(const Comparison& comparison) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> cells;  // by slice and configuration
  for (const CellPair* pair : changed_cells(comparison)) {
    const ChangedCell cell = describe_cell(comparison, *pair);
    cells[{pair->slice, pair->configuration}].push_back(
        fmt::format("{}: {}: {} -> {}", cell.change, cell.problem, cell.baseline, cell.candidate));
  }
  std::vector<JunitSuite> suites = {{"all configurations", {whole_comparison(comparison)}}};
  for (std::size_t s = 0; s < comparison.slices.size(); ++s) {
    const TimeSlice& slice = comparison.slices[s];
    JunitSuite& suite = suites.emplace_back(describe_slice(comparison, slice));
    for (const ConfigurationChange& change : slice.configurations) {
      JunitCase& test = suite.cases.emplace_back(comparison.configurations[change.configuration].label);
      test.message = why(comparison, change);
      if (change.failed) {
        test.end = End::failed;
        test.lines = cells[{s, change.configuration}];
      } else if (change.assessment == Assessment::undecided) {
        test.end = End::skipped;
      }
    }
  }
  return suites;
}

std::string comparison_junit(const Comparison& comparison) {
  return junit_xml("conebench compare", comparison_tests(comparison));
}

}  // namespace conebench::reports
