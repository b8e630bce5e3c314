#include <cmath>
#include <numbers>

#include "simulation/scenes/soft_support.hpp"

namespace conebench {

namespace {

struct CableOptions : SoftOptions {
  long links = 320;
  double length = 3.2;
  double radius = 0.005;
  double post_radius = 0.05;
  double hand_radius = 0.15;
  double turns = 0.5;
  double feed = 0.97;
  double rise = 1.1;
  bool random = false;

  CableOptions() {
    density = 1200.0;
    young = 2.954e6;
    poisson = 0.49;
    friction = 1.3;
    stiffness_damping = 1e-2;
  }
  static void declare(OptionBinder& bind, CableOptions& o) {
    bind.integer("links", o.links, {.minimum = 2, .maximum = 20000, .doc = "rigid links of the cable"});
    declare_size(bind, "length", o.length, "of the cable");
    declare_size(bind, "radius", o.radius, "of the cable");
    declare_size(bind, "post_radius", o.post_radius, "of the post");
    declare_size(bind, "hand_radius", o.hand_radius, "of the circle on which the hand goes");
    bind.real("turns", o.turns, {.minimum = 0, .maximum = 100, .unit = "1/s", .doc = "of the hand about the post"});
    bind.real("feed", o.feed,
              {.minimum = 0, .maximum = 2, .doc = "speed of the other end over that at which cable is wound up"});
    bind.real("rise", o.rise,
              {.minimum = 0, .maximum = 100, .doc = "of the hand in a turn, in diameters of the cable"});
    declare_random(bind, o.random);
    SoftOptions::declare(bind, o);
  }
};

/// Lee23 V-E: a hand leads a cable's end round a post while the other end is fed. Its path, the post and the density
/// are not published.
Result<SimulatedModel> make_cable_winding(const CableOptions& options, std::uint64_t seed) {
  CableOptions o = options;
  if (o.random) draw(o, {.young = {4e6, 5e6}, .poisson = {0.4, 0.49}, .friction = {0.5, 1.5}}, seed);
  if (!(o.hand_radius > o.post_radius + o.radius)) {
    return Error{ErrorCode::wrong_usage, "option hand_radius: the hand's circle lies within post and cable"};
  }
  SimulatedModel model = model_with(o);
  SoftModel& soft = *model.soft;
  const double link = o.length / double(o.links), wound = o.post_radius + o.radius;
  // The cable runs along x on the ground and touches the post, whose axis is z, from −y.
  const Eigen::Vector3d start(-std::sqrt(o.hand_radius * o.hand_radius - wound * wound), -wound, o.radius);
  Eigen::Matrix3d along;
  along << 0, 0, 1, 1, 0, 0, 0, 1, 0;  // its own z is the world's x
  const double area = std::numbers::pi * o.radius * o.radius, bending = 0.25 * area * o.radius * o.radius;
  const double mass = o.density * area * link, shear = o.young / (2.0 * (1.0 + o.poisson));
  for (long k = 0; k < o.links; ++k) {
    RigidBody body;
    body.name = "link" + std::to_string(k + 1);
    body.mass = mass;
    const double across = mass * (3.0 * o.radius * o.radius + link * link) / 12.0;
    body.inertia = {across, across, 0.5 * mass * o.radius * o.radius};
    body.pose = {start + Eigen::Vector3d((double(k) + 0.5) * link, 0.0, 0.0), along};
    body.points.push_back(Eigen::Vector3d::Zero());
    body.point_radius = o.radius;
    body.half_length = 0.5 * link;
    soft.rigid.push_back(body);
  }
  // A turn of the hand about the post, clockwise from above, draws in the cable that a turn takes up.
  const double duration = 3.0, angle = -2.0 * std::numbers::pi * o.turns * duration;
  const double rise = 2.0 * o.radius * o.rise * o.turns * duration;
  Guide hand{.name = "hand", .pose = {start, along}};
  hand.moves.push_back({.until = duration, .by = {0.0, 0.0, rise}, .angle = angle, .steady = true});
  Guide feeder{.name = "feeder", .pose = {start + Eigen::Vector3d(o.length, 0.0, 0.0), along}};
  feeder.moves.push_back({.until = duration, .by = {o.feed * angle * wound, 0.0, 0.0}, .steady = true});
  soft.guides = {hand, feeder};
  Eigen::Matrix<double, 6, 1> gain;
  const double sheared = 5.0 / 6.0 * shear * area;
  gain << sheared, sheared, o.young * area, o.young * bending, o.young * bending, 2.0 * shear * bending;
  for (long k = 0; k <= o.links; ++k) {
    SpringJoint joint;
    joint.a = k == 0 ? soft.guide_number(0) : soft.rigid_number(std::size_t(k - 1));
    joint.b = k == o.links ? soft.guide_number(1) : soft.rigid_number(std::size_t(k));
    joint.at_a = k == 0 ? Eigen::Vector3d::Zero().eval() : Eigen::Vector3d(0.0, 0.0, 0.5 * link);
    joint.at_b = k == o.links ? Eigen::Vector3d::Zero().eval() : Eigen::Vector3d(0.0, 0.0, -0.5 * link);
    joint.length = link;
    joint.gain = link * gain;
    soft.joints.push_back(joint);
  }
  // Links that touch lie half round a bend of the cable's radius apart, if not more.
  soft.joints_apart = 1 + static_cast<int>(std::ceil(std::numbers::pi * o.radius / link));
  soft.capsule_friction = o.friction;
  Shape post;
  post.name = "post";
  post.kind = Shape::Kind::cylinder;
  post.size = {o.post_radius, 0.5, 0.0};
  post.pose.position = {0.0, 0.0, 0.4};
  post.friction = o.friction;
  soft.shapes = {post, ground_of(0.3)};
  model.steps = 300;
  return model;
}

}  // namespace

SimulatedSceneRow cable_winding_scene() {
  SimulatedSceneRow row = elastic(make_simulated_scene<CableOptions>(
      "cable-winding", "cable of rigid links that a hand winds round a post (Lee23)", make_cable_winding));
  row.loop.insert({"self_contact", true});
  row.loop.insert_or_assign("solver", std::string("CASCADE"));  // COND-STRICT-S takes thousands of iterations
  return row;
}

}  // namespace conebench
