#include "problems/cones/friction_cone.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

namespace conebench {

namespace {

double norm_of(const FrictionCone::Block& x, const FrictionCone::Group& group) {
  if (group.size == 1) return std::abs(x[group.first]);
  if (group.size == 2) return norm_of_two(x[group.first], x[group.first + 1]);
  return safe_norm(x.segment(group.first, group.size));
}

double sign_of(double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : 0.0); }

Error wrong(std::string what) { return Error{ErrorCode::bad_input, std::move(what)}; }

}  // namespace

FrictionLaw FrictionLaw::coulomb(double mu, int tangents) {
  return {ConeShape::discs, {tangents}, std::vector<double>(static_cast<std::size_t>(tangents), mu)};
}

FrictionLaw FrictionLaw::rolling(double mu, double mu_r) { return {ConeShape::discs, {2, 2}, {mu, mu, mu_r, mu_r}}; }

bool FrictionLaw::isotropic() const {
  std::size_t at = 0;
  for (const int size : groups) {
    for (int k = 1; k < size; ++k) {
      if (coefficients[at + static_cast<std::size_t>(k)] != coefficients[at]) return false;
    }
    at += static_cast<std::size_t>(size);
  }
  return true;
}

Result<void> FrictionLaw::check() const {
  if (groups.empty()) return wrong("has no group of tangential rows");
  for (const int size : groups) {
    if (size < 1) return wrong("has a group of " + std::to_string(size) + " rows");
  }
  const int sum = std::accumulate(groups.begin(), groups.end(), 0);
  if (sum + 1 != rows()) {
    return wrong("has groups of " + std::to_string(sum) + " tangential rows, but coefficients of " +
                 std::to_string(rows() - 1));
  }
  if (rows() > max_contact_rows) {
    return wrong("has " + std::to_string(rows()) + " rows; the most is " + std::to_string(max_contact_rows));
  }
  if (shape == ConeShape::pyramid && groups.size() > 1) return wrong("is a pyramid of several groups");
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    if (std::isfinite(coefficients[k]) && coefficients[k] >= 0.0) continue;
    return wrong("has a friction coefficient that must be finite and not negative (row " + std::to_string(k + 1) +
                 ": " + std::to_string(coefficients[k]) + ")");
  }
  if (!isotropic() && std::ranges::any_of(coefficients, [](double mu) { return mu == 0.0; })) {
    return wrong("has rows with and without friction in one group; leave out the rows without");
  }
  return {};
}

FrictionCone::FrictionCone(ConeShape shape, std::span<const int> groups, std::span<const double> coefficients)
    : shape_(shape), size_(1 + static_cast<int>(coefficients.size())), group_count_(static_cast<int>(groups.size())) {
  int row = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups_[g] = {row, groups[g], coefficients[static_cast<std::size_t>(g == 0 ? row : row - 1)]};
    row += groups[g];
    if (g == 0) normal = row++;
  }
}

double FrictionCone::de_saxce(const Block& velocity) const {
  double term = 0.0;
  for (const Group& group : groups()) {
    const double slip = shape_ == ConeShape::pyramid
                            ? velocity.segment(group.first, group.size).lpNorm<Eigen::Infinity>()
                            : norm_of(velocity, group);
    term += group.coefficient * slip;
  }
  return term;
}

FrictionCone::Block FrictionCone::de_saxce_gradient(const Block& velocity) const {
  Block gradient = Block::Zero(size_);
  for (const Group& group : groups()) {
    const auto part = velocity.segment(group.first, group.size);
    if (shape_ == ConeShape::pyramid) {
      Eigen::Index steepest = 0;
      if (part.cwiseAbs().maxCoeff(&steepest) > 0.0) {
        gradient[group.first + steepest] = group.coefficient * sign_of(part[steepest]);
      }
    } else if (const double slip = norm_of(velocity, group); slip > 0.0) {
      gradient.segment(group.first, group.size) = group.coefficient / slip * part;
    }
  }
  return gradient;
}

bool FrictionCone::in_polar(const Block& x) const { return de_saxce(x) <= -x[normal]; }

FrictionCone::Cut FrictionCone::cut(const Block& x) const {
  Cut cut;
  std::array<double, max_contact_rows> beyond{};  // > 0 where the group is too long for x_n
  for (std::size_t g = 0; g < groups().size(); ++g) {
    cut.length[g] = norm_of(x, groups_[g]);
    beyond[g] = cut.length[g] - groups_[g].coefficient * x[normal];
    cut.active[g] = beyond[g] > 0.0;
  }
  // Newton's steps on s − x_n − Σ mu_g (a_g − mu_g s)₊, which is concave and increasing: from below, each drops groups.
  for (bool changed = true; changed;) {
    double force = 0.0;
    double square = 1.0;
    cut.any = false;
    for (std::size_t g = 0; g < groups().size(); ++g) {
      if (!cut.active[g]) continue;
      force += groups_[g].coefficient * beyond[g];
      square += groups_[g].coefficient * groups_[g].coefficient;
      cut.any = true;
    }
    cut.raised = force / square;
    changed = false;
    for (std::size_t g = 0; g < groups().size(); ++g) {
      if (!cut.active[g] || beyond[g] > groups_[g].coefficient * cut.raised) continue;
      cut.active[g] = false;
      changed = true;
    }
  }
  // From what is beyond rather than from a − mu s: that loses mu² times as many digits.
  for (std::size_t g = 0; g < groups().size(); ++g) {
    if (!cut.active[g]) continue;
    double others = 0.0;
    double square = 1.0;
    for (std::size_t h = 0; h < groups().size(); ++h) {
      if (h == g || !cut.active[h]) continue;
      others += groups_[h].coefficient * beyond[h];
      square += groups_[h].coefficient * groups_[h].coefficient;
    }
    const double mu = groups_[g].coefficient;
    cut.shortened[g] = (square * beyond[g] - mu * others) / (square + mu * mu);
  }
  return cut;
}

