#include "metrics/feasibility.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "metrics/linear_program.hpp"
#include "metrics/noise_level.hpp"

namespace conebench {

namespace {

using State = FeasibilityState;
using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

constexpr double unreachable_speed = 1e10;   ///< times the largest free speed; mass ratios of practice stay far below
constexpr long double max_roundings = 4.0L;  ///< of each term of Aᵀ z: its entry, z and the refinement of z
constexpr double min_margin = 1e-9;          ///< times the largest free speed: what redundant joints differ by, rounded

/// σ = A x + g without compliant rows: A = J with x the change of velocity, or A = G with x = λ.
RowMatrix rigid_map(const ContactProblem& problem) {
  return problem.given_as_primal() || !problem.condenses_sparsely() ? RowMatrix(problem.data().primal->jacobian)
                                                                    : problem.blocks().sparse();
}

Vector column_sizes(const RowMatrix& matrix) {
  Vector sizes = Vector::Zero(matrix.cols());
  for (Index row = 0; row < matrix.outerSize(); ++row) {
    for (RowMatrix::InnerIterator entry(matrix, row); entry; ++entry)
      sizes[entry.col()] = std::max(sizes[entry.col()], std::abs(entry.value()));
  }
  return sizes;
}

enum class Part { none, free, at_least_zero };

/// What z may be in each row.
std::vector<Part> parts(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  std::vector<Part> found(static_cast<std::size_t>(cones.rows()), Part::none);
  for (Index block = 0; block < cones.blocks(); ++block) {
    const Index row = cones.normal_row_of(block);
    if (problem.compliance()[row] > 0.0) continue;
    found[static_cast<std::size_t>(row)] =
        cones.block_kind(block) == BlockKind::joint ? Part::free : Part::at_least_zero;
  }
  return found;
}

double largest_speed(const ContactProblem& problem) {
  return problem.rows() > 0 ? problem.free_term().lpNorm<Eigen::Infinity>() : 0.0;
}

/// A sum of products in extended precision with a bound on its own rounding error.
struct BoundedSum {
  long double value = 0.0L;
  long double size = 0.0L;
  long terms = 0;
  void add(double a, double b) {
    if (a == 0.0 || b == 0.0) return;
    const long double product = static_cast<long double>(a) * b;
    value += product;
    size += std::abs(product);
    ++terms;
  }
  /// Two roundings a term, and one for the bound itself.
  long double error() const {
    return 2.0L * static_cast<long double>(terms + 1) * std::numeric_limits<long double>::epsilon() * size;
  }
};

/// `z` moved by the least that brings Aᵀ z to rounding, within its support.
Vector refined(const RowMatrix& matrix, const Vector& sizes, Vector z, const std::vector<Part>& allowed) {
  std::vector<Index> support;
  for (Index row = 0; row < z.size(); ++row) {
    const Part part = allowed[static_cast<std::size_t>(row)];
    // Below the linear program's tolerance.
    if (part == Part::none || std::abs(z[row]) < 1e-7) z[row] = 0.0;
    if (z[row] != 0.0) support.push_back(row);
  }
  if (support.empty()) return z;
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t k = 0; k < support.size(); ++k) {
    for (RowMatrix::InnerIterator entry(matrix, support[k]); entry; ++entry)
      entries.emplace_back(static_cast<int>(entry.col()), static_cast<int>(k), entry.value() / sizes[entry.col()]);
  }
  SparseMatrix transposed(matrix.cols(), static_cast<Index>(support.size()));
  transposed.setFromTriplets(entries.begin(), entries.end());
  Eigen::LeastSquaresConjugateGradient<SparseMatrix> solver(transposed);
  solver.setMaxIterations(std::min<Index>(500, 4 * static_cast<Index>(support.size()) + 10));
  solver.setTolerance(1e-12);
  for (int round = 0; round < 3; ++round) {
    Vector at_support(support.size());
    for (std::size_t k = 0; k < support.size(); ++k) at_support[static_cast<Index>(k)] = z[support[k]];
    const Vector residual = transposed * at_support;
    if (residual.lpNorm<Eigen::Infinity>() == 0.0) break;
    const Vector step = solver.solve(residual);
    if (!step.allFinite()) break;
    for (std::size_t k = 0; k < support.size(); ++k) {
      double& entry = z[support[k]];
      entry -= step[static_cast<Index>(k)];
      if (allowed[static_cast<std::size_t>(support[k])] == Part::at_least_zero) entry = std::max(entry, 0.0);
    }
  }
  return z;
}

Feasibility judged(const ContactProblem& problem, const RowMatrix& matrix, const Vector& sizes,
                   const std::vector<Part>& allowed, ConstVectorRef z) {
  Feasibility found;
  const double largest = largest_speed(problem);
  if (z.size() != problem.rows() || !z.allFinite() || largest == 0.0) return found;
  std::vector<BoundedSum> columns(static_cast<std::size_t>(matrix.cols()));
  BoundedSum product;
  long double norm = 0.0L;
  for (Index row = 0; row < z.size(); ++row) {
    if (z[row] == 0.0) continue;
    const Part part = allowed[static_cast<std::size_t>(row)];
    if (part == Part::none || (part == Part::at_least_zero && z[row] < 0.0)) return found;
    for (RowMatrix::InnerIterator entry(matrix, row); entry; ++entry)
      columns[static_cast<std::size_t>(entry.col())].add(entry.value(), z[row]);
    product.add(problem.free_term()[row], z[row]);
    norm += std::abs(static_cast<long double>(z[row]));
  }
  if (norm == 0.0L) return found;
  const long double reached = -(product.value + product.error());
  const auto margin = static_cast<double>(reached / norm);
  if (!(margin > min_margin * largest) || margin <= free_term_rounding(problem).value_or(0.0)) return found;
  long double leak = 0.0L;
  constexpr long double data_epsilon = std::numeric_limits<double>::epsilon();
  for (Index k = 0; k < matrix.cols(); ++k) {
    const BoundedSum& column = columns[static_cast<std::size_t>(k)];
    if (column.terms == 0 || sizes[k] == 0.0) continue;
    // What rounding of z and of the data does not explain is a way out, though it may ask for a large impulse.
    if (std::abs(column.value) >
        max_roundings * static_cast<long double>(column.terms + 1) * data_epsilon * column.size)
      return found;
    leak = std::max(leak, (std::abs(column.value) + column.error()) / sizes[k]);
  }
  found.speed_bound = leak > 0.0L ? static_cast<double>(reached / leak) : std::numeric_limits<double>::infinity();
  if (found.speed_bound < unreachable_speed * largest) return {};
  found.state = State::infeasible;
  found.margin = -margin;
  found.certificate = z;
  double worst = 0.0;
  for (Index block = 0; block < problem.cones().blocks(); ++block) {
    const Index row = problem.cones().normal_row_of(block);
    const double part = problem.free_term()[row] * z[row];
    if (part < worst) {
      worst = part;
      found.worst_block = block;
    }
  }
  return found;
}

}  // namespace

