#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "runners/plan/suite.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// What becomes of the plug-ins and programs that a suite names: not allowed; put into the table of solvers; left out,
/// with all solvers that this build does not know, for who wants the suite's problems alone.
enum class CodeInSuite { refuse, load, leave_out };

/// As parse_suite and load_suite of runners/plan/suite.hpp, which refuse code.
Result<Suite> parse_suite(const std::string& text, const std::filesystem::path& file, CodeInSuite code,
                          std::span<const SampledScene> scenes);
Result<Suite> load_suite(const std::filesystem::path& file, CodeInSuite code, std::span<const SampledScene> scenes);

/// What a solver that is not part of the build says of itself (docs/plugin_interface.md).
struct SolverDescription {
  SolverInfo info;
  std::vector<OptionSpec> options;
  std::vector<std::string> uses;  ///< of plug-ins: blocks, dense, primal
  bool serves = false;            ///< of programs: it can be kept alive
};

/// `where` begins every complaint. Errors (bad_input): a key that is missing or unknown, a value of another type.
Result<SolverDescription> read_description(const nlohmann::json& value, const std::string& where);

/// Puts the solvers of a shared library (include/conebench/solver_plugin.h) into the table of solvers. Its content is
/// part of their cells' keys. Errors (bad_input), one line with the file's name: as describe_plugin, read_description,
/// add_solver.
Result<void> add_plugin(const std::filesystem::path& file);

/// Puts the solver of a program (docs/program_protocol.md) into the table of solvers. The content of those of its words
/// that are files is part of its cells' keys. Errors (bad_input), one line: as describe_program, read_description,
/// add_solver. Gives its id.
Result<std::string> add_program(const std::vector<std::string>& words);

}  // namespace conebench
