#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/records.hpp"

namespace conebench {

/// Processor, cores, memory, kernel and governor of this machine. Unknown fields are "unknown" or 0.
MachineRecord capture_machine();

/// Version, commit, compiler, flags and libraries of this executable, and a hash of its bytes. The hash also changes
/// with sources that git does not track.
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

/// Load of other processes while one thread of this process worked.
struct OthersLoad {
  double taken = 0.0;                ///< share of the time in which that thread had no processor
  std::optional<double> processors;  ///< kept busy by others; nullopt: the system counts no ticks
};
/// Load of a machine of `cores` processors between two instants. This process had one of them for the share `own` of
/// the time.
OthersLoad others_load(const MachineLoad& before, const MachineLoad& after, int cores, double own);
/// Measures it by working for a quarter of a second.
OthersLoad probe_others();
/// Why times measured now would be doubtful; empty: no reason is known.
std::string loaded_now(const OthersLoad& others, int cores);

/// Why times measured between two instants are doubtful, as far as the system shows. Whether the machine was loaded is
/// found from the times themselves (store_load.hpp). `jobs`: workers of the sweep itself.
std::vector<NoiseRecord> noise_between(const MachineRecord& machine, const MachineLoad& before,
                                       const MachineLoad& after, int jobs);

/// Sets the thread counts of BLAS and OpenMP libraries in the environment to 1; for the start of main().
void limit_library_threads();

}  // namespace conebench
