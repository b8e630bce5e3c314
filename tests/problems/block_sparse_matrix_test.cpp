#include "problems/block_sparse_matrix.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenes/random_source.hpp"
#include "tests/support/allocation_counter.hpp"

namespace conebench {
namespace {

using RowSparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

struct Sample {
  ConeProduct cones;
  Matrix matrix;
};

/// A random matrix, part of whose blocks are zero, over random cones.
Sample any_sample() {
  const auto joints = *rc::gen::inRange<Index>(0, 4);
  const auto limits = *rc::gen::inRange<Index>(0, 4);
  const auto contacts = *rc::gen::inRange<std::size_t>(0, 6);
  const int dimension = *rc::gen::element(2, 3);
  RandomSource random(*rc::gen::arbitrary<std::uint64_t>());
  Sample sample{ConeProduct::create(joints, limits, std::vector<double>(contacts, 0.5), dimension).value(), {}};
  const ConeProduct& cones = sample.cones;
  sample.matrix = Matrix::Zero(cones.rows(), cones.rows());
  for (Index i = 0; i < cones.blocks(); ++i) {
    for (Index j = 0; j < cones.blocks(); ++j) {
      if (random.uniform() < 0.5) continue;
      for (int r = 0; r < cones.block_size(i); ++r) {
        for (int c = 0; c < cones.block_size(j); ++c) {
          if (random.uniform() < 0.8) sample.matrix(cones.block_row(i) + r, cones.block_row(j) + c) = random.normal();
        }
      }
    }
  }
  return sample;
}

void expect_same(const BlockSparseMatrix& a, const BlockSparseMatrix& b) {
  RC_ASSERT(std::ranges::equal(a.row_begins(), b.row_begins()));
  RC_ASSERT(std::ranges::equal(a.columns(), b.columns()));
  RC_ASSERT(std::ranges::equal(a.values(), b.values()));
}

RC_GTEST_PROP(BlockSparseMatrixProperty, AgreesWithTheDenseMatrix, ()) {
  const auto [cones, matrix] = any_sample();
  const auto blocks = BlockSparseMatrix::from_dense(matrix, cones);
  RC_ASSERT(blocks.fits(cones));
  RC_ASSERT(blocks.dense() == matrix);
  RC_ASSERT(Matrix(blocks.sparse()) == matrix);
  expect_same(blocks, BlockSparseMatrix::from_sparse(matrix.sparseView(), cones));

  const Vector x = Vector::LinSpaced(cones.rows(), -1.0, 2.0);
  Vector y = Vector::Constant(cones.rows(), 7.0);
  blocks.apply(x, y);
  RC_ASSERT((y - matrix * x).norm() <= 1e-13 * (1.0 + matrix.norm() * x.norm()));
}

RC_GTEST_PROP(BlockSparseMatrixProperty, RowsAscendAndHoldTheirDiagonal, ()) {
  const auto [cones, matrix] = any_sample();
  const auto blocks = BlockSparseMatrix::from_dense(matrix, cones);
  RC_ASSERT(blocks.block_rows() == cones.blocks());
  for (Index b = 0; b < blocks.block_rows(); ++b) {
    RC_ASSERT(blocks.column(blocks.diagonal(b)) == b);
    RC_ASSERT(blocks.find(b, b) == blocks.diagonal(b));
    for (Index k = blocks.row_begin(b); k + 1 < blocks.row_begin(b + 1); ++k) {
      RC_ASSERT(blocks.column(k) < blocks.column(k + 1));
    }
    for (Index c = 0; c < blocks.block_rows(); ++c) {
      const bool stored = blocks.find(b, c) >= 0;
      const bool zero =
          matrix.block(cones.block_row(b), cones.block_row(c), cones.block_size(b), cones.block_size(c)).isZero(0.0);
      RC_ASSERT(stored == (!zero || b == c));
    }
  }
}

RC_GTEST_PROP(BlockSparseMatrixProperty, MeasuresAndRemovesAsymmetry, ()) {
  const auto [cones, matrix] = any_sample();
  const auto blocks = BlockSparseMatrix::from_dense(matrix, cones);
  const double expected = matrix.norm() > 0.0 ? (matrix - matrix.transpose()).norm() / matrix.norm() : 0.0;
  RC_ASSERT(std::abs(blocks.symmetry_error() - expected) <= 1e-14);
  const auto symmetric = blocks.symmetrised();
  RC_ASSERT(symmetric.symmetry_error() == 0.0);
  RC_ASSERT(symmetric.dense() == Matrix(0.5 * (matrix + matrix.transpose())));
  expect_same(symmetric, symmetric.symmetrised());
}

TEST(BlockSparseMatrix, AddsRepeatedEntriesAndKeepsExplicitZeros) {
  const auto cones = ConeProduct::create(0, 0, {0.5, 0.5}).value();
  RowSparse matrix(6, 6);
  matrix.reserve(3);
  matrix.startVec(0);
  matrix.insertBackByOuterInnerUnordered(0, 4) = 1.0;
  matrix.insertBackByOuterInnerUnordered(0, 1) = 0.0;
  matrix.insertBackByOuterInnerUnordered(0, 4) = 2.0;
  for (int row = 1; row < 6; ++row) matrix.startVec(row);
  matrix.finalize();
  const auto blocks = BlockSparseMatrix::from_sparse(matrix, cones);
  EXPECT_EQ(blocks.stored_blocks(), 3);
  EXPECT_EQ(blocks.dense()(0, 4), 3.0);
}

TEST(BlockSparseMatrix, MayBeEmpty) {
  const auto cones = ConeProduct::create(0, 0, {}).value();
  const auto blocks = BlockSparseMatrix::from_dense(Matrix(0, 0), cones);
  EXPECT_EQ(blocks.rows(), 0);
  EXPECT_EQ(blocks.block_rows(), 0);
  Vector none(0);
  blocks.apply(none, none);
  EXPECT_EQ(blocks.symmetry_error(), 0.0);
  EXPECT_EQ(blocks.symmetrised().rows(), 0);
  EXPECT_EQ(BlockSparseMatrix().rows(), 0);
}

TEST(BlockSparseMatrix, RefusesAnotherSize) {
  const auto cones = ConeProduct::create(1, 0, {0.5}).value();
  EXPECT_THROW(BlockSparseMatrix::from_dense(Matrix::Zero(3, 3), cones), std::invalid_argument);
  EXPECT_THROW(BlockSparseMatrix::from_sparse(RowSparse(4, 5), cones), std::invalid_argument);
}

TEST(BlockSparseMatrix, DistinguishesBlocksOfEqualCountAndRows) {
  // Two limits and a spatial contact, one limit and two planar contacts: three blocks and five rows each.
  const auto spatial = ConeProduct::create(0, 2, {0.5}, 3).value();
  const auto planar = ConeProduct::create(0, 1, {0.5, 0.5}, 2).value();
  const auto blocks = BlockSparseMatrix::from_dense(Matrix::Identity(5, 5), spatial);
  EXPECT_TRUE(blocks.fits(spatial));
  EXPECT_FALSE(blocks.fits(planar));
}

TEST(BlockSparseMatrix, ProductDoesNotAllocate) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (const int dimension : {2, 3}) {
    const auto cones = ConeProduct::create(2, 1, {0.5, 0.5}, dimension).value();
    const auto blocks = BlockSparseMatrix::from_dense(Matrix::Random(cones.rows(), cones.rows()), cones);
    const Vector x = Vector::Ones(cones.rows());
    Vector y(cones.rows());
    const long before = testing::allocation_count();
    blocks.apply(x, y);
    EXPECT_EQ(testing::allocation_count(), before);
  }
}

}  // namespace
}  // namespace conebench
