#include "reports/junit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text.hpp"

namespace conebench::reports {

namespace {

std::string escaped(const std::string& text) { return html(one_line(text)); }

std::string body_of(const JunitCase& test) {
  const std::string message = escaped(test.message);
  switch (test.end) {
    case JunitCase::End::failed: {
      std::string lines;
      for (const std::string& line : test.lines) lines += escaped(line) + "\n";
      return fmt::format("<failure message=\"{}\">{}</failure>", message, lines);
    }
    case JunitCase::End::skipped: return fmt::format("<skipped message=\"{}\"/>", message);
    case JunitCase::End::passed: break;
  }
  return {};
}

}  // namespace

std::string junit_xml(const std::string& name, const std::vector<JunitSuite>& suites) {
  std::string text;
  std::ptrdiff_t tests = 0, failures = 0;
  for (const JunitSuite& suite : suites) {
    const auto failed = std::count_if(suite.cases.begin(), suite.cases.end(),
                                      [](const auto& test) { return test.end == JunitCase::End::failed; });
    text += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n", escaped(suite.name),
                        suite.cases.size(), failed);
    for (const JunitCase& test : suite.cases) {
      text += fmt::format("    <testcase classname=\"conebench.{}\" name=\"{}\">{}</testcase>\n", escaped(suite.name),
                          escaped(test.name), body_of(test));
    }
    text += "  </testsuite>\n";
    tests += std::ssize(suite.cases);
    failures += failed;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\">\n"
      "{}</testsuites>\n",
      escaped(name), tests, failures, text);
}

}  // namespace conebench::reports
