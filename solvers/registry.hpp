#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "solvers/many_solver.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// Foreign code, by the process that runs it.
enum class ForeignCode {
  none,
  plugin,        ///< in the solving process
  program,       ///< in a process of its own for each run
  kept_program,  ///< in a process of its own that lives on for the next cell
};

/// One row of the solver table.
struct SolverRow {
  SolverInfo info;
  std::vector<OptionSpec> options;
  /// Options of many solvers that the algorithms do not see (solvers/common_options.hpp).
  std::vector<OptionSpec> common = {};
  /// The solver with `values` set over its defaults. Errors (wrong_usage): see OptionBinder::assign.
  std::function<Result<std::unique_ptr<Solver>>(const OptionValues& values)> make;
  /// The same for many problems in one call; null where the solver takes one at a time.
  std::function<Result<std::unique_ptr<ManySolver>>(const OptionValues& values)> make_many = {};
  /// All options with `values` set over the defaults; common options only if they differ from their defaults. A
  /// configuration's hash is made from these. Errors as make.
  std::function<Result<OptionValues>(const OptionValues& values)> effective_options;
  /// The judge's residual that the solver's own residual equals; empty: none. Such a solver proposes iterates that
  /// pass, so that the verdict is not checked in between.
  std::string measures = {};
  std::string missing = {};  ///< why this build can't run it; empty: it can
  /// Hash of a foreign solver's files; part of every cell's key. Empty: a solver of the build.
  std::string content_hash = {};
  ForeignCode foreign = ForeignCode::none;
  /// Of a plug-in: loads its file into this process, so that no set-up has that in it. Else null.
  std::function<void()> load = {};
  /// Arguments of a command line that load the foreign solver, with absolute paths: {"--plugin", "/FILE"}. Empty: a
  /// solver of this build, or the command line can't express them.
  std::vector<std::string> command_arguments = {};

  /// Its own and the common ones.
  std::vector<OptionSpec> all_options() const;
};

/// All solvers that this build can run, in the order in which they are listed.
std::span<const SolverRow> solver_table();

/// All solvers that Conebench knows, including those that this build lacks.
std::span<const SolverRow> solver_catalogue();

/// Adds a foreign solver, unless one with the same id and content has been added before. References to rows become
/// invalid. Errors (bad_input): the id exists.
Result<void> add_solver(SolverRow row);

/// Solvers that are added when they are first asked for.
struct SolverOffer {
  std::vector<std::string> ids;
  /// Adds one of them (add_solver). Errors: it can't be had here.
  std::function<Result<void>(const std::string& id)> add;
};

/// What require_solver also knows from now on; replaces an earlier offer.
void offer_solvers(SolverOffer offer);

/// The row of solver_table() with this id, or nullptr.
const SolverRow* find_solver(const std::string& id);

/// The row of solver_table() with this id. Errors: unknown (wrong_usage; names the known ids), missing from this build
/// (unsupported; says why); of an offer, as SolverOffer::add. Where it adds an offered solver, references to other rows
/// become invalid.
Result<const SolverRow*> require_solver(const std::string& id);

/// The row whose configurations have the option only where it is not at its default, so that those from before there
/// was one are the same.
SolverRow with_default_left_out(SolverRow row, const std::string& option);

/// The error (wrong_usage) where `options` contradict each other and they have a function for it: wrong_word().
template <class Options>
Result<void> check_together(const std::string& id, const Options& options) {
  if constexpr (requires { options.wrong_word(); }) {
    if (auto wrong = options.wrong_word()) return Error{ErrorCode::wrong_usage, id + ": " + *wrong};
  }
  return {};
}

/// Builds the row of a solver class with `Options` (see OptionBinder for declare_options):
///     make_row<PgsOptions>(info, [](const SolverInfo& i, const PgsOptions& o) { return std::make_unique<Pgs>(i, o); })
template <class Options, class Factory>
SolverRow make_row(SolverInfo info, Factory factory) {
  SolverRow row;
  row.info = info;
  {
    Options defaults;
    OptionBinder binder;
    declare_options(binder, defaults);
    row.options = binder.specs();
  }
  const auto assign = [id = info.id](const OptionValues& values, Options& options) -> Result<OptionValues> {
    OptionBinder binder;
    declare_options(binder, options);
    CONEBENCH_CHECK(binder.assign(values).within(id));
    CONEBENCH_CHECK(check_together(id, options));
    return binder.effective();
  };
  row.make = [info, factory, assign](const OptionValues& values) -> Result<std::unique_ptr<Solver>> {
    Options options;
    CONEBENCH_CHECK(assign(values, options));
    return std::unique_ptr<Solver>(factory(info, options));
  };
  row.effective_options = [assign](const OptionValues& values) {
    Options options;
    return assign(values, options);
  };
  return row;
}

}  // namespace conebench
