#pragma once

#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

/// What scenes of elastic bodies have.
struct SoftOptions {
  double density = 1000.0;
  double young = 7.5e4;
  double poisson = 0.35;
  double mass_damping = 0.0;
  double stiffness_damping = 1e-3;
  double friction = 0.5;
  double gravity = 9.81;

  static void declare(OptionBinder& bind, SoftOptions& o);
};

/// Lee23 draws some of them anew for each of its runs: uniform in these ranges.
struct SoftRanges {
  std::pair<double, double> young, poisson, friction;
};
void draw(SoftOptions& o, const SoftRanges& ranges, std::uint64_t seed);
void declare_random(OptionBinder& bind, bool& field);

void declare_cells(OptionBinder& bind, const char* name, long& field, const char* doc);
void declare_size(OptionBinder& bind, const char* name, double& field, const char* doc);
void declare_seconds(OptionBinder& bind, const char* name, double& field, const char* doc);

/// An empty model with these options' damping and gravity.
SimulatedModel model_with(const SoftOptions& o);
/// At rest where its mesh is. Errors (wrong_usage): more than 200000 nodes.
Result<SoftBody> body_of(const SoftOptions& o, TetrahedralMesh mesh);
Shape ground_of(double friction);
/// Inertia of a solid box with these edges.
Eigen::Vector3d inertia_of_box(double mass, const Eigen::Vector3d& edges);

/// The row of a scene of the engine of elastic bodies: G is dense; a solver that works on nodes does without.
SimulatedSceneRow elastic(SimulatedSceneRow row);

}  // namespace conebench
