#include "simulation/deformable/soft_engine.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulation/deformable/corotated_body.hpp"
#include "simulation/deformable/frames.hpp"
#include "simulation/deformable/soft_picture.hpp"
#include "simulation/deformable/spring_joint.hpp"
#include "simulation/deformable/surface_contacts.hpp"

namespace conebench::simulation {

namespace {

constexpr const char* version = "elastic bodies 4";

class SoftEngine final : public Engine {
 public:
  SoftEngine(SoftModel model, const EngineOptions& options)
      : model_(std::move(model)), contacts_(model_, options.self_contact), workers_(options.threads) {
    Index size = 0;
    for (const SoftBody& body : model_.bodies) {
      elastic_.emplace_back(body.mesh, body.young, body.poisson, size);
      firsts_.push_back(size);
      size += body.position.size();
    }
    firsts_.push_back(size);
    frames_ = Frames(model_, size, size);
    dimensions_ = {.positions = size + frames_.positions(),
                   .velocities = size + frames_.velocities(),
                   .bodies = Index(model_.bodies.size() + model_.rigid.size()),
                   .gravity = model_.gravity,
                   .time_step = 0.01};
    lumped_ = Vector::Zero(size);
    for (std::size_t k = 0; k < elastic_.size(); ++k) elastic_[k].add_mass(model_.bodies[k].density, lumped_);
    start_ = {Vector(dimensions_.positions), Vector(dimensions_.velocities), Vector(0), Vector(0), 0.0};
    for (std::size_t k = 0; k < model_.bodies.size(); ++k) {
      start_.position.segment(firsts_[k], model_.bodies[k].position.size()) = model_.bodies[k].position;
      start_.velocity.segment(firsts_[k], model_.bodies[k].velocity.size()) = model_.bodies[k].velocity;
    }
    frames_.start(start_.position, start_.velocity);
    frames_.move_to(start_.position, start_.velocity, 0.0);
    lay_out();
  }

  const Dimensions& dimensions() const override { return dimensions_; }
  State start() const override { return start_; }
  Matrix control_ranges() const override { return Matrix(0, 2); }
  Matrix control_waves() const override { return Matrix(3, 0); }
  std::vector<std::optional<Servo>> servos() const override { return {}; }

  Result<void> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) override {
    state_ = state;
    begin(Stage::assembly);
    frames_.move_to(state.position, state.velocity, state.time);
    frames_.lead(state.time + reach.ahead);
    elastic_energy_ = evaluate_elastic(state.position, following_, CorotatedBody::Tangent::turned);
    carry(reach, mechanics.force);
    // M, D and K have one pattern, so that only values are written.
    mechanics.stiffness = stiffness_;
    mechanics.damping = stiffness_;
    values(mechanics.damping) *= model_.stiffness_damping;
    for (Index k = 2; k < lumped_.size(); k += 3) mechanics.force[k] -= model_.gravity * lumped_[k];
    values(mass_).setZero();
    for (Index k = 0; k < lumped_.size(); ++k) mass_.coeffRef(k, k) = lumped_[k];
    frames_.add_mechanics(mass_, mechanics.force);
    mechanics.mass = mass_;
    if (model_.mass_damping > 0.0) values(mechanics.damping) += model_.mass_damping * values(mass_);
    frames_.add_damping(mechanics.damping);
    rates_.noalias() = mechanics.damping * state.velocity;
    mechanics.force -= rates_;
    if (!model_.joints.empty()) values(mechanics.stiffness) += values(bounds_);
    pull(state.position, reach.ahead, mechanics);
    mechanics.lengths = Vector::Ones(dimensions_.velocities);
    mechanics.joint_residuals.resize(0);
    mechanics.limit_gaps.resize(0);
    mechanics.limit_names.clear();
    mechanics.joint_softness.clear();
    mechanics.limit_softness.clear();
    begin(Stage::collision);
    contacts_.find(state, frames_, reach, mechanics);
    begin(Stage::assembly);
    return {};
  }

