#include <algorithm>

#include "metrics/block_residuals.hpp"
#include "metrics/residual_formulas.hpp"
#include "problems/cones/contact_rows.hpp"

namespace conebench {

namespace {

template <int Dim>
ContactMode mode_of(const ResidualEvaluation& evaluation, const BlockScale& block, double tau) {
  constexpr int n = Dim - 1;
  const BlockVector<Dim> impulse = evaluation.impulse().segment<Dim>(block.row);
  const BlockVector<Dim> velocity = evaluation.velocity().segment<Dim>(block.row);
  const double smallest_velocity = tau * evaluation.velocity_scale();
  if (impulse[n] <= smallest_velocity * block.r) return ContactMode::open;
  const double friction_left = block.friction * impulse[n] - slip_norm(impulse);
  return slip_norm(velocity) <= std::max(smallest_velocity, friction_left / block.r) ? ContactMode::stick
                                                                                     : ContactMode::slip;
}

}  // namespace

ContactModes classify_contacts(const ResidualEvaluation& evaluation, double tau, std::vector<ContactMode>* out) {
  ContactModes modes;
  if (!evaluation.finite()) return modes;
  for (const BlockScale& block : evaluation.blocks()) {
    if (block.kind != BlockKind::contact) continue;
    const ContactMode mode =
        with_contact_rows(evaluation.dimension(), [&]<int Dim>() { return mode_of<Dim>(evaluation, block, tau); });
    modes.open += mode == ContactMode::open ? 1 : 0;
    modes.stick += mode == ContactMode::stick ? 1 : 0;
    modes.slip += mode == ContactMode::slip ? 1 : 0;
    if (out != nullptr) out->push_back(mode);
  }
  return modes;
}

std::vector<ContactMode> contact_modes(const ContactProblem& problem, ConstVectorRef impulse, double tau) {
  ResidualEvaluation evaluation(problem);
  evaluation.set_impulse(impulse);
  std::vector<ContactMode> modes;
  classify_contacts(evaluation, tau, &modes);
  return modes;
}

}  // namespace conebench
