#include "simulation/trot_control.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace conebench::simulation {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double period = 0.4;      // [s]
constexpr double duty = 0.65;       // share of the period that a foot is to stand
constexpr double start_up = 0.5;    // [s] until the wanted speed is asked for
constexpr double clearance = 0.06;  // [m] by which feet are lifted
constexpr double sink = 0.01;       // [m] by which they reach into the ground where they are to land

constexpr double follow = 8.0;              // of velocities [1/s]
constexpr double rise = 100.0;              // of the height [1/s²]
constexpr double damp = 16.0;               // of its speed [1/s]
constexpr double farthest = 0.04;           // error of the height that counts [m]
constexpr double catch_up = 2.0;            // of positions [1/s]
constexpr double behind = 0.15;             // largest error of the position that counts [m]
constexpr double placement = 0.12;          // of Raibert's rule [s]
const Vector3d upright(60.0, 100.0, 60.0);  // [N m/rad]
const Vector3d calm(6.0, 10.0, 6.0);        // [N m s/rad]
constexpr double lever = 0.2;               // [m]: a moment counts as a force at this distance
constexpr double spare = 1e-3;              // of least squares

constexpr double early = 0.8;  // share of the period from which on a foot that meets the ground stands
constexpr double seek = 0.4;   // [m/s] downwards of a foot that should stand and does not touch

double share_of(double time, double offset) {
  const double turns = time / period + offset;
  return turns - std::floor(turns);
}

/// Foot from the first hinge, in the trunk's frame, and its derivative by the three angles.
Vector3d foot_of(const TrotLeg& leg, const Vector3d& angles, Matrix3d& jacobian) {
  const double bend = angles[1] + angles[2];
  const Vector3d knee(-leg.thigh * std::sin(angles[1]), 0.0, -leg.drop - leg.thigh * std::cos(angles[1]));
  const Vector3d shank(-leg.shank * std::sin(bend), 0.0, -leg.shank * std::cos(bend));
  const Matrix3d roll = Eigen::AngleAxisd(angles[0], Vector3d::UnitX()).toRotationMatrix();
  const Vector3d flat = knee + shank;
  const auto about_y = [](const Vector3d& r) { return Vector3d(r.z(), 0.0, -r.x()); };
  const Vector3d foot = roll * flat;
  jacobian.col(0) = Vector3d::UnitX().cross(foot);
  jacobian.col(1) = roll * about_y(flat + leg.drop * Vector3d::UnitZ());
  jacobian.col(2) = roll * about_y(shank);
  return foot;
}

/// Angles that put the foot there, knee behind; the nearest ones where it is out of reach.
Vector3d angles_for(const TrotLeg& leg, const Vector3d& foot) {
  const double down = std::max(0.02, std::hypot(foot.y(), foot.z()) - leg.drop);
  const double reach = leg.thigh + leg.shank;
  const double far = std::clamp(std::hypot(foot.x(), down), 0.25 * reach, 0.98 * reach);
  const auto corner = [](double a, double b, double opposite) {
    return std::acos(std::clamp((a * a + b * b - opposite * opposite) / (2.0 * a * b), -1.0, 1.0));
  };
  return {std::atan2(foot.y(), -foot.z()), std::atan2(-foot.x(), down) + corner(leg.thigh, far, leg.shank),
          corner(leg.thigh, leg.shank, far) - std::numbers::pi};
}

/// Rates of the angles at which the foot moves so; bounded where the leg is stretched.
Vector3d rates_for(const Matrix3d& jacobian, const Vector3d& velocity) {
  constexpr double bound = 1e-4;  // [m²]
  const Matrix3d squared = jacobian.transpose() * jacobian + bound * Matrix3d::Identity();
  return squared.inverse() * (jacobian.transpose() * velocity);
}

}  // namespace

struct TrotControl::Trunk {
  double time;
  Vector3d position, velocity, wanted;  // wanted velocity
  Matrix3d rotation;
  Vector3d spin;  // in its own frame
};

