#include "problems/delassus_operator.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/workers.hpp"
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
  void apply_by(Workers& workers, ConstVectorRef impulse, VectorRef velocity) const override {
    matrix_.apply(impulse, velocity, workers);
  }
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

/// J M⁻¹ Jᵀ, with M's factor.
class WithFactoredMass : public DelassusOperator {
 public:
  explicit WithFactoredMass(FactoredMass mass) : mass_(std::move(mass)) {}
  DelassusForm form() const final { return DelassusForm::factored; }
  const FactoredMass& mass() const { return mass_; }

 private:
  FactoredMass mass_;
};

/// J M⁻¹ Jᵀ where M falls apart in small blocks: keeps Y = M⁻¹ Jᵀ (sparse) beside J, so that a product is two sparse
/// products.
class SparselyFactoredDelassus final : public WithFactoredMass {
 public:
  SparselyFactoredDelassus(FactoredMass mass, const SparseMatrix& jacobian,
                           const SparseMatrix& inverse_mass_jacobian_transposed)
      : WithFactoredMass(std::move(mass)),
        jacobian_(jacobian),
        inverse_mass_jacobian_transposed_(inverse_mass_jacobian_transposed) {
    thread_workspace(jacobian_.cols());
  }
  Index size() const override { return jacobian_.rows(); }
  void apply(ConstVectorRef impulse, VectorRef velocity) const override {
    Eigen::Map<Vector> generalised(thread_workspace(jacobian_.cols()), jacobian_.cols());
    generalised.noalias() = inverse_mass_jacobian_transposed_ * impulse;
    velocity.noalias() = jacobian_ * generalised;
  }
  void apply_by(Workers& workers, ConstVectorRef impulse, VectorRef velocity) const override {
    Eigen::Map<Vector> generalised(thread_workspace(jacobian_.cols()), jacobian_.cols());
    share_rows(inverse_mass_jacobian_transposed_, impulse, generalised, workers);
    share_rows(jacobian_, generalised, velocity, workers);
  }
  BlockSparseMatrix assemble(const ConeProduct& cones) const override {
    return BlockSparseMatrix::from_sparse(product(jacobian_), cones);
  }
  Matrix dense() const override { return Matrix(product(jacobian_)); }

  /// Some rows at a time by the product that assembles, so that the two agree to the last bit. Each call of it passes
  /// over as many numbers as there are rows.
  DiagonalBlocks diagonal(const ConeProduct& cones) const override {
    DiagonalBlocks result(cones);
    constexpr Index calls = 64;
    const Index at_once = std::max<Index>(1, result.count() / calls);
    for (Index from = 0; from < result.count(); from += at_once) {
      const Index to = std::min(from + at_once, result.count());
      const Index begin = result.row(from), end = result.row(to - 1) + result.size(to - 1);
      const RowSparse rows = product(jacobian_.middleRows(begin, end - begin));
      for (Index i = from; i < to; ++i)
        copy_block(rows, result.row(i) - begin, result.row(i), result.size(i), result.values(i));
    }
    return result;
  }

 private:
  static void share_rows(const RowSparse& matrix, ConstVectorRef x, VectorRef y, Workers& workers) {
    workers.run(static_cast<std::size_t>(matrix.rows()), [&](std::size_t first, std::size_t end) {
      const auto begin = static_cast<Index>(first), rows = static_cast<Index>(end - first);
      y.segment(begin, rows).noalias() = matrix.middleRows(begin, rows) * x;
    });
  }
  RowSparse product(const RowSparse& rows) const { return rows * inverse_mass_jacobian_transposed_; }

  /// The entries of `from` at row … row + size − 1 and column … column + size − 1, to a block of zeros.
  static void copy_block(const RowSparse& from, Index row, Index column, int size, double* to) {
    for (int r = 0; r < size; ++r) {
      for (RowSparse::InnerIterator it(from, row + r); it; ++it) {
        if (it.col() >= column && it.col() < column + size) to[(it.col() - column) * size + r] = it.value();
      }
    }
  }

  RowSparse jacobian_;
  RowSparse inverse_mass_jacobian_transposed_;
};

/// J M⁻¹ Jᵀ where M is one piece, as of an elastic body: M⁻¹ Jᵀ would be dense, so a product solves with M.
class FactoredDelassus final : public WithFactoredMass {
 public:
  FactoredDelassus(FactoredMass mass, const SparseMatrix& jacobian)
      : WithFactoredMass(std::move(mass)), jacobian_(jacobian), jacobian_transposed_(jacobian.transpose()) {
    thread_workspace(jacobian_.cols());
  }
  Index size() const override { return jacobian_.rows(); }
  bool assembles_sparsely() const override { return false; }
  void apply(ConstVectorRef impulse, VectorRef velocity) const override {
    Eigen::Map<Vector> generalised(thread_workspace(jacobian_.cols()), jacobian_.cols());
    generalised.noalias() = jacobian_transposed_ * impulse;
    mass().solve_in_place(generalised);
    velocity.noalias() = jacobian_ * generalised;
  }
  BlockSparseMatrix assemble(const ConeProduct& cones) const override {
    return BlockSparseMatrix::from_dense(dense(), cones);
  }
  Matrix dense() const override {
    Matrix result(size(), size());
    Matrix columns;
    for (Index first = 0; first < size(); first += columns_at_once) {
      const Index count = std::min(columns_at_once, size() - first);
      columns = Matrix(jacobian_transposed_.middleCols(first, count));
      mass().solve_in_place(columns);
      result.middleCols(first, count).noalias() = jacobian_ * columns;
    }
    return result;
  }
  /// By forward solves alone where M is symmetric.
  DiagonalBlocks diagonal(const ConeProduct& cones) const override {
    DiagonalBlocks result(cones);
    if (mass().has_root()) {
      mass().fill_diagonal(jacobian_transposed_, result);
      return result;
    }
    for (Index from = 0; from < result.count();) {
      const Index first = result.row(from);
      Index to = from + 1;
      const auto end = [&](Index block) { return result.row(block) + result.size(block); };
      while (to < result.count() && end(to) - first <= columns_at_once) ++to;
      Matrix columns(jacobian_transposed_.middleCols(first, end(to - 1) - first));
      mass().solve_in_place(columns);
      for (; from < to; ++from) {
        const Index row = result.row(from);
        const int size = result.size(from);
        Eigen::Map<Matrix>(result.values(from), size, size) =
            jacobian_.middleRows(row, size) * columns.middleCols(row - first, size);
      }
    }
    return result;
  }

 private:
  static constexpr Index columns_at_once = 48;

  RowSparse jacobian_;
  SparseMatrix jacobian_transposed_;
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
  if (!mass.in_small_blocks()) {
    return std::shared_ptr<const DelassusOperator>(std::make_shared<FactoredDelassus>(mass, jacobian));
  }
  const SparseMatrix solution = mass.solve(SparseMatrix(jacobian.transpose()));
  if (!all_finite(solution)) return singular_mass();
  return std::shared_ptr<const DelassusOperator>(std::make_shared<SparselyFactoredDelassus>(mass, jacobian, solution));
}

const FactoredMass& mass_of(const DelassusOperator& factored) {
  if (factored.form() != DelassusForm::factored) throw std::invalid_argument("mass_of: M is not part of this form");
  return static_cast<const WithFactoredMass&>(factored).mass();
}

}  // namespace conebench
