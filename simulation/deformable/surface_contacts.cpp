#include "simulation/deformable/surface_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "simulation/deformable/shape_distance.hpp"

namespace conebench::simulation {

namespace {

Eigen::Vector3d velocity_of(const PointMotion& motion, const State& state) {
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();
  for (int c = 0; c < motion.count; ++c) {
    velocity += state.velocity[motion.columns[std::size_t(c)]] * motion.linear.col(c);
  }
  return velocity;
}

/// Pairs of rigid bodies, in order, that `max_joints` joints or fewer connect.
std::vector<std::pair<int, int>> neighbours_of(const SoftModel& model, int max_joints) {
  std::vector<std::vector<int>> beside(model.rigid.size());
  for (const SpringJoint& joint : model.joints) {
    const int a = joint.a - model.rigid_number(0), b = joint.b - model.rigid_number(0);
    const auto is_rigid = [&](int k) { return k >= 0 && k < static_cast<int>(model.rigid.size()); };
    if (!is_rigid(a) || !is_rigid(b)) continue;
    beside[std::size_t(a)].push_back(b);
    beside[std::size_t(b)].push_back(a);
  }
  std::vector<std::pair<int, int>> neighbours;
  for (int k = 0; k < static_cast<int>(model.rigid.size()); ++k) {
    std::set<int> reached = {k};
    std::vector<int> edge = {k};
    for (int joint = 0; joint < max_joints; ++joint) {
      std::vector<int> next;
      for (const int from : edge) {
        for (const int to : beside[std::size_t(from)]) {
          if (reached.insert(to).second) next.push_back(to);
        }
      }
      edge = std::move(next);
    }
    for (const int other : reached) {
      if (other > k) neighbours.emplace_back(k, other);
    }
  }
  return neighbours;
}

}  // namespace

SurfaceContacts::SurfaceContacts(const SoftModel& model, bool self_contact) : model_(&model) {
  Index first = 0;
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    add_points(model.bodies[k], static_cast<int>(k) + 1, first);
    first += model.bodies[k].position.size();
  }
  for (std::size_t k = 0; k < model.rigid.size(); ++k) {
    const RigidBody& body = model.rigid[k];
    for (const auto& point : body.points) {
      points_.push_back({.body = model.rigid_number(k), .local = point, .radius = body.point_radius});
    }
    if (!self_contact || !body.half_length) continue;
    capsules_.push_back(static_cast<int>(k));
    widest_ = std::max(widest_, *body.half_length + body.point_radius);
  }
  centres_.resize(capsules_.size());
  if (!capsules_.empty()) neighbours_ = neighbours_of(model, model.joints_apart);
}

/// The nodes that are on the body's surface.
void SurfaceContacts::add_points(const SoftBody& body, int number, Index first) {
  std::set<std::array<Index, 3>> faces;
  for (const auto& t : body.mesh.tetrahedra) {
    for (std::size_t out = 0; out < 4; ++out) {
      std::array<Index, 3> face{};
      for (std::size_t k = 0, at = 0; k < 4; ++k) {
        if (k != out) face[at++] = t[k];
      }
      std::sort(face.begin(), face.end());
      if (const auto [entry, added] = faces.insert(face); !added) faces.erase(entry);
    }
  }
  std::set<Index> surface;
  for (const auto& face : faces) surface.insert(face.begin(), face.end());
  for (const Index node : surface) {
    points_.push_back(
        {.body = number, .first = first + 3 * node, .local = body.mesh.nodes[std::size_t(node)], .node = true});
  }
}

void SurfaceContacts::find(const State& state, const Frames& frames, const Reach& reach, Mechanics& mechanics) {
  mechanics.contacts.clear();
  entries_.clear();
  drift_.clear();
  const Search search{state, frames, reach, mechanics.contacts, farthest(state, reach)};
  for (std::size_t p = 0; p < points_.size(); ++p) {
    for (std::size_t s = 0; s < model_->shapes.size(); ++s) {
      if (model_->shapes[s].carrier != points_[p].body) touch(p, s, search);
    }
  }
  if (!capsules_.empty()) touch_capsules(search);
  mechanics.jacobian.resize(3 * Index(mechanics.contacts.size()), state.velocity.size());
  fill_jacobian(mechanics.jacobian);
  if (model_->guides.empty()) {
    mechanics.drift.resize(0);
  } else {
    mechanics.drift = Eigen::Map<const Vector>(drift_.data(), Index(drift_.size()));
  }
}

