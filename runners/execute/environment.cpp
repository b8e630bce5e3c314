#include "runners/execute/environment.hpp"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "base/content_address.hpp"
#include "runners/execute/build_info.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/commit.hpp"
#include "runners/execute/processor_probe.hpp"
#include "runners/execute/timing.hpp"
#include "solvers/ipopt/ipopt_rows.hpp"
#include "solvers/peer_builds.hpp"
#include "solvers/siconos/siconos_rows.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// The value behind "name   : " in the /proc files of that form.
std::string proc_value(const fs::path& file, const std::string& name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, name.size(), name) != 0) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

/// "9.1.0" of 90100.
std::string dotted(unsigned version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

std::uint64_t throttling_events() {
  std::uint64_t events = 0;
  std::error_code failed;
  for (fs::directory_iterator it("/sys/devices/system/cpu", failed), end; !failed && it != end; it.increment(failed)) {
    std::uint64_t count = 0;
    if (std::ifstream(it->path() / "thermal_throttle" / "core_throttle_count") >> count) events += count;
  }
  return events;
}

}  // namespace

MachineRecord capture_machine() {
  MachineRecord machine;
  std::array<char, 256> host{};
  machine.host = gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown";
  machine.cpu = proc_value("/proc/cpuinfo", "model name");
  if (machine.cpu.empty()) machine.cpu = proc_value("/proc/cpuinfo", "CPU part");
  machine.cpu = or_unknown(machine.cpu);
  machine.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.memory_mb = std::atol(proc_value("/proc/meminfo", "MemTotal").c_str()) / 1024;
  utsname system{};
  machine.kernel = uname(&system) == 0 ? fmt::format("{} {}", system.sysname, system.release) : "unknown";
  machine.governor = or_unknown(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  return machine;
}

BuildRecord capture_build() {
  BuildRecord build;
  build.version = CONEBENCH_VERSION;
  build.commit = CONEBENCH_COMMIT;
  build.compiler = CONEBENCH_COMPILER;
  build.flags = CONEBENCH_FLAGS;
  build.build_type = CONEBENCH_BUILD_TYPE;
  build.native = CONEBENCH_IS_NATIVE != 0;
  static const std::string executable = file_address("/proc/self/exe");
  build.executable = executable;
  build.libraries = {{"Eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
                     {"HDF5", CONEBENCH_HDF5},
                     {"SQLite", CONEBENCH_SQLITE},
                     {"fmt", dotted(FMT_VERSION)},
                     {"glibc", gnu_get_libc_version()},
                     {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                                   NLOHMANN_JSON_VERSION_PATCH)},
                     {"xxHash", dotted(XXH_versionNumber())},
                     {"zlib", CONEBENCH_ZLIB}};
  const auto add = [&](const char* name, const std::string& file, const PeerBuild& peer) {
    if (!file.empty()) build.libraries[name] = peer.version.empty() ? file : peer.version;
  };
  add("Siconos", siconos_library(), peer_build("siconos"));
  add("Ipopt", ipopt::library_file(), peer_build("ipopt"));
  return build;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

MachineLoad capture_load() {
  MachineLoad load;
  double average = 0.0;
  if (getloadavg(&average, 1) == 1) load.load = average;
  // cpu  user nice system idle iowait irq softirq steal
  std::istringstream line(first_line("/proc/stat"));
  std::string label;
  line >> label;
  std::uint64_t ticks = 0;
  for (int field = 0; field < 8 && line >> ticks; ++field) {
    load.all += ticks;
    if (field == 3 || field == 4) load.idle += ticks;
    if (field == 7) load.steal = ticks;
  }
  load.throttled = throttling_events();
  return load;
}

double steal_share(const MachineLoad& before, const MachineLoad& after) {
  if (after.all <= before.all || after.steal < before.steal) return 0.0;
  return static_cast<double>(after.steal - before.steal) / static_cast<double>(after.all - before.all);
}

OthersLoad others_load(const MachineLoad& before, const MachineLoad& after, int cores, double own) {
  OthersLoad others;
  others.taken = std::clamp(1.0 - own, 0.0, 1.0);
  if (after.all <= before.all || after.idle < before.idle) return others;
  const double idle = static_cast<double>(after.idle - before.idle) / static_cast<double>(after.all - before.all);
  others.processors = std::max(0.0, (1.0 - idle) * cores - own);
  return others;
}

OthersLoad probe_others() {
  constexpr double long_enough = 0.25;
  const MachineLoad before = capture_load();
  const ProcessorUse use;
  for (const double begin = monotonic_seconds(); monotonic_seconds() - begin < long_enough;) probe_processor();
  const double own = use.share();
  return others_load(before, capture_load(), capture_machine().cores, own);
}

std::string loaded_now(const OthersLoad& others, int cores) {
  constexpr double max_taken = 0.02, max_processors = 0.25;
  if (!others.processors) return "the system does not tell whether other processes run";
  if (others.taken <= max_taken && *others.processors <= max_processors) return {};
  return fmt::format("other processes keep {:.1f} of {} processors busy, and took {:.0f} % of the one that was tried",
                     *others.processors, cores, 100.0 * others.taken);
}

std::vector<NoiseRecord> noise_between(const MachineRecord& machine, const MachineLoad& before,
                                       const MachineLoad& after, int jobs) {
  std::vector<NoiseRecord> noise;
  const double stolen = steal_share(before, after);
  if (stolen > 0.01) noise.push_back({NoiseKind::stolen, stolen});
  if (after.throttled > before.throttled) {
    noise.push_back({NoiseKind::throttled, static_cast<double>(after.throttled - before.throttled)});
  }
  if (machine.governor != "unknown" && machine.governor != "performance") {
    noise.push_back({NoiseKind::governor, 0.0, machine.governor});
  }
  if (jobs > 1) noise.push_back({NoiseKind::workers, static_cast<double>(jobs)});
  return noise;
}

void limit_library_threads() {
  for (const char* const name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
                                 "GOTO_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}) {
    setenv(name, "1", 1);
  }
}

}  // namespace conebench
