#include "runners/plan/duplicate_fingerprint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conebench {

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// Adds terms to one sum after the other, from `first` on, with the terms' sizes.
class Collector {
 public:
  Collector(DuplicateFingerprint& fingerprint, std::size_t first) : signature_(fingerprint), next_(first) {}
  void add(double term) { add(term, std::abs(term)); }
  void add(double term, double magnitude) {
    signature_.values[next_] += term;
    signature_.magnitudes[next_] += magnitude;
    ++next_;
  }

 private:
  DuplicateFingerprint& signature_;
  std::size_t next_;
};

}  // namespace

DuplicateFingerprint duplicate_fingerprint(const ContactProblem& problem) {
  DuplicateFingerprint fingerprint;
  const ConeProduct& cones = problem.cones();
  const DiagonalBlocks& diagonal = problem.diagonal();
  const Vector& g = problem.free_term();
  Vector moved(problem.rows());
  problem.multiply(g, moved);
  // Without G its trace stands for its norm, which it bounds where G is positive semidefinite.
  double squares = 0.0;
  if (problem.condenses_sparsely()) {
    for (const double value : problem.blocks().values()) squares += value * value;
  }
  const double size = problem.condenses_sparsely() ? std::sqrt(squares) : diagonal.diagonal().cwiseMax(0.0).sum();

  Collector collect(fingerprint, 0);
  collect.add(problem.condenses_sparsely() ? squares : not_known);
  collect.add(g.squaredNorm());
  collect.add(g.dot(moved), size * g.squaredNorm());
  collect.add(moved.squaredNorm(), size * size * g.squaredNorm());
  collect.add(problem.compliance().sum());
  collect.add(problem.compliance().dot(g.cwiseAbs2()));
  collect.add(g.head(cones.joints()).squaredNorm());
  collect.add(g.segment(cones.joints(), cones.limits()).sum(), g.segment(cones.joints(), cones.limits()).lpNorm<1>());

  for (Index row = cones.first_interval_row(); row < cones.first_contact_row(); ++row) {
    const auto [lower, upper] = cones.bounds(row);
    const double l = std::isfinite(lower) ? lower : 0.0, u = std::isfinite(upper) ? upper : 0.0;
    Collector of_intervals(fingerprint, 8);
    of_intervals.add(l);
    of_intervals.add(u);
    of_intervals.add((std::isfinite(lower) ? 0.0 : 1.0) + (std::isfinite(upper) ? 0.0 : 2.0));
    of_intervals.add(g[row] * g[row]);
    of_intervals.add(g[row] * (l + 2.0 * u));
    of_intervals.add(diagonal.block(row)(0, 0) * (u - l));
  }

  for (Index contact = 0; contact < cones.contacts(); ++contact) {
    const FrictionLaw law = cones.law(contact);
    const Index row = cones.contact_row(contact);
    const int n = cones.normal_of(contact);
    double mu = 0.0;  // the mean of the first group
    double of_law = law.shape == ConeShape::pyramid ? 1.0 : 0.0;
    double slip = 0.0;  // Σ mu_k g_k²
    std::size_t k = 0;
    for (std::size_t group = 0; group < law.groups.size(); ++group) {
      const double share = 1.0 / law.groups[group];
      for (int in_group = 0; in_group < law.groups[group]; ++in_group, ++k) {
        const double coefficient = law.coefficients[k];
        const double velocity = g[row + static_cast<Index>(k) + (group == 0 ? 0 : 1)];
        if (group == 0) mu += share * coefficient;
        of_law += share * coefficient * coefficient;
        slip += coefficient * velocity * velocity;
      }
    }
    const auto own = diagonal.block(cones.first_contact_row() + contact);
    const double normal = g[row + n];
    const double tangential = g.segment(row, n).squaredNorm();
    const double trace = own.topLeftCorner(n, n).trace();
    Collector of_contacts(fingerprint, 14);
    of_contacts.add(of_law);
    of_contacts.add(normal);
    of_contacts.add(normal * tangential);
    of_contacts.add(mu * normal);
    of_contacts.add(slip);
    of_contacts.add(own(n, n) * (1.0 + mu));
    of_contacts.add(trace * (1.0 + mu));
    of_contacts.add(own(n, n) * normal);
    of_contacts.add(trace * tangential);
    of_contacts.add(mu * moved[row + n], mu * size * g.norm());
  }
  return fingerprint;
}

bool same_problem(const DuplicateFingerprint& a, const DuplicateFingerprint& b) {
  for (std::size_t i = 0; i < DuplicateFingerprint::count; ++i) {
    if (std::isnan(a.values[i]) || std::isnan(b.values[i])) continue;
    const double scale = std::max(a.magnitudes[i], b.magnitudes[i]);
    if (!(std::abs(a.values[i] - b.values[i]) <= 1e-9 * scale)) return false;
  }
  return true;
}

}  // namespace conebench