  bool linearise(const Vector& velocity, double time_step, Tangent tangent, Mechanics& mechanics) override {
    begin(Stage::assembly);
    mechanics.force -= following_;
    State moved = state_;
    advance_position(moved, velocity, time_step);
    frames_.move_to(moved.position, velocity, state_.time + time_step);
    const bool whole = tangent == Tangent::whole;
    evaluate_elastic(moved.position, following_,
                     whole ? CorotatedBody::Tangent::whole : CorotatedBody::Tangent::positive, time_step);
    frames_.move_to(state_.position, state_.velocity, state_.time);
    mechanics.force += following_;
    mechanics.stiffness = stiffness_;
    pull(moved.position, time_step, mechanics);
    return true;
  }

  void advance_position(State& state, const Vector& velocity, double time_step) const override {
    state.position.head(lumped_.size()) += time_step * velocity.head(lumped_.size());
    frames_.advance(state.position, velocity, time_step);
  }
  void advance_activation(State&, double) const override {}

  Energy energy() override {
    Energy energy{.kinetic = 0.5 * state_.velocity.dot(mass_ * state_.velocity),
                  .potential = elastic_energy_ + frames_.potential()};
    for (Index k = 2; k < lumped_.size(); k += 3) energy.potential += model_.gravity * lumped_[k] * state_.position[k];
    return energy;
  }
  Momentum momentum() override {
    Momentum total{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
    const auto add = [&](const Eigen::Vector3d& x, const Eigen::Vector3d& p) {
      total.linear += p;
      total.angular += x.cross(p);
    };
    for (Index k = 0; k < lumped_.size(); k += 3) {
      add(state_.position.segment<3>(k), lumped_[k] * state_.velocity.segment<3>(k));
    }
    for (std::size_t k = 0; k < model_.rigid.size(); ++k) {
      add(frames_.pose(model_.rigid_number(k)).position, model_.rigid[k].mass * frames_.velocity(k));
      total.angular += frames_.inertia(k) * frames_.spin(k);
    }
    return total;
  }
  Vector internal_force(const Vector& position, double later) override {
    Vector force;
    frames_.move_to(position, state_.velocity, state_.time + later);
    evaluate_elastic(position, force, CorotatedBody::Tangent::turned);
    frames_.move_to(state_.position, state_.velocity, state_.time);
    return force;
  }

  /// The frame of an elastic body is its mesh at rest: a point goes where the nearest node went.
  Eigen::Vector3d world_point(int of, const Eigen::Vector3d& local) const override {
    if (!is_elastic(of)) {
      const FramePose& pose = frames_.pose(of);
      return pose.position + pose.rotation * local;
    }
    const auto& nodes = model_.bodies[std::size_t(of) - 1].mesh.nodes;
    const auto nearest = std::min_element(nodes.begin(), nodes.end(), [&](const auto& a, const auto& b) {
      return (a - local).squaredNorm() < (b - local).squaredNorm();
    });
    return state_.position.segment<3>(firsts_[std::size_t(of) - 1] + 3 * (nearest - nodes.begin()));
  }
  std::vector<double> body_masses() const override {
    std::vector<double> masses;
    for (std::size_t k = 0; k + 1 < firsts_.size(); ++k) {
      masses.push_back(lumped_.segment(firsts_[k], firsts_[k + 1] - firsts_[k]).sum() / 3.0);
    }
    for (const RigidBody& body : model_.rigid) masses.push_back(body.mass);
    return masses;
  }
  std::vector<std::int64_t> nodes() const override {
    std::vector<std::int64_t> columns;
    for (Index k = 0; k < lumped_.size(); k += 3) columns.push_back(k);
    // A rigid body that has one point is a node as far as its translation goes.
    Index first = lumped_.size();
    for (const RigidBody& body : model_.rigid) {
      if (!body.slide && body.points.size() == 1) columns.push_back(first);
      first += body.slide ? 1 : 6;
    }
    return columns;
  }
  std::string shape_name(int shape) const override {
    auto number = std::size_t(shape);
    if (number < model_.shapes.size()) return model_.shapes[number].name;
    number -= model_.shapes.size();
    if (number >= contacts_.points()) return model_.rigid[number - contacts_.points()].name;
    const SurfacePoint& point = contacts_.point(number);
    if (!point.node) return body_name(point.body);
    return fmt::format("node {}", (point.first - firsts_[std::size_t(point.body) - 1]) / 3);
  }
  std::optional<int> body_number(const std::string& name) const override {
    for (int body = 0; body < model_.guide_number(model_.guides.size()); ++body) {
      if (body_name(body) == name) return body;
    }
    return std::nullopt;
  }
  std::string body_name(int of) const override {
    if (of == 0) return "world";
    if (is_elastic(of)) return model_.bodies[std::size_t(of) - 1].name;
    if (of < model_.guide_number(0)) return model_.rigid[std::size_t(of - model_.rigid_number(0))].name;
    return model_.guides[std::size_t(of - model_.guide_number(0))].name;
  }
  BodyPose body_pose(int of) const override {
    BodyPose pose{Eigen::Vector3d::Zero(), {1, 0, 0, 0}};
    if (!is_elastic(of)) {
      const FramePose& frame = frames_.pose(of);
      const Eigen::Quaterniond q(frame.rotation);
      return {frame.position, {q.w(), q.x(), q.y(), q.z()}};
    }
    double mass = 0.0;
    for (Index k = firsts_[std::size_t(of) - 1]; k < firsts_[std::size_t(of)]; k += 3) {
      pose.position += lumped_[k] * state_.position.segment<3>(k);
      mass += lumped_[k];
    }
    pose.position /= mass;
    return pose;
  }
  Result<void> write_picture(const std::filesystem::path& file) const override {
    return draw_soft_picture(model_, frames_, state_.position, file);
  }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  bool is_elastic(int body) const { return body > 0 && body < model_.rigid_number(0); }

  static Eigen::Map<Vector> values(SparseMatrix& matrix) { return {matrix.valuePtr(), matrix.nonZeros()}; }

  /// The entries of M, D and K, and where each part's values are in them.
  void lay_out() {
    std::vector<Eigen::Triplet<double>> entries;
    for (Index k = 0; k < dimensions_.velocities; ++k) entries.emplace_back(int(k), int(k), 0.0);
    for (const CorotatedBody& body : elastic_) body.add_pattern(entries);
    frames_.add_pattern(entries);
    joints_at_.resize(model_.joints.size());
    for (std::size_t j = 0; j < model_.joints.size(); ++j) {
      const SpringJoint& joint = model_.joints[j];
      const bool leads = frames_.is_guide(joint.a), trails = frames_.is_guide(joint.b);
      if (leads != trails) led_.push_back({.joint = j, .guide = leads ? joint.a : joint.b});
    }
    for (const SpringJoint& joint : model_.joints) {
      const JointAt at = joint_at(joint, frames_);
      for (int r = 0; r < at.count; ++r) {
        for (int c = 0; c < at.count; ++c) {
          entries.emplace_back(at.columns[std::size_t(r)], at.columns[std::size_t(c)], 0.0);
        }
      }
    }
    stiffness_.resize(dimensions_.velocities, dimensions_.velocities);
    stiffness_.setFromTriplets(entries.begin(), entries.end());
    mass_ = stiffness_;
    if (!model_.joints.empty()) bounds_ = stiffness_;
    for (CorotatedBody& body : elastic_) body.find_values(stiffness_);
    for (const SpringJoint& joint : model_.joints) {
      const JointAt at = joint_at(joint, frames_);
      for (int c = 0; c < at.count; ++c) {
        for (int r = 0; r < at.count; ++r) {
          joint_values_.push_back(value_index(stiffness_, at.columns[std::size_t(r)], at.columns[std::size_t(c)]));
        }
      }
    }
  }

  /// Of the frames as they stand: force, K = Σ R K_e Rᵀ + Σ J_eᵀ K J_e in stiffness_, Σ E in bounds_. Returns the
  /// energy. Other tangents have it derived by the Δt v that led here, and no E.
  double evaluate_elastic(const Vector& position, Vector& force, CorotatedBody::Tangent tangent,
                          double time_step = 0.0) {
    force.setZero(dimensions_.velocities);
    values(bounds_).setZero();
    values(stiffness_).setZero();
    double energy = 0.0;
    for (CorotatedBody& body : elastic_) energy += body.evaluate(position, force, stiffness_, workers_, tangent);
    const bool derived = tangent != CorotatedBody::Tangent::turned;
    const auto turn_of = [&](int body) -> Eigen::Vector3d {
      if (body < model_.rigid_number(0) || frames_.is_guide(body)) return Eigen::Vector3d::Zero();
      return time_step * frames_.spin(std::size_t(body - model_.rigid_number(0)));
    };
    if (derived) derivatives_.resize(model_.joints.size());
    workers_.run(model_.joints.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) {
        const SpringJoint& joint = model_.joints[j];
        joints_at_[j] = joint_at(joint, frames_);
        if (!derived) continue;
        derivatives_[j] = derivatives_of(joint, joints_at_[j], frames_, turn_of(joint.a), turn_of(joint.b));
        if (tangent == CorotatedBody::Tangent::positive)
          derivatives_[j].hessian = without_negative(derivatives_[j].hessian);
      }
    });
    const int* value = joint_values_.data();
    for (std::size_t j = 0; j < model_.joints.size(); ++j) {
      const JointAt& at = joints_at_[j];
      energy += at.energy;
      const Eigen::Matrix<double, 6, 14> weighted = model_.joints[j].gain.asDiagonal() * at.jacobian;
      const Eigen::Matrix<double, 14, 1> pull =
          derived ? derivatives_[j].gradient : Eigen::Matrix<double, 14, 1>(weighted.transpose() * at.error);
      for (int c = 0; c < at.count; ++c) {
        const int column = at.columns[std::size_t(c)];
        force[column] -= pull[c];
        for (int r = 0; r < at.count; ++r) {
          // One product for both sides of the diagonal.
          const int low = std::min(r, c), high = std::max(r, c);
          stiffness_.valuePtr()[*value] +=
              derived ? derivatives_[j].hessian(low, high) : at.jacobian.col(low).dot(weighted.col(high));
          if (!derived) bounds_.valuePtr()[*value] += at.bound(low, high);
          ++value;
        }
      }
    }
    return energy;
  }