void SurfaceContacts::touch(std::size_t p, std::size_t s, const Search& search) {
  const auto& [state, frames, reach, contacts, farthest] = search;
  const SurfacePoint& point = points_[p];
  const Shape& shape = model_->shapes[s];
  const Eigen::Vector3d centre =
      point.node ? Eigen::Vector3d(state.position.segment<3>(point.first))
                 : Eigen::Vector3d(frames.pose(point.body).position + frames.pose(point.body).rotation * point.local);
  const FramePose& carrier = frames.pose(shape.carrier);
  const Eigen::Matrix3d axes = carrier.rotation * shape.pose.rotation;
  const Eigen::Vector3d origin = carrier.position + carrier.rotation * shape.pose.position;
  const ShapeDistance at = distance_to(shape, axes.transpose() * (centre - origin));
  ContactPoint contact;
  contact.gap = at.gap - point.radius;
  if (contact.gap > farthest) return;
  const Eigen::Vector3d normal = axes * at.normal;
  contact.frame = shape.kind == Shape::Kind::plane ? axes : frame_of(normal);
  const Eigen::Vector3d touched = centre - point.radius * normal;
  contact.position = touched - 0.5 * contact.gap * normal;
  contact.friction = shape.friction;
  if (shape.across) contact.across = *shape.across / shape.friction;
  contact.first_shape = static_cast<int>(s);
  contact.second_shape = static_cast<int>(model_->shapes.size() + p);
  contact.first_body = shape.carrier;
  contact.second_body = point.body;
  contact.first_local = carrier.rotation.transpose() * (contact.position - carrier.position);
  contact.second_local = point.local;
  take(contact,
       {.first = frames.motion_of(shape.carrier, touched),
        .second = motion_of(point, touched, frames),
        .surface = led(shape.carrier, touched, search) / reach.time_step},
       search);
}

void SurfaceContacts::touch_capsules(const Search& search) {
  const Frames& frames = search.frames;
  const Reach& reach = search.reach;
  double fastest = 0.0;
  for (std::size_t k = 0; k < capsules_.size(); ++k) {
    const auto body = std::size_t(capsules_[k]);
    centres_[k] = frames.pose(model_->rigid_number(body)).position;
    fastest = std::max(fastest, frames.velocity(body).norm() + widest_ * frames.spin(body).norm());
  }
  double margin = reach.contact_margin;
  if (margin < 0.0) {
    const double slip = reach.lifts ? model_->capsule_friction : 0.0;
    margin = 2.0 * reach.time_step * (model_->gravity * reach.time_step + 2.0 * (1.0 + slip) * fastest);
  }
  for (const auto& [a, b] : near_.find(centres_, 2.0 * widest_ + margin)) {
    touch_capsules(capsules_[std::size_t(a)], capsules_[std::size_t(b)], search);
  }
}

void SurfaceContacts::touch_capsules(int a, int b, const Search& search) {
  if (joined(a, b)) return;
  const RigidBody &one = model_->rigid[std::size_t(a)], &other = model_->rigid[std::size_t(b)];
  ContactPoint contact;
  contact.first_body = model_->rigid_number(std::size_t(a));
  contact.second_body = model_->rigid_number(std::size_t(b));
  const Frames& frames = search.frames;
  const FramePose &at_a = frames.pose(contact.first_body), &at_b = frames.pose(contact.second_body);
  const SegmentPair near = nearest_points(at_a.position, at_a.rotation.col(2), *one.half_length, at_b.position,
                                          at_b.rotation.col(2), *other.half_length);
  Eigen::Vector3d normal = near.second - near.first;
  const double distance = normal.norm();
  // Axes that meet are parted across both.
  normal = distance > 0.0 ? Eigen::Vector3d(normal / distance)
                          : Eigen::Vector3d(at_a.rotation.col(2).cross(at_b.rotation.col(2)));
  if (distance == 0.0)
    normal = normal.norm() > 1e-9 ? normal.normalized().eval() : Eigen::Vector3d(at_a.rotation.col(0));
  contact.gap = distance - one.point_radius - other.point_radius;
  contact.frame = frame_of(normal);
  contact.position = near.first + (one.point_radius + 0.5 * contact.gap) * normal;
  contact.friction = model_->capsule_friction;
  const int before = static_cast<int>(model_->shapes.size() + points_.size());
  contact.first_shape = before + a;
  contact.second_shape = before + b;
  contact.first_local = at_a.rotation.transpose() * (contact.position - at_a.position);
  contact.second_local = at_b.rotation.transpose() * (contact.position - at_b.position);
  take(contact,
       {.first = frames.motion_of(contact.first_body, contact.position),
        .second = frames.motion_of(contact.second_body, contact.position)},
       search);
}

