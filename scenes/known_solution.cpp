#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "scenes/random_structure.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

struct KnownSolutionOptions {
  RandomStructure structure{.rank_share = 0.75};
  double open_share = 0.3;
  double stick_share = 0.4;
  double inside_share = 0.5;
  double impulse = 1.0;
  double speed = 1.0;

  static void declare(OptionBinder& bind, KnownSolutionOptions& o) {
    declare_structure(bind, o.structure);
    bind.real("open_share", o.open_share, {.minimum = 0, .maximum = 1, .doc = "share of open contacts and limits"});
    bind.real("stick_share", o.stick_share,
              {.minimum = 0, .maximum = 1, .doc = "share of sticking contacts; the rest slips"});
    bind.real("inside_share", o.inside_share,
              {.minimum = 0, .maximum = 1, .doc = "share of intervals that hold; the rest moves at a bound"});
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

/// A unit vector of a group: a sign, an angle, or any direction.
Vector random_direction(int size, RandomSource& random) {
  if (size > 2) {
    Vector direction(size);
    for (double& entry : direction) entry = random.normal();
    // A third slides alone, a third spins and rolls alone.
    const double kind = random.uniform(0.0, 3.0);
    if (kind < 1.0) direction.tail(size - 2).setZero();
    if (kind > 2.0) direction.head(2).setZero();
    return direction.normalized();
  }
  const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
  if (size == 1) return Vector::Constant(1, std::cos(angle) < 0.0 ? -1.0 : 1.0);
  return Eigen::Vector2d(std::cos(angle), std::sin(angle));
}

/// What is drawn for one group.
struct Draw {
  Vector direction;
  double speed = 0.0;
  double inside = 0.0;  ///< share of the largest force
};

/// Force and slip of one group. With D = diag(mu_k) and a unit vector d, sliding is λ_g = λ_N D d and σ_g ∝ −D⁻¹ d, so
/// that λ_g = −λ_N D² σ_g / ‖D σ_g‖; a pyramid has the force on the row with the largest mu_k |σ_k| alone.
void choose_group(Mode mode, ConeShape shape, std::span<const double> mu, double normal, const Draw& draw,
                  VectorRef impulse, VectorRef velocity) {
  const Vector& direction = draw.direction;
  const auto slip = [&](double speed) {
    for (Index k = 0; k < direction.size(); ++k) {
      const double own = mu[static_cast<std::size_t>(k)];
      velocity[k] = speed * direction[k] * (own == mu[0] ? 1.0 : mu[0] / own);
    }
  };
  const auto press = [&](double share, const Vector& unit) {
    for (Index k = 0; k < unit.size(); ++k) impulse[k] = share * mu[static_cast<std::size_t>(k)] * normal * unit[k];
  };
  Vector boundary = direction;
  if (shape == ConeShape::pyramid && mode == Mode::stick) boundary /= direction.lpNorm<1>();
  if (shape == ConeShape::pyramid && mode == Mode::slip) {
    Index steepest = 0;
    direction.cwiseAbs().maxCoeff(&steepest);
    boundary = std::copysign(1.0, direction[steepest]) * Vector::Unit(direction.size(), steepest);
  }
  switch (mode) {
    case Mode::open: slip(draw.speed); return;
    case Mode::stick: press(draw.inside, boundary); return;
    case Mode::slip:
      press(1.0, boundary);
      slip(-draw.speed);
      return;
  }
}

/// open: λ = 0, σ_N > 0, any σ_T. stick: σ = 0, λ inside the cone. slip: a group's λ_g on its boundary, σ_N = 0, so
/// that v̂ = (σ_T, Σ_g ‖D_g σ_g‖) is on the dual's boundary and λ · v̂ = 0. Of contacts with several groups that move a
/// third slides alone, a third only spins or rolls, and a third does both.
void choose_contact(Mode mode, const FrictionLaw& law, const KnownSolutionOptions& o, RandomSource& random,
                    VectorRef impulse, VectorRef velocity) {
  Mode first = mode;
  Mode others = mode;
  if (mode == Mode::slip && law.groups.size() > 1) {
    const double kind = random.uniform(0.0, 3.0);
    if (kind < 1.0) others = Mode::stick;
    if (kind > 2.0) first = Mode::stick;
  }
  double normal = 0.0;
  Index row = 0;
  for (std::size_t g = 0; g < law.groups.size(); ++g) {
    const int size = law.groups[g];
    Draw draw{.direction = random_direction(size, random)};
    draw.speed = (g == 0 ? o.speed : o.speed / o.structure.lever) * random.uniform(0.5, 1.5);
    if (g == 0) normal = o.impulse * random.uniform(0.5, 1.5);
    draw.inside = random.uniform(0.0, 0.9);
    const auto mu = std::span(law.coefficients)
                        .subspan(static_cast<std::size_t>(g == 0 ? row : row - 1), static_cast<std::size_t>(size));
    choose_group(g == 0 ? first : others, law.shape, mu, normal, draw, impulse.segment(row, size),
                 velocity.segment(row, size));
    row += size + (g == 0 ? 1 : 0);
  }
  if (mode == Mode::open) {
    velocity[law.groups[0]] = normal / o.impulse * o.speed;
  } else {
    impulse[law.groups[0]] = normal;
  }
}

/// inside: l < λ < u, σ = 0. At a bound: σ > 0 at l, σ < 0 at u. l = u: λ = l, any σ.
void choose_interval(bool inside, const Interval& interval, const KnownSolutionOptions& o, RandomSource& random,
                     double& impulse, double& velocity) {
  const auto [lower, upper] = interval;
  const double speed = o.speed * random.uniform(0.5, 1.5);
  const double share = random.uniform(0.05, 0.95);
  const bool down = random.uniform() < 0.5;
  if (lower == upper) {
    impulse = lower;
    velocity = down ? speed : -speed;
  } else if (inside) {
    const double below = std::isfinite(lower) ? lower : upper - 2.0 * o.structure.bound;
    const double above = std::isfinite(upper) ? upper : lower + 2.0 * o.structure.bound;
    impulse = below + (above - below) * share;
  } else {
    const bool at_lower = std::isfinite(lower) && (down || !std::isfinite(upper));
    impulse = at_lower ? lower : upper;
    velocity = at_lower ? speed : -speed;
  }
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
    const Index row = cones.contact_row(i);
    const int size = cones.contact_rows(i);
    choose_contact(modes[static_cast<std::size_t>(i)], cones.law(i), o, random, answer.impulse.segment(row, size),
                   answer.velocity.segment(row, size));
  }
  const auto interval_modes = random_modes(static_cast<Index>(cones.intervals().size()), 0.0, o.inside_share, random);
  for (std::size_t i = 0; i < cones.intervals().size(); ++i) {
    const Index row = cones.first_interval_row() + static_cast<Index>(i);
    choose_interval(interval_modes[i] == Mode::stick, cones.intervals()[i], o, random, answer.impulse[row],
                    answer.velocity[row]);
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
                                          "redundant contacts, any law of friction, intervals",
                                          Seeding::seeded, make_known_solution);
}

}  // namespace conebench
