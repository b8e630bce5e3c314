#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/records.hpp"

namespace conebench {

/// Processor, cores, memory, kernel and governor of this machine; what can't be told says "unknown" or 0.
MachineRecord capture_machine();

/// Version, commit, compiler, flags and libraries of this executable, and a hash of its bytes: whatever was built into
/// it changes that, also files that git does not track.
BuildRecord capture_build();

/// "2026-01-31T12:00:00Z".
std::string utc_now();

/// Counters of the whole machine at one instant.
struct MachineLoad {
  double load = 0.0;            ///< 1-minute average
  std::uint64_t steal = 0;      ///< ticks of processor time taken by the hypervisor, since boot
  std::uint64_t all = 0;        ///< ticks of processor time, since boot
  std::uint64_t throttled = 0;  ///< thermal throttling events, since boot
  std::uint64_t idle = 0;       ///< of `all`: ticks in which no process ran
};
MachineLoad capture_load();

/// Share of processor time stolen between two instants.
double steal_share(const MachineLoad& before, const MachineLoad& after);

/// What other processes took while one thread of this one worked.
struct OthersLoad {
  double taken = 0.0;                ///< share of the time in which that thread had no processor
  std::optional<double> processors;  ///< that others kept busy; nothing where the system counts no ticks
};
/// Of a machine of so many processors between two instants, in which this process had one for a share `own` of the
/// time.
OthersLoad others_load(const MachineLoad& before, const MachineLoad& after, int cores, double own);
/// By working for a quarter of a second.
OthersLoad probe_others();
/// Why times taken now would be doubtful, in words; empty where nothing is seen.
std::string loaded_now(const OthersLoad& others, int cores);

/// Why times measured between two instants are doubtful, as far as the system tells; whether the machine was loaded,
/// the times themselves tell (store_load.hpp). `jobs`: workers that the sweep itself kept busy.
std::vector<NoiseRecord> noise_between(const MachineRecord& machine, const MachineLoad& before,
                                       const MachineLoad& after, int jobs);

/// Sets the thread counts of BLAS and OpenMP libraries in the environment to 1; for the start of main().
void limit_library_threads();

}  // namespace conebench
