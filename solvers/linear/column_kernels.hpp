#pragma once

#include <array>
#include <cstddef>

namespace conebench::column_kernels {

template <int Count>
void subtract(double* __restrict target, const double* __restrict columns, std::ptrdiff_t lead,
              const double* __restrict factors, std::ptrdiff_t rows) {
  std::array<double, Count> f;
  for (int c = 0; c < Count; ++c) f[static_cast<std::size_t>(c)] = factors[c];
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    double sum = f[0] * columns[i];
    for (int c = 1; c < Count; ++c) sum += f[static_cast<std::size_t>(c)] * columns[c * lead + i];
    target[i] -= sum;
  }
}

/// target −= Σ_c factors[c] · column c, with `rows` entries in each column and `lead` between columns.
inline void subtract_columns(double* target, const double* columns, std::ptrdiff_t lead, const double* factors,
                             std::ptrdiff_t count, std::ptrdiff_t rows) {
  while (count >= 8) {
    subtract<8>(target, columns, lead, factors, rows);
    columns += 8 * lead;
    factors += 8;
    count -= 8;
  }
  switch (count) {
    case 1: return subtract<1>(target, columns, lead, factors, rows);
    case 2: return subtract<2>(target, columns, lead, factors, rows);
    case 3: return subtract<3>(target, columns, lead, factors, rows);
    case 4: return subtract<4>(target, columns, lead, factors, rows);
    case 5: return subtract<5>(target, columns, lead, factors, rows);
    case 6: return subtract<6>(target, columns, lead, factors, rows);
    case 7: return subtract<7>(target, columns, lead, factors, rows);
    default: return;
  }
}

template <int Count>
void dots(double* __restrict sums, const double* __restrict columns, std::ptrdiff_t lead,
          const double* __restrict vector, std::ptrdiff_t rows) {
  // Four partial sums a column: a compiler may not reorder a single one.
  constexpr int kLanes = 4;
  double partial[Count][kLanes] = {};
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    for (int c = 0; c < Count; ++c) {
      for (int l = 0; l < kLanes; ++l) partial[c][l] += columns[c * lead + i + l] * vector[i + l];
    }
  }
  for (int c = 0; c < Count; ++c) {
    double sum = (partial[c][0] + partial[c][1]) + (partial[c][2] + partial[c][3]);
    for (std::ptrdiff_t k = i; k < rows; ++k) sum += columns[c * lead + k] * vector[k];
    sums[c] = sum;
  }
}

/// sums[c] = column c · vector for at most four columns.
inline void dot_columns(double* sums, const double* columns, std::ptrdiff_t lead, const double* vector,
                        std::ptrdiff_t count, std::ptrdiff_t rows) {
  switch (count) {
    case 1: return dots<1>(sums, columns, lead, vector, rows);
    case 2: return dots<2>(sums, columns, lead, vector, rows);
    case 3: return dots<3>(sums, columns, lead, vector, rows);
    case 4: return dots<4>(sums, columns, lead, vector, rows);
    default: return;
  }
}

}  // namespace conebench::column_kernels
