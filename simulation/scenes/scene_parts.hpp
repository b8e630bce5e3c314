#pragma once

#include <string>

#include "base/options.hpp"
#include "scenes/random_source.hpp"
#include "simulation/scenes/mjcf.hpp"
#include "simulation/scenes/simulated_scene.hpp"

namespace conebench {

/// Options that many simulated scenes share.
void declare_friction(OptionBinder& bind, double& friction);
void declare_restitution(OptionBinder& bind, double& restitution);
void declare_mass_ratio(OptionBinder& bind, double& ratio, const std::string& doc);
void declare_speed(OptionBinder& bind, const std::string& name, double& speed, const std::string& doc);
void declare_length(OptionBinder& bind, const std::string& name, double& length, const std::string& doc);
void declare_count(OptionBinder& bind, const std::string& name, long& count, long maximum, const std::string& doc);

/// How FCLIB's sets are made: CASCADE in the loop, up to this tolerance or 5000 iterations, a sample in `every` steps.
OptionValues fclib_loop(double tolerance, long every);

/// The scene of a finished model. Errors (wrong_usage): more moving bodies than a keyframe holds.
Result<SimulatedModel> simulated(const mjcf::Model& model, double time_step, Index steps, const std::string& control);

/// A random direction's turn: uniform over all orientations.
mjcf::Quat random_orientation(RandomSource& random);

/// A level floor at z = 0 and four walls at ±half_width, all planes (so that nothing gets through).
void add_container(mjcf::Model& model, double half_width);

/// A square height field with random elevations in [−roughness, 0] m, `cells` cells of `cell` m to a side, centred at
/// the origin, and 5 cm under its lowest point's bound a level plane, for what walks off its edge. With a roughness
/// below 1 µm a level plane at z = 0 alone.
void add_bumpy_ground(mjcf::Model& model, int cells, double cell, double roughness, RandomSource& random);

/// `mass_ratio` spread geometrically over `count` bodies: that of body `i`, the lightest being 1.
double geometric_mass(double mass_ratio, long i, long count);

}  // namespace conebench
