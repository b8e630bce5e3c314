#pragma once

#include <sys/types.h>

#include <functional>

#include "base/result.hpp"
#include "runners/programs/solver_program.hpp"

namespace conebench {

/// Called in a process that is about to wait for a kept program: with −1 while that is started, then with its process,
/// so that whoever watches this one counts that one's memory.
using ServedBy = std::function<void(pid_t)>;
void tell_served_by(ServedBy call);

/// From now on this process leases programs that nobody has asked anything, and that end with the lease.
void use_fresh_programs();

/// Asks a kept program, which this process leases at its first request and which gets this process's limits and
/// processors. It is stopped before and after, with all that it has started. Without a limit of time: whoever watches
/// kills this process. Errors (bad_input), one line: it can't be started, is not ready within a minute, ends, or prints
/// a line that is not the reply.
Result<ProgramReply> ask_served(const SolverProgram& program, nlohmann::json request, double file_mb,
                                const TakeAnswer& take);

}  // namespace conebench
