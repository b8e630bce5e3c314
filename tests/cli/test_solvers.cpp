#include "tests/cli/test_solvers.hpp"

#include <utility>

namespace conebench::testing {

std::filesystem::path executable_with_test_solvers() { return CONEBENCH_WITH_TEST_SOLVERS; }

RunOptions with_test_solvers(std::vector<std::string> environment) {
  environment.emplace_back("CONEBENCH_TEST_SOLVERS=1");
  RunOptions options;
  options.environment = std::move(environment);
  options.executable = executable_with_test_solvers();
  return options;
}

}  // namespace conebench::testing
