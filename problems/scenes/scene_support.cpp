#include "problems/scenes/scene_support.hpp"

#include <algorithm>
#include <cmath>

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

double reference_residual(const ContactProblem& problem, ConstVectorRef impulse) {
  const ConeProduct& cones = problem.cones();
  const BlockSparseMatrix& blocks = problem.blocks();
  Vector trace(cones.blocks());
  double inverse_sum = 0.0;
  Index positive = 0;
  double velocity_scale = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int size = cones.block_size(b);
    trace[b] =
        (blocks.block(b, blocks.diagonal(b)).trace() + problem.compliance().segment(row, size).sum()) / double(size);
    if (trace[b] > 0.0) {
      inverse_sum += 1.0 / trace[b];
      ++positive;
    }
    velocity_scale = std::max(velocity_scale, problem.free_term().segment(row, size).norm());
  }
  if (velocity_scale == 0.0) velocity_scale = 1.0;
  const double mean_step = positive > 0 ? inverse_sum / double(positive) : 1.0;

  Vector velocity(cones.rows());
  problem.velocity(impulse, velocity);
  add_de_saxce(cones, velocity, velocity);
  Vector steps(cones.rows());
  for (Index b = 0; b < cones.blocks(); ++b) {
    steps.segment(cones.block_row(b), cones.block_size(b)).setConstant(trace[b] > 0.0 ? 1.0 / trace[b] : mean_step);
  }
  Vector projected = impulse - steps.cwiseProduct(velocity);
  project_cone(cones, projected, projected);
  const Vector error = (impulse - projected).cwiseQuotient(steps);
  double worst = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    worst = std::max(worst, error.segment(cones.block_row(b), cones.block_size(b)).norm());
  }
  return worst / velocity_scale;
}

ContactProblem with_reference(const ContactProblem& problem, Vector impulse, std::string source) {
  const double residual = reference_residual(problem, impulse);
  return problem.with_reference({std::move(impulse), residual, std::move(source)});
}

}  // namespace conebench
