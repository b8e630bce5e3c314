#include "runners/simulation/soft_engine.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "runners/simulation/corotated_body.hpp"

namespace conebench::simulation {

namespace {

constexpr const char* version = "elastic bodies 1";
constexpr int body = 1;  ///< 0 is the world

class SoftEngine final : public Engine {
 public:
  SoftEngine(const SoftModel& model)
      : model_(model), body_(model.mesh, model.young, model.poisson), mass_(body_.lumped_mass(model.density)) {
    dimensions_ = {.positions = mass_.size(),
                   .velocities = mass_.size(),
                   .bodies = 1,
                   .gravity = model.gravity,
                   .time_step = 0.01};
    if (model.grip) {
      for (const Index node : model.grip->nodes) {
        for (Index k = 3 * node; k < 3 * node + 3; ++k) springs_.emplace_back(int(k), int(k), model.grip->stiffness);
      }
    }
    spring_matrix_.resize(mass_.size(), mass_.size());
    spring_matrix_.setFromTriplets(springs_.begin(), springs_.end());
  }

  const Dimensions& dimensions() const override { return dimensions_; }
  State start() const override { return {model_.position, model_.velocity, Vector(0), Vector(0), 0.0}; }
  Matrix control_ranges() const override { return Matrix(0, 2); }
  Matrix control_waves() const override { return Matrix(3, 0); }
  std::vector<std::optional<Servo>> servos() const override { return {}; }

  Result<std::monostate> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) override {
    state_ = state;
    begin(Stage::assembly);
    elastic_energy_ = body_.evaluate(state.position, mechanics.force);
    mechanics.mass = SparseMatrix(mass_.asDiagonal());
    mechanics.stiffness = body_.stiffness();
    mechanics.damping = model_.stiffness_damping * body_.stiffness();
    if (model_.mass_damping > 0.0) mechanics.damping += model_.mass_damping * mechanics.mass;
    mechanics.force -= mechanics.damping * state.velocity;
    for (Index k = 2; k < mass_.size(); k += 3) mechanics.force[k] -= model_.gravity * mass_[k];
    if (grips(state.time)) pull(state, reach.time_step, mechanics);
    mechanics.lengths = Vector::Ones(mass_.size());
    mechanics.joint_residuals.resize(0);
    mechanics.limit_gaps.resize(0);
    mechanics.limit_names.clear();
    mechanics.joint_softness.clear();
    mechanics.limit_softness.clear();
    begin(Stage::collision);
    find_contacts(reach, mechanics);
    begin(Stage::assembly);
    return std::monostate{};
  }

  void advance_position(State& state, const Vector& velocity, double time_step) const override {
    state.position += time_step * velocity;
  }
  void advance_activation(State&, double) const override {}

