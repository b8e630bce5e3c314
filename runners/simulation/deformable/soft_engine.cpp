#include "runners/simulation/deformable/soft_engine.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "runners/simulation/deformable/corotated_body.hpp"
#include "runners/simulation/deformable/frames.hpp"
#include "runners/simulation/deformable/shape_distance.hpp"
#include "runners/simulation/deformable/soft_picture.hpp"
#include "runners/simulation/deformable/spring_joint.hpp"

namespace conebench::simulation {

namespace {

constexpr const char* version = "elastic bodies 2";

/// What can touch a shape: a node, or a ball about a point of a rigid body.
struct SurfacePoint {
  int body = 0;
  Index first = 0;        ///< of a node: its first velocity
  Eigen::Vector3d local;  ///< in the body's frame, of a node where it is at rest
  double radius = 0.0;
  bool node = false;
};

class SoftEngine final : public Engine {
 public:
  SoftEngine(SoftModel model, int threads) : model_(std::move(model)), threads_(threads) {
    Index size = 0;
    for (const SoftBody& body : model_.bodies) {
      elastic_.emplace_back(body.mesh, body.young, body.poisson, size);
      firsts_.push_back(size);
      add_points(body, size);
      size += body.position.size();
    }
    firsts_.push_back(size);
    frames_ = Frames(model_, size, size);
    for (std::size_t k = 0; k < model_.rigid.size(); ++k) {
      for (const auto& point : model_.rigid[k].points) {
        points_.push_back({.body = model_.rigid_number(k), .local = point, .radius = model_.rigid[k].point_radius});
      }
    }
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
    frames_.place(start_.position, start_.velocity, 0.0);
    lay_out();
  }

  const Dimensions& dimensions() const override { return dimensions_; }
  State start() const override { return start_; }
  Matrix control_ranges() const override { return Matrix(0, 2); }
  Matrix control_waves() const override { return Matrix(3, 0); }
  std::vector<std::optional<Servo>> servos() const override { return {}; }

