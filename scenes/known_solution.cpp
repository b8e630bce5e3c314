#include <algorithm>
#include <cmath>
#include <numbers>

#include "problems/cones/contact_cones.hpp"
#include "scenes/random_structure.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

struct KnownSolutionOptions {
  RandomStructure structure{.rank_share = 0.75};
  double open_share = 0.3;
  double stick_share = 0.4;
  double impulse = 1.0;
  double speed = 1.0;

  static void declare(OptionBinder& bind, KnownSolutionOptions& o) {
    declare_structure(bind, o.structure);
    bind.real("open_share", o.open_share, {.minimum = 0, .maximum = 1, .doc = "share of open contacts and limits"});
    bind.real("stick_share", o.stick_share,
              {.minimum = 0, .maximum = 1, .doc = "share of sticking contacts; the rest slips"});
    bind.real("impulse", o.impulse,
              {.minimum = 1e-12,
               .maximum = 1e12,
               .unit = "N s",
               .scale = OptionScale::logarithmic,
               .doc = "size of the impulses of closed contacts"});
    bind.real("speed", o.speed,
              {.minimum = 1e-12,
               .maximum = 1e12,
               .unit = "m/s",
               .scale = OptionScale::logarithmic,
               .doc = "size of the velocities of open and slipping contacts"});
  }
};

enum class Mode { open, stick, slip };

/// λ* and σ* of the whole problem.
struct Answer {
  Vector impulse, velocity;
};

std::vector<Mode> random_modes(Index count, double open_share, double stick_share, RandomSource& random) {
  const auto open = static_cast<std::size_t>(std::lround(open_share * double(count)));
  const auto closed = static_cast<std::size_t>(count) - open;
  const auto stick = std::min(closed, static_cast<std::size_t>(std::lround(stick_share * double(count))));
  std::vector<Mode> modes(static_cast<std::size_t>(count), Mode::slip);
  std::fill_n(modes.begin(), open, Mode::open);
  std::fill_n(modes.begin() + static_cast<std::ptrdiff_t>(open), stick, Mode::stick);
  random.shuffle(modes);
  return modes;
}

/// A unit tangent: an angle in 3D, a sign in 2D.
Vector random_direction(int tangents, RandomSource& random) {
  const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
  if (tangents == 1) return Vector::Constant(1, std::cos(angle) < 0.0 ? -1.0 : 1.0);
  return Eigen::Vector2d(std::cos(angle), std::sin(angle));
}

/// open: λ = 0, σ_N > 0, any σ_T. stick: σ = 0, λ inside the cone. slip: λ on its boundary, σ_T opposite to λ_T,
/// σ_N = 0, so that v̂ = (σ_T, mu ‖σ_T‖) is on the dual's boundary and λ · v̂ = 0.
void choose_contact(Mode mode, double mu, const KnownSolutionOptions& o, RandomSource& random, VectorRef impulse,
                    VectorRef velocity) {
  const auto tangents = static_cast<int>(impulse.size()) - 1;
  const Vector direction = random_direction(tangents, random);
  const double size = random.uniform(0.5, 1.5);
  const double normal = o.impulse * random.uniform(0.5, 1.5);
  const double inside = random.uniform(0.0, 0.9);
  impulse.setZero();
  velocity.setZero();
  switch (mode) {
    case Mode::open:
      velocity.head(tangents) = o.speed * size * direction;
      velocity[tangents] = normal / o.impulse * o.speed;
      return;
    case Mode::stick: impulse.head(tangents) = inside * mu * normal * direction; break;
    case Mode::slip:
      impulse.head(tangents) = mu * normal * direction;
      velocity.head(tangents) = -o.speed * size * direction;
      break;
  }
  impulse[tangents] = normal;
}

/// Moments m and spins ω of a contact: open: any ω. stick: m inside of its disk. slip: m on its boundary, ω opposite.
void choose_moments(Mode mode, double mu_r, double normal, double speed, RandomSource& random, VectorRef impulse,
                    VectorRef velocity) {
  const Vector direction = random_direction(2, random);
  const double size = random.uniform(0.5, 1.5);
  const double inside = random.uniform(0.0, 0.9);
  switch (mode) {
    case Mode::open: velocity = speed * size * direction; return;
    case Mode::stick: impulse = inside * mu_r * normal * direction; return;
    case Mode::slip:
      impulse = mu_r * normal * direction;
      velocity = -speed * size * direction;
      return;
  }
}