void SurfaceContacts::take(ContactPoint contact, const Pair& pair, const Search& search) {
  const State& state = search.state;
  const Reach& reach = search.reach;
  const Eigen::Vector3d relative =
      contact.frame.transpose() * (velocity_of(pair.second, state) - velocity_of(pair.first, state) - pair.surface);
  double margin = reach.contact_margin;
  if (margin < 0.0) {
    const double slip = reach.lifts ? contact.friction * relative.head<2>().norm() : 0.0;
    const double speed = model_->gravity * reach.time_step + std::max(0.0, -relative[2]) + slip;
    margin = 2.0 * reach.time_step * speed;
  }
  if (contact.gap > margin) return;
  Eigen::Matrix3d rows = contact.frame.transpose();
  rows.row(1) *= contact.across;
  const int row = 3 * static_cast<int>(search.contacts.size());
  const std::size_t begin = entries_.size();
  for (const auto& [motion, sign] : {std::pair(&pair.second, 1.0), {&pair.first, -1.0}}) {
    for (int c = 0; c < motion->count; ++c) {
      const int column = motion->columns[std::size_t(c)];
      const Eigen::Vector3d values = sign * (rows * motion->linear.col(c));
      // A body and what slides on it share columns.
      const auto same = std::find_if(entries_.begin() + std::ptrdiff_t(begin), entries_.end(),
                                     [&](const Entry& entry) { return entry.column == column; });
      if (same != entries_.end()) {
        same->values += values;
      } else {
        entries_.push_back({column, row, values});
      }
    }
  }
  for (int r = 0; r < 3; ++r) drift_.push_back(-rows.row(r).dot(pair.surface));
  search.contacts.push_back(contact);
}

/// Columns of J from the contacts' entries, which come row by row.
void SurfaceContacts::fill_jacobian(SparseMatrix& jacobian) {
  const auto stored = [](const Entry& entry) { return static_cast<int>((entry.values.array() != 0.0).count()); };
  const auto columns = std::size_t(jacobian.cols());
  filled_.assign(columns + 1, 0);
  int all = 0;
  for (const Entry& entry : entries_) {
    filled_[std::size_t(entry.column) + 1] += stored(entry);
    all += stored(entry);
  }
  jacobian.resizeNonZeros(all);
  for (std::size_t c = 0; c < columns; ++c) {
    filled_[c + 1] += filled_[c];
    jacobian.outerIndexPtr()[c + 1] = filled_[c + 1];
  }
  for (const Entry& entry : entries_) {
    for (int r = 0; r < 3; ++r) {
      if (entry.values[r] == 0.0) continue;
      const int at = filled_[std::size_t(entry.column)]++;
      jacobian.innerIndexPtr()[at] = entry.row + r;
      jacobian.valuePtr()[at] = entry.values[r];
    }
  }
}

bool SurfaceContacts::joined(int a, int b) const {
  return std::binary_search(neighbours_.begin(), neighbours_.end(), std::pair(std::min(a, b), std::max(a, b)));
}

PointMotion SurfaceContacts::motion_of(const SurfacePoint& point, const Eigen::Vector3d& at,
                                       const Frames& frames) const {
  if (!point.node) return frames.motion_of(point.body, at);
  PointMotion motion;
  motion.count = 3;
  for (int c = 0; c < 3; ++c) motion.columns[std::size_t(c)] = int(point.first) + c;
  motion.linear.leftCols<3>().setIdentity();
  return motion;
}

/// Where a guide's, or the still world's, surface point is after a step, less where it is now.
Eigen::Vector3d SurfaceContacts::led(int carrier, const Eigen::Vector3d& point, const Search& search) const {
  if (carrier < model_->guide_number(0)) return Eigen::Vector3d::Zero();
  const FramePose& now = search.frames.pose(carrier);
  const FramePose then = pose_of(model_->guides[std::size_t(carrier - model_->guide_number(0))],
                                 search.state.time + search.reach.time_step);
  return then.position + then.rotation * now.rotation.transpose() * (point - now.position) - point;
}

/// No contact of a shape is taken beyond this gap, whatever its velocity: far pairs need no more than their distance.
double SurfaceContacts::farthest(const State& state, const Reach& reach) const {
  if (reach.contact_margin >= 0.0) return reach.contact_margin;
  const double fastest = state.velocity.size() == 0 ? 0.0 : state.velocity.cwiseAbs().maxCoeff();
  return 1e3 * reach.time_step * (model_->gravity * reach.time_step + fastest + 1.0);
}

}  // namespace conebench::simulation
