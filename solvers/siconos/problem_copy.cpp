#include "solvers/siconos/problem_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace conebench::siconos {

ProblemCopy::ProblemCopy(const Library& library, const ContactProblem& problem, Storage storage, Units units)
    : library_(library), storage_(storage) {
  const BlockSparseMatrix& g = problem.blocks();
  const int dimension = problem.cones().contact_dimension();
  block_size_ = static_cast<std::size_t>(dimension * dimension);
  normal_ = problem.cones().contacts() > 0 ? problem.cones().normal_of(0) : 0;

  values_.resize(block_size_ * static_cast<std::size_t>(g.stored_blocks()));
  for (Index row = 0; row < g.block_rows(); ++row) {
    row_begin_.push_back(static_cast<std::size_t>(g.row_begin(row)));
    for (Index k = g.row_begin(row); k < g.row_begin(row + 1); ++k) {
      columns_.push_back(static_cast<std::size_t>(g.column(k)));
      const auto block = g.block(row, k);
      double* value = values(k);
      for (int j = 0; j < dimension; ++j) {
        for (int i = 0; i < dimension; ++i) *value++ = block(ours(i), ours(j));
      }
    }
    double* const diagonal = values(g.diagonal(row));
    for (int i = 0; i < dimension; ++i) {
      diagonal[i * (dimension + 1)] += problem.compliance()[g.block_offset(row) + ours(i)];
    }
  }
  row_begin_.push_back(static_cast<std::size_t>(g.stored_blocks()));

  if (units == Units::free) set_units(problem);

  problem_.dimension = dimension;
  problem_.numberOfContacts = static_cast<int>(problem.cones().contacts());
  free_term_.resize(static_cast<std::size_t>(problem.rows()));
  to_siconos(problem.free_term(), free_term_, velocity_unit_);
  friction_.assign(problem.cones().friction().begin(), problem.cones().friction().end());
  problem_.q = free_term_.data();
  problem_.mu = friction_.data();
  kept_values_ = values_;
  kept_free_term_ = free_term_;
  switch (storage) {
    case Storage::block: make_block(); break;
    case Storage::sparse: make_sparse(); break;
    case Storage::dense: make_dense(); break;
  }
  problem_.M = matrix_;
  rolling_friction_ = problem.cones().rolling_friction();
  rolling_problem_ = {problem_.dimension, problem_.numberOfContacts, matrix_,
                      free_term_.data(),  friction_.data(),          rolling_friction_.data()};
}

void ProblemCopy::set_units(const ContactProblem& problem) {
  if (const double largest = problem.free_term().lpNorm<Eigen::Infinity>(); largest > 0.0) velocity_unit_ = largest;
  const BlockSparseMatrix& g = problem.blocks();
  const int dimension = problem.cones().contact_dimension();
  double trace = 0.0;
  for (Index row = 0; row < g.block_rows(); ++row) {
    for (int i = 0; i < dimension; ++i) trace += values(g.diagonal(row))[i * (dimension + 1)];
  }
  impulse_unit_ = velocity_unit_ * (trace > 0.0 ? static_cast<double>(problem.rows()) / trace : 1.0);
  for (double& value : values_) value *= impulse_unit_ / velocity_unit_;
}

ProblemCopy::~ProblemCopy() {
  if (storage_ == Storage::block) {
    std::free(blocks_.diagonal_blocks);  // made by Siconos
    matrix_->matrix1 = nullptr;          // borrowed
  }
  library_.NM_clear(matrix_);
  std::free(matrix_);
}