/// Of contacts that move a third slides alone, a third rolls alone, and a third does both.
void choose_rolling_contact(Mode mode, const RollingCone& cone, const KnownSolutionOptions& o, RandomSource& random,
                            VectorRef impulse, VectorRef velocity) {
  Mode tangents = mode;
  Mode moments = mode;
  if (mode == Mode::slip) {
    const double kind = random.uniform(0.0, 3.0);
    if (kind < 1.0) moments = Mode::stick;
    if (kind > 2.0) tangents = Mode::stick;
  }
  choose_contact(tangents, cone.friction, o, random, impulse.head(3), velocity.head(3));
  choose_moments(moments, cone.rolling, impulse[RollingCone::normal], o.speed / o.structure.lever, random,
                 impulse.tail(2), velocity.tail(2));
}

Answer choose_answer(const ConeProduct& cones, const KnownSolutionOptions& o, RandomSource& random) {
  Answer answer{Vector::Zero(cones.rows()), Vector::Zero(cones.rows())};
  for (Index i = 0; i < cones.joints(); ++i) answer.impulse[i] = o.impulse * random.normal();
  const auto limit_modes = random_modes(cones.limits(), o.open_share, 0.0, random);
  for (Index i = 0; i < cones.limits(); ++i) {
    const bool open = limit_modes[static_cast<std::size_t>(i)] == Mode::open;
    (open ? answer.velocity : answer.impulse)[cones.first_limit_row() + i] =
        (open ? o.speed : o.impulse) * random.uniform(0.5, 1.5);
  }
  const auto modes = random_modes(cones.contacts(), o.open_share, o.stick_share, random);
  for (Index i = 0; i < cones.contacts(); ++i) {
    const auto contact = static_cast<std::size_t>(i);
    const Index row = cones.contact_row(i);
    const Index size = cones.contact_dimension();
    if (cones.rolls()) {
      choose_rolling_contact(modes[contact], contact_cone<RollingCone>(cones, i), o, random,
                             answer.impulse.segment(row, size), answer.velocity.segment(row, size));
      continue;
    }
    choose_contact(modes[contact], cones.friction()[contact], o, random, answer.impulse.segment(row, size),
                   answer.velocity.segment(row, size));
  }
  return answer;
}

/// Chooses λ* and σ*, then g = σ* − (G + R) λ*. Where the rank is well below the number of rows λ* is one of many; now
/// and then, because Coulomb's law is not the optimum of an energy, there is even an answer with other velocities.
Result<ContactProblem> make_known_solution(const KnownSolutionOptions& o, std::uint64_t seed) {
  if (o.open_share + o.stick_share > 1.0 + 1e-12) {
    return Error{ErrorCode::wrong_usage, "options 'open_share' = " + to_text(o.open_share) + " and 'stick_share' = " +
                                             to_text(o.stick_share) + " add up to more than 1"};
  }
  RandomSource random(seed);
  CONEBENCH_TRY(auto data, random_structure(o.structure, random));
  ContactProblemData& problem_data = data.problem;
  const Answer answer = choose_answer(problem_data.cones, o, random);
  Vector product(answer.impulse.size());
  // By the assembled blocks, so that g does not depend on the form.
  problem_data.delassus->assemble(problem_data.cones).apply(answer.impulse, product);
  product += problem_data.compliance.cwiseProduct(answer.impulse);
  problem_data.free_term = answer.velocity - product;
  if (o.structure.form == "factored") {
    // J has orthonormal columns, but for the lever of moments, so this is the v_free that leaves the smallest b.
    PrimalForm& primal = data.primal;
    primal.free_velocity = primal.jacobian.transpose() * moment_rows_over(problem_data.cones, o.structure.lever)
                                                             .cwiseAbs2()
                                                             .cwiseInverse()
                                                             .cwiseProduct(problem_data.free_term);
    problem_data.bias = problem_data.free_term - primal.jacobian * primal.free_velocity;
    problem_data.primal = std::move(primal);
  }
  problem_data.provenance.description = "random problem whose solution was chosen first";
  CONEBENCH_TRY(auto problem, ContactProblem::create(std::move(problem_data)));
  return with_reference(problem, answer.impulse, "chosen, with g made to fit");
}

}  // namespace

SceneRow known_solution_scene() {
  return make_scene<KnownSolutionOptions>("known-solution",
                                          "random problem with a chosen solution: shares of open, stick and slip, "
                                          "redundant contacts",
                                          Seeding::seeded, make_known_solution);
}

}  // namespace conebench
