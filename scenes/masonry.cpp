#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "scenes/random_source.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"
#include "scenes/stones.hpp"

namespace conebench {

namespace {

/// What all masonry has.
struct MasonryOptions {
  double density = 2400.0;
  double friction = 0.8;
  double gravity = 9.81;
  double time_step = 0.01;
  double shake = 0.0;
  double perturbation = 0.0;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, MasonryOptions& o) {
    bind.real("density", o.density, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg/m^3", .doc = "of the stones"});
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of all contacts"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    bind.real("time_step", o.time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
    bind.real("shake", o.shake,
              {.minimum = -1e6,
               .maximum = 1e6,
               .unit = "m/s",
               .doc = "along x of all stones before the step, as if the ground jerked back"});
    bind.real(
        "perturbation", o.perturbation,
        {.minimum = 0, .maximum = 1e6, .unit = "m/s", .doc = "standard deviation of a random velocity of every stone"});
    declare_form(bind, o.form);
  }
};

constexpr std::size_t most_stones = 200000;  // some 3 million contacts

/// One step of stones that touch and don't overlap.
Result<ContactProblem> problem_of(const std::vector<Stone>& stones, const MasonryOptions& o, std::uint64_t seed,
                                  const std::string& description) {
  RandomSource random(seed);
  RigidBodies bodies;
  std::vector<int> body(stones.size(), RigidBodies::ground);
  for (std::size_t i = 0; i < stones.size(); ++i) {
    if (stones[i].fixed) continue;
    const StoneMass mass = mass_of(stones[i]);
    Eigen::Vector3d velocity(o.shake, 0.0, -o.time_step * o.gravity - stones[i].sink);
    for (int c = 0; c < 3 && o.perturbation > 0.0; ++c) velocity[c] += o.perturbation * random.normal();
    body[i] =
        bodies.add_body(o.density * mass.volume, Eigen::Matrix3d(o.density * mass.moments), mass.centre, velocity);
  }
  const auto body_of = [&](int stone) {
    return stone < 0 ? RigidBodies::ground : body[static_cast<std::size_t>(stone)];
  };
  for (const StoneContact& contact : contacts_of(stones)) {
    bodies.add_contact(body_of(contact.first), body_of(contact.second), contact.point,
                       RigidBodies::frame_of(contact.normal), o.friction);
  }
  return bodies.problem(o.time_step, o.form, description);
}

/// A ring of stones about (x, z) from radius to radius + thickness.
struct Ring {
  double x, z, radius, thickness;
  long stones;
  double opening = std::numbers::pi;  ///< angle between its springers

  double angle(long joint) const { return std::numbers::pi / 2 + opening * (0.5 - double(joint) / double(stones)); }
  /// On joint 0 (left) to `stones` (right).
  Eigen::Vector2d at(long joint, double r) const {
    // The middle of a semicircle stands above its centre to the last bit, and its springers on it.
    const double t = angle(joint);
    const double sine = opening == std::numbers::pi && (joint == 0 || joint == stones) ? 0.0 : std::sin(t);
    return {x + r * std::cos(t), z + r * sine};
  }
  Eigen::Vector2d inner(long joint) const { return at(joint, radius); }
  Eigen::Vector2d outer(long joint) const { return at(joint, radius + thickness); }
  Stone stone(long i, double front, double back) const {
    return {{inner(i), inner(i + 1), outer(i + 1), outer(i)}, front, back};
  }
};

struct Part {
  double from, to;
};

/// [0, 1] in `parts`, or, in odd courses, in one more with halves at both ends: joints never continue.
std::vector<Part> bond(long parts, bool odd) {
  std::vector<double> cuts{0.0};
  for (long k = 0; k < (odd ? parts : parts - 1); ++k) cuts.push_back((double(k) + (odd ? 0.5 : 1.0)) / double(parts));
  cuts.push_back(1.0);
  std::vector<Part> cut;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) cut.push_back({cuts[k], cuts[k + 1]});
  return cut;
}

struct ArchOptions : MasonryOptions {
  long stones = 23;
  long rows = 1;
  double radius = 2.0;
  double thickness = 0.5;
  double depth = 1.0;
  double angle = 180.0;
  double load = 0.0;

