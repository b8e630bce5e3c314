#include "solvers/first_order/velocity_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/workers.hpp"
#include "problems/scaled_natural_map.hpp"
#include "solvers/common_options.hpp"

namespace conebench {

namespace {

/// The largest Euclidean norm of a block; NaN where any entry is NaN, which a maximum forgets.
double largest_block_norm(const ConeProduct& cones, const Vector& x) {
  if (!x.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  const Index first = cones.first_contact_row();
  const double scalars = first > 0 ? x.head(first).cwiseAbs().maxCoeff() : 0.0;
  double square = 0.0;
  for (Index i = 0; i < cones.contacts(); ++i) {
    square = std::max(square, x.segment(cones.contact_row(i), cones.contact_rows(i)).squaredNorm());
  }
  return std::max(scalars, std::sqrt(square));
}

Product product_of(const ProductOptions& o) {
  return o.product == "matrix" ? Product::matrix : o.product == "solves" ? Product::solves : Product::automatic;
}

}  // namespace

void declare_product(OptionBinder& bind, ProductOptions& o) {
  bind.choice("product", o.product, {"auto", "matrix", "solves"},
              "G times a vector: by the assembled G, by a solve with M a product (problems given as M and J), or by G "
              "where it is given or sparse and by solves elsewhere");
  declare_threads(bind, o.threads, "that share a product with G");
}

SolverRow with_product_left_out(SolverRow row) {
  return with_default_left_out(with_default_left_out(std::move(row), "product"), "threads");
}

VelocityMap::VelocityMap() = default;
VelocityMap::VelocityMap(VelocityMap&&) noexcept = default;
VelocityMap& VelocityMap::operator=(VelocityMap&&) noexcept = default;
VelocityMap::~VelocityMap() = default;

VelocityMap::VelocityMap(const ContactProblem& problem, bool de_saxce, const ProductOptions& options)
    : problem_(problem), product_(product_of(options)), de_saxce_(de_saxce) {
  if (options.threads > 1) workers_ = std::make_unique<Workers>(static_cast<int>(options.threads));
  velocity_scale_ = reference_velocity(problem.cones(), problem.free_term());
}

void VelocityMap::multiply(ConstVectorRef x, VectorRef y) {
  if (workers_) {
    multiply_by(*workers_, x, y);
  } else {
    switch (product_) {
      case Product::automatic: problem_->multiply(x, y); break;
      case Product::matrix: problem_->blocks().apply(x, y); break;
      case Product::solves: problem_->delassus().apply(x, y); break;
    }
  }
  ++products_;
}

void VelocityMap::multiply_by(Workers& workers, ConstVectorRef x, VectorRef y) {
  switch (product_) {
    case Product::automatic: return problem_->multiply(x, y, workers);
    case Product::matrix: return problem_->blocks().apply(x, y, workers);
    case Product::solves: return problem_->delassus().apply_by(workers, x, y);
  }
}

void VelocityMap::operator()(const Vector& impulse, Vector& velocity) {
  multiply(impulse, velocity);
  velocity += problem_->free_term();
  if (!problem_->rigid()) velocity += problem_->compliance().cwiseProduct(impulse);
  if (de_saxce_) add_de_saxce(problem_->cones(), velocity, velocity);
}

void VelocityMap::multiply_with_compliance(const Vector& x, Vector& y) {
  multiply(x, y);
  if (!problem_->rigid()) y += problem_->compliance().cwiseProduct(x);
}

void VelocityMap::project_step(const Vector& impulse, double rho, const Vector& velocity, Vector& point) const {
  point = impulse - rho * velocity;
  project_cone(problem_->cones(), point, point);
}

double VelocityMap::residual(const Vector& impulse, double rho, const Vector& velocity, Vector& scratch) const {
  project_step(impulse, rho, velocity, scratch);
  scratch -= impulse;
  return largest_block_norm(problem_->cones(), scratch) / (rho * velocity_scale_);
}

double VelocityMap::largest_eigenvalue(int max_products) {
  // Normals lead and differ a little, so that no symmetry of the scene hides the leading eigenvector.
  const ConeProduct& cones = problem_->cones();
  Vector x = Vector::Zero(cones.rows());
  for (Index block = 0; block < cones.blocks(); ++block) {
    x[cones.normal_row_of(block)] = 1.0 + 0.1 * static_cast<double>(block % 7);
    if (cones.block_size(block) > 1) x[cones.block_row(block)] = 0.3;
  }
  Vector y(cones.rows());
  double largest = 0.0;
  for (int k = 0; k < max_products && x.norm() > 0.0; ++k) {
    x.normalize();
    multiply(x, y);
    y += problem_->compliance().cwiseProduct(x);
    const double before = std::exchange(largest, y.norm());
    if (std::abs(largest - before) <= 0.01 * largest) break;
    x = y;
  }
  return largest;
}

std::optional<std::string> VelocityMapSolver::unsupported_reason(const ContactProblem& problem) const {
  return unsupported_by_flags(info_, problem);
}

bool VelocityMapSolver::needs_matrix(const ContactProblem& problem) const {
  const Product product = product_of(product_);
  return product == Product::automatic ? problem.condenses_sparsely() : product == Product::matrix;
}

Result<void> VelocityMapSolver::prepare_map(const ContactProblem& problem, bool de_saxce,
                                            std::initializer_list<Vector*> vectors) {
  if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
  map_ = VelocityMap(problem, de_saxce, product_);
  for (Vector* const vector : vectors) vector->setZero(problem.rows());
  return {};
}

}  // namespace conebench
