#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace conebench {

/// From now on orphans among this process's descendants become its children, not those of init.
void adopt_orphans();

/// From now on every process that this one forks dies with its parent, and so do its descendants. Processes that are
/// started without fork() are excepted.
void die_with_parent();

/// Children of this process that are not in `keep`, with all their descendants. After adopt_orphans() these are all
/// processes that a forked solver has started, whatever process group they have joined.
std::vector<pid_t> strays(const std::set<pid_t>& keep);

/// Kills the children of this process that are in another process group and not in `keep`, and waits for them. Call it
/// when the process that started them is dead.
void kill_strays(const std::set<pid_t>& keep);

/// Processor time of a process and its descendants, including those that it has waited for [s]; 0: it has ended.
double process_tree_seconds(pid_t process);

/// Whether neither the process nor a descendant runs, is ready to run, or waits for a disk now.
bool all_asleep(pid_t process);

/// Memory of these processes now [MB]; shared pages are counted once.
long memory_mb(const std::vector<pid_t>& processes);

}  // namespace conebench
