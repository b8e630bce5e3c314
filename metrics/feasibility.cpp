#include "metrics/feasibility.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "metrics/doubled.hpp"
#include "metrics/linear_program.hpp"
#include "metrics/noise_level.hpp"
#include "metrics/residual_evaluation.hpp"

namespace conebench {

namespace {

using State = FeasibilityState;
using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

constexpr double unreachable_speed = 1e10;   ///< times the largest free speed; mass ratios of practice stay far below
constexpr long double max_roundings = 4.0L;  ///< of each term of Aᵀ z: its entry, z and the refinement of z
constexpr double min_margin = 1e-9;          ///< times the largest free speed: what redundant joints differ by, rounded
/// For the rounding of V, of the weights and of the verdict that is held against the bound.
constexpr long double rounded_down = 1.0L - 1e-12L;

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

enum class Part { none, free, at_least_zero, at_most_zero };

/// What σ may not be: below 0 where λ has no upper bound, above 0 where it has no lower one.
Part part_of(const Interval& bounds) {
  const bool below = std::isinf(bounds.upper);
  const bool above = std::isinf(bounds.lower);
  if (below) return above ? Part::free : Part::at_least_zero;
  return above ? Part::at_most_zero : Part::none;
}

/// Whether an entry of z keeps its sign.
bool allows(Part part, double z) {
  switch (part) {
    case Part::none: return z == 0.0;
    case Part::free: return true;
    case Part::at_least_zero: return !(z < 0.0);
    case Part::at_most_zero: return !(z > 0.0);
  }
  return false;
}

/// What z may be in each row.
std::vector<Part> parts(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  std::vector<Part> found(static_cast<std::size_t>(cones.rows()), Part::none);
  for (Index block = 0; block < cones.blocks(); ++block) {
    const Index row = cones.normal_row_of(block);
    if (problem.compliance()[row] > 0.0) continue;
    found[static_cast<std::size_t>(row)] =
        cones.block_kind(block) == BlockKind::contact ? Part::at_least_zero : part_of(cones.bounds(row));
  }
  return found;
}

double largest_speed(const ContactProblem& problem) {
  return problem.rows() > 0 ? problem.free_term().lpNorm<Eigen::Infinity>() : 0.0;
}

/// How far below 0 a normal's speed can be where the verdict's map of the contact is 1: v̂ − map ∈ K* gives
/// σ_N ≥ map_N − Σ_g mu_g ‖map_g‖. A row with bounds can be 1 beyond what it may. `square`: Σ_g mu_g².
long double max_closing(long double square) { return std::sqrt(1.0L + square); }

/// Σ_g mu_g² of each block, in the verdict's own units; 0 without friction.
std::vector<long double> friction_squares(const ResidualEvaluation<Doubled>& scales) {
  std::vector<long double> squares(scales.blocks().size(), 0.0L);
  for (std::size_t block = 0; block < squares.size(); ++block) {
    scales.with_set(static_cast<Index>(block), [&](const auto& set) {
      set.for_each_group([&](const FrictionGroup<Doubled>& group) {
        squares[block] += static_cast<long double>(to_double(group.friction)) * to_double(group.friction);
      });
    });
  }
  return squares;
}

/// The most that −zᵀ σ can be where natural_map_scaled is 1 [m/s times z].
long double allowance(const ContactProblem& problem, ConstVectorRef z) {
  const ResidualEvaluation<Doubled> scales(problem);
  const std::vector<long double> squares = friction_squares(scales);
  long double sum = 0.0L;
  for (Index block = 0; block < problem.cones().blocks(); ++block) {
    const double size = std::abs(z[problem.cones().normal_row_of(block)]);
    if (size > 0.0) sum += size * max_closing(squares[static_cast<std::size_t>(block)]);
  }
  return sum * to_double(scales.velocity_scale());
}

/// A sum of products in 32 digits with a bound on its own rounding error.
struct BoundedSum {
  Doubled sum;
  long double size = 0.0L;
  long terms = 0;
  void add(double a, double b) {
    if (a == 0.0 || b == 0.0) return;
    const Doubled product = Doubled::two_product(a, b);
    sum += product;
    size += std::abs(static_cast<long double>(product.hi));
    ++terms;
  }
  long double value() const { return static_cast<long double>(sum.hi) + sum.lo; }
  /// A sum of two Doubled is right to 2⁻¹⁰⁴ of it; generously.
  long double error() const {
    return static_cast<long double>(terms) * 0x1p-100L * size + 0x1p-62L * std::abs(value());
  }
};

/// `z` moved by the least that brings Aᵀ z to rounding, within its support.
Vector refined(const RowMatrix& matrix, const Vector& sizes, Vector z, const std::vector<Part>& allowed) {
  std::vector<Index> support;
  if (const double largest = z.lpNorm<Eigen::Infinity>(); largest > 0.0) z /= largest;
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
      if (!allows(allowed[static_cast<std::size_t>(support[k])], entry)) entry = 0.0;
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
    if (!allows(allowed[static_cast<std::size_t>(row)], z[row])) return found;
    for (RowMatrix::InnerIterator entry(matrix, row); entry; ++entry)
      columns[static_cast<std::size_t>(entry.col())].add(entry.value(), z[row]);
    product.add(problem.free_term()[row], z[row]);
    norm += std::abs(static_cast<long double>(z[row]));
  }
  if (norm == 0.0L) return found;
  const long double reached = -(product.value() + product.error());
  const auto margin = static_cast<double>(reached / norm);
  if (!(margin > min_margin * largest) || margin <= free_term_rounding(problem).value_or(0.0)) return found;
  long double leak = 0.0L;
  constexpr long double data_epsilon = std::numeric_limits<double>::epsilon();
  for (Index k = 0; k < matrix.cols(); ++k) {
    const BoundedSum& column = columns[static_cast<std::size_t>(k)];
    if (column.terms == 0 || sizes[k] == 0.0) continue;
    // What rounding of z and of the data does not explain is a way out, though it may ask for a large impulse.
    if (std::abs(column.value()) >
        max_roundings * static_cast<long double>(column.terms + 1) * data_epsilon * column.size)
      return found;
    leak = std::max(leak, (std::abs(column.value()) + column.error()) / sizes[k]);
  }
  found.speed_bound = leak > 0.0L ? static_cast<double>(reached / leak) : std::numeric_limits<double>::infinity();
  if (found.speed_bound < unreachable_speed * largest) return {};
  found.state = State::infeasible;
  found.margin = -margin;
  const long double left = reached - leak * unreachable_speed * static_cast<long double>(largest);
  found.verdict_bound = static_cast<double>(std::max(0.0L, left) / allowance(problem, z) * rounded_down);
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

/// An unknown of a linear program: factor · z in a row.
struct Column {
  Index row = 0;
  double factor = 1.0;
  double least = 0.0;
};

/// min gᵀ z with Aᵀ z = 0: each unknown up to 1, or their sum up to their number.
LinearProgram program_of(const ContactProblem& problem, const RowMatrix& matrix, const Vector& sizes,
                         const std::vector<Column>& columns, bool of_sum) {
  const auto unknowns = static_cast<Index>(columns.size());
  const Index rows = matrix.cols() + (of_sum ? 1 : 0);
  const double largest = largest_speed(problem);
  LinearProgram program;
  std::vector<Eigen::Triplet<double>> entries;
  program.cost.resize(unknowns);
  program.lower.resize(unknowns);
  program.upper.setConstant(unknowns, of_sum ? static_cast<double>(unknowns) : 1.0);
  program.row_lower.setZero(rows);
  program.row_upper.setZero(rows);
  for (Index k = 0; k < unknowns; ++k) {
    const auto [row, factor, least] = columns[static_cast<std::size_t>(k)];
    for (RowMatrix::InnerIterator entry(matrix, row); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      entries.emplace_back(static_cast<int>(entry.col()), static_cast<int>(k),
                           factor * (entry.value() / sizes[entry.col()]));
    }
    if (of_sum) entries.emplace_back(static_cast<int>(rows - 1), static_cast<int>(k), 1.0);
    program.cost[k] = factor * (problem.free_term()[row] / largest);
    program.lower[k] = least;
  }
  if (of_sum) program.row_upper[rows - 1] = static_cast<double>(unknowns);
  program.matrix.resize(rows, unknowns);
  program.matrix.setFromTriplets(entries.begin(), entries.end());
  return program;
}

Vector certificate_of(const LinearProgramAnswer& answer, const std::vector<Column>& columns, Index rows) {
  Vector z = Vector::Zero(rows);
  for (std::size_t k = 0; k < columns.size(); ++k)
    z[columns[k].row] = columns[k].factor * answer.x[static_cast<Index>(k)];
  return z;
}

/// The unknowns for the largest bound among certificates with the signs of `z`, or 0: what the bound divides by is the
/// sum of them, but for the friction of further groups.
std::vector<Column> columns_for_bound(const ContactProblem& problem, const Vector& z) {
  const ConeProduct& cones = problem.cones();
  std::vector<Column> columns;
  for (Index block = 0; block < cones.blocks(); ++block) {
    const Index row = cones.normal_row_of(block);
    if (z[row] == 0.0) continue;
    const bool contact = cones.block_kind(block) == BlockKind::contact;
    const double friction =
        contact ? cones.friction()[static_cast<std::size_t>(block - cones.first_contact_row())] : 0.0;
    const long double square = static_cast<long double>(friction) * friction;
    columns.push_back({row, std::copysign(static_cast<double>(1.0L / max_closing(square)), z[row])});
  }
  return columns;
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
  std::vector<Column> columns;
  for (Index row = 0; row < problem.rows(); ++row) {
    const Part part = allowed[static_cast<std::size_t>(row)];
    if (part == Part::none) continue;
    columns.push_back({row, part == Part::at_most_zero ? -1.0 : 1.0, part == Part::free ? -1.0 : 0.0});
  }
  const auto solved = [&](bool of_sum, double seconds) {
    return solve_linear_program(program_of(problem, matrix, sizes, columns, of_sum), seconds);
  };
  const auto judged_answer = [&](const LinearProgramAnswer& answer) {
    Vector z = certificate_of(answer, columns, problem.rows());
    return judged(problem, matrix, sizes, allowed, refined(matrix, sizes, std::move(z), allowed));
  };
  const LinearProgramAnswer any = solved(false, max_seconds);
  if (any.state == LinearProgramAnswer::State::no_library) {
    found.state = State::no_library;
    return found;
  }
  if (any.state == LinearProgramAnswer::State::stopped) {
    found.state = State::undecided;
    return found;
  }
  found = judged_answer(any);
  if (found.state != State::infeasible) return found;
  columns = columns_for_bound(problem, found.certificate);
  if (const LinearProgramAnswer best = solved(true, 0.5 * max_seconds);
      best.state == LinearProgramAnswer::State::optimal) {
    Feasibility better = judged_answer(best);
    if (better.verdict_bound > found.verdict_bound) return better;
  }
  return found;
}

}  // namespace conebench