  /// What the velocities of guides, which v lacks, add to `force`: to −β J_eᵀ K ė, and to −E v, which acts on ẋ_b −
  /// ẋ_a. Leaves guides where the state has them, and the energy that of the state.
  void carry(const Reach& reach, Vector& force) {
    force = following_;
    for (Led& led : led_) led.ahead = frames_.pose(led.guide).position;
    frames_.lead(state_.time + reach.time_step);
    for (Led& led : led_) led.after = joint_rows(model_.joints[led.joint], frames_).error;
    frames_.lead(state_.time);
    for (const Led& led : led_) {
      const SpringJoint& joint = model_.joints[led.joint];
      const JointAt& at = joints_at_[led.joint];
      const Eigen::Matrix<double, 6, 1> now = joint_rows(joint, frames_).error;
      elastic_energy_ += 0.5 * joint.gain.dot(now.cwiseProduct(now)) - at.energy;
      const Eigen::Matrix<double, 6, 1> rate = (led.after - now) / reach.time_step;
      const Eigen::Matrix<double, 14, 1> drag =
          model_.stiffness_damping * at.jacobian.transpose() * joint.gain.cwiseProduct(rate);
      for (int c = 0; c < at.count; ++c) force[at.columns[std::size_t(c)]] -= drag[c];
      const Eigen::Vector3d held = at.bound.topLeftCorner<3, 3>() * (led.ahead - frames_.pose(led.guide).position);
      for (int c = 0; c < std::min(at.count, 3); ++c) {
        force[at.columns[std::size_t(c)]] += held[c];
        following_[at.columns[std::size_t(c)]] += held[c];
      }
    }
  }