  Result<std::monostate> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) override {
    state_ = state;
    begin(Stage::assembly);
    frames_.place(state.position, state.velocity, state.time);
    elastic_energy_ = evaluate_elastic(state.position, mechanics.force);
    mechanics.stiffness = stiffness_;
    mechanics.damping = model_.stiffness_damping * stiffness_;
    for (Index k = 2; k < lumped_.size(); k += 3) mechanics.force[k] -= model_.gravity * lumped_[k];
    mass_entries_.clear();
    for (Index k = 0; k < lumped_.size(); ++k) mass_entries_.emplace_back(int(k), int(k), lumped_[k]);
    frames_.add_mechanics(mass_entries_, mechanics.force);
    mass_.resize(dimensions_.velocities, dimensions_.velocities);
    mass_.setFromTriplets(mass_entries_.begin(), mass_entries_.end());
    mechanics.mass = mass_;
    if (model_.mass_damping > 0.0) mechanics.damping += model_.mass_damping * mechanics.mass;
    frames_.add_damping(mechanics.damping);
    mechanics.force -= mechanics.damping * state.velocity;
    add_bounds(mechanics.stiffness);
    pull(state, reach.time_step, mechanics);
    mechanics.lengths = Vector::Ones(dimensions_.velocities);
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
  Vector internal_force(const Vector& position) override {
    Vector force;
    frames_.place(position, state_.velocity, state_.time);
    evaluate_elastic(position, force);
    frames_.place(state_.position, state_.velocity, state_.time);
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
    const auto shapes = static_cast<int>(model_.shapes.size());
    if (shape < shapes) return model_.shapes[std::size_t(shape)].name;
    const SurfacePoint& point = points_[std::size_t(shape - shapes)];
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
  Result<std::monostate> write_picture(const std::filesystem::path& file) const override {
    return draw_soft_picture(model_, frames_, state_.position, file);
  }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  bool is_elastic(int body) const { return body > 0 && body < model_.rigid_number(0); }

  /// The nodes that are on the body's surface.
  void add_points(const SoftBody& body, Index first) {
    std::set<std::array<Index, 3>> faces;
    for (const auto& t : body.mesh.tetrahedra) {
      for (std::size_t out = 0; out < 4; ++out) {
        std::array<Index, 3> face{};
        for (std::size_t k = 0, at = 0; k < 4; ++k) {
          if (k != out) face[at++] = t[k];
        }
        std::sort(face.begin(), face.end());
        if (const auto [place, added] = faces.insert(face); !added) faces.erase(place);
      }
    }
    std::set<Index> surface;
    for (const auto& face : faces) surface.insert(face.begin(), face.end());
    const int number = static_cast<int>(elastic_.size());
    for (const Index node : surface) {
      points_.push_back(
          {.body = number, .first = first + 3 * node, .local = body.mesh.nodes[std::size_t(node)], .node = true});
    }
  }

  /// The entries of K, and the places of everything in it.
  void lay_out() {
    std::vector<Eigen::Triplet<double>> entries;
    for (Index k = 0; k < dimensions_.velocities; ++k) entries.emplace_back(int(k), int(k), 0.0);
    for (const CorotatedBody& body : elastic_) body.add_pattern(entries);
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
    if (!model_.joints.empty()) bounds_ = stiffness_;
    for (CorotatedBody& body : elastic_) body.find_places(stiffness_);
    for (const SpringJoint& joint : model_.joints) {
      const JointAt at = joint_at(joint, frames_);
      for (int c = 0; c < at.count; ++c) {
        for (int r = 0; r < at.count; ++r) {
          joint_places_.push_back(place_of(stiffness_, at.columns[std::size_t(r)], at.columns[std::size_t(c)]));
        }
      }
    }
  }

  /// Of the frames as they are placed: force, K = Σ R K_e Rᵀ + Σ J_eᵀ K J_e in stiffness_, Σ E in bounds_. Returns the
  /// energy.
  double evaluate_elastic(const Vector& position, Vector& force) {
    force.setZero(dimensions_.velocities);
    std::fill(bounds_.valuePtr(), bounds_.valuePtr() + bounds_.nonZeros(), 0.0);
    std::fill(stiffness_.valuePtr(), stiffness_.valuePtr() + stiffness_.nonZeros(), 0.0);
    double energy = 0.0;
    for (CorotatedBody& body : elastic_) energy += body.evaluate(position, force, stiffness_, threads_);
    const int* place = joint_places_.data();
    for (const SpringJoint& joint : model_.joints) {
      const JointAt at = joint_at(joint, frames_);
      energy += at.energy;
      const Eigen::Matrix<double, 6, 14> weighted = joint.gain.asDiagonal() * at.jacobian;
      const Eigen::Matrix<double, 14, 1> pull = weighted.transpose() * at.error;
      for (int c = 0; c < at.count; ++c) {
        const int column = at.columns[std::size_t(c)];
        force[column] -= pull[c];
        for (int r = 0; r < at.count; ++r) {
          // One product for both sides of the diagonal.
          const int low = std::min(r, c), high = std::max(r, c);
          stiffness_.valuePtr()[*place] += at.jacobian.col(low).dot(weighted.col(high));
          bounds_.valuePtr()[*place++] += at.bound(low, high);
        }
      }
    }
    return energy;
  }

  void add_bounds(SparseMatrix& stiffness) const {
    if (!model_.joints.empty()) stiffness += bounds_;
  }

  /// Springs to where the guides are at the step's end.
  void pull(const State& state, double time_step, Mechanics& mechanics) const {
    for (const Tie& tie : model_.ties) {
      if (state.time >= tie.until) continue;
      const Guide& guide = model_.guides[std::size_t(tie.guide)];
      const FramePose at = pose_of(guide, state.time + time_step);
      const Eigen::Matrix3d turn = at.rotation * guide.pose.rotation.transpose();
      for (const Index node : tie.nodes) {
        const Index k = firsts_[std::size_t(tie.body)] + 3 * node;
        const Eigen::Vector3d arm = start_.position.segment<3>(k) - guide.pose.position;
        const Eigen::Vector3d target = at.position + turn * arm;
        mechanics.force.segment<3>(k) += tie.stiffness * (target - state.position.segment<3>(k));
        for (Index c = k; c < k + 3; ++c) mechanics.stiffness.coeffRef(c, c) += tie.stiffness;
      }
    }
  }

  /// Where a guide's, or the still world's, surface point is after a step, less where it is now.
  Eigen::Vector3d led(int carrier, const Eigen::Vector3d& point, double time_step) const {
    if (carrier < model_.guide_number(0)) return Eigen::Vector3d::Zero();
    const FramePose& now = frames_.pose(carrier);
    const FramePose then =
        pose_of(model_.guides[std::size_t(carrier - model_.guide_number(0))], state_.time + time_step);
    return then.position + then.rotation * now.rotation.transpose() * (point - now.position) - point;
  }

  PointMotion motion_of(const SurfacePoint& point, const Eigen::Vector3d& at) const {
    if (!point.node) return frames_.motion_of(point.body, at);
    PointMotion motion;
    motion.count = 3;
    for (int c = 0; c < 3; ++c) motion.columns[std::size_t(c)] = int(point.first) + c;
    motion.linear.leftCols<3>().setIdentity();
    return motion;
  }

  Eigen::Vector3d velocity_of(const PointMotion& motion) const {
    Eigen::Vector3d velocity = Eigen::Vector3d::Zero();
    for (int c = 0; c < motion.count; ++c) {
      velocity += state_.velocity[motion.columns[std::size_t(c)]] * motion.linear.col(c);
    }
    return velocity;
  }

  void find_contacts(const Reach& reach, Mechanics& mechanics) {
    mechanics.contacts.clear();
    contact_entries_.clear();
    std::vector<double> drift;
    farthest_ = farthest(reach);
    for (std::size_t p = 0; p < points_.size(); ++p) {
      for (std::size_t s = 0; s < model_.shapes.size(); ++s) {
        if (model_.shapes[s].carrier != points_[p].body) touch(p, s, reach, mechanics, drift);
      }
    }
    mechanics.jacobian.resize(3 * Index(mechanics.contacts.size()), dimensions_.velocities);
    mechanics.jacobian.setFromTriplets(contact_entries_.begin(), contact_entries_.end());
    mechanics.drift = Eigen::Map<const Vector>(drift.data(), Index(drift.size()));
    if (model_.guides.empty()) mechanics.drift.resize(0);
  }

  void touch(std::size_t p, std::size_t s, const Reach& reach, Mechanics& mechanics, std::vector<double>& drift) {
    const SurfacePoint& point = points_[p];
    const Shape& shape = model_.shapes[s];
    const Eigen::Vector3d centre =
        point.node
            ? Eigen::Vector3d(state_.position.segment<3>(point.first))
            : Eigen::Vector3d(frames_.pose(point.body).position + frames_.pose(point.body).rotation * point.local);
    const FramePose& carrier = frames_.pose(shape.carrier);
    const Eigen::Matrix3d axes = carrier.rotation * shape.pose.rotation;
    const Eigen::Vector3d origin = carrier.position + carrier.rotation * shape.pose.position;
    const ShapeDistance at = distance_to(shape, axes.transpose() * (centre - origin));
    const double gap = at.gap - point.radius;
    if (gap > farthest_) return;
    ContactPoint contact;
    const Eigen::Vector3d normal = axes * at.normal;
    contact.frame = shape.kind == Shape::Kind::plane ? axes : frame_of(normal);
    const Eigen::Vector3d touched = centre - point.radius * normal;
    const PointMotion second = motion_of(point, touched), first = frames_.motion_of(shape.carrier, touched);
    const Eigen::Vector3d surface = led(shape.carrier, touched, reach.time_step) / reach.time_step;
    const Eigen::Vector3d relative = contact.frame.transpose() * (velocity_of(second) - velocity_of(first) - surface);
    double margin = reach.contact_margin;
    if (margin < 0.0) {
      const double slip = reach.lifts ? shape.friction * relative.head<2>().norm() : 0.0;
      const double speed = model_.gravity * reach.time_step + std::max(0.0, -relative[2]) + slip;
      margin = 2.0 * reach.time_step * speed;
    }
    if (gap > margin) return;
    contact.position = touched - 0.5 * gap * normal;
    contact.gap = gap;
    contact.friction = shape.friction;
    if (shape.across) contact.across = *shape.across / shape.friction;
    contact.first_shape = static_cast<int>(s);
    contact.second_shape = static_cast<int>(model_.shapes.size() + p);
    contact.first_body = shape.carrier;
    contact.second_body = point.body;
    contact.first_local = carrier.rotation.transpose() * (contact.position - carrier.position);
    contact.second_local = point.local;
    Eigen::Matrix3d rows = contact.frame.transpose();
    rows.row(1) *= contact.across;
    const int row = 3 * static_cast<int>(mechanics.contacts.size());
    for (const auto& [motion, sign] : {std::pair(&second, 1.0), {&first, -1.0}}) {
      for (int c = 0; c < motion->count; ++c) {
        const Eigen::Vector3d entry = sign * (rows * motion->linear.col(c));
        for (int r = 0; r < 3; ++r) {
          if (entry[r] == 0.0) continue;
          contact_entries_.emplace_back(row + r, motion->columns[std::size_t(c)], entry[r]);
        }
      }
    }
    for (int r = 0; r < 3; ++r) drift.push_back(-rows.row(r).dot(surface));
    mechanics.contacts.push_back(contact);
  }

  /// No contact is taken beyond this gap, whatever its velocity: far pairs need no more than their distance.
  double farthest(const Reach& reach) const {
    if (reach.contact_margin >= 0.0) return reach.contact_margin;
    const double fastest = state_.velocity.size() == 0 ? 0.0 : state_.velocity.cwiseAbs().maxCoeff();
    return 1e3 * reach.time_step * (model_.gravity * reach.time_step + fastest + 1.0);
  }

  SoftModel model_;
  int threads_ = 1;
  std::vector<CorotatedBody> elastic_;
  std::vector<Index> firsts_;  ///< first position of each elastic body, and where they end
  std::vector<SurfacePoint> points_;
  Frames frames_;
  Vector lumped_;  ///< of the nodes' velocities
  Dimensions dimensions_;
  State start_, state_;
  double elastic_energy_ = 0.0, farthest_ = 0.0;
  SparseMatrix stiffness_, bounds_, mass_;
  std::vector<int> joint_places_;
  std::vector<Eigen::Triplet<double>> mass_entries_, contact_entries_;
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

/// Collects all that a model says.
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

Result<std::unique_ptr<Engine>> make_soft_engine(const SoftModel& model, const std::string& name, int threads) {
  if (auto fault = fault_of(model)) return Error{ErrorCode::bad_input, name + ": " + *fault};
  return std::unique_ptr<Engine>(std::make_unique<SoftEngine>(model, threads));
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
