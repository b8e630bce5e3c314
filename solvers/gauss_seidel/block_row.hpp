#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstring>

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

/// Four doubles in a vector register (two where the processor has no AVX).
using Lanes = double __attribute__((vector_size(4 * sizeof(double))));

/// sum += 4 doubles at `values` × x, without a store between.
inline void add_scaled(Lanes& sum, const double* values, double x) {
  Lanes loaded;
  std::memcpy(&loaded, values, sizeof(loaded));
  sum += loaded * x;
}

/// Σ over the row's blocks, 3D. Streams 72 bytes a block in six independent chains of 4-lane products, and reads no
/// lane outside the block: the third column is loaded one lane early, so its sum stands one lane higher.
inline ContactVector<3> contact_row_product(const BlockRow& row, const ContactVector<3>& start) {
  double sum[3] = {start[0], start[1], start[2]};
  const double* value = row.values;
  for (int k = 0; k < row.scalars; ++k, value += 3) {
    const double x = row.impulse[row.columns[k]];
    for (int r = 0; r < 3; ++r) sum[r] += value[r] * x;
  }
  Lanes chains[6] = {};
  const int* column = row.columns + row.scalars;
  const auto impulse_of = [&](int k) {
    return row.impulse + (row.offset + 3 * static_cast<std::ptrdiff_t>(column[k]));
  };
  int k = 0;
  for (; k + 1 < row.contacts; k += 2, value += 18) {
    const double* x = impulse_of(k);
    const double* y = impulse_of(k + 1);
    add_scaled(chains[0], value, x[0]);
    add_scaled(chains[1], value + 3, x[1]);
    add_scaled(chains[2], value + 5, x[2]);
    add_scaled(chains[3], value + 9, y[0]);
    add_scaled(chains[4], value + 12, y[1]);
    add_scaled(chains[5], value + 14, y[2]);
  }
  if (k < row.contacts) {
    const double* x = impulse_of(k);
    add_scaled(chains[0], value, x[0]);
    add_scaled(chains[1], value + 3, x[1]);
    add_scaled(chains[2], value + 5, x[2]);
  }
  const Lanes low = (chains[0] + chains[1]) + (chains[3] + chains[4]);
  const Lanes high = chains[2] + chains[5];
  return {sum[0] + low[0] + high[1], sum[1] + low[1] + high[2], sum[2] + low[2] + high[3]};
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
