#include "problems/cone_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "problems/cones/contact_cones.hpp"
#include "problems/cones/fclib_contact.hpp"

namespace conebench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// out_i = map(cone_i, x_i) for every block i.
template <class BlockMap>
void map_blocks(const ConeProduct& cones, ConstVectorRef x, VectorRef out, BlockMap map) {
  for (const ConeRun& run : cones.runs()) {
    with_cone(run.type, [&]<class Cone>() {
      Index row = run.first_row;
      for (Index i = 0; i < run.count; ++i) {
        const Cone cone = cone_of_run<Cone>(cones, run, i);
        const typename Cone::Block value = x.segment<Cone::rows>(row, cone.size());
        out.segment<Cone::rows>(row, cone.size()) = map(cone, value);
        row += cone.size();
      }
    });
  }
}

Error bad(std::string what) { return Error{ErrorCode::bad_input, "cones: " + std::move(what)}; }

Result<void> check_friction(const char* name, const std::vector<double>& friction) {
  for (std::size_t i = 0; i < friction.size(); ++i) {
    if (std::isfinite(friction[i]) && friction[i] >= 0.0) continue;
    return bad(std::string("the ") + name + " coefficient of contact " + std::to_string(i) +
               " must be finite and not negative (got " + std::to_string(friction[i]) + ")");
  }
  return {};
}

Result<void> check_counts(Index joints, Index limits) {
  if (joints >= 0 && limits >= 0) return {};
  return bad("the number of joint rows and limit rows must not be negative (got " + std::to_string(joints) + " and " +
             std::to_string(limits) + ")");
}

}  // namespace

Result<ConeProduct> ConeProduct::create(Index joints, Index limits, std::vector<double> friction, int contact_dimension,
                                        std::vector<double> rolling_friction) {
  CONEBENCH_CHECK(check_counts(joints, limits));
  std::vector<int> groups = groups_of_fclib(contact_dimension);
  if (groups.empty()) {
    return bad("a contact has 2 or 3 components, or 5 with rolling friction, not " + std::to_string(contact_dimension));
  }
  const bool rolls = groups.size() > 1;
  CONEBENCH_CHECK(check_friction("friction", friction));
  CONEBENCH_CHECK(check_friction("rolling friction", rolling_friction));
  if (rolling_friction.size() != (rolls ? friction.size() : 0)) {
    return bad(std::to_string(rolling_friction.size()) + " coefficients of rolling friction for " +
               std::to_string(friction.size()) + " contacts of " + std::to_string(contact_dimension) + " components");
  }
  ConeProduct cones;
  cones.joints_ = joints;
  cones.limits_ = limits;
  cones.contact_dimension_ = contact_dimension;
  cones.scales_ = rolls && !friction.empty();
  cones.contact_type_ = rolls ? ConeType::rolling : groups[0] == 1 ? ConeType::coulomb_plane : ConeType::coulomb_space;
  cones.laws_ = {{ConeShape::discs, std::move(groups)}};
  for (std::size_t i = 0; i < rolling_friction.size(); ++i) {
    cones.coefficients_.insert(cones.coefficients_.end(),
                               {friction[i], friction[i], rolling_friction[i], rolling_friction[i]});
  }
  cones.friction_ = std::move(friction);
  cones.make_runs();
  return cones;
}

Result<ConeProduct> ConeProduct::create(Index joints, Index limits, std::vector<Interval> intervals,
                                        const std::vector<FrictionLaw>& contacts) {
  CONEBENCH_CHECK(check_counts(joints, limits));
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const auto [lower, upper] = intervals[i];
    if (lower <= upper && lower < infinity && upper > -infinity) continue;
    return bad("the bounds of interval " + std::to_string(i) + " must be numbers with lower <= upper (got " +
               std::to_string(lower) + " and " + std::to_string(upper) + ")");
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (const auto checked = contacts[i].check(); !checked) {
      return bad("contact " + std::to_string(i) + " " + checked.error().message);
    }
  }
  ConeProduct cones;
  cones.joints_ = joints;
  cones.limits_ = limits;
  cones.intervals_ = std::move(intervals);
  if (!contacts.empty()) {
    cones.laws_.clear();
    cones.first_rows_.push_back(0);
  }
  for (const FrictionLaw& contact : contacts) {
    const Law law{contact.shape, contact.groups};
    auto known = std::find(cones.laws_.begin(), cones.laws_.end(), law);
    if (known == cones.laws_.end()) known = cones.laws_.insert(known, law);
    cones.law_index_.push_back(static_cast<int>(known - cones.laws_.begin()));
    cones.friction_.push_back(contact.coefficients[0]);
    cones.coefficients_.insert(cones.coefficients_.end(), contact.coefficients.begin(), contact.coefficients.end());
    cones.first_rows_.push_back(cones.first_rows_.back() + contact.rows());
    cones.scales_ = cones.scales_ || contact.groups.size() > 1 || !contact.isotropic();
  }
  cones.make_runs();
  return cones;
}