double FrictionCone::threshold(const Block& x) const {
  const Group& group = groups_[0];
  const double mu = group.coefficient;
  std::array<double, max_contact_rows> sizes{};
  for (int k = 0; k < group.size; ++k) sizes[static_cast<std::size_t>(k)] = std::abs(x[group.first + k]);
  const auto end = sizes.begin() + group.size;
  std::sort(sizes.begin(), end, std::greater<>());
  // Σ_k (|x_k| − τ)₊ = mu (x_n + mu τ), over the largest m of them.
  double sum = 0.0;
  double tau = 0.0;
  for (int m = 1; m <= group.size; ++m) {
    sum += sizes[static_cast<std::size_t>(m - 1)];
    tau = (sum - mu * x[normal]) / (m + mu * mu);
    if (m == group.size || tau >= sizes[static_cast<std::size_t>(m)]) break;
  }
  return std::max(tau, 0.0);
}

FrictionCone::Block FrictionCone::outside(const Block& x) const {
  if (in_polar(x)) return x;
  Block difference = Block::Zero(size_);
  if (shape_ == ConeShape::pyramid) {
    const double tau = threshold(x);
    difference[normal] = -groups_[0].coefficient * tau;
    for (int k = 0; k < groups_[0].size; ++k) {
      const double entry = x[groups_[0].first + k];
      difference[groups_[0].first + k] = std::abs(entry) <= tau ? entry : tau * sign_of(entry);
    }
    return difference;
  }
  const Cut p = cut(x);
  difference[normal] = -p.raised;
  for (std::size_t g = 0; g < groups().size(); ++g) {
    if (!p.active[g] || !(p.length[g] > 0.0)) continue;
    difference.segment(groups_[g].first, groups_[g].size) =
        x.segment(groups_[g].first, groups_[g].size) * (p.shortened[g] / p.length[g]);
  }
  return difference;
}

FrictionCone::Square FrictionCone::derivative(const Block& x) const {
  if (in_polar(x)) return Square::Zero(size_, size_);
  Square result = Square::Identity(size_, size_);
  if (shape_ == ConeShape::pyramid) {
    // x_k → x_k − τ sign(x_k) and x_n → x_n + mu τ, with dτ = (Σ sign(x_k) dx_k − mu dx_n) / (m + mu²).
    const double tau = threshold(x);
    const double mu = groups_[0].coefficient;
    if (tau == 0.0 && mu > 0.0) return result;
    Block by = Block::Zero(size_);  // the face's normal
    double m = 0.0;
    for (int k = groups_[0].first; k < groups_[0].first + groups_[0].size; ++k) {
      if (std::abs(x[k]) > tau) {
        by[k] = sign_of(x[k]);
        m += 1.0;
      } else {
        result(k, k) = 0.0;
      }
    }
    by[normal] = -mu;
    if (m + mu * mu > 0.0) result -= by * by.transpose() / (m + mu * mu);
    return result;
  }
  Cut p = cut(x);
  bool any = false;
  for (std::size_t g = 0; g < groups().size(); ++g) {
    p.active[g] = p.active[g] || groups_[g].coefficient == 0.0;
    any = any || p.active[g];
  }
  if (!any) return result;
  // s = (x_n + Σ mu a) / (1 + Σ mu²) over the groups that are cut; x_g → mu_g s x_g / a_g.
  const double s = x[normal] + p.raised;
  Block along = Block::Zero(size_);  // mu_g e_g and 1
  along[normal] = 1.0;
  double square = 1.0;
  for (std::size_t g = 0; g < groups().size(); ++g) {
    if (!p.active[g]) continue;
    const auto& [first, size, mu] = groups_[g];
    result.block(first, first, size, size).setZero();
    square += mu * mu;
    if (!(p.length[g] > 0.0)) continue;
    const Block e = x.segment(first, size) / p.length[g];
    along.segment(first, size) = mu * e;
    result.block(first, first, size, size) = mu * s / p.length[g] * (Square::Identity(size, size) - e * e.transpose());
  }
  result(normal, normal) = 0.0;
  result += along * along.transpose() / square;
  return result;
}

}  // namespace conebench
