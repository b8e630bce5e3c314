#include "metrics/diagnosis.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "problems/rolling_units.hpp"

namespace conebench {

namespace {

constexpr double no_distance = 1e-9;
constexpr double unreachable_impulse = 1e10;
constexpr int most_iterations = 20000;

using Projection = void (*)(const ConeProduct&, Vector&);

/// On C* = K for the CCP, whose admissible velocities are C = K*.
void project_ccp(const ConeProduct& cones, Vector& z) { project_cone(cones, z, z); }

/// On C* = R^joints × R_+^limits × Π {0} × R_+ for the NCP: v̂ ∈ K* is sigma_N ≥ 0, whatever sigma_T.
void project_ncp(const ConeProduct& cones, Vector& z) {
  auto limits = z.segment(cones.first_limit_row(), cones.limits());
  limits = limits.cwiseMax(0.0);
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index row = cones.contact_row(i);
    const double normal = std::max(z[row + cones.normal_row()], 0.0);
    z.segment(row, cones.contact_dimension()).setZero();
    z[row + cones.normal_row()] = normal;
  }
}

/// Orthonormal basis of {z: Aᵀ z = 0}, the complement of A's range.
Matrix left_null_space(const Matrix& matrix) {
  const Eigen::ColPivHouseholderQR<Matrix> qr(matrix);
  Matrix basis = Matrix::Zero(matrix.rows(), matrix.rows() - qr.rank());
  basis.bottomRows(basis.cols()).setIdentity();
  basis.applyOnTheLeft(qr.householderQ());
  return basis;
}

RangeGap range_gap(const ContactProblem& problem, const Matrix& matrix, const Matrix& null_space, double norm,
                   Projection project) {
  RangeGap gap;
  const double free_norm = problem.free_term().norm();
  if (null_space.cols() == 0 || free_norm == 0.0) return gap;
  Vector z = -problem.free_term() / free_norm;
  Vector correction = Vector::Zero(z.size());
  Vector in_null_space = z;
  Vector next = z;
  for (int k = 0; k < most_iterations; ++k) {
    in_null_space = null_space * (null_space.transpose() * z);
    next = in_null_space + correction;
    project(problem.cones(), next);
    correction += in_null_space - next;
    const double step = (next - z).norm();
    z = next;
    gap.distance = z.norm();
    if (gap.distance <= no_distance) break;
    if ((z - in_null_space).norm() <= 1e-14 && step <= 1e-14) break;
  }
  if (gap.distance <= no_distance) return gap;
  const double reached = -z.dot(problem.free_term()) / free_norm;
  const double leak = norm > 0.0 ? (matrix.transpose() * z).norm() / norm : 0.0;
  if (reached <= 0.0) return gap;
  gap.impulse_bound = reached / leak;
  gap.apart = gap.impulse_bound > unreachable_impulse;
  if (!gap.apart) return gap;
  gap.certificate = z / gap.distance;
  double largest = 0.0;
  for (Index i = 0; i < problem.cones().blocks(); ++i) {
    const double part = z.segment(problem.cones().block_row(i), problem.cones().block_size(i)).norm();
    if (part > largest) {
      largest = part;
      gap.worst_block = i;
    }
  }
  return gap;
}

std::string block_name(const ConeProduct& cones, Index block) {
  switch (cones.block_kind(block)) {
    case BlockKind::joint: return fmt::format("joint row {}", block);
    case BlockKind::limit: return fmt::format("limit {}", block - cones.joints());
    case BlockKind::contact: return fmt::format("contact {}", block - cones.first_contact_row());
  }
  return {};
}

void add_matrix_findings(const ContactProblem& problem, const Features& features, std::vector<std::string>& findings) {
  const Spectrum& s = features.spectrum;
  const char* const about = s.estimated ? "about " : "";
  if (features.symmetry_error > 1e-12) {
    findings.push_back(
        fmt::format("G is not symmetric ({:.1e} relative): a solver that needs symmetry solves another problem.",
                    features.symmetry_error));
  }
  if (s.rank < problem.rows()) {
    findings.push_back(fmt::format("G has rank {}{} of {} rows: impulses are not unique{}.", about, s.rank,
                                   problem.rows(), problem.rigid() ? "" : " but for the compliance"));
  }
  if (s.conditioning.value_or(1.0) > 1e8) {
    findings.push_back(fmt::format("G has the condition number {}{:.1e} on its range.", s.estimated ? "at least " : "",
                                   *s.conditioning));
  }
  if (problem.rows() > 0 && s.max_eigenvalue < 0.0) {
    findings.push_back("G is negative definite: impulses act against the laws of mechanics, check its sign.");
  } else if (!s.positive_semidefinite) {
    findings.push_back(fmt::format(
        "G is indefinite (smallest eigenvalue {:.1e}, {:.1e} of the largest): a solution need not exist, and the "
        "energy has no lower bound.",
        s.min_eigenvalue, std::abs(s.min_eigenvalue) / s.largest));
  }
  for (Index block = 0; block < problem.cones().blocks(); ++block) {
    const auto diagonal = problem.diagonal().block(block);
    const Index n = problem.cones().normal_row_of(block) - problem.cones().block_row(block);
    if (diagonal(n, n) > 0.0 || problem.compliance()[problem.cones().block_row(block) + n] > 0.0) continue;
    findings.push_back(fmt::format("G has the diagonal entry {:.1e} at {}: its own impulse does not push it apart.",
                                   diagonal(n, n), block_name(problem.cones(), block)));
    break;
  }
}

std::string gap_finding(const ContactProblem& problem, const RangeGap& gap, const std::string& model,
                        const std::string& target) {
  return fmt::format(
      "The {} has no solution: the range of G + R, shifted by g, and {} are apart by {:.1e} of g, most at {}.", model,
      target, gap.distance, block_name(problem.cones(), gap.worst_block));
}

}  // namespace

