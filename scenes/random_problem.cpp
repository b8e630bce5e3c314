#include <cmath>

#include "scenes/random_structure.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

struct RandomOptions {
  RandomStructure structure;
  double closing_speed = 1.0;
  double speed_spread = 1.0;

  static void declare(OptionBinder& bind, RandomOptions& o) {
    declare_structure(bind, o.structure);
    bind.real("closing_speed", o.closing_speed,
              {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "mean free speed at which contacts close"});
    bind.real("speed_spread", o.speed_spread,
              {.minimum = 0, .maximum = 1e6, .unit = "m/s", .doc = "standard deviation of each free velocity"});
  }
};

/// g = J v_free with v_free = Jᵀ t for a random t, so that g is in the range of G: the energy is bounded below and the
/// rigid problem has no contradiction between redundant rows.
Result<ContactProblem> make_random(const RandomOptions& o, std::uint64_t seed) {
  RandomSource random(seed);
  CONEBENCH_TRY(auto data, random_structure(o.structure, random));
  const ConeProduct& cones = data.problem.cones;
  Vector target(cones.rows());
  for (Index i = 0; i < target.size(); ++i) target[i] = o.speed_spread * random.normal();
  for (Index i = 0; i < cones.limits(); ++i) target[cones.first_limit_row() + i] -= o.closing_speed;
  for (Index i = 0; i < cones.contacts(); ++i) {
    target[cones.contact_row(i) + cones.normal_of(i)] -= o.closing_speed;
  }
  PrimalForm& primal = data.primal;
  primal.free_velocity = primal.jacobian.transpose() * target;
  data.problem.free_term = primal.jacobian * primal.free_velocity;
  if (o.structure.form == "factored") {
    data.problem.bias = Vector::Zero(cones.rows());
    data.problem.primal = std::move(primal);
  }
  data.problem.provenance.description = "random problem of prescribed rank and conditioning";
  return ContactProblem::create(std::move(data.problem));
}

}  // namespace

SceneRow random_scene() {
  return make_scene<RandomOptions>("random",
                                   "random problem of prescribed size, rank, conditioning, friction and cones",
                                   Seeding::seeded, make_random);
}

}  // namespace conebench