  Energy energy() override {
    Energy energy{.kinetic = 0.5 * mass_.dot(state_.velocity.cwiseAbs2()), .potential = elastic_energy_};
    for (Index k = 2; k < mass_.size(); k += 3) energy.potential += model_.gravity * mass_[k] * state_.position[k];
    return energy;
  }
  Momentum momentum() override {
    Momentum total{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
    for (Index k = 0; k < mass_.size(); k += 3) {
      const Eigen::Vector3d p = mass_[k] * state_.velocity.segment<3>(k);
      total.linear += p;
      total.angular += Eigen::Vector3d(state_.position.segment<3>(k)).cross(p);
    }
    return total;
  }

  /// The frame of the body is its mesh at rest: a point goes where the nearest node went.
  Eigen::Vector3d world_point(int of, const Eigen::Vector3d& local) const override {
    if (of != body) return local;
    const auto& nodes = model_.mesh.nodes;
    const auto nearest = std::min_element(nodes.begin(), nodes.end(), [&](const auto& a, const auto& b) {
      return (a - local).squaredNorm() < (b - local).squaredNorm();
    });
    return state_.position.segment<3>(3 * (nearest - nodes.begin()));
  }
  std::vector<double> body_masses() const override { return {mass_.sum() / 3.0}; }
  std::vector<std::int64_t> nodes() const override {
    std::vector<std::int64_t> columns;
    for (Index k = 0; k < mass_.size(); k += 3) columns.push_back(k);
    return columns;
  }
  std::string shape_name(int shape) const override {
    return shape == 0 ? std::string("ground") : fmt::format("node {}", shape - 1);
  }
  std::optional<int> body_number(const std::string& name) const override {
    if (name == body_name(0)) return 0;
    return name == body_name(body) ? std::optional(body) : std::nullopt;
  }
  std::string body_name(int of) const override { return of == body ? "body" : "world"; }
  BodyPose body_pose(int of) const override {
    BodyPose pose{Eigen::Vector3d::Zero(), {1, 0, 0, 0}};
    if (of != body) return pose;
    for (Index k = 0; k < mass_.size(); k += 3) pose.position += mass_[k] * state_.position.segment<3>(k);
    pose.position *= 3.0 / mass_.sum();
    return pose;
  }
  Result<std::monostate> write_picture(const std::filesystem::path&) const override {
    return Error{ErrorCode::unsupported,
                 "elastic bodies can't be drawn yet; trajectory.csv with --state has their nodes"};
  }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  bool grips(double time) const { return model_.grip && time < model_.grip->duration; }

  /// The hand's way since the start.
  Eigen::Vector3d way(double time) const {
    const SoftGrip& grip = *model_.grip;
    const double share = std::clamp(time / grip.duration, 0.0, 1.0);
    const double angle = 0.5 * std::numbers::pi * (1.0 - std::cos(std::numbers::pi * share));
    return {0.0, grip.radius * (std::cos(angle) - 1.0), grip.radius * std::sin(angle)};
  }

  /// Springs to where the hand is at the step's end.
  void pull(const State& state, double time_step, Mechanics& mechanics) const {
    const Eigen::Vector3d moved = way(state.time + time_step);
    for (const Index node : model_.grip->nodes) {
      const Eigen::Vector3d target = model_.position.segment<3>(3 * node) + moved;
      mechanics.force.segment<3>(3 * node) += model_.grip->stiffness * (target - state.position.segment<3>(3 * node));
    }
    mechanics.stiffness += spring_matrix_;
  }

  void find_contacts(const Reach& reach, Mechanics& mechanics) const {
    mechanics.contacts.clear();
    std::vector<Eigen::Triplet<double>> entries;
    for (Index k = 0; k < mass_.size(); k += 3) {
      const double gap = state_.position[k + 2];
      const Eigen::Vector3d velocity = state_.velocity.segment<3>(k);
      double margin = reach.contact_margin;
      if (margin < 0.0) {
        const double slip = reach.lifts ? model_.friction * velocity.head<2>().norm() : 0.0;
        const double speed = model_.gravity * reach.time_step + std::max(0.0, -velocity[2]) + slip;
        margin = 2.0 * reach.time_step * speed;
      }
      if (gap > margin) continue;
      ContactPoint contact;
      contact.position = state_.position.segment<3>(k);
      contact.position[2] *= 0.5;
      contact.frame.setIdentity();
      contact.gap = gap;
      contact.friction = model_.friction;
      contact.second_shape = static_cast<int>(k / 3) + 1;
      contact.second_body = body;
      contact.first_local = contact.position;
      contact.second_local = model_.mesh.nodes[std::size_t(k / 3)];
      const int row = 3 * static_cast<int>(mechanics.contacts.size());
      for (int r = 0; r < 3; ++r) entries.emplace_back(row + r, int(k) + r, 1.0);
      mechanics.contacts.push_back(contact);
    }
    mechanics.jacobian.resize(3 * Index(mechanics.contacts.size()), mass_.size());
    mechanics.jacobian.setFromTriplets(entries.begin(), entries.end());
  }

  SoftModel model_;
  CorotatedBody body_;
  Vector mass_;
  Dimensions dimensions_;
  State state_;
  double elastic_energy_ = 0.0;
  std::vector<Eigen::Triplet<double>> springs_;
  SparseMatrix spring_matrix_;
  std::vector<std::string> notes_;
};

std::string hash_of(const std::string& bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

Result<std::unique_ptr<Engine>> make_soft_engine(const SoftModel& model, const std::string& name) {
  const auto nodes = static_cast<Index>(model.mesh.nodes.size());
  if (model.position.size() != 3 * nodes || model.velocity.size() != 3 * nodes) {
    return Error{ErrorCode::bad_input, fmt::format("{}: {} nodes, but {} positions and {} velocities", name, nodes,
                                                   model.position.size(), model.velocity.size())};
  }
  for (const auto& corners : model.mesh.tetrahedra) {
    Eigen::Matrix3d edges;
    for (std::size_t k = 1; k < 4; ++k) {
      if (corners[k] < 0 || corners[k] >= nodes || corners[0] < 0 || corners[0] >= nodes) {
        return Error{ErrorCode::bad_input, name + ": a tetrahedron has a corner that is no node"};
      }
      edges.col(Index(k) - 1) = model.mesh.nodes[std::size_t(corners[k])] - model.mesh.nodes[std::size_t(corners[0])];
    }
    if (std::abs(edges.determinant()) > 0.0) continue;
    return Error{ErrorCode::bad_input, name + ": a tetrahedron has no volume"};
  }
  return std::unique_ptr<Engine>(std::make_unique<SoftEngine>(model));
}

std::string soft_model_hash(const SoftModel& model) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {}", version, model.density, model.young, model.poisson, model.mass_damping,
                  model.stiffness_damping, model.friction, model.gravity, model.mesh.tetrahedra.size());
  for (const auto& node : model.mesh.nodes) text += fmt::format(" {} {} {}", node[0], node[1], node[2]);
  for (const auto& t : model.mesh.tetrahedra) text += fmt::format(" {} {} {} {}", t[0], t[1], t[2], t[3]);
  for (const double x : model.position) text += fmt::format(" {}", x);
  for (const double x : model.velocity) text += fmt::format(" {}", x);
  if (model.grip) {
    text += fmt::format(" grip {} {} {}", model.grip->stiffness, model.grip->radius, model.grip->duration);
    for (const Index node : model.grip->nodes) text += fmt::format(" {}", node);
  }
  return hash_of(text);
}

std::string engine_version(const SimulatedModel& model) { return model.soft ? version : engine_version(); }

}  // namespace conebench::simulation