  /// Springs to where the guides are `ahead` of the state, to what follows the positions, too.
  void pull(const Vector& position, double ahead, Mechanics& mechanics) {
    for (const Tie& tie : model_.ties) {
      if (state_.time >= tie.until) continue;
      const Guide& guide = model_.guides[std::size_t(tie.guide)];
      const FramePose at = pose_of(guide, state_.time + ahead);
      const Eigen::Matrix3d turn = at.rotation * guide.pose.rotation.transpose();
      for (const Index node : tie.nodes) {
        const Index k = firsts_[std::size_t(tie.body)] + 3 * node;
        const Eigen::Vector3d arm = start_.position.segment<3>(k) - guide.pose.position;
        const Eigen::Vector3d target = at.position + turn * arm;
        const Eigen::Vector3d force = tie.stiffness * (target - position.segment<3>(k));
        mechanics.force.segment<3>(k) += force;
        following_.segment<3>(k) += force;
        for (Index c = k; c < k + 3; ++c) mechanics.stiffness.coeffRef(c, c) += tie.stiffness;
      }
    }
  }

  struct Led {
    std::size_t joint = 0;
    int guide = 0;
    Eigen::Matrix<double, 6, 1> after = {};  ///< e with guides at the step's end
    Eigen::Vector3d ahead = {};              ///< where the guide's forces are taken
  };
  SoftModel model_;
  SurfaceContacts contacts_;
  Workers workers_;
  std::vector<CorotatedBody> elastic_;
  std::vector<Index> firsts_;  ///< first position of each elastic body, and where they end
  Frames frames_;
  Vector lumped_;  ///< of the nodes' velocities
  Dimensions dimensions_;
  State start_, state_;
  double elastic_energy_ = 0.0;
  SparseMatrix stiffness_, bounds_, mass_;
  std::vector<Led> led_;  ///< joints of a guide and a body
  Vector following_;      ///< forces that follow positions, as the mechanics last had them [N, N m]
  Vector rates_;
  std::vector<int> joint_values_;
  std::vector<JointAt> joints_at_;
  std::vector<JointDerivatives> derivatives_;  ///< of the joints, with integrator=newton
  std::vector<std::string> notes_;
};