struct TrotControl::Leg {
  double share;  // of the period
  Vector3d angles, rates;
  Vector3d foot;  // from the trunk's origin, its frame
  Matrix3d jacobian;
  Vector3d arm;  // the same in the world's axes

  bool touches = false;

  bool lands() const { return touches && share > early; }
  bool stands() const { return share < duty || lands(); }
  bool bears() const { return stands() && touches; }
  double swing() const { return (share - duty) / (1.0 - duty); }
};

TrotControl::TrotControl(Trot trot, Matrix ranges) : trot_(std::move(trot)), ranges_(std::move(ranges)) {}

TrotControl::Leg TrotControl::leg_of(std::size_t number, const State& state, const Trunk& trunk,
                                     const std::vector<std::string>& touching) const {
  const TrotLeg& form = trot_.legs[number];
  Leg leg;
  leg.share = share_of(trunk.time, form.offset);
  leg.angles = state.position.segment<3>(7 + 3 * static_cast<Index>(number));
  leg.rates = state.velocity.segment<3>(6 + 3 * static_cast<Index>(number));
  leg.foot = form.root + foot_of(form, leg.angles, leg.jacobian);
  leg.arm = trunk.rotation * leg.foot;
  leg.touches = std::find(touching.begin(), touching.end(), form.foot_body) != touching.end();
  return leg;
}

/// The speed, reached within start_up, and what leads back to where a trunk with that speed would be.
Vector3d TrotControl::wanted_velocity(double time, const Eigen::Vector2d& position) const {
  const double share = std::min(1.0, time / start_up);
  const double way = trot_.speed * (time - start_up * share * (1.0 - 0.5 * share));
  const auto back = [](double error) { return catch_up * std::clamp(error, -behind, behind); };
  return {trot_.speed * share + back(way - position.x()), back(-position.y()), 0.0};
}

/// Mean height of the standing feet under the trunk's origin [m].
double TrotControl::ground_under(const std::vector<Leg>& legs) const {
  double sum = 0.0;
  int count = 0;
  for (std::size_t i = 0; i < legs.size(); ++i) {
    if (!legs[i].stands()) continue;
    sum += legs[i].arm.z() - trot_.legs[i].foot;
    ++count;
  }
  return sum / count;
}

std::vector<Vector3d> TrotControl::forces(const std::vector<Leg>& legs, const Trunk& trunk, double ground) const {
  Vector3d acceleration = follow * (trunk.wanted - trunk.velocity) - trot_.gravity;
  const double error = std::clamp(trot_.height + ground, -farthest, farthest);
  acceleration.z() = -trot_.gravity.z() + rise * error - damp * trunk.velocity.z();
  const Eigen::AngleAxisd lean(trunk.rotation);
  const Vector3d moment =
      -upright.cwiseProduct(lean.angle() * lean.axis()) - calm.cwiseProduct(trunk.rotation * trunk.spin);
  Vector wrench(6);
  wrench << trot_.mass * acceleration, moment / lever;

  Matrix map = Matrix::Zero(6, 3 * static_cast<Index>(legs.size()));
  for (std::size_t i = 0; i < legs.size(); ++i) {
    if (!legs[i].bears()) continue;
    const Index column = 3 * static_cast<Index>(i);
    map.block<3, 3>(0, column).setIdentity();
    for (int k = 0; k < 3; ++k) map.block<3, 1>(3, column + k) = legs[i].arm.cross(Vector3d::Unit(k)) / lever;
  }
  const Matrix normal = map * map.transpose() + spare * Matrix::Identity(6, 6);
  const Vector all = map.transpose() * normal.ldlt().solve(wrench);
  std::vector<Vector3d> shares;
  for (std::size_t i = 0; i < legs.size(); ++i) {
    Vector3d force = all.segment<3>(3 * static_cast<Index>(i));
    force.z() = std::clamp(force.z(), 0.0, 2.0 * trot_.mass * trot_.gravity.norm());
    const double most = 0.9 * trot_.friction * force.z();
    const double along = force.head<2>().norm();
    if (along > most) force.head<2>() *= most / along;
    shares.push_back(force);
  }
  return shares;
}