Feasibility judge_certificate(const ContactProblem& problem, ConstVectorRef z) {
  const RowMatrix matrix = rigid_map(problem);
  return judged(problem, matrix, column_sizes(matrix), parts(problem), z);
}

Feasibility check_feasibility(const ContactProblem& problem, double max_seconds) {
  const double largest = largest_speed(problem);
  Feasibility found;
  if (largest == 0.0) return found;  // λ = 0 solves it
  const RowMatrix matrix = rigid_map(problem);
  const Vector sizes = column_sizes(matrix);
  const std::vector<Part> allowed = parts(problem);
  std::vector<Index> rows;
  for (Index row = 0; row < problem.rows(); ++row) {
    if (allowed[static_cast<std::size_t>(row)] != Part::none) rows.push_back(row);
  }
  const auto variables = static_cast<Index>(rows.size());
  LinearProgram program;
  std::vector<Eigen::Triplet<double>> entries;
  program.cost.resize(variables);
  program.lower.resize(variables);
  for (Index k = 0; k < variables; ++k) {
    const Index row = rows[static_cast<std::size_t>(k)];
    for (RowMatrix::InnerIterator entry(matrix, row); entry; ++entry) {
      if (entry.value() != 0.0)
        entries.emplace_back(static_cast<int>(entry.col()), static_cast<int>(k), entry.value() / sizes[entry.col()]);
    }
    program.cost[k] = problem.free_term()[row] / largest;
    program.lower[k] = allowed[static_cast<std::size_t>(row)] == Part::free ? -1.0 : 0.0;
  }
  program.upper.setOnes(variables);
  program.matrix.resize(matrix.cols(), variables);
  program.matrix.setFromTriplets(entries.begin(), entries.end());
  program.row_lower.setZero(matrix.cols());
  program.row_upper.setZero(matrix.cols());
  const LinearProgramAnswer answer = solve_linear_program(program, max_seconds);
  if (answer.state == LinearProgramAnswer::State::no_library) {
    found.state = State::no_library;
    return found;
  }
  if (answer.state == LinearProgramAnswer::State::stopped) {
    found.state = State::undecided;
    return found;
  }
  Vector z = Vector::Zero(problem.rows());
  for (Index k = 0; k < variables; ++k) z[rows[static_cast<std::size_t>(k)]] = answer.x[k];
  return judged(problem, matrix, sizes, allowed, refined(matrix, sizes, std::move(z), allowed));
}

}  // namespace conebench
