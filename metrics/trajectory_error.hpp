#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/types.hpp"

namespace conebench {

/// The numbers of a simulation's trajectory.csv (docs/simulation.md): a line a step, ascending in time.
struct Trajectory {
  std::vector<std::string> columns;
  Matrix values;  ///< lines × columns; NaN where a cell is no number
  Vector times;   ///< of the states, column state_time_s [s]

  std::optional<Index> find(const std::string& column) const;
  /// The spacing of the states, on average [s].
  double time_step() const { return (times[times.size() - 1] - times[0]) / double(times.size() - 1); }
};

/// Errors (bad_input): the file can't be read; no column state_time_s, as those of older builds; a line with another
/// number of cells than the heading; fewer than two lines; times that do not ascend.
Result<Trajectory> read_trajectory(const std::filesystem::path& file);

/// How far two series are apart at the same times.
struct SeriesError {
  double integral = 0.0;    ///< Σ_τ |difference| Δt: the series' unit times seconds
  double largest = 0.0;     ///< max_τ |difference|, in the series' unit
  double largest_at = 0.0;  ///< [s]
};

/// The error between two trajectories of one model, at the times τ of the one with the coarser steps Δt that both
/// cover. The finer one is interpolated linearly, which changes nothing where its steps divide the coarser ones.
struct TrajectoryError {
  long times = 0;
  double time_step = 0.0;                           ///< Δt [s]
  double until = 0.0;                               ///< the last τ [s]
  SeriesError positions;                            ///< ‖q − q̄‖₂ [m, rad], LeLidec24 Figs. 11 and 15
  bool of_bodies = false;                           ///< positions are the origins of common bodies, not q
  std::optional<SeriesError> energy;                ///< kinetic and potential [J]
  std::map<std::string, SeriesError> body_heights;  ///< z of each body that both have [m]
};

/// Errors (bad_input): neither q nor a body in both, another number of positions, or no time in common. They name the
/// trajectories "the first" and "the second".
Result<TrajectoryError> trajectory_error(const Trajectory& first, const Trajectory& second);

}  // namespace conebench
