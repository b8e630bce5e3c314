#include "scenes/scene_support.hpp"

#include "problems/scaled_natural_map.hpp"

namespace conebench {

std::string scene_name(const std::string& id, const OptionBinder& options, Seeding seeding, std::uint64_t seed) {
  std::string name = id;
  const OptionValues values = options.effective();
  for (const auto& spec : options.specs()) {
    const OptionValue& value = values.at(spec.name);
    if (value != spec.default_value) name += "_" + spec.name + "=" + to_text(value);
  }
  if (seeding == Seeding::seeded) name += "_seed=" + std::to_string(seed);
  return name;
}

void declare_form(OptionBinder& bind, std::string& form) {
  bind.choice("form", form, {"dense", "block_sparse", "factored"}, "how the Delassus matrix is stored");
}

Result<std::shared_ptr<const DelassusOperator>> make_delassus(const PrimalForm& primal, const ConeProduct& cones,
                                                              const std::string& form) {
  auto factored = make_factored_delassus(primal.mass, primal.jacobian);
  if (!factored || form == "factored") return factored;
  if (form == "dense") return make_dense_delassus((*factored)->dense());
  return make_block_sparse_delassus((*factored)->assemble(cones));
}

Result<ContactProblem> step_of(Mechanism mechanism, double time_step, const std::string& form,
                               const std::string& description) {
  ContactProblemData data;
  data.cones = std::move(mechanism.cones);
  CONEBENCH_TRY(data.delassus, make_delassus(mechanism.primal, data.cones, form));
  data.free_term = mechanism.primal.jacobian * mechanism.primal.free_velocity;
  if (mechanism.bias.size() > 0) data.free_term += mechanism.bias;
  data.bias = mechanism.bias.size() > 0 ? std::move(mechanism.bias) : Vector(Vector::Zero(data.cones.rows()));
  data.compliance = std::move(mechanism.compliance);
  data.configuration = std::move(mechanism.configuration);
  data.configuration->time_step = time_step;
  data.configuration->generalised_velocities = mechanism.primal.free_velocity.size();
  data.primal = std::move(mechanism.primal);
  data.provenance.description = description;
  return ContactProblem::create(std::move(data));
}

ContactProblem with_reference(const ContactProblem& problem, Vector impulse, std::string source) {
  const double residual = scaled_natural_map(problem, impulse);
  return problem.with_reference({std::move(impulse), residual, std::move(source)});
}

}  // namespace conebench
