#include "runners/execute/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "base/content_address.hpp"
#include "solvers/peer_builds.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Environment, TellsMachineAndBuild) {
  const MachineRecord machine = capture_machine();
  EXPECT_FALSE(machine.host.empty());
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GT(machine.cores, 0);
  EXPECT_GT(machine.memory_mb, 0);
  EXPECT_THAT(machine.kernel, HasSubstr("Linux"));
  const BuildRecord build = capture_build();
  EXPECT_FALSE(build.version.empty());
  EXPECT_FALSE(build.commit.empty());
  EXPECT_FALSE(build.compiler.empty());
  EXPECT_THAT(build.flags, HasSubstr("-O"));
  EXPECT_EQ(build.executable, file_address(std::filesystem::read_symlink("/proc/self/exe")));
  EXPECT_EQ(build.executable.size(), 32U);
  for (const char* const name : {"Eigen", "HDF5", "SQLite", "zlib"}) {
    EXPECT_TRUE(std::regex_search(build.libraries.at(name), std::regex("^[0-9]"))) << name;
  }
  EXPECT_TRUE(std::regex_match(utc_now(), std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ")));
}

MachineLoad load(double average, std::uint64_t steal = 0, std::uint64_t all = 0, std::uint64_t throttled = 0) {
  return {average, steal, all, throttled};
}

TEST(Environment, PeersHaveTheVersionThatTheirSolversShow) {
  const BuildRecord build = capture_build();
  for (const auto& [name, library] : {std::pair("Siconos", "siconos"), std::pair("Ipopt", "ipopt")}) {
    const auto found = build.libraries.find(name);
    const std::string version = peer_build(library).version;
    if (found == build.libraries.end() || version.empty()) continue;  // not here, or of no package
    EXPECT_EQ(found->second, version) << name;
  }
}

TEST(Noise, AQuietMachineGivesNoneWhateverTheLoadAverage) {
  MachineRecord machine;
  machine.cores = 2;
  machine.governor = "performance";
  EXPECT_THAT(noise_between(machine, load(9.0), load(9.0, 0, 1000), 1), IsEmpty()) << "of the run before";
  machine.governor = "unknown";
  EXPECT_THAT(noise_between(machine, load(0.1), load(1.4, 0, 1000), 1), IsEmpty());
}

TEST(OthersLoad, IsWhatTicksAndTheOwnShareSay) {
  // Of 100 ticks on two processors 20 were idle: 1.6 busy processors, of which this process had 0.9.
  MachineLoad after;
  after.all = 100;
  after.idle = 20;
  const OthersLoad others = others_load({}, after, 2, 0.9);
  EXPECT_NEAR(others.taken, 0.1, 1e-12);
  EXPECT_NEAR(others.processors.value(), 0.7, 1e-12);
  EXPECT_THAT(loaded_now(others, 2), HasSubstr("keep 0.7 of 2 processors busy, and took 10 % of"));
  after.idle = 50;
  EXPECT_EQ(loaded_now(others_load({}, after, 2, 0.999), 2), "") << "its own work alone";
  EXPECT_THAT(loaded_now(others_load({}, {}, 2, 0.999), 2), HasSubstr("does not tell")) << "no ticks: not known";
  const OthersLoad now = probe_others();
  EXPECT_GE(now.taken, 0.0);
  EXPECT_LT(now.taken, 1.0);
}

TEST(Noise, EachReasonIsNamed) {
  MachineRecord machine;
  machine.cores = 2;
  machine.governor = "powersave";
  const std::vector<NoiseRecord> expected = {{NoiseKind::stolen, 0.05},
                                             {NoiseKind::throttled, 3.0},
                                             {NoiseKind::governor, 0.0, "powersave"},
                                             {NoiseKind::workers, 2.0}};
  EXPECT_EQ(noise_between(machine, load(1.5), load(6.0, 50, 1000, 3), 2), expected);
}

TEST(Noise, StealShareIsOfTheTimeBetween) {
  EXPECT_DOUBLE_EQ(steal_share(load(0, 10, 1000), load(0, 30, 2000)), 0.02);
  EXPECT_EQ(steal_share(load(0, 10, 1000), load(0, 10, 1000)), 0.0);
}

TEST(Environment, LibrariesGetOneThread) {
  limit_library_threads();
  EXPECT_STREQ(std::getenv("OMP_NUM_THREADS"), "1");
  EXPECT_STREQ(std::getenv("OPENBLAS_NUM_THREADS"), "1");
}

}  // namespace
}  // namespace conebench
