#pragma once

#include <functional>
#include <string>

namespace conebench {

/// Code that is not part of the build, by where it runs when a cell asks for it.
enum class ForeignCode {
  none,
  plugin,        ///< in the process that solves
  program,       ///< in a process of its own for each run
  kept_program,  ///< in a process of its own that lives on for the next cell
};

struct ForeignRun {
  ForeignCode code = ForeignCode::none;
  /// Of a plug-in: loads its file into this process, so that no set-up has that in it. Else null.
  std::function<void()> load = {};
};

/// Of the solver with this id; none for what is part of the build.
const ForeignRun& foreign_run(const std::string& id);
/// For whoever puts a foreign solver into the table.
void set_foreign_run(const std::string& id, ForeignRun run);

}  // namespace conebench
