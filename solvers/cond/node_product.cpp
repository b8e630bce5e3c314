#include "solvers/cond/node_product.hpp"

#include <algorithm>

namespace conebench::cond {

namespace {

/// Whether columns c to c + 2 have the same rows, in runs of three.
bool is_node(const SparseMatrix& a, Index c) {
  if (c + 3 > a.cols()) return false;
  const int* const outer = a.outerIndexPtr();
  const int* const rows = a.innerIndexPtr() + outer[c];
  const int count = outer[c + 1] - outer[c];
  if (count == 0 || count % 3 != 0) return false;
  for (int k = 0; k < count; k += 3) {
    if (rows[k + 1] != rows[k] + 1 || rows[k + 2] != rows[k] + 2) return false;
  }
  for (Index other = c + 1; other < c + 3; ++other) {
    if (outer[other + 1] - outer[other] != count) return false;
    if (!std::equal(rows, rows + count, a.innerIndexPtr() + outer[other])) return false;
  }
  return true;
}

}  // namespace

NodeProduct::NodeProduct(const SparseMatrix& matrix) {
  const int* const outer = matrix.outerIndexPtr();
  const int* const inner = matrix.innerIndexPtr();
  const double* const values = matrix.valuePtr();
  values_.reserve(std::size_t(matrix.nonZeros()) + 1);
  for (Index c = 0; c < matrix.cols();) {
    Columns columns{.first = c, .width = is_node(matrix, c) ? 3 : 1, .index = rows_.size(), .value = values_.size()};
    for (int k = outer[c]; k < outer[c + 1]; k += columns.width) {
      rows_.push_back(inner[k]);
      if (columns.width == 1) {
        values_.push_back(values[k]);
        continue;
      }
      // (A v)_c = Σ A_rc v_r: for each r of the block the entries of the three columns stand together.
      const int position = k - outer[c];
      for (int r = 0; r < 3; ++r) {
        for (int col = 0; col < 3; ++col) values_.push_back(values[outer[c + col] + position + r]);
      }
    }
    columns.end_index = rows_.size();
    columns_.push_back(columns);
    c += columns.width;
  }
  values_.push_back(0.0);
}

void NodeProduct::operator()(const Vector& v, const Vector& b, Vector& r) const {
  for (const Columns& columns : columns_) {
    const double* value = values_.data() + columns.value;
    if (columns.width == 1) {
      double even = 0.0, odd = 0.0;
      std::size_t k = columns.index;
      for (; k + 1 < columns.end_index; k += 2, value += 2) {
        even += value[0] * v[rows_[k]];
        odd += value[1] * v[rows_[k + 1]];
      }
      if (k < columns.end_index) even += value[0] * v[rows_[k]];
      r[columns.first] = even + odd - b[columns.first];
      continue;
    }
    using Four = Eigen::Map<const Eigen::Array4d>;  // the fourth belongs to the next block and is not used
    Eigen::Array4d x = Eigen::Array4d::Zero(), y = x, z = x;
    for (std::size_t k = columns.index; k < columns.end_index; ++k, value += 9) {
      const double* const at = v.data() + rows_[k];
      x += at[0] * Four(value);
      y += at[1] * Four(value + 3);
      z += at[2] * Four(value + 6);
    }
    x += y + z;
    for (int c = 0; c < 3; ++c) r[columns.first + c] = x[c] - b[columns.first + c];
  }
}

}  // namespace conebench::cond
