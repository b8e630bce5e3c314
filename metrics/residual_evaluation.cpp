#include "metrics/residual_evaluation.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "metrics/accurate_velocity.hpp"

namespace conebench {

namespace {

template <class Real>
bool all_finite(const auto& x) {
  for (Index i = 0; i < x.size(); ++i) {
    if (!std::isfinite(to_double(x[i]))) return false;
  }
  return true;
}

/// ℓ of a contact with several groups, whose rows are scaled by `ratios`; 0 where it is not defined.
template <class Real>
Real length_of(const ContactProblem& problem, const RealVector<Real>& ratios, Index contact) {
  using std::sqrt;
  const ConeProduct& cones = problem.cones();
  const auto own = problem.diagonal().block(cones.first_contact_row() + contact);
  const auto mean = [&](int begin, int end) {
    Real sum = 0.0;
    for (int k = begin; k < end; ++k) {
      const Index row = cones.contact_row(contact) + k;
      sum += (Real(own(k, k)) + problem.compliance()[row]) * (ratios[row] * ratios[row]);
    }
    return Real(sum / static_cast<double>(end - begin));
  };
  const int moments = cones.normal_of(contact) + 1;
  const Real translations = mean(0, moments);
  const Real rotations = mean(moments, cones.contact_rows(contact));
  if (!(translations > 0.0 && rotations > 0.0)) return 0.0;
  const Real length = sqrt(Real(translations / rotations));
  const double rounded = to_double(length);
  return rounded > 0.0 && std::isfinite(rounded) && std::isfinite(1.0 / rounded) ? length : Real(0.0);
}

template <class Real>
RealVector<Real> make_units(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  RealVector<Real> units = RealVector<Real>::Constant(problem.rows(), Real(1.0));
  if (!cones.scales()) return units;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const FrictionLaw law = cones.law(i);
    Index row = cones.contact_row(i);
    auto mu = law.coefficients.begin();
    for (std::size_t g = 0; g < law.groups.size(); ++g) {
      const double first = *mu;
      for (int k = 0; k < law.groups[g]; ++k, ++mu, ++row) {
        if (*mu != first) units[row] = Real(*mu) / first;
      }
      if (g == 0) ++row;  // the normal
    }
  }
  RealVector<Real> lengths = RealVector<Real>::Zero(cones.contacts());
  Real sum = 0.0;
  double count = 0.0;
  for (Index i = 0; i < cones.contacts(); ++i) {
    if (cones.groups(i).size() > 1) lengths[i] = length_of<Real>(problem, units, i);
    sum += lengths[i];
    count += lengths[i] > 0.0 ? 1.0 : 0.0;
  }
  const Real mean = count > 0.0 ? Real(sum / count) : Real(1.0);
  for (Index i = 0; i < cones.contacts(); ++i) {
    for (Index row = cones.contact_row(i) + cones.normal_of(i) + 1; row < cones.contact_row(i + 1); ++row) {
      units[row] *= lengths[i] > 0.0 ? lengths[i] : mean;
    }
  }
  return units;
}

/// Mean of the diagonal of (G + R)_ii.
template <class Real>
Real mean_diagonal(const ContactProblem& problem, const RealVector<Real>& units, Index block) {
  const auto diagonal = problem.diagonal().block(block);
  const Index row = problem.cones().block_row(block);
  Real trace = 0.0;
  for (Index k = 0; k < diagonal.rows(); ++k) {
    trace += (Real(diagonal(k, k)) + problem.compliance()[row + k]) * (units[row + k] * units[row + k]);
  }
  return trace / static_cast<double>(diagonal.rows());
}

template <class Real>
std::vector<BlockScale<Real>> make_blocks(const ContactProblem& problem, const RealVector<Real>& units) {
  const ConeProduct& cones = problem.cones();
  std::vector<BlockScale<Real>> blocks(static_cast<std::size_t>(cones.blocks()));
  Real sum = 0.0;
  double count = 0.0;
  for (Index i = 0; i < cones.blocks(); ++i) {
    BlockScale<Real>& block = blocks[static_cast<std::size_t>(i)];
    block.kind = cones.block_kind(i);
    block.row = cones.block_row(i);
    const Real mean = mean_diagonal(problem, units, i);
    const bool usable = mean > 0.0 && std::isfinite(1.0 / to_double(mean));
    block.inverse_step = usable ? mean : Real(0.0);
    if (usable) {
      sum += mean;
      count += 1.0;
    }
  }
  const Real fallback = count > 0.0 ? Real(sum / count) : Real(1.0);
  for (BlockScale<Real>& block : blocks) {
    if (block.inverse_step == 0.0) block.inverse_step = fallback;
  }
  return blocks;
}

template <class Real, int Dim>
std::vector<CoulombBlock<Real, Dim>> coulomb_contacts(const ConeProduct& cones) {
  std::vector<CoulombBlock<Real, Dim>> contacts;
  for (const double mu : cones.friction()) contacts.emplace_back(Real(mu));
  return contacts;
}

template <class Real>
Contacts<Real> make_contacts(const ConeProduct& cones, const RealVector<Real>& units) {
  if (cones.coulomb_when_scaled()) {
    if (cones.contact_type() == ConeType::coulomb_plane) return coulomb_contacts<Real, 2>(cones);
    return coulomb_contacts<Real, 3>(cones);
  }
  std::vector<FrictionBlock<Real>> contacts;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const FrictionLaw law = cones.law(i);
    std::vector<Real> friction;  // of the groups' first rows, in their units
    int k = 0;                   // of the tangential rows
    for (const int size : law.groups) {
      const Index row = cones.contact_row(i) + k + (k < law.groups[0] ? 0 : 1);
      friction.push_back(law.coefficients[static_cast<std::size_t>(k)] / units[row]);
      k += size;
    }
    contacts.emplace_back(law.shape, law.groups, friction);
  }
  return contacts;
}

}  // namespace

