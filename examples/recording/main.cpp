// A simulator of its own, a block that slides on a slope until friction stops it, records 100 steps:
//
//     recording block.hdf5 && conebench judge block.hdf5 --answers
#include <cmath>
#include <cstdio>

#include "conebench/recording.hpp"

namespace {

namespace rec = conebench::recording;

constexpr double mass = 2.0;        // kg
constexpr double friction = 0.5;    // mu
constexpr double time_step = 0.01;  // s
constexpr double slope = 0.2;       // rad

/// The block at a height above the slope, in the slope's axes: x down, z away from it.
struct Block {
  Eigen::Vector3d position{0.0, 0.0, 0.0}, velocity{1.5, 0.3, 0.0};
};

/// The impulse (n, t1, t2) of the one contact, in closed form: G = 1 / mass on each axis.
Eigen::Vector3d solve(const Eigen::Vector3d& free, double gap) {
  const double normal = std::max(0.0, -mass * (free.z() + gap / time_step));
  Eigen::Vector2d tangential = -mass * free.head<2>();
  const double most = friction * normal;
  if (tangential.norm() > most) tangential *= most / tangential.norm();
  return {normal, tangential.x(), tangential.y()};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: recording FILE\n");
    return 2;
  }
  const Eigen::Vector3d gravity(9.81 * std::sin(slope), 0.0, -9.81 * std::cos(slope));
  Eigen::Matrix3d jacobian;  // rows n, t1, t2
  jacobian << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  Block block;
  try {
    rec::Recorder recorder(arguments[1]);
    for (int k = 0; k < 100; ++k) {
      const Eigen::Vector3d free = block.velocity + time_step * gravity;
      const double gap = block.position.z();
      const Eigen::Vector3d impulse = solve(free, gap);

      rec::Step step;
      step.friction({friction, friction})
          .name("block on slope")
          .bodies(0, 1)
          .gap(gap)
          .point(block.position)
          .identity(1);
      step.body_names = {"slope", "block"};
      step.M = mass * Eigen::Matrix3d::Identity();
      step.J = jacobian;
      step.v_free = free;
      step.b = Eigen::Vector3d(gap / time_step, 0.0, 0.0);
      step.velocity = block.velocity;
      step.time_step = time_step;
      step.time = (k + 1) * time_step;
      step.answers["closed form"].r = impulse;
      recorder.add(step);

      block.velocity = free + jacobian.transpose() * impulse / mass;
      block.position += time_step * block.velocity;
    }
    recorder.close();
  } catch (const rec::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  std::printf("%s: 100 steps, the last at %.3g m/s\n", arguments[1], block.velocity.norm());
  return 0;
}
