#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace conebench {

/// From now on what a process below this one leaves behind becomes a child of this one, and not of init.
void adopt_orphans();

/// What this process forks from now on dies with whoever forked it, and so on down; not what is started without fork().
void die_with_parent();

/// Children of this process but those in `keep`, and all that descends from them. With adopt_orphans() that is all that
/// a forked solver has started, whatever group it has joined.
std::vector<pid_t> strays(const std::set<pid_t>& keep);

/// Kills children of this process that lead or joined another process group than its own, but those in `keep`, and
/// waits for them. Call it when what started them is dead.
void kill_strays(const std::set<pid_t>& keep);

/// Processor time of a process and all below it, those that it has waited for included [s]; 0 where it is gone.
double family_seconds(pid_t process);

/// Neither the process nor anything below it wants the processor or waits for a disk now.
bool all_asleep(pid_t process);

/// Memory of these processes now [MB], pages that several of them share counted once.
long memory_mb(const std::vector<pid_t>& processes);

}  // namespace conebench
