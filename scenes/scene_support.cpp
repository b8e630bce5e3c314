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

ContactProblem with_reference(const ContactProblem& problem, Vector impulse, std::string source) {
  const double residual = scaled_natural_map(problem, impulse);
  return problem.with_reference({std::move(impulse), residual, std::move(source)});
}

}  // namespace conebench
