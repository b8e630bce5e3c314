#include "metrics/contact_modes.hpp"

#include <cmath>
#include <stdexcept>

#include "metrics/block_residuals.hpp"
#include "metrics/residual_formulas.hpp"

namespace conebench {

namespace {

/// Calls moment(slips) for each group of moments of a contact that is not open.
template <class Real, class Cone, class Moment>
ContactMode mode_of(const ResidualEvaluation<Real>& evaluation, const BlockScale<Real>& block, const Cone& cone,
                    double tau, Moment&& moment) {
  const typename Cone::Block impulse = evaluation.impulse().template segment<Cone::rows>(block.row, cone.size());
  const typename Cone::Block velocity = evaluation.velocity().template segment<Cone::rows>(block.row, cone.size());
  if (is_open<Real>(evaluation, block, impulse[cone.normal], tau)) return ContactMode::open;
  bool any = false;
  cone.for_each_group([&](const FrictionGroup<Real>& group) {
    const bool moves = slips(evaluation, block, cone, group, impulse, velocity, tau);
    any = any || moves;
    if (group.first > cone.normal) moment(moves);
  });
  return any ? ContactMode::slip : ContactMode::stick;
}

template <class Real, class Cone>
void count_contact(const ResidualEvaluation<Real>& evaluation, const BlockScale<Real>& block, const Cone& cone,
                   double tau, ContactModes& modes) {
  const auto count_moment = [&](bool moves) { ++(moves ? modes.moment_slip : modes.moment_stick); };
  switch (mode_of(evaluation, block, cone, tau, count_moment)) {
    case ContactMode::open: ++modes.open; return;
    case ContactMode::stick: ++modes.stick; return;
    case ContactMode::slip: ++modes.slip; return;
  }
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

const char* to_string(ContactMode mode) {
  switch (mode) {
    case ContactMode::open: return "open";
    case ContactMode::stick: return "stick";
    case ContactMode::slip: return "slip";
  }
  throw std::logic_error("unknown mode of a contact");
}

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

template <class Real>
std::vector<ContactMode> contact_modes(const ResidualEvaluation<Real>& evaluation, double tau) {
  const ConeProduct& cones = evaluation.problem().cones();
  std::vector<ContactMode> modes(static_cast<std::size_t>(cones.contacts()), ContactMode::open);
  if (!evaluation.finite()) return modes;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const Index block = cones.first_contact_row() + static_cast<Index>(i);
    evaluation.with_set(block, [&]<class Set>(const Set& set) {
      if constexpr (!std::is_same_v<Set, IntervalRow> && Set::rows != 1) {
        modes[i] = mode_of(evaluation, evaluation.blocks()[static_cast<std::size_t>(block)], set, tau, [](bool) {});
      }
    });
  }
  return modes;
}

template std::vector<ContactMode> contact_modes(const ResidualEvaluation<double>&, double);
template ContactModes classify_contacts(const ResidualEvaluation<Doubled>&, double);
template ContactModes classify_contacts(const ResidualEvaluation<Wide>&, double);

}  // namespace conebench
