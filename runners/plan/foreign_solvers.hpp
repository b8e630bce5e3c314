#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "runners/plan/peer_programs.hpp"
#include "runners/plan/suite.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// What to do with the plug-ins and programs that a suite names: refuse the suite; add them to the table of solvers; or
/// leave out all solvers that this build does not know, for callers that need the suite's problems only.
enum class CodeInSuite { refuse, load, leave_out };

/// parse_suite and load_suite of runners/plan/suite.hpp with a choice; those refuse code.
Result<Suite> parse_suite(const std::string& text, const std::filesystem::path& file, CodeInSuite code,
                          std::span<const SampledScene> scenes);
Result<Suite> load_suite(const std::filesystem::path& file, CodeInSuite code, std::span<const SampledScene> scenes);

/// The declaration of a foreign solver (docs/plugin_interface.md).
struct SolverDescription {
  SolverInfo info;
  std::vector<OptionSpec> options;
  std::vector<std::string> uses;  ///< of plug-ins: blocks, dense, primal
  bool serves = false;            ///< of programs: it can serve many requests
  int protocol = 1;               ///< of programs: the version that it knows
  bool many = false;              ///< of plug-ins: it also takes many problems in one call
};

/// `where`: prefix of error messages. Errors (bad_input): a missing or unknown key, a value of another type.
Result<SolverDescription> read_description(const nlohmann::json& value, const std::string& where);

/// Adds the solvers of a shared library (include/conebench/solver_plugin.h) to the table of solvers. The library's
/// content is part of their cells' keys. Errors (bad_input), one line with the file's name: as describe_plugin,
/// read_description, add_solver.
Result<void> add_plugin(const std::filesystem::path& file);

/// Adds the solver of a program (docs/program_protocol.md) to the table of solvers, and returns its id. The contents of
/// the arguments of `command` that are files are part of its cells' keys. Errors (bad_input), one line: as
/// describe_program, read_description, add_solver.
Result<std::string> add_program(const std::vector<std::string>& command);

/// Adds a peer that `command` serves to the table of solvers. The contents of the files `code` and what the program
/// says of itself, its library's version included, are part of its cells' keys; where they lie is not. Errors:
/// unsupported where the program lacks a package; else as add_program.
Result<void> add_peer(const PeerProgram& peer, const std::vector<std::string>& command,
                      const std::vector<std::filesystem::path>& code);

}  // namespace conebench
