#include <cmath>
#include <numbers>

#include "simulation/scenes/robot_scenes.hpp"
#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

// Stand-ins for the proprietary systems of Tsounis's Table II, of our own shapes and masses: each has the table's
// bodies, joints, constraint rows and mass ratio, and its loops (joints less bodies, fixed base counted as a joint).

namespace conebench {

using mjcf::Vec3;

namespace {

constexpr double figure_step = 0.001;

struct StandInOptions {
  double mass_ratio = 0.0;
  double friction = 0.7;
  double amplitude = 0.4;
  double frequency = 1.0;
  double height = 0.0;

  template <int hundredths>
  static void declare_with(OptionBinder& bind, StandInOptions& o) {
    o.mass_ratio = hundredths / 100.0;
    declare_mass_ratio(bind, o.mass_ratio, "of the heaviest body to the lightest");
    declare_friction(bind, o.friction);
    bind.real("amplitude", o.amplitude, {.minimum = 0, .maximum = 0.9, .unit = "rad", .doc = "of the servos' sines"});
    bind.real("frequency", o.frequency, {.minimum = 0, .maximum = 10, .unit = "Hz", .doc = "of the servos' sines"});
    bind.real("height", o.height,
              {.minimum = 0,
               .maximum = 10,
               .unit = "m",
               .doc = "above the floor at the start: joints alone until it lands, "
                      "for good where the base is fixed"});
  }
};

/// The options with the table's mass ratio, in hundredths, as default.
template <int hundredths>
struct WithRatio : StandInOptions {
  static void declare(OptionBinder& bind, WithRatio& o) { declare_with<hundredths>(bind, o); }
};

/// A segment whose mass lies between the lightest body's and the heaviest's, smaller with each segment of its limb.
Segment segment(const StandInOptions& o, std::size_t depth, const Vec3& axis, double length,
                Linkage linkage = Linkage::direct) {
  return {.axis = axis,
          .length = length,
          .radius = 0.12 * length,
          .weight = std::max(1.0, std::pow(o.mass_ratio, 0.6) * std::pow(0.8, double(depth))),
          .linkage = linkage};
}

/// Adds segments with these linkages, whose axes alternate between `first` and `second`.
void extend(Limb& limb, const StandInOptions& o, double length, const Vec3& first, const Vec3& second,
            const std::vector<Linkage>& linkages) {
  for (const Linkage linkage : linkages) {
    const bool even = limb.segments.size() % 2 == 0;
    limb.segments.push_back(segment(o, limb.segments.size(), even ? first : second, length, linkage));
  }
}

/// All servos swing, each limb a little later than the one before it.
void animate(Figure& figure, const StandInOptions& o) {
  figure.frequency = o.frequency;
  double phase = 0.0;
  for (Limb& limb : figure.limbs) {
    for (std::size_t i = 0; i < limb.segments.size(); ++i) {
      limb.segments[i].amplitude = o.amplitude;
      limb.segments[i].phase = phase + 0.5 * double(i);
    }
    phase += 2.0;
  }
}

/// On a floor that the limbs on the base just reach; between two rails at x = ±`rails` [m], which swinging legs hit.
Result<SimulatedModel> figure_scene(const std::string& name, const StandInOptions& o, Figure figure,
                                    double rails = 0.0) {
  animate(figure, o);
  mjcf::Model model({.name = name, .time_step = figure_step, .surface = {.friction = o.friction, .margin = 0.002}});
  model.scenery(mjcf::Geom::plane());
  for (const double side : {-1.0, 1.0}) {
    if (rails > 0.0) model.scenery(mjcf::Geom::box({0.05, 1.0, 0.15}).at({side * (rails + 0.05), 0.0, 0.15}));
  }
  add_figure(model, figure, {.position = {0.0, 0.0, depth(figure) + 0.001 + o.height}});
  return simulated(model, figure_step, 1000, "sine");
}

const Vec3 x_axis = Vec3::UnitX();
const Vec3 y_axis = Vec3::UnitY();
const Vec3 z_axis = Vec3::UnitZ();

Figure base(const StandInOptions& o, bool fixed, const Vec3& half_sizes, double lightest) {
  Figure figure;
  figure.fixed = fixed;
  figure.half_sizes = half_sizes;
  figure.lightest = lightest;
  figure.base_weight = o.mass_ratio;
  figure.crank_weight = std::max(1.0, std::pow(o.mass_ratio, 0.2));
  if (!fixed) figure.carried = o.mass_ratio / 2;
  return figure;
}

std::string sided(double left, const std::string& limb) { return (left > 0 ? "left_" : "right_") + limb; }

/// A droid on two legs: 15 bodies, 14 hinges.
Result<SimulatedModel> make_bdx(const WithRatio<4249>& o, std::uint64_t) {
  Figure droid = base(o, false, {0.1, 0.09, 0.07}, 0.2);
  const LimbSizes sizes{.upper = 0.13,
                        .lower = 0.13,
                        .radius = 0.025,
                        .upper_weight = 5.0,
                        .lower_weight = 4.0,
                        .end_weight = 2.0,
                        .housing_weight = 2.0};
  for (const double left : {1.0, -1.0}) {
    Limb leg = humanoid_leg(sided(left, "leg"), {0.0, left * 0.07, -0.07}, sizes, 0.5);
    leg.segments.pop_back();  // the ankle has one hinge
    leg.segments.back().length = 0.05;
    add_foot(leg, 4, 0.06, 0.03);
    droid.limbs.push_back(leg);
  }
  Limb neck{.name = "neck", .root = {0.08, 0.0, 0.08}, .direction = z_axis};
  extend(neck, o, 0.08, y_axis, z_axis, {Linkage::direct, Linkage::direct, Linkage::direct, Linkage::direct});
  neck.segments.back().weight = 1.0;
  droid.limbs.push_back(neck);
  return figure_scene("bdx-like", o, droid);
}

/// A humanoid with light hands: 21 bodies, 20 hinges.
Result<SimulatedModel> make_lima(const WithRatio<32139>& o, std::uint64_t) {
  Figure robot = base(o, false, {0.08, 0.12, 0.2}, 0.1);
  const LimbSizes leg{
      .radius = 0.05, .upper_weight = 40.0, .lower_weight = 25.0, .end_weight = 10.0, .housing_weight = 10.0};
  const LimbSizes arm{.upper = 0.28, .lower = 0.26, .upper_weight = 15.0, .lower_weight = 1.0, .housing_weight = 8.0};
  for (const double left : {1.0, -1.0}) {
    Limb limb = humanoid_leg(sided(left, "leg"), {0.0, left * 0.09, -0.21}, leg, 0.3);
    add_foot(limb, 4, 0.11, 0.05);
    robot.limbs.push_back(limb);
  }
  for (const double left : {1.0, -1.0}) {
    robot.limbs.push_back(humanoid_arm(sided(left, "arm"), {0.0, left * 0.2, 0.15}, arm, 3));
  }
  Limb neck{.name = "neck", .root = {0.0, 0.0, 0.22}, .direction = z_axis};
  extend(neck, o, 0.14, z_axis, y_axis, {Linkage::direct, Linkage::direct});
  robot.limbs.push_back(neck);
  return figure_scene("lima-like", o, robot);
}

/// A seated figure fixed to the world: 22 bodies, 23 hinges, the base's fixed joint, two planar loops in the neck.
Result<SimulatedModel> make_misha(const WithRatio<9067>& o, std::uint64_t) {
  Figure bear = base(o, true, {0.15, 0.2, 0.25}, 0.1);
  Limb neck{.name = "neck", .root = {0.0, 0.0, 0.28}, .direction = z_axis};
  extend(neck, o, 0.2, y_axis, x_axis,
         {Linkage::planar, Linkage::planar, Linkage::direct, Linkage::direct, Linkage::direct});
  bear.limbs.push_back(neck);
  for (const double left : {1.0, -1.0}) {
    Limb arm{.name = sided(left, "arm"), .root = {0.0, left * 0.3, 0.15}};
    extend(arm, o, 0.15, x_axis, y_axis, {Linkage::direct, Linkage::direct, Linkage::direct, Linkage::direct});
    bear.limbs.push_back(arm);
  }
  for (const double left : {1.0, -1.0}) {
    Limb leg{.name = sided(left, "leg"), .root = {0.25, left * 0.12, -0.1}};
    extend(leg, o, 0.2, y_axis, x_axis, {Linkage::direct, Linkage::direct});
    bear.limbs.push_back(leg);
  }
  return figure_scene("misha-like", o, bear, 0.33);
}

/// A walking figure: 31 bodies, 36 hinges, six planar loops, each with a motor at the crank and one at the segment.
Result<SimulatedModel> make_walker(const WithRatio<9955>& o, std::uint64_t) {
  Figure walker = base(o, false, {0.1, 0.15, 0.15}, 0.2);
  for (const double left : {1.0, -1.0}) {
    Limb leg{.name = sided(left, "leg"), .root = {0.0, left * 0.12, -0.17}};
    leg.segments = {segment(o, 3, z_axis, 0.06),
                    segment(o, 3, x_axis, 0.06),
                    segment(o, 0, y_axis, 0.35, Linkage::planar),
                    segment(o, 1, y_axis, 0.35, Linkage::planar),
                    segment(o, 5, y_axis, 0.12, Linkage::planar),
                    segment(o, 5, x_axis, 0.08)};
    for (const int housing : {0, 1}) leg.segments[std::size_t(housing)].touches = false;
    add_foot(leg, 4, 0.12, 0.05);
    walker.limbs.push_back(leg);
  }
  for (const double left : {1.0, -1.0}) {
    Limb arm{.name = sided(left, "arm"), .root = {0.0, left * 0.3, 0.1}};
    extend(arm, o, 0.3, y_axis, x_axis, {Linkage::direct, Linkage::direct});
    walker.limbs.push_back(arm);
  }
  Limb neck{.name = "neck", .root = {0.0, 0.0, 0.18}, .direction = z_axis};
  extend(neck, o, 0.12, y_axis, z_axis, {Linkage::direct, Linkage::direct});
  walker.limbs.push_back(neck);
  return figure_scene("walker-like", o, walker);
}

/// A four-legged figure fixed to the world: 38 bodies, 44 joints and the base's, seven loops, four of them spatial.
Result<SimulatedModel> make_gazelle(const WithRatio<101254>& o, std::uint64_t) {
  Figure gazelle = base(o, true, {0.45, 0.12, 0.15}, 0.05);
  for (const double front : {1.0, -1.0}) {
    for (const double left : {1.0, -1.0}) {
      Limb leg{.name = sided(left, front > 0 ? "foreleg" : "hindleg"), .root = {front * 0.38, left * 0.2, -0.12}};
      extend(leg, o, 0.22, x_axis, y_axis, {Linkage::direct, Linkage::universal, Linkage::direct, Linkage::direct});
      gazelle.limbs.push_back(leg);
    }
  }
  Limb neck{.name = "neck", .root = {0.42, 0.0, 0.18}, .direction = z_axis};
  extend(neck, o, 0.18, y_axis, x_axis,
         {Linkage::planar, Linkage::planar, Linkage::planar, Linkage::direct, Linkage::direct});
  gazelle.limbs.push_back(neck);
  Limb tail{.name = "tail", .root = {-0.5, 0.0, 0.1}, .direction = -x_axis};
  extend(tail, o, 0.15, y_axis, z_axis, {Linkage::direct, Linkage::direct});
  tail.segments.back().driven = false;
  gazelle.limbs.push_back(tail);
  for (Limb& limb : gazelle.limbs) {
    for (Segment& s : limb.segments) s.driven = s.driven && s.linkage == Linkage::direct;
  }
  return figure_scene("gazelle-like", o, gazelle, 0.46);
}

/// A figure fixed to the world: 54 bodies, 66 joints and the base's, thirteen loops, ten of them spatial; seven hinges
/// of its direct segments are passive.
Result<SimulatedModel> make_ironman(const WithRatio<2554444>& o, std::uint64_t) {
  Figure man = base(o, true, {0.15, 0.22, 0.3}, 0.002);
  constexpr auto direct = Linkage::direct;
  const auto add = [&](const std::string& name, const Vec3& root, const Vec3& direction, double length,
                       const std::vector<Linkage>& linkages, std::size_t passive) {
    Limb limb{.name = name, .root = root, .direction = direction};
    extend(limb, o, length, y_axis, x_axis, linkages);
    const std::size_t count = limb.segments.size();
    for (std::size_t i = 0; i < count; ++i) limb.segments[i].driven = linkages[i] == direct && i + passive < count;
    man.limbs.push_back(limb);
  };
  for (const double left : {1.0, -1.0}) {
    add(sided(left, "leg"), {0.0, left * 0.14, -0.34}, -z_axis, 0.22,
        {direct, Linkage::universal, Linkage::universal, Linkage::planar, direct}, 1);
    add(sided(left, "arm"), {0.0, left * 0.4, 0.25}, -z_axis, 0.2,
        {direct, Linkage::universal, Linkage::universal, Linkage::balls, direct, direct}, 2);
  }
  add("neck", {0.0, 0.0, 0.34}, z_axis, 0.15, {Linkage::planar, direct, direct, direct, direct}, 1);
  return figure_scene("ironman-like", o, man, 0.16);
}

}  // namespace

SimulatedSceneRow bdx_scene() {
  return make_simulated_scene<WithRatio<4249>>("bdx-like", "stand-in for Tsounis's BDX: droid on two legs, free",
                                               make_bdx);
}

SimulatedSceneRow lima_scene() {
  return make_simulated_scene<WithRatio<32139>>("lima-like", "stand-in for Tsounis's LIMA: humanoid, free", make_lima);
}

SimulatedSceneRow misha_scene() {
  return make_simulated_scene<WithRatio<9067>>("misha-like", "stand-in for Tsounis's Misha: figure with 2 loops, fixed",
                                               make_misha);
}

SimulatedSceneRow walker_scene() {
  return make_simulated_scene<WithRatio<9955>>("walker-like",
                                               "stand-in for Tsounis's Walker: figure with 6 loops, free", make_walker);
}

SimulatedSceneRow gazelle_scene() {
  return make_simulated_scene<WithRatio<101254>>(
      "gazelle-like", "stand-in for Tsounis's Gazelle: figure with 7 loops, fixed", make_gazelle);
}

SimulatedSceneRow ironman_scene() {
  return make_simulated_scene<WithRatio<2554444>>(
      "ironman-like", "stand-in for Tsounis's IronMan: figure with 13 loops, mass ratio 25544, fixed", make_ironman);
}

}  // namespace conebench