ConeType ConeProduct::type_of(Index contact) const {
  const Law& law = law_of(contact);
  if (law.shape == ConeShape::pyramid) return ConeType::friction;
  if (coefficients_.empty()) return law.groups[0] == 1 ? ConeType::coulomb_plane : ConeType::coulomb_space;
  if (!this->law(contact).isotropic()) return ConeType::friction;
  if (law.groups == std::vector{1}) return ConeType::coulomb_plane;
  if (law.groups == std::vector{2}) return ConeType::coulomb_space;
  return law.groups == std::vector{2, 2} ? ConeType::rolling : ConeType::friction;
}

/// The runs, and what holds for every contact.
void ConeProduct::make_runs() {
  runs_.clear();
  if (joints_ > 0) runs_.push_back({ConeType::bilateral, 0, joints_});
  if (limits_ > 0) runs_.push_back({ConeType::unilateral, joints_, limits_});
  if (!intervals_.empty()) {
    runs_.push_back({ConeType::interval, joints_ + limits_, static_cast<Index>(intervals_.size())});
  }
  scalar_runs_ = runs_.size();
  for (Index i = 0; i < contacts(); ++i) {
    const ConeType type = type_of(i);
    if (runs_.size() > scalar_runs_ && runs_.back().type == type) {
      ++runs_.back().count;
    } else {
      runs_.push_back({type, contact_row(i), 1, i});
    }
    // A run ends where only the last of its contacts is looked at: one of the old form has one type.
    if (coefficients_.empty()) {
      runs_.back().count = contacts();
      break;
    }
  }
  if (contacts() == 0) return;
  const auto contact_run = contact_runs();
  contact_type_ = contact_run.size() == 1 ? contact_run[0].type : ConeType::friction;
  bool one_law = true;
  for (Index i = 1; i < contacts() && one_law; ++i) one_law = contact_rows(i) == contact_rows(0);
  contact_dimension_ = one_law ? contact_rows(0) : 0;
  if (coefficients_.empty() || !coulomb()) return;
  // Coulomb's friction alone has one coefficient a contact, however it was given.
  coefficients_.clear();
  first_rows_.clear();
  law_index_.clear();
}

bool ConeProduct::coulomb_when_scaled() const {
  if (coulomb()) return true;
  for (Index i = 0; i < contacts(); ++i) {
    const Law& law = law_of(i);
    if (law.shape != ConeShape::discs || law.groups.size() != 1 || law.groups[0] > 2) return false;
    if (law.groups[0] != law_of(0).groups[0]) return false;
  }
  return true;
}

std::vector<double> ConeProduct::rolling_friction() const {
  std::vector<double> values;
  for (Index i = 0; rolls() && i < contacts(); ++i) values.push_back(coefficients(i).back());
  return values;
}

std::span<const double> ConeProduct::coefficients(Index contact) const {
  if (coefficients_.empty()) return {&friction_[static_cast<std::size_t>(contact)], 1};
  const Index first = contact_row(contact) - first_contact_row() - contact;
  return std::span(coefficients_)
      .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(contact_rows(contact) - 1));
}

FrictionLaw ConeProduct::law(Index contact) const {
  const Law& law = law_of(contact);
  if (coefficients_.empty()) return FrictionLaw::coulomb(friction_[static_cast<std::size_t>(contact)], law.groups[0]);
  const auto all = coefficients(contact);
  return {law.shape, law.groups, {all.begin(), all.end()}};
}

FrictionCone ConeProduct::friction_cone(Index contact) const {
  const Law& law = law_of(contact);
  if (!coefficients_.empty()) return {law.shape, law.groups, coefficients(contact)};
  const double mu = friction_[static_cast<std::size_t>(contact)];
  const std::array<double, 2> both{mu, mu};
  return {law.shape, law.groups, std::span(both).first(static_cast<std::size_t>(law.groups[0]))};
}