/// A standing leg presses with the force, and its joints' damping resists only a foot that moves over the ground.
Vector3d TrotControl::held(const TrotLeg& form, const Leg& leg, const Trunk& trunk, const Vector3d& force) const {
  const Vector3d seeking(0.0, 0.0, leg.touches ? 0.0 : -seek);
  const Vector3d resting = trunk.rotation.transpose() * (seeking - trunk.velocity) - trunk.spin.cross(leg.foot);
  const Vector3d rates = rates_for(leg.jacobian, resting);
  const Vector3d torques = -leg.jacobian.transpose() * (trunk.rotation.transpose() * force);
  Vector3d target = leg.angles;
  for (int k = 0; k < 3; ++k) {
    const auto j = static_cast<std::size_t>(k);
    target[k] += (torques[k] + form.damping[j] * rates[k]) / form.stiffness[j];
  }
  return target;
}

Vector3d TrotControl::swung(const TrotLeg& form, const Leg& leg, const Trunk& trunk, double ground) const {
  const double s = leg.swing();
  const double rate = 1.0 / ((1.0 - duty) * period);  // of s
  constexpr double turn = 2.0 * std::numbers::pi;
  const double blend = s - std::sin(turn * s) / turn;
  const double half_stance = 0.5 * duty * period;
  Vector3d from = -half_stance * trunk.velocity;
  Vector3d to = half_stance * trunk.velocity + placement * (trunk.velocity - trunk.wanted);
  const double under = ground + form.foot;
  from.z() = under;
  to.z() = under - sink;
  // Under the hip of a level trunk, in the world's axes from its origin.
  const Vector3d hip(form.root.x(), form.root.y(), 0.0);
  Vector3d target_position = hip + from + blend * (to - from);
  Vector3d velocity = rate * (1.0 - std::cos(turn * s)) * (to - from);
  target_position.z() += 0.5 * clearance * (1.0 - std::cos(turn * s));
  velocity.z() += 0.5 * clearance * turn * rate * std::sin(turn * s);

  const Vector3d foot = trunk.rotation.transpose() * target_position;
  const Vector3d moving = trunk.rotation.transpose() * velocity - trunk.spin.cross(foot);
  Matrix3d jacobian;
  Vector3d target = angles_for(form, foot - form.root);
  foot_of(form, target, jacobian);
  const Vector3d rates = rates_for(jacobian, moving);
  for (int k = 0; k < 3; ++k) {
    const auto j = static_cast<std::size_t>(k);
    target[k] += form.damping[j] * rates[k] / form.stiffness[j];
  }
  return target;
}

Vector TrotControl::at(const State& state, const std::vector<std::string>& touching) const {
  const Eigen::Quaterniond turn(state.position[3], state.position[4], state.position[5], state.position[6]);
  Trunk trunk{.time = state.time,
              .position = state.position.head<3>(),
              .velocity = state.velocity.head<3>(),
              .wanted = wanted_velocity(state.time, state.position.head<2>()),
              .rotation = turn.toRotationMatrix(),
              .spin = state.velocity.segment<3>(3)};
  std::vector<Leg> legs;
  for (std::size_t i = 0; i < trot_.legs.size(); ++i) legs.push_back(leg_of(i, state, trunk, touching));
  const double ground = ground_under(legs);
  const auto forces = this->forces(legs, trunk, ground);
  Vector control = state.control;
  const Index first = control.size() - 3 * static_cast<Index>(legs.size());
  for (std::size_t i = 0; i < legs.size(); ++i) {
    const TrotLeg& form = trot_.legs[i];
    const Index row = first + 3 * static_cast<Index>(i);
    const Vector3d target =
        legs[i].stands() ? held(form, legs[i], trunk, forces[i]) : swung(form, legs[i], trunk, ground);
    control.segment<3>(row) = target.cwiseMax(ranges_.col(0).segment<3>(row)).cwiseMin(ranges_.col(1).segment<3>(row));
  }
  return control;
}

}  // namespace conebench::simulation
