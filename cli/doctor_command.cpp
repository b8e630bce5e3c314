#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "metrics/linear_program.hpp"
#include "reports/text.hpp"
#include "runners/execute/environment.hpp"
#include "simulation/engine.hpp"
#include "solvers/siconos/siconos_rows.hpp"

namespace conebench::cli {

namespace {

constexpr const char* doctor_footer =
    R"(It measures for a quarter of a second how much of the machine other processes use.

Examples:
  conebench doctor
  conebench doctor --json)";

std::string first_line(const char* file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// What a build can be made with or without.
struct Peer {
  const char* name;
  const char* use;
};
constexpr Peer peers[] = {{"Siconos", "peer solvers"},
                          {"Ipopt", "the solver IPOPT-CCP"},
                          {"MuJoCo", "simulated scenes"},
                          {"CLP", "proofs that a problem has no solution"}};

std::vector<std::string> hints(const MachineRecord& machine, const BuildRecord& build, const OthersLoad& others) {
  std::vector<std::string> lines = reports::noise_texts(noise_between(machine, MachineLoad{}, MachineLoad{}, 0));
  if (std::string loaded = loaded_now(others, machine.cores); !loaded.empty()) lines.push_back(std::move(loaded));
  if (build.build_type != "Release") {
    lines.push_back("a " + (build.build_type.empty() ? "plain" : build.build_type) +
                    " build is slow: build with the preset release or native");
  }
  if (!build.native) {
    lines.push_back("not built for this very processor: the preset native is faster");
  }
  if (machine.cores == 1) lines.push_back("one processor only: the runner and the solvers disturb each other");
  if (first_line("/sys/devices/system/cpu/intel_pstate/no_turbo") == "0" ||
      first_line("/sys/devices/system/cpu/cpufreq/boost") == "1") {
    lines.push_back("turbo is on: the clock depends on heat and on other work; switch it off for times that repeat");
  }
  if (first_line("/sys/devices/system/cpu/smt/active") == "1") {
    lines.push_back("simultaneous multithreading is on: another thread on the same core slows a solver down");
  }
  constexpr std::uintmax_t enough = std::uintmax_t{1} << 30;
  std::error_code failure;
  const auto space = std::filesystem::space(".", failure);
  if (!failure && space.available < enough) {
    lines.push_back(fmt::format("only {} MB are free on the disk of this folder", space.available >> 20));
  }
  return lines;
}

int run_doctor(bool as_json) {
  const MachineRecord machine = capture_machine();
  BuildRecord build = capture_build();
  if (const std::string engine = simulation::engine_version(); !engine.empty()) build.libraries["MuJoCo"] = engine;
  if (const std::string clp = linear_program_library(); !clp.empty()) build.libraries["CLP"] = clp;
  if (const std::string blas = siconos_blas(); !blas.empty()) build.libraries["Siconos' BLAS"] = blas;
  const MachineLoad load = capture_load();
  const OthersLoad others = probe_others();
  const auto lines = hints(machine, build, others);
  if (as_json) {
    nlohmann::json out = {{"machine",
                           {{"host", machine.host},
                            {"cpu", machine.cpu},
                            {"cores", machine.cores},
                            {"memory_mb", machine.memory_mb},
                            {"kernel", machine.kernel},
                            {"governor", machine.governor},
                            {"load", number(load.load)},
                            {"others_took", number(others.taken)},
                            {"busy_processors", number(others.processors)}}},
                          {"build",
                           {{"version", build.version},
                            {"commit", build.commit},
                            {"compiler", build.compiler},
                            {"flags", build.flags},
                            {"type", build.build_type},
                            {"native", build.native}}},
                          {"libraries", build.libraries},
                          {"peers", nlohmann::json::object()},
                          {"hints", lines}};
    for (const auto& peer : peers) {
      out["peers"][peer.name] = nullptr;
      if (build.libraries.contains(peer.name)) out["peers"][peer.name] = build.libraries.at(peer.name);
    }
    print_json("doctor", out);
    return done;
  }
  std::vector<std::vector<std::string>> rows = {
      {"processor", fmt::format("{} ({} cores)", machine.cpu, machine.cores)},
      {"memory", fmt::format("{} MB", machine.memory_mb)},
      {"kernel", machine.kernel},
      {"governor", machine.governor},
      {"load", fmt::format("{:.2f}", load.load)},
      {"version", build.version + " (" + build.commit + ")"},
      {"compiler", build.compiler},
      {"flags", build.flags},
      {"build", build.build_type + (build.native ? ", for this processor" : "")}};
  for (const auto& [name, version] : build.libraries) rows.push_back({name, version});
  for (const auto& peer : peers) {
    if (build.libraries.contains(peer.name)) continue;
    rows.push_back({peer.name, fmt::format("not in this build ({})", peer.use)});
  }
  print_text(align_columns(rows));
  print_text(lines.empty() ? "Nothing speaks against timing here.\n" : "\nWhat makes times doubtful or slow here:\n");
  for (const auto& line : lines) print_text("- " + line + "\n");
  return done;
}

}  // namespace

Command add_doctor(CLI::App& root) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* app = root.add_subcommand("doctor", "Facts of this machine and build that matter for results");
  app->footer(doctor_footer);
  app->add_flag("--json", *as_json, "Print one JSON object");
  return {app, [as_json]() -> Result<int> { return run_doctor(*as_json); }};
}

std::string version_line() {
  const BuildRecord build = capture_build();
  return fmt::format("conebench {} ({}, {}, {}{})", build.version, build.commit, build.compiler, build.build_type,
                     build.native ? ", native" : "");
}

}  // namespace conebench::cli
