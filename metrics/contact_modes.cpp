#include "metrics/block_residuals.hpp"
#include "metrics/residual_formulas.hpp"
#include "problems/cones/contact_cones.hpp"

namespace conebench {

namespace {

enum class ContactMode { open, stick, slip };

template <int Dim, class Real>
ContactMode mode_of(const ResidualEvaluation<Real>& evaluation, const BlockScale<Real>& block, double tau) {
  const BlockVector<Real, Dim> impulse = evaluation.impulse().template segment<Dim>(block.row);
  const BlockVector<Real, Dim> velocity = evaluation.velocity().template segment<Dim>(block.row);
  if (is_open<Real, Dim>(evaluation, block, impulse, tau)) return ContactMode::open;
  bool moves = slides<Real, Dim>(evaluation, block, impulse, velocity, tau);
  if constexpr (Dim > 3) moves = moves || rolls<Real>(evaluation, block, impulse, velocity, tau);
  return moves ? ContactMode::slip : ContactMode::stick;
}

}  // namespace

template <class Real>
ContactModes classify_contacts(const ResidualEvaluation<Real>& evaluation, double tau) {
  ContactModes modes;
  if (!evaluation.finite()) return modes;
  for (const BlockScale<Real>& block : evaluation.blocks()) {
    if (block.kind != BlockKind::contact) continue;
    const ContactMode mode = with_contact_cone(
        evaluation.problem().cones(), [&]<class Cone>() { return mode_of<Cone::rows>(evaluation, block, tau); });
    modes.open += mode == ContactMode::open ? 1 : 0;
    modes.stick += mode == ContactMode::stick ? 1 : 0;
    modes.slip += mode == ContactMode::slip ? 1 : 0;
  }
  return modes;
}

template ContactModes classify_contacts(const ResidualEvaluation<Doubled>&, double);
template ContactModes classify_contacts(const ResidualEvaluation<Wide>&, double);

}  // namespace conebench