void ProblemCopy::make_block() {
  const std::size_t size = row_begin_.size() - 1;
  const auto dimension = static_cast<BlockEnd>(problem_.dimension);
  for (std::size_t k = 0; k < columns_.size(); ++k) block_pointers_.push_back(values(static_cast<Index>(k)));
  for (BlockEnd i = 1; i <= size; ++i) block_ends_.push_back(i * dimension);
  blocks_.nbblocks = static_cast<unsigned int>(columns_.size());
  blocks_.block = block_pointers_.data();
  blocks_.blocknumber0 = blocks_.blocknumber1 = static_cast<unsigned int>(size);
  blocks_.blocksize0 = blocks_.blocksize1 = block_ends_.data();
  blocks_.filled1 = size + 1;
  blocks_.filled2 = columns_.size();
  blocks_.index1_data = row_begin_.data();
  blocks_.index2_data = columns_.data();
  const int rows = static_cast<int>(this->rows());
  matrix_ = library_.NM_create_from_data(NM_SPARSE_BLOCK, rows, rows, &blocks_);
}

void ProblemCopy::make_dense() {
  const auto rows = static_cast<int>(this->rows());
  matrix_ = library_.NM_create(NM_DENSE, rows, rows);
  restore();
}

void ProblemCopy::make_sparse() {
  const auto rows = static_cast<int>(this->rows());
  matrix_ = library_.NM_create(NM_SPARSE, rows, rows);
  library_.NM_csc_alloc(matrix_, static_cast<CS_INT>(values_.size()));
  matrix_->matrix2->origin = NSM_CSC;
  restore();
}

void ProblemCopy::restore() {
  free_term_ = kept_free_term_;
  values_ = kept_values_;
  const auto dimension = static_cast<std::size_t>(problem_.dimension);
  const auto rows = static_cast<std::size_t>(this->rows());
  if (storage_ == Storage::dense) {
    for (std::size_t row = 0; row + 1 < row_begin_.size(); ++row) {
      for (std::size_t k = row_begin_[row]; k < row_begin_[row + 1]; ++k) {
        const double* value = values(static_cast<Index>(k));
        for (std::size_t j = 0; j < dimension; ++j, value += dimension) {
          std::copy_n(value, dimension, matrix_->matrix0 + (columns_[k] * dimension + j) * rows + row * dimension);
        }
      }
    }
  } else if (storage_ == Storage::sparse) {
    CSparseMatrix& csc = *matrix_->matrix2->csc;
    // Counting sort of the blocks by columns; within a column, rows ascend as they come.
    std::vector<CS_INT> next(rows + 1, 0);
    for (const std::size_t column : columns_) {
      for (std::size_t j = 1; j <= dimension; ++j) next[column * dimension + j] += static_cast<CS_INT>(dimension);
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::copy(next.begin(), next.end(), csc.p);
    for (std::size_t row = 0; row + 1 < row_begin_.size(); ++row) {
      for (std::size_t k = row_begin_[row]; k < row_begin_[row + 1]; ++k) {
        const double* value = values(static_cast<Index>(k));
        for (std::size_t j = 0; j < dimension; ++j) {
          CS_INT& index = next[columns_[k] * dimension + j];
          for (std::size_t i = 0; i < dimension; ++i, ++index) {
            csc.i[index] = static_cast<CS_INT>(row * dimension + i);
            csc.x[index] = *value++;
          }
        }
      }
    }
  }
}

void ProblemCopy::to_siconos(ConstVectorRef values, std::vector<double>& theirs, double unit) const {
  const Index dimension = problem_.dimension;
  for (Index row = 0; row < values.size(); row += dimension) {
    for (int i = 0; i < dimension; ++i) theirs[static_cast<std::size_t>(row + i)] = values[row + ours(i)] / unit;
  }
}

void ProblemCopy::from_siconos(const std::vector<double>& theirs, VectorRef impulse) const {
  const Index dimension = problem_.dimension;
  for (Index row = 0; row < impulse.size(); row += dimension) {
    for (int i = 0; i < dimension; ++i) {
      impulse[row + ours(i)] = theirs[static_cast<std::size_t>(row + i)] * impulse_unit_;
    }
  }
}

}  // namespace conebench::siconos