/// What is wrong with the model, if anything is.
std::optional<std::string> fault_of(const SoftModel& model) {
  for (const SoftBody& body : model.bodies) {
    const auto nodes = static_cast<Index>(body.mesh.nodes.size());
    if (body.position.size() != 3 * nodes || body.velocity.size() != 3 * nodes) {
      return fmt::format("{} nodes, but {} positions and {} velocities", nodes, body.position.size(),
                         body.velocity.size());
    }
    std::vector<bool> used(std::size_t(nodes), false);
    for (const auto& corners : body.mesh.tetrahedra) {
      Eigen::Matrix3d edges;
      for (std::size_t k = 0; k < 4; ++k) {
        if (corners[k] < 0 || corners[k] >= nodes) return "a tetrahedron has a corner that is no node";
        used[std::size_t(corners[k])] = true;
      }
      for (std::size_t k = 1; k < 4; ++k) {
        edges.col(Index(k) - 1) = body.mesh.nodes[std::size_t(corners[k])] - body.mesh.nodes[std::size_t(corners[0])];
      }
      if (!(std::abs(edges.determinant()) > 0.0)) return "a tetrahedron has no volume";
    }
    const auto unused = std::find(used.begin(), used.end(), false);
    if (unused != used.end()) return fmt::format("node {} is in no tetrahedron", unused - used.begin());
  }
  for (std::size_t k = 0; k < model.rigid.size(); ++k) {
    const auto& slide = model.rigid[k].slide;
    if (!slide) continue;
    if (slide->parent < 0 || std::size_t(slide->parent) >= k || model.rigid[std::size_t(slide->parent)].slide) {
      return model.rigid[k].name + " slides on what is no free body before it";
    }
  }
  for (const SpringJoint& joint : model.joints) {
    for (const int end : {joint.a, joint.b}) {
      const bool frame = end == 0 || (end >= model.rigid_number(0) && end < model.guide_number(model.guides.size()));
      const bool slides = end >= model.rigid_number(0) && end < model.guide_number(0) &&
                          model.rigid[std::size_t(end - model.rigid_number(0))].slide;
      if (!frame || slides) return fmt::format("a joint's end {} is no free body or guide", end);
    }
  }
  return std::nullopt;
}

