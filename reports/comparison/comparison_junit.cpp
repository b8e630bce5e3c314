#include <fmt/format.h>

#include <map>

#include "reports/comparison/comparison.hpp"
#include "reports/comparison/words.hpp"
#include "reports/junit.hpp"

namespace conebench::reports {

namespace {

using End = JunitCase::End;

/// What fails the gate without making a setting worse, such as a problem that is gone, fails here alone.
JunitCase whole_comparison(const Comparison& comparison) {
  const std::string name = "nothing is worse";
  if (comparison.compared == 0) return {name, End::failed, "no cell is in both"};
  if (!comparison.failed) return {name};
  return {name, End::failed, headline(comparison), problem_and_setting_lines(comparison)};
}

}  // namespace

std::vector<JunitSuite> comparison_tests(const Comparison& comparison) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> cells;  // by slice and setting
  for (const CellPair* pair : changed_cells(comparison)) {
    const ChangedCell cell = words_of(comparison, *pair);
    cells[{pair->slice, pair->setting}].push_back(
        fmt::format("{}: {}: {} -> {}", cell.change, cell.problem, cell.base, cell.fresh));
  }
  std::vector<JunitSuite> suites = {{"all settings", {whole_comparison(comparison)}}};
  for (std::size_t s = 0; s < comparison.slices.size(); ++s) {
    const TimeSlice& slice = comparison.slices[s];
    JunitSuite& suite = suites.emplace_back(slice_words(comparison, slice));
    for (const SettingChange& change : slice.settings) {
      JunitCase& test = suite.cases.emplace_back(comparison.settings[change.setting].label);
      test.message = why(comparison, change);
      if (change.failed) {
        test.end = End::failed;
        test.lines = cells[{s, change.setting}];
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
