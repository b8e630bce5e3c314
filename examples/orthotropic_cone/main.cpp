// Solves a block on orthotropic ground with the example's cone alone, in the problem's own variables, and compares with
// the scene's closed form.
#include <cstdio>

#include "orthotropic_space.hpp"
#include "scenes/scene_table.hpp"

int main() {
  using namespace conebench;
  const auto scene = require_scene("orthotropic-block");
  if (!scene) return 1;
  const auto problem = (*scene)->make({{"friction_x", 0.2}, {"friction_y", 0.7}, {"mass", 3.0}}, 1);
  if (!problem) {
    std::fprintf(stderr, "%s\n", problem.error().message.c_str());
    return 1;
  }
  // λ ← P(λ − r (σ + Γ(σ))), with r = 1, a third of the mass: G = I / m.
  const OrthotropicSpace cone(problem->cones().coefficients(0));
  Vector impulse = Vector::Zero(3);
  Vector velocity(3);
  int steps = 0;
  for (double change = 1.0; change > 1e-16 && steps < 1000; ++steps) {
    problem->velocity(impulse, velocity);
    const OrthotropicSpace::Block sigma = velocity;
    OrthotropicSpace::Block corrected = sigma;
    corrected[cone.normal] += cone.de_saxce(sigma);
    const OrthotropicSpace::Block moved = cone.natural_map(impulse, corrected);
    impulse -= moved;
    change = moved.norm();
  }
  const double error = (impulse - problem->reference()->reaction).norm() / impulse.norm();
  std::printf("%d steps, relative error %.1e\n", steps, error);
  return error <= 1e-12 ? 0 : 1;
}