/// Collects all of a model.
struct Text {
  std::string text = version;
  void operator()(double x) { text += fmt::format(" {}", x); }
  void operator()(const std::string& name) { text += " " + name; }
  template <class Derived>
  void operator()(const Eigen::MatrixBase<Derived>& m) {
    for (Index c = 0; c < m.cols(); ++c) {
      for (Index r = 0; r < m.rows(); ++r) (*this)(double(m(r, c)));
    }
  }
  void operator()(const FramePose& pose) {
    (*this)(pose.position);
    (*this)(pose.rotation);
  }
  template <class... Parts>
  void all(const Parts&... parts) {
    ((*this)(parts), ...);
  }
};

}  // namespace

Result<std::unique_ptr<Engine>> make_soft_engine(const SoftModel& model, const std::string& name,
                                                 const EngineOptions& options) {
  if (auto fault = fault_of(model)) return Error{ErrorCode::bad_input, name + ": " + *fault};
  return std::unique_ptr<Engine>(std::make_unique<SoftEngine>(model, options));
}

std::string soft_model_hash(const SoftModel& model) {
  Text t;
  t.all(model.mass_damping, model.stiffness_damping, model.gravity);
  for (const SoftBody& b : model.bodies) {
    t.all(b.name, b.density, b.young, b.poisson, b.position, b.velocity);
    for (const auto& node : b.mesh.nodes) t(node);
    for (const auto& corners : b.mesh.tetrahedra) {
      for (const Index k : corners) t(double(k));
    }
  }
  for (const RigidBody& b : model.rigid) {
    t.all(b.name, b.mass, b.inertia, b.pose, b.velocity, b.spin, b.force, b.point_radius);
    if (b.slide) t.all(double(b.slide->parent), b.slide->axis, b.slide->force, b.slide->damping);
    for (const auto& point : b.points) t(point);
    if (b.half_length) t.all(*b.half_length, model.capsule_friction, double(model.joints_apart));
  }
  for (const Guide& g : model.guides) {
    t.all(g.name, g.pose);
    for (const Move& m : g.moves) {
      t.all(m.from, m.until, m.by, m.angle, m.axis, m.centre, double(m.steady), double(m.turns));
    }
  }
  for (const Shape& s : model.shapes) {
    t.all(s.name, double(int(s.kind)), s.size, double(s.carrier), s.pose, s.friction, s.across.value_or(-1.0));
  }
  for (const Tie& tie : model.ties) {
    t.all(double(tie.body), double(tie.guide), tie.stiffness, tie.until);
    for (const Index node : tie.nodes) t(double(node));
  }
  for (const SpringJoint& j : model.joints) t.all(double(j.a), double(j.b), j.at_a, j.at_b, j.length, j.gain);
  const XXH128_hash_t hash = XXH3_128bits(t.text.data(), t.text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string engine_version(const SimulatedModel& model) { return model.soft ? version : engine_version(); }

}  // namespace conebench::simulation