void WorstBlock::take(double candidate, Index from) {
  if (std::isnan(candidate)) candidate = std::numeric_limits<double>::infinity();
  if (candidate > value) {
    value = candidate;
    block = from;
  }
}

template <class Real>
ResidualEvaluation<Real>::ResidualEvaluation(const ContactProblem& problem)
    : problem_(problem),
      units_(make_units<Real>(problem)),
      free_term_(units_.cwiseProduct(problem.free_term().cast<Real>())),
      blocks_(make_blocks(problem, units_)),
      contacts_(make_contacts(problem.cones(), units_)),
      impulse_(RealVector<Real>::Zero(problem.rows())),
      sigma_(impulse_),
      augmented_(impulse_) {
  shared_.fill(impulse_);
  Real largest = 0.0;
  for (Index i = 0; i < problem.cones().blocks(); ++i) {
    const std::span<const Real> all(free_term_.data(), static_cast<std::size_t>(free_term_.size()));
    largest = larger<Real>(largest, hypotenuse(all.subspan(static_cast<std::size_t>(problem.cones().block_row(i)),
                                                           static_cast<std::size_t>(problem.cones().block_size(i)))));
  }
  if (largest > 0.0) velocity_scale_ = largest;
  if constexpr (!std::is_same_v<Real, double>) error_ = Vector::Zero(problem.rows());
}

template <class Real>
void ResidualEvaluation<Real>::set_impulse(ConstVectorRef impulse) {
  if (impulse.size() != problem_.rows()) {
    throw std::invalid_argument("judge: the impulse has " + std::to_string(impulse.size()) + " entries, the problem " +
                                std::to_string(problem_.rows()) + " rows");
  }
  finite_ = impulse.allFinite();
  for (Index i = 0; i < impulse.size(); ++i) impulse_[i] = impulse[i];
  shared_known_ = {};
  if (finite_) {
    if constexpr (std::is_same_v<Real, double>) {
      problem_.delassus().apply(impulse, sigma_);
      sigma_ += problem_.compliance().cwiseProduct(impulse);
      sigma_ += problem_.free_term();
    } else {
      accurate_velocity(problem_, impulse, sigma_, error_);
    }
    if (problem_.cones().scales()) {
      sigma_.array() *= units_.array();
      impulse_.array() /= units_.array();
    }
    finite_ = all_finite<Real>(sigma_) && all_finite<Real>(impulse_);
  } else {
    sigma_.setConstant(Real(std::numeric_limits<double>::quiet_NaN()));
  }
  augmented_ = sigma_;
  first_bad_block_ = -1;
  const RealVector<Real>& suspect = all_finite<Real>(impulse_) ? sigma_ : impulse_;
  const ConeProduct& cones = problem_.cones();
  for (Index i = 0; !finite_ && first_bad_block_ < 0 && i < cones.blocks(); ++i) {
    if (!all_finite<Real>(suspect.segment(cones.block_row(i), cones.block_size(i)))) first_bad_block_ = i;
  }
  std::visit(
      [&](const auto& contacts) {
        for (Index i = 0; i < cones.contacts(); ++i) {
          const auto& contact = contacts[static_cast<std::size_t>(i)];
          const Index row = cones.contact_row(i);
          augmented_[row + contact.normal] +=
              contact.de_saxce(sigma_.template segment<std::decay_t<decltype(contact)>::rows>(row, contact.size()));
        }
      },
      contacts_);
  if constexpr (!std::is_same_v<Real, double>) find_rounding();
}

template <class Real>
void ResidualEvaluation<Real>::find_rounding() {
  rounding_ = 0.0;
  const ConeProduct& cones = problem_.cones();
  const double velocity = to_double(velocity_scale_);
  // A projection and a norm are some ten operations.
  constexpr double formula = 16.0 * unit_roundoff<Real>;
  for (Index i = 0; finite_ && i < cones.blocks(); ++i) {
    const BlockScale<Real>& block = blocks_[static_cast<std::size_t>(i)];
    double error = 0.0;
    double size = 0.0;
    for (Index row = block.row; row < block.row + cones.block_size(i); ++row) {
      error += error_[row] * to_double(units_[row]);
      if (block.kind != BlockKind::joint) size += std::abs(to_double(impulse_[row]));
    }
    double friction = 1.0;
    with_set(i, [&](const auto& set) {
      set.for_each_group([&](const FrictionGroup<Real>& group) { friction += to_double(group.friction); });
    });
    if (block.kind == BlockKind::interval) {
      const auto [lower, upper] = cones.bounds(block.row);
      size += std::abs(to_double(IntervalRow{lower, upper}.outside(BlockVector<Real, 1>(impulse_[block.row]))[0]));
    }
    const double bound = error / velocity * friction + formula * (size * to_double(block.inverse_step) / velocity);
    rounding_ = std::fmax(rounding_, std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound);
  }
}

template class ResidualEvaluation<double>;
template class ResidualEvaluation<Doubled>;
template class ResidualEvaluation<Wide>;

}  // namespace conebench