BlockKind ConeProduct::block_kind(Index block) const {
  if (block < joints_) return BlockKind::joint;
  if (block < first_interval_row()) return BlockKind::limit;
  return block < first_contact_row() ? BlockKind::interval : BlockKind::contact;
}

Interval ConeProduct::bounds(Index row) const {
  if (row < joints_) return {};
  if (row < first_interval_row()) return {0.0, infinity};
  return intervals_[static_cast<std::size_t>(row - first_interval_row())];
}

ConeProduct ConeProduct::with_bounds_over(double unit) const {
  return with_bounds_over(Vector::Constant(rows(), unit));
}

ConeProduct ConeProduct::with_bounds_over(ConstVectorRef units) const {
  ConeProduct result = *this;
  Index row = first_interval_row();
  for (Interval& interval : result.intervals_) {
    interval = {interval.lower / units[row], interval.upper / units[row]};
    ++row;
  }
  return result;
}

Result<ConeProduct> ConeProduct::with_balls_over(ConstVectorRef units) const {
  std::vector<FrictionLaw> laws;
  for (Index i = 0; i < contacts(); ++i) {
    FrictionLaw own = law(i);
    std::size_t k = 0;
    for (std::size_t g = 0; g < own.groups.size(); ++g) {
      const auto size = static_cast<std::size_t>(own.groups[g]);
      const Index row = contact_row(i) + static_cast<Index>(k) + (g == 0 ? 0 : 1);
      std::fill_n(own.coefficients.begin() + static_cast<std::ptrdiff_t>(k), size, own.coefficients[k] / units[row]);
      k += size;
    }
    laws.push_back(std::move(own));
  }
  return create(joints_, limits_, intervals_, laws);
}

ConeProduct ConeProduct::of_blocks(std::span<const Index> blocks) const {
  ConeProduct part;
  std::vector<FrictionLaw> laws;
  for (const Index block : blocks) {
    switch (block_kind(block)) {
      case BlockKind::joint: ++part.joints_; break;
      case BlockKind::limit: ++part.limits_; break;
      case BlockKind::interval: part.intervals_.push_back(bounds(block)); break;
      case BlockKind::contact: {
        const Index contact = block - first_contact_row();
        if (!law_index_.empty()) {
          laws.push_back(law(contact));
          break;
        }
        part.friction_.push_back(friction_[static_cast<std::size_t>(contact)]);
        if (coefficients_.empty()) break;
        const auto own = coefficients(contact);
        part.coefficients_.insert(part.coefficients_.end(), own.begin(), own.end());
        break;
      }
    }
  }
  if (!laws.empty()) return create(part.joints_, part.limits_, std::move(part.intervals_), laws).value();
  part.contact_dimension_ = contact_dimension_;
  part.contact_type_ = contact_type_;
  part.scales_ = scales_ && !part.friction_.empty();
  part.laws_ = laws_;
  part.make_runs();
  return part;
}

ConeProduct ConeProduct::without_joints() const {
  ConeProduct result = *this;
  result.joints_ = 0;
  result.make_runs();
  return result;
}

void project_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out) {
  map_blocks(cones, x, out, [](const auto& cone, const auto& value) { return cone.project(value); });
}

void project_dual_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out) {
  map_blocks(cones, x, out, [](const auto& cone, const auto& value) { return cone.project_dual(value); });
}

void add_de_saxce(const ConeProduct& cones, ConstVectorRef sigma, VectorRef out) {
  map_blocks(cones, sigma, out, [](const auto& cone, const auto& value) {
    auto corrected = value;
    if constexpr (std::decay_t<decltype(cone)>::rows != 1) corrected[cone.normal] += cone.de_saxce(value);
    return corrected;
  });
}

double largest_complementarity(const ConeProduct& cones, ConstVectorRef impulse, ConstVectorRef velocity) {
  double largest = 0.0;
  const auto take = [&largest](double value) { largest = std::max(largest, std::abs(value)); };
  for (Index b = cones.first_limit_row(); b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    if (cones.block_kind(b) == BlockKind::interval) {
      take(cones.bounds(row).complementarity(impulse[row], velocity[row]));
      continue;
    }
    const int size = cones.block_size(b);
    take(impulse.segment(row, size).dot(velocity.segment(row, size)));
  }
  return largest;
}

}  // namespace conebench
