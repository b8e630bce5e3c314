#include <fmt/format.h>

#include <map>

#include "reports/comparison/comparison.hpp"
#include "reports/comparison/words.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

/// A test suite a slice, a test case a setting; those fail that fail the gate.
std::string comparison_junit(const Comparison& comparison) {
  std::map<std::pair<std::size_t, std::size_t>, std::string> cells;  // by slice and setting
  for (const CellPair* pair : changed_cells(comparison)) {
    const ChangedCell cell = words_of(comparison, *pair);
    cells[{pair->slice, pair->setting}] +=
        fmt::format("{}: {}: {} -> {}\n", cell.change, cell.problem, cell.base, cell.fresh);
  }
  std::string suites;
  long tests = 0;
  long failures = 0;
  for (std::size_t s = 0; s < comparison.slices.size(); ++s) {
    const TimeSlice& slice = comparison.slices[s];
    const std::string name = html(slice_words(slice.request));
    std::string cases;
    long failed = 0;
    for (const SettingChange& change : slice.settings) {
      const std::string label = html(comparison.settings[change.setting].label);
      cases += fmt::format("    <testcase classname=\"conebench.{}\" name=\"{}\">", name, label);
      const auto text = cells.find({s, change.setting});
      const std::string more = text == cells.end() ? std::string() : html(one_line(text->second));
      const std::string message = html(one_line(why(comparison, change)));
      if (change.failed) {
        ++failed;
        cases += fmt::format("<failure message=\"{}\">{}</failure>", message, more);
      } else if (change.outlook == Outlook::undecided) {
        cases += fmt::format("<skipped message=\"{}\"/>", message);
      }
      cases += "</testcase>\n";
    }
    suites += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n{}  </testsuite>\n", name,
                          slice.settings.size(), failed, cases);
    tests += static_cast<long>(slice.settings.size());
    failures += failed;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"conebench compare\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuites>\n",
      tests, failures, suites);
}

}  // namespace conebench::reports