Diagnosis diagnose(const ContactProblem& given, const SpectrumOptions& options) {
  // Moments in units of impulses, as in all norms.
  const Result<ContactProblem> scaled = in_rolling_units(given);
  const ContactProblem& problem = scaled ? *scaled : given;
  Diagnosis diagnosis;
  diagnosis.features = extract_features(problem, options);
  if (problem.rows() == 0) {
    diagnosis.findings.emplace_back("The problem has no constraints.");
    return diagnosis;
  }
  add_matrix_findings(problem, diagnosis.features, diagnosis.findings);
  if (diagnosis.features.spectrum.estimated) {
    diagnosis.findings.push_back(
        fmt::format("Whether a solution is excluded was not looked at: {} rows are more than {}.", problem.rows(),
                    options.exact_rows));
    return diagnosis;
  }
  Matrix matrix = problem.blocks().dense();
  matrix.diagonal() += problem.compliance();
  const Matrix null_space = left_null_space(matrix);
  const double norm = diagnosis.features.spectrum.largest + problem.compliance().maxCoeff();
  diagnosis.ncp_gap = range_gap(problem, matrix, null_space, norm, project_ncp);
  diagnosis.ccp_gap = range_gap(problem, matrix, null_space, norm, project_ccp);
  if (diagnosis.ncp_gap->apart) {
    diagnosis.findings.push_back(
        gap_finding(problem, *diagnosis.ncp_gap, "NCP", "the velocities that close no contact and move no joint"));
  } else {
    diagnosis.findings.emplace_back(
        "Nothing excludes a solution of the NCP: the range of G + R, shifted by g, meets the admissible velocities.");
  }
  if (diagnosis.ccp_gap->apart) {
    diagnosis.findings.push_back(gap_finding(problem, *diagnosis.ccp_gap, "CCP", "K*"));
  }
  return diagnosis;
}

}  // namespace conebench
