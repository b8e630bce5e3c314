#include "problems/delassus_operator.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <stdexcept>
#include <string>

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
    if (cones.blocks() == matrix_.block_rows() && cones.rows() == matrix_.rows()) return matrix_;
    return BlockSparseMatrix::from_sparse(matrix_.sparse(), cones);
  }
  Matrix dense() const override { return matrix_.dense(); }

 private:
  BlockSparseMatrix matrix_;
};

/// Keeps Y = M⁻¹ Jᵀ (sparse) beside J, so that a product is two sparse products.
class FactoredDelassus final : public DelassusOperator {
 public:
  FactoredDelassus(SparseMatrix jacobian, const SparseMatrix& inverse_mass_jacobian_transposed)
      : jacobian_(std::move(jacobian)), inverse_mass_jacobian_transposed_(inverse_mass_jacobian_transposed) {}
  DelassusForm form() const override { return DelassusForm::factored; }
  Index size() const override { return jacobian_.rows(); }
  void apply(ConstVectorRef impulse, VectorRef velocity) const override {
    // A workspace of the thread, so that the shared operator stays immutable and products don't allocate.
    thread_local Vector generalised;
    if (generalised.size() < jacobian_.cols()) generalised.resize(jacobian_.cols());
    auto v = generalised.head(jacobian_.cols());
    v.noalias() = inverse_mass_jacobian_transposed_ * impulse;
    velocity.noalias() = jacobian_ * v;
  }
  BlockSparseMatrix assemble(const ConeProduct& cones) const override {
    return BlockSparseMatrix::from_sparse(product(), cones);
  }
  Matrix dense() const override { return Matrix(product()); }

 private:
  Eigen::SparseMatrix<double, Eigen::RowMajor> product() const {
    return jacobian_ * SparseMatrix(inverse_mass_jacobian_transposed_);
  }
  Eigen::SparseMatrix<double, Eigen::RowMajor> jacobian_;
  Eigen::SparseMatrix<double, Eigen::RowMajor> inverse_mass_jacobian_transposed_;
};

bool symmetric(const SparseMatrix& matrix) {
  if (matrix.rows() == 0) return true;
  const SparseMatrix transposed = matrix.transpose();
  return SparseMatrix(matrix - transposed).norm() <= 1e-12 * matrix.norm();
}

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
    return Error{ErrorCode::bad_input, "J M^-1 J^T: M is " + std::to_string(mass.rows()) + " x " +
                                           std::to_string(mass.cols()) + " and J is " +
                                           std::to_string(jacobian.rows()) + " x " + std::to_string(jacobian.cols())};
  }
  const SparseMatrix transposed = jacobian.transpose();
  if (symmetric(mass)) {
    Eigen::SimplicialLLT<SparseMatrix> cholesky(mass);
    if (cholesky.info() == Eigen::Success) {
      return std::shared_ptr<const DelassusOperator>(
          std::make_shared<FactoredDelassus>(jacobian, cholesky.solve(transposed)));
    }
  }
  Eigen::SparseLU<SparseMatrix> lu(mass);
  if (lu.info() != Eigen::Success) {
    return Error{ErrorCode::bad_input,
                 "J M^-1 J^T: the mass matrix M is singular, so the Delassus matrix does not exist"};
  }
  const SparseMatrix solution = lu.solve(transposed);
  if (!Matrix(solution * Vector::Ones(solution.cols())).allFinite()) {
    return Error{ErrorCode::bad_input,
                 "J M^-1 J^T: the mass matrix M is singular, so the Delassus matrix does not exist"};
  }
  return std::shared_ptr<const DelassusOperator>(std::make_shared<FactoredDelassus>(jacobian, solution));
}

}  // namespace conebench