  ArchOptions() { friction = 0.9; }
  static void declare(OptionBinder& bind, ArchOptions& o) {
    bind.integer("stones", o.stones, {.minimum = 1, .maximum = 10000, .doc = "of a ring"});
    bind.integer("rows", o.rows,
                 {.minimum = 1, .maximum = 10000, .doc = "of stones along the vault, in bond where more than one"});
    bind.real("radius", o.radius, {.minimum = 1e-3, .maximum = 1e6, .unit = "m", .doc = "of the intrados"});
    bind.real("thickness", o.thickness, {.minimum = 1e-3, .maximum = 1e6, .unit = "m", .doc = "of the ring"});
    bind.real("depth", o.depth, {.minimum = 1e-3, .maximum = 1e6, .unit = "m", .doc = "of a row"});
    bind.real(
        "angle", o.angle,
        {.minimum = 5, .maximum = 180, .unit = "deg", .doc = "between its springers; below 180 they are fixed stones"});
    bind.real("load", o.load,
              {.minimum = 0,
               .maximum = 1e6,
               .unit = "m/s",
               .doc = "downwards, of the stones of the crown before the step: a blow"});
    MasonryOptions::declare(bind, o);
  }
};

/// A semicircular or segmental arch, or a barrel vault, of stones without mortar on a fixed ground: FCLIB's Bridge_PR
/// has its size.
///
/// Every joint is a radial plane with the corners of both stones in contact. At rest (no shake, load, perturbation):
/// the ground carries Δt g times the mass, half of it on each side, and both thrusts are equal; σ = 0 where a line of
/// thrust fits into the ring, which for a semicircle asks for thickness/mean radius > 0.1075 (Heyman 1969, Milankovitch
/// 1907).
Result<ContactProblem> make_masonry_arch(const ArchOptions& o, std::uint64_t seed) {
  if (std::size_t(o.stones) * std::size_t(o.rows + 1) > most_stones) {
    return Error{ErrorCode::wrong_usage, "options stones, rows: more than 200000 stones"};
  }
  const Ring ring{0.0, 0.0, o.radius, o.thickness, o.stones, o.angle * std::numbers::pi / 180.0};
  const double depth = o.depth * double(o.rows);
  std::vector<Stone> stones;
  for (long i = 0; i < o.stones; ++i) {
    for (const auto& [front, back] : bond(o.rows, o.rows > 1 && i % 2 == 1)) {
      stones.push_back(ring.stone(i, depth * front, depth * back));
      if (i == o.stones / 2) stones.back().sink = o.load;
    }
  }
  if (o.angle < 180.0) {
    for (const bool left : {true, false}) {
      // A square on the ring's end.
      const long joint = left ? 0 : o.stones;
      const Eigen::Vector2d a = left ? ring.inner(joint) : ring.outer(joint);
      const Eigen::Vector2d b = left ? ring.outer(joint) : ring.inner(joint);
      const Eigen::Vector2d away(a[1] - b[1], b[0] - a[0]);
      stones.push_back({{a, b, b + away, a + away}, 0.0, depth, true});
    }
  }
  return problem_of(stones, o, seed, o.rows > 1 ? "barrel vault of stones" : "arch of stones");
}

struct AqueductOptions : MasonryOptions {
  long spans = 2;
  long stones = 13;
  long pier_courses = 5;
  long deck_courses = 1;
  long wythes = 2;
  double radius = 2.5;
  double thickness = 0.6;
  double pier_width = 2.0;
  double depth = 2.0;
  double course = 0.5;

  static void declare(OptionBinder& bind, AqueductOptions& o) {
    const auto length = [](const char* doc) {
      return OptionBinder::Details{.minimum = 1e-3, .maximum = 1e6, .unit = "m", .doc = doc};
    };
    bind.integer("spans", o.spans, {.minimum = 1, .maximum = 1000, .doc = "arches side by side"});
    bind.integer("stones", o.stones, {.minimum = 5, .maximum = 1000, .doc = "of a ring"});
    bind.integer("pier_courses", o.pier_courses,
                 {.minimum = 1, .maximum = 1000, .doc = "from the ground to a springer"});
    bind.integer("deck_courses", o.deck_courses, {.minimum = 0, .maximum = 1000, .doc = "above the arches"});
    bind.integer("wythes", o.wythes,
                 {.minimum = 1, .maximum = 1000, .doc = "stones across the depth; one more in every other course"});
    bind.real("radius", o.radius, length("of the intrados"));
    bind.real("thickness", o.thickness, length("of the rings"));
    bind.real("pier_width", o.pier_width, length("along x, more than both rings that stand on it"));
    bind.real("depth", o.depth, length("along y"));
    bind.real("course", o.course, length("height of a course of piers and deck"));
    MasonryOptions::declare(bind, o);
  }
};

/// Stones of an aqueduct, part by part. Piers stand on the plane z = 0.
struct AqueductBuilder {
  const AqueductOptions& o;
  std::vector<Stone> stones = {};

  double pitch() const { return 2.0 * o.radius + o.pier_width; }
  double springers() const { return double(o.pier_courses) * o.course; }
  double length() const { return double(o.spans) * pitch() + o.pier_width; }
  /// Up to this joint from either springer, level courses meet the ring; between, columns stand on it.
  long haunch() const { return o.stones / 4; }
  /// Where the deck begins.
  double top() const { return springers() + o.radius + o.thickness + o.course; }
  Ring ring(long span) const {
    return {double(span) * pitch() + o.pier_width + o.radius, springers(), o.radius, o.thickness, o.stones};
  }

