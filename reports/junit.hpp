#pragma once

#include <string>
#include <vector>

/// JUnit XML, as GitLab, GitHub's actions and Jenkins read it.
namespace conebench::reports {

struct JunitCase {
  enum class End { passed, failed, skipped };
  std::string name;
  End end = End::passed;
  std::string message = {};             ///< why it did not pass
  std::vector<std::string> lines = {};  ///< more of a failure
};

struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};

/// A document of all suites, named `name`.
std::string junit_xml(const std::string& name, const std::vector<JunitSuite>& suites);

}  // namespace conebench::reports
