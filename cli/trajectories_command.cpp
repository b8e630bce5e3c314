#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "metrics/trajectory_error.hpp"
#include "simulation/trajectory.hpp"

namespace conebench::cli {

namespace {

constexpr const char* trajectories_footer =
    R"(RUN and REFERENCE are folders of `conebench generate` with --state or --body, or their trajectory.csv. At the times of the
one with the coarser steps Δt: the sum of ‖q - q'‖ Δt, with energy and the bodies' heights; see docs/trajectories.md.

Examples:
  conebench generate cube-dragged --out coarse --state --set time_step=0.01 --set every=100
  conebench generate cube-dragged --out fine --state --set time_step=0.0001 --steps 10000 --set every=10000
  conebench compare-trajectories coarse fine)";

struct TrajectoriesArguments {
  std::string run, reference;
  bool json = false;
};

Result<Trajectory> read(const std::string& target) {
  std::filesystem::path file = target;
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) file /= simulation::trajectory_name;
  return read_trajectory(file);
}

nlohmann::json to_json(const SeriesError& error) {
  return {{"integral", number(error.integral)}, {"largest", number(error.largest)}, {"largest_at_s", error.largest_at}};
}

std::vector<std::string> row(const std::string& of, const SeriesError& error, const std::string& unit) {
  return {of, fmt::format("{:.3g} {} s", error.integral, unit),
          fmt::format("{:.3g} {} at {:.6g} s", error.largest, unit, error.largest_at)};
}

std::string text(const TrajectoryError& error) {
  std::vector<std::vector<std::string>> rows = {{"", "summed over time", "largest"}};
  rows.push_back(
      row(error.of_bodies ? "bodies' positions" : "positions q", error.positions, error.of_bodies ? "m" : "(m, rad)"));
  if (error.energy) rows.push_back(row("energy", *error.energy, "J"));
  for (const auto& [body, height] : error.body_heights) rows.push_back(row("height of " + body, height, "m"));
  return fmt::format("{} times, {:.6g} s apart, to {:.6g} s\n{}", error.times, error.time_step, error.until,
                     align_columns(rows));
}

Result<int> run_compare_trajectories(const TrajectoriesArguments& arguments) {
  CONEBENCH_TRY(const auto run, read(arguments.run));
  CONEBENCH_TRY(const auto reference, read(arguments.reference));
  CONEBENCH_TRY(const auto error,
                trajectory_error(run, reference).within(fmt::format("{} and {}", arguments.run, arguments.reference)));
  if (!arguments.json) {
    print_text(text(error));
    return done;
  }
  nlohmann::json out = {{"run", arguments.run},
                        {"reference", arguments.reference},
                        {"times", error.times},
                        {"time_step_s", error.time_step},
                        {"until_s", error.until},
                        {"of_bodies", error.of_bodies},
                        {"positions", to_json(error.positions)},
                        {"energy", error.energy ? to_json(*error.energy) : nlohmann::json(nullptr)},
                        {"body_heights", nlohmann::json::object()}};
  for (const auto& [body, height] : error.body_heights) out["body_heights"][body] = to_json(height);
  print_json("compare-trajectories", out);
  return done;
}

}  // namespace

Command add_compare_trajectories(CLI::App& root) {
  auto arguments = std::make_shared<TrajectoriesArguments>();
  CLI::App* app = root.add_subcommand("compare-trajectories", "Distance between two simulations");
  app->footer(trajectories_footer);
  app->add_option("RUN", arguments->run, "Folder or trajectory.csv")->required();
  app->add_option("REFERENCE", arguments->reference, "Folder or trajectory.csv to compare with")->required();
  app->add_flag("--json", arguments->json, "Print one JSON object");
  return {app, [arguments] { return run_compare_trajectories(*arguments); }};
}

}  // namespace conebench::cli
