#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "simulation/simulation.hpp"
#include "simulation/stage_clock.hpp"

namespace conebench::simulation {

constexpr const char* trajectory_name = "trajectory.csv";
constexpr const char* impulses_name = "impulses.csv";

/// Optional columns and files of a trajectory.
struct TrajectoryOptions {
  bool state = false;                    ///< columns q1, q2, …, v1, v2, …
  std::vector<std::string> bodies = {};  ///< columns of each body's pose and of the contact force on it
  bool impulses = false;                 ///< impulses.csv
  bool conditioning = false;             ///< column conditioning: of G + R
};

/// The bodies' numbers in the model. Errors: wrong_usage: the model has no such body (lists its bodies).
Result<std::vector<int>> body_numbers(const Engine& engine, const std::vector<std::string>& names);

/// trajectory.csv, a line a step, and impulses.csv, a line a contact and step, flushed as they go. Their columns are
/// listed in docs/simulation.md.
class TrajectoryFiles {
 public:
  /// Replaces both files in the folder, and watches the simulation's stages from now on, to time its solves. Errors:
  /// those of body_numbers; bad_input where a file can't be written.
  static Result<TrajectoryFiles> create(const std::filesystem::path& folder, const TrajectoryOptions& options,
                                        Simulation& simulation);
  /// Writes the simulation's last step.
  void add(const StepRecord& record);
  /// bad_input where a line could not be written.
  Result<void> check() const;

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Stream = std::unique_ptr<std::FILE, Closer>;
  TrajectoryFiles(Simulation& simulation, const TrajectoryOptions& options, std::vector<int> bodies,
                  std::filesystem::path folder);
  Result<void> open(Stream& stream, const char* name, const std::string& heading) const;
  std::string heading() const;
  std::string line(const StepRecord& record, const std::vector<Eigen::Vector3d>& forces) const;
  std::string of_bodies(const std::vector<Eigen::Vector3d>& forces) const;
  std::string impulse_lines(const StepRecord& record, const std::vector<Eigen::Vector3d>& forces) const;

  Simulation* simulation_;
  std::shared_ptr<StageClock> clock_;  ///< the simulation has it, too
  bool state_, conditioning_;
  std::vector<int> bodies_;
  std::filesystem::path folder_;
  Stream trajectory_, impulses_;
};

}  // namespace conebench::simulation
