#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "problems/cone_projection.hpp"

namespace conebench::gauss_seidel {

/// One block row of G times the impulse, for the rows of a contact or one scalar row. The row's scalar columns (joints,
/// limits) come first, its contact columns after; values lie one block after the other, column by column, as
/// BlockSparseMatrix stores them.
struct BlockRow {
  const int* columns;     ///< block columns of the whole row
  const double* values;   ///< first value of the row
  int scalars;            ///< number of 1-column blocks
  int contacts;           ///< number of Dim-column blocks
  const double* impulse;  ///< λ, all rows
  std::ptrdiff_t offset;  ///< contact column c's impulse begins at offset + Dim c
};

/// Σ over the row's blocks, 3D. Streams 72 bytes a block: three independent chains of 4-lane products, and no lane read
/// outside the block (the third column is loaded one lane early, so its sum stands one lane higher).
inline ContactVector<3> contact_row_product(const BlockRow& row, const ContactVector<3>& start) {
  using Lanes = Eigen::Matrix<double, 4, 1>;
  using Load = Eigen::Map<const Lanes>;
  ContactVector<3> sum = start;
  const double* value = row.values;
  for (int k = 0; k < row.scalars; ++k, value += 3) {
    sum += Eigen::Map<const ContactVector<3>>(value) * row.impulse[row.columns[k]];
  }
  Lanes first = Lanes::Zero();
  Lanes second = Lanes::Zero();
  Lanes third = Lanes::Zero();
  const int* column = row.columns + row.scalars;
  for (int k = 0; k < row.contacts; ++k, value += 9) {
    const double* x = row.impulse + (row.offset + 3 * static_cast<std::ptrdiff_t>(column[k]));
    first += Load(value) * x[0];
    second += Load(value + 3) * x[1];
    third += Load(value + 5) * x[2];
  }
  const Lanes both = first + second;
  return sum + both.head<3>() + third.tail<3>();
}

inline ContactVector<2> contact_row_product(const BlockRow& row, const ContactVector<2>& start) {
  ContactVector<2> sum = start;
  const double* value = row.values;
  for (int k = 0; k < row.scalars; ++k, value += 2) {
    sum += Eigen::Map<const ContactVector<2>>(value) * row.impulse[row.columns[k]];
  }
  ContactVector<2> second = ContactVector<2>::Zero();
  const int* column = row.columns + row.scalars;
  for (int k = 0; k < row.contacts; ++k, value += 4) {
    const double* x = row.impulse + (row.offset + 2 * static_cast<std::ptrdiff_t>(column[k]));
    sum += Eigen::Map<const ContactVector<2>>(value) * x[0];
    second += Eigen::Map<const ContactVector<2>>(value + 2) * x[1];
  }
  return sum + second;
}

/// The same for one scalar row: 1×1 blocks, then 1×Dim blocks.
template <int Dim>
double scalar_row_product(const BlockRow& row, double start) {
  double sum = start;
  for (int k = 0; k < row.scalars; ++k) sum += row.values[k] * row.impulse[row.columns[k]];
  const double* value = row.values + row.scalars;
  const int* column = row.columns + row.scalars;
  for (int k = 0; k < row.contacts; ++k, value += Dim) {
    const double* x = row.impulse + (row.offset + Dim * static_cast<std::ptrdiff_t>(column[k]));
    for (int c = 0; c < Dim; ++c) sum += value[c] * x[c];
  }
  return sum;
}

}  // namespace conebench::gauss_seidel
