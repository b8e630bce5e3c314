#include "cli/foreign_code.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>

#include "base/source_text.hpp"
#include "runners/plan/foreign_solvers.hpp"

namespace conebench::cli {

void add_foreign_code(CLI::App& app, ForeignCode& code, bool takes_suite) {
  app.add_option("--plugin", code.plugins,
                 "Shared library with solvers (docs/add_a_solver.md); may be repeated; CONEBENCH_PLUGINS lists more")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--program", code.programs,
                 "Program that solves (docs/add_a_solver.md), with its arguments in one text; may be repeated")
      ->type_name("'PROGRAM ARGUMENT…'")
      ->allow_extra_args(false);
  if (takes_suite) app.add_flag("--allow-code", code.allowed, "Run the plug-ins and programs that the suite names");
}

Result<void> load_foreign_code(const ForeignCode& code) {
  const char* const text = std::getenv("CONEBENCH_PLUGINS");
  std::istringstream listed(text == nullptr ? "" : text);
  for (std::string file; std::getline(listed, file, ':');) {
    if (file.empty()) continue;
    CONEBENCH_CHECK(add_plugin(file).within("CONEBENCH_PLUGINS"));
  }
  for (const std::string& file : code.plugins) CONEBENCH_CHECK(add_plugin(file));
  for (const std::string& program : code.programs) {
    const auto command = split_source_text(program);
    if (!command) return Error{ErrorCode::wrong_usage, "--program " + program + ": a quote is not closed"};
    if (const auto id = add_program(*command); !id) return Error{id.error().code, "--program " + id.error().message};
  }
  return {};
}

Error with_foreign_code(const Error& unknown, const ForeignCode& code) {
  if (unknown.code != ErrorCode::wrong_usage || !code.plugins.empty() || !code.programs.empty()) return unknown;
  return {unknown.code, unknown.message + "; --plugin FILE or --program 'PROGRAM ARGUMENT…' if it is your own"};
}

}  // namespace conebench::cli
