#pragma once

#include <sys/types.h>

#include <functional>

#include "base/result.hpp"
#include "runners/programs/solver_program.hpp"

namespace conebench {

/// Called before this process waits for a kept program: with −1 while the program starts, then with its process id, so
/// that the process that watches this one counts the program's memory, too.
using ServedBy = std::function<void(pid_t)>;
void on_served_by(ServedBy call);

/// From now on this process leases new programs only, which end with the lease.
void use_fresh_programs();

/// What the start of a kept program may take.
inline constexpr double max_seconds_to_start = 60.0;

/// Sends a request to a kept program. This process leases the program at its first request; the program gets this
/// process's limits and processors. Before and after the request the program and its descendants are stopped. There is
/// no time limit: the process that watches this one kills it. Errors (bad_input), one line: the program can't be
/// started, is not ready within a minute, ends, or prints a line that is not the reply.
Result<ProgramReply> ask_served(const SolverProgram& program, nlohmann::json request, double file_mb,
                                const TakeAnswer& take);

}  // namespace conebench