  void across(const std::vector<Eigen::Vector2d>& outline, bool odd) {
    for (const auto& [front, back] : bond(o.wythes, odd)) stones.push_back({outline, o.depth * front, o.depth * back});
  }
  /// A level course between a left and a right side, each from its lower to its upper end, cut upright.
  void course(const Eigen::Vector2d (&left)[2], const Eigen::Vector2d (&right)[2], bool odd) {
    const double from = std::max(left[0][0], left[1][0]);
    const double width = std::min(right[0][0], right[1][0]) - from;
    const auto parts = bond(std::max(1L, std::lround(2.0 * width / o.pier_width)), odd);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const double start = from + width * parts[k].from;
      const double end = from + width * parts[k].to;
      const bool last = k + 1 == parts.size();
      across(
          {k == 0 ? left[0] : Eigen::Vector2d(start, left[0][1]), last ? right[0] : Eigen::Vector2d(end, left[0][1]),
           last ? right[1] : Eigen::Vector2d(end, left[1][1]), k == 0 ? left[1] : Eigen::Vector2d(start, left[1][1])},
          odd);
    }
  }
  void level_course(double x0, double x1, double z0, double z1, bool odd) {
    course({{x0, z0}, {x0, z1}}, {{x1, z0}, {x1, z1}}, odd);
  }

  void pier(long k) {
    const double x = double(k) * pitch();
    for (long j = 0; j < o.pier_courses; ++j) {
      level_course(x, x + o.pier_width, double(j) * o.course, double(j + 1) * o.course, j % 2 == 1);
    }
    // Between the rings.
    const long n = o.stones;
    for (long i = 0; i < haunch(); ++i) {
      Eigen::Vector2d left[2], right[2];
      for (const long up : {0L, 1L}) {
        const double z = ring(0).outer(i + up)[1];
        left[up] = {k > 0 ? ring(k - 1).outer(n - i - up)[0] : 0.0, z};
        right[up] = {k < o.spans ? ring(k).outer(i + up)[0] : length(), z};
      }
      course(left, right, (o.pier_courses + i) % 2 == 1);
    }
    const double from = k > 0 ? ring(k - 1).outer(n - haunch())[0] : 0.0;
    const double to = k < o.spans ? ring(k).outer(haunch())[0] : length();
    const double low = ring(0).outer(haunch())[1];
    const long courses = std::max(1L, std::lround((top() - low) / o.course));
    const double height = (top() - low) / double(courses);
    for (long j = 0; j < courses; ++j) {
      const double z1 = j + 1 == courses ? top() : low + double(j + 1) * height;
      level_course(from, to, low + double(j) * height, z1, (o.pier_courses + haunch() + j) % 2 == 1);
    }
  }

  void arch(long span) {
    const Ring own = ring(span);
    for (long i = 0; i < o.stones; ++i) {
      across(own.stone(i, 0.0, 0.0).outline, i % 2 == 1);
      if (i < haunch() || i >= o.stones - haunch()) continue;
      const Eigen::Vector2d a = own.outer(i);
      const Eigen::Vector2d b = own.outer(i + 1);
      across({a, b, {b[0], top()}, {a[0], top()}}, i % 2 == 0);
    }
  }

  void build() {
    for (long k = 0; k <= o.spans; ++k) pier(k);
    for (long span = 0; span < o.spans; ++span) arch(span);
    for (long j = 0; j < o.deck_courses; ++j) {
      level_course(0.0, length(), top() + double(j) * o.course, top() + double(j + 1) * o.course, j % 2 == 1);
    }
  }
};

/// A Roman aqueduct: piers in courses, semicircular rings on them, courses that meet the rings, columns of stones over
/// the crowns, a deck. FCLIB's Aqueduct_PR has the size of the default: 322 stones, 4,337 to 4,811 contacts.
///
/// At rest σ = 0 is a solution where any set of forces inside the cones carries the weight (Acary, Cadoux, Lemaréchal
/// and Malick 2011); in any case the ground carries Δt g times the mass.
Result<ContactProblem> make_aqueduct(const AqueductOptions& o, std::uint64_t seed) {
  if (o.pier_width <= 2.0 * o.thickness) {
    return Error{ErrorCode::wrong_usage, "options 'pier_width' = " + to_text(o.pier_width) + " and 'thickness' = " +
                                             to_text(o.thickness) + ": two rings do not fit on a pier"};
  }
  const double courses = double(o.pier_courses + o.deck_courses + 2 * o.stones);
  if (courses * double(o.spans + 1) * double(o.wythes + 1) * 8.0 > double(most_stones)) {
    return Error{ErrorCode::wrong_usage, "options spans, stones, courses, wythes: more than 200000 stones"};
  }
  AqueductBuilder builder{o};
  builder.build();
  return problem_of(builder.stones, o, seed, "aqueduct of stones");
}

}  // namespace

SceneRow masonry_arch_scene() {
  return make_scene<ArchOptions>("masonry-arch", "arch or barrel vault of stones without mortar (FCLIB's Bridge_PR)",
                                 Seeding::seeded, make_masonry_arch);
}

SceneRow aqueduct_scene() {
  return make_scene<AqueductOptions>("aqueduct", "aqueduct of stones: piers, arches, deck (FCLIB's Aqueduct_PR)",
                                     Seeding::seeded, make_aqueduct);
}

}  // namespace conebench
