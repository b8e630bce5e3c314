#include "solvers/inverse_dynamics/inverse_dynamics.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <vector>

#include "problems/cones/contact_cones.hpp"
#include "problems/mass_solve.hpp"
#include "problems/scaled_rows.hpp"

namespace conebench {

namespace {

/// The cone that K is in the variables root x, `root` equal on the rows of a group.
template <int Dim>
CoulombCone<Dim> stretched(const CoulombCone<Dim>& cone, const ContactVector<Dim>& root) {
  return {cone.friction * root[0] / root[Dim - 1]};
}
FrictionCone stretched(const FrictionCone& cone, const FrictionCone::Block& root) {
  std::vector<int> groups;
  std::vector<double> coefficients;
  for (const FrictionCone::Group& group : cone.groups()) {
    groups.push_back(group.size);
    coefficients.insert(coefficients.end(), static_cast<std::size_t>(group.size),
                        group.coefficient * root[group.first] / root[cone.normal]);
  }
  return {cone.shape(), groups, coefficients};
}

/// P_K in the metric diag(metric), in place.
void project(const ConeProduct& cones, const Vector& metric, Vector& x) {
  for (Index row = cones.first_limit_row(); row < cones.first_contact_row(); ++row) {
    x[row] = cones.bounds(row).project(x[row]);
  }
  for_each_contact(cones, [&]<class Cone>(Index, Index row, const Cone& cone) {
    using Block = typename Cone::Block;
    auto part = x.segment<Cone::rows>(row, cone.size());
    const Block root = metric.segment<Cone::rows>(row, cone.size()).cwiseSqrt();
    const Block scaled = part.cwiseProduct(root);
    part = stretched(cone, root).project(scaled).cwiseQuotient(root);
  });
}

/// The natural map in velocities, block by block with the block's mean of `metric` for 1/ρ̂.
double natural_map(const ConeProduct& cones, const Vector& metric, const Vector& impulse, const Vector& corrected) {
  Vector mean(metric.size());
  for (Index block = 0; block < cones.blocks(); ++block) {
    const Index row = cones.block_row(block), size = cones.block_size(block);
    mean.segment(row, size).setConstant(metric.segment(row, size).mean());
  }
  Vector step = impulse - corrected.cwiseQuotient(mean);
  project(cones, mean, step);
  double worst = 0.0;
  for (Index block = 0; block < cones.blocks(); ++block) {
    const Index row = cones.block_row(block), size = cones.block_size(block);
    const double part = (impulse - step).segment(row, size).norm() * mean[row];
    if (std::isnan(part)) return part;
    worst = std::max(worst, part);
  }
  return worst;
}

Error without_bodies() {
  return {ErrorCode::unsupported,
          "the problem is given by G alone; inverse dynamics needs M, J and v_free (FCLIB's global form)"};
}

}  // namespace

ContactInversion invert_contacts(const ConeProduct& cones, const Vector& compliance, const Vector& target,
                                 const Vector& start, const ContactInversionOptions& options) {
  const Vector r = compliance.size() > 0 ? compliance : Vector::Zero(cones.rows());
  const Vector metric = r.array() + options.rho;  // R + ρ Id
  ContactInversion found{.impulse = start, .velocity = r.cwiseProduct(start) + target, .growth = {}};
  std::vector<double> growth;
  Vector corrected(cones.rows());
  const auto correct = [&](const Vector& sigma) {  // σ + Γ(σ)
    corrected = sigma;
    if (options.de_saxce) add_de_saxce(cones, sigma, corrected);
  };
  correct(found.velocity);
  while (found.iterations < options.max_iterations && !found.converged) {
    const Vector shift = corrected - found.velocity;                                        // s = Γ(R λ + c), line 2
    found.impulse = -(target + shift - options.rho * found.impulse).cwiseQuotient(metric);  // line 3
    project(cones, metric, found.impulse);
    found.velocity = r.cwiseProduct(found.impulse) + target;
    correct(found.velocity);
    found.residual = natural_map(cones, metric, found.impulse, corrected);
    found.converged = found.residual <= options.tolerance;
    growth.push_back(found.impulse.norm());
    ++found.iterations;
    if (!std::isfinite(growth.back())) break;
  }
  found.growth = Eigen::Map<const Vector>(growth.data(), static_cast<Index>(growth.size()));
  return found;
}

namespace {

/// The same where every group is a ball.
InverseDynamics in_scaled_rows(const ContactProblem& problem, const Vector& wanted, const Vector& start,
                               const ContactInversionOptions& options) {
  const auto& primal = problem.primal();
  const Vector bias = problem.bias().value_or(Vector::Zero(problem.rows()));
  InverseDynamics found;
  const Eigen::MatrixXd jacobian = primal->jacobian;
  found.velocity = jacobian.completeOrthogonalDecomposition().solve(wanted - bias);
  found.target = primal->jacobian * found.velocity + bias;
  found.missed = problem.rows() > 0 ? (found.target - wanted).lpNorm<Eigen::Infinity>() : 0.0;
  // Rounding of c_N alone would leave the rigid problem without an answer.
  constexpr double reached = 1e-9;
  if (found.missed <= reached * (wanted.norm() + bias.norm())) found.target = wanted;
  found.contacts = invert_contacts(problem.cones(), problem.compliance(), found.target, start, options);
  found.torque =
      primal->mass * (found.velocity - primal->free_velocity) - primal->jacobian.transpose() * found.contacts.impulse;
  return found;
}

}  // namespace

Result<InverseDynamics> inverse_dynamics(const ContactProblem& problem, const Vector& wanted, const Vector& start,
                                         const ContactInversionOptions& options) {
  if (!problem.primal()) return without_bodies();
  if (problem.cones().scales()) {
    const Vector units = row_units_of(problem);
    CONEBENCH_TRY(const ContactProblem scaled, in_row_units(problem, units));
    InverseDynamics found = in_scaled_rows(scaled, units.cwiseProduct(wanted), start.cwiseQuotient(units), options);
    found.target = found.target.cwiseQuotient(units);
    found.contacts.velocity = found.contacts.velocity.cwiseQuotient(units);
    found.contacts.impulse = found.contacts.impulse.cwiseProduct(units);
    return found;
  }
  return in_scaled_rows(problem, wanted, start, options);
}

Result<ContactProblem> with_torque(const ContactProblem& problem, const Vector& torque) {
  if (!problem.primal()) return without_bodies();
  ContactProblemData data = problem.data();
  const auto mass = FactoredMass::create(data.primal->mass);
  if (!mass) return Error{ErrorCode::bad_input, "M is singular"};
  data.primal->free_velocity += mass->solve(torque);
  data.free_term = data.primal->jacobian * data.primal->free_velocity;
  if (data.bias) data.free_term += *data.bias;
  data.guess.reset();
  data.reference.reset();
  return ContactProblem::create(std::move(data));
}

}  // namespace conebench
