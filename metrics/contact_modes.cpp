#include <cmath>

#include "metrics/block_residuals.hpp"
#include "metrics/residual_formulas.hpp"

namespace conebench {

namespace {

template <class Real, class Cone>
void count_contact(const ResidualEvaluation<Real>& evaluation, const BlockScale<Real>& block, const Cone& cone,
                   double tau, ContactModes& modes) {
  const typename Cone::Block impulse = evaluation.impulse().template segment<Cone::rows>(block.row, cone.size());
  const typename Cone::Block velocity = evaluation.velocity().template segment<Cone::rows>(block.row, cone.size());
  if (is_open<Real>(evaluation, block, impulse[cone.normal], tau)) {
    ++modes.open;
    return;
  }
  bool any = false;
  cone.for_each_group([&](const FrictionGroup<Real>& group) {
    const bool moves = slips(evaluation, block, cone, group, impulse, velocity, tau);
    any = any || moves;
    if (group.first > cone.normal) ++(moves ? modes.moment_slip : modes.moment_stick);
  });
  ++(any ? modes.slip : modes.stick);
}

template <class Real>
void count_interval(const ResidualEvaluation<Real>& evaluation, const BlockScale<Real>& block, const IntervalRow& row,
                    double tau, ContactModes& modes) {
  const Real impulse = evaluation.impulse()[block.row];
  const Real slack = tau * evaluation.velocity_scale();
  const bool low = row.has_lower() && (impulse - row.lower) * block.inverse_step <= slack;
  const bool high = row.has_upper() && (row.upper - impulse) * block.inverse_step <= slack;
  if (low && high) {  // at the nearer one
    using std::abs;
    const Real above = abs(Real(impulse - row.lower));
    const Real below = abs(Real(row.upper - impulse));
    const bool upper = above == below ? evaluation.velocity()[block.row] < 0.0 : below < above;
    ++(upper ? modes.at_upper : modes.at_lower);
  } else {
    ++(low ? modes.at_lower : high ? modes.at_upper : modes.inside);
  }
}

}  // namespace

template <class Real>
ContactModes classify_contacts(const ResidualEvaluation<Real>& evaluation, double tau) {
  ContactModes modes;
  if (!evaluation.finite()) return modes;
  for (std::size_t b = 0; b < evaluation.blocks().size(); ++b) {
    const BlockScale<Real>& block = evaluation.blocks()[b];
    evaluation.with_set(static_cast<Index>(b), [&]<class Set>(const Set& set) {
      if constexpr (std::is_same_v<Set, IntervalRow>) {
        count_interval(evaluation, block, set, tau, modes);
      } else if constexpr (Set::rows != 1) {
        count_contact(evaluation, block, set, tau, modes);
      }
    });
  }
  return modes;
}

template ContactModes classify_contacts(const ResidualEvaluation<Doubled>&, double);
template ContactModes classify_contacts(const ResidualEvaluation<Wide>&, double);

}  // namespace conebench
