#pragma once

#include <string>
#include <vector>

#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {

/// Conebench with tests/test_solvers in its table where CONEBENCH_TEST_SOLVERS=1 is in the environment.
std::filesystem::path executable_with_test_solvers();
/// Runs that, with these solvers and also `environment`.
RunOptions with_test_solvers(std::vector<std::string> environment = {});

}  // namespace conebench::testing
