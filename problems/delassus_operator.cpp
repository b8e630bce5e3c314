#include "problems/delassus_operator.hpp"

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "problems/factored_delassus.hpp"

namespace conebench {

namespace {

class DenseDelassus final : public DelassusOperator {
 public:
  explicit DenseDelassus(Matrix matrix) : matrix_(std::move(matrix)) {
    if (matrix_.rows() != matrix_.cols()) throw std::invalid_argument("dense Delassus matrix: not square");
  }
  DelassusForm form() const override { return DelassusForm::dense; }
  Index size() const override { return matrix_.rows(); }
  void apply(ConstVectorRef impulse, VectorRef velocity) const override { velocity.noalias() = matrix_ * impulse; }
  BlockSparseMatrix assemble(const ConeProduct& cones) const override {
    return BlockSparseMatrix::from_dense(matrix_, cones);
  }
  Matrix dense() const override { return matrix_; }

 private:
  Matrix matrix_;
};

class BlockSparseDelassus final : public DelassusOperator {
 public:
  explicit BlockSparseDelassus(BlockSparseMatrix matrix) : matrix_(std::move(matrix)) {}
  DelassusForm form() const override { return DelassusForm::block_sparse; }
  Index size() const override { return matrix_.rows(); }
  void apply(ConstVectorRef impulse, VectorRef velocity) const override { matrix_.apply(impulse, velocity); }
  BlockSparseMatrix assemble(const ConeProduct& cones) const override {
    if (matrix_.fits(cones)) return matrix_;
    return BlockSparseMatrix::from_sparse(matrix_.sparse(), cones);
  }
  Matrix dense() const override { return matrix_.dense(); }

 private:
  BlockSparseMatrix matrix_;
};

using RowSparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// A workspace of the thread, so that a shared operator stays immutable and products don't allocate.
double* thread_workspace(Index size) {
  thread_local Vector workspace;
  if (workspace.size() < size) workspace.resize(size);
  return workspace.data();
}

/// Keeps Y = M⁻¹ Jᵀ (sparse) beside J, so that a product is two sparse products.
class FactoredDelassus final : public DelassusOperator {
 public:
  FactoredDelassus(const SparseMatrix& jacobian, const SparseMatrix& inverse_mass_jacobian_transposed)
      : jacobian_(jacobian), inverse_mass_jacobian_transposed_(inverse_mass_jacobian_transposed) {
    thread_workspace(jacobian_.cols());
  }
  DelassusForm form() const override { return DelassusForm::factored; }
  Index size() const override { return jacobian_.rows(); }
  void apply(ConstVectorRef impulse, VectorRef velocity) const override {
    Eigen::Map<Vector> generalised(thread_workspace(jacobian_.cols()), jacobian_.cols());
    generalised.noalias() = inverse_mass_jacobian_transposed_ * impulse;
    velocity.noalias() = jacobian_ * generalised;
  }
  BlockSparseMatrix assemble(const ConeProduct& cones) const override {
    return BlockSparseMatrix::from_sparse(product(), cones);
  }
  Matrix dense() const override { return Matrix(product()); }

 private:
  RowSparse product() const { return jacobian_ * inverse_mass_jacobian_transposed_; }

  RowSparse jacobian_;
  RowSparse inverse_mass_jacobian_transposed_;
};

bool all_finite(const SparseMatrix& matrix) {
  for (Index j = 0; j < matrix.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(matrix, j); it; ++it) {
      if (!std::isfinite(it.value())) return false;
    }
  }
  return true;
}

Error bad_mass(const std::string& what) { return Error{ErrorCode::bad_input, "J M^-1 J^T: " + what}; }

Error singular_mass() { return bad_mass("the mass matrix M is singular, so the Delassus matrix does not exist"); }

}  // namespace

std::shared_ptr<const DelassusOperator> make_dense_delassus(Matrix matrix) {
  return std::make_shared<DenseDelassus>(std::move(matrix));
}

std::shared_ptr<const DelassusOperator> make_block_sparse_delassus(BlockSparseMatrix matrix) {
  return std::make_shared<BlockSparseDelassus>(std::move(matrix));
}

Result<std::shared_ptr<const DelassusOperator>> make_factored_delassus(const SparseMatrix& mass,
                                                                       const SparseMatrix& jacobian) {
  if (mass.rows() != mass.cols() || jacobian.cols() != mass.rows()) {
    return bad_mass("M is " + std::to_string(mass.rows()) + " x " + std::to_string(mass.cols()) + " and J is " +
                    std::to_string(jacobian.rows()) + " x " + std::to_string(jacobian.cols()));
  }
  if (!all_finite(mass)) return bad_mass("the mass matrix M has entries that are not finite");
  if (!all_finite(jacobian)) return bad_mass("the Jacobian J has entries that are not finite");
  const auto factor = FactoredMass::create(mass);
  if (!factor) return singular_mass();
  return make_factored_delassus(*factor, jacobian);
}

Result<std::shared_ptr<const DelassusOperator>> make_factored_delassus(const FactoredMass& mass,
                                                                       const SparseMatrix& jacobian) {
  if (mass.size() != jacobian.cols()) {
    return bad_mass("M is " + std::to_string(mass.size()) + " x " + std::to_string(mass.size()) + " and J is " +
                    std::to_string(jacobian.rows()) + " x " + std::to_string(jacobian.cols()));
  }
  if (!all_finite(jacobian)) return bad_mass("the Jacobian J has entries that are not finite");
  const SparseMatrix solution = mass.solve(SparseMatrix(jacobian.transpose()));
  if (!all_finite(solution)) return singular_mass();
  return std::shared_ptr<const DelassusOperator>(std::make_shared<FactoredDelassus>(jacobian, solution));
}

}  // namespace conebench
