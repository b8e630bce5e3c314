#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>

/// What factorizations and triangular solves do in their inner loops: several columns at once, `lead` apart, `rows`
/// entries of each.
namespace conebench::column_kernels {

inline constexpr int most_columns = 8;

/// kernel.operator()<count>() for 1 <= count <= most_columns; nothing for 0.
template <class Kernel>
void with_count(std::ptrdiff_t count, Kernel kernel) {
  switch (count) {
    case 1: return kernel.template operator()<1>();
    case 2: return kernel.template operator()<2>();
    case 3: return kernel.template operator()<3>();
    case 4: return kernel.template operator()<4>();
    case 5: return kernel.template operator()<5>();
    case 6: return kernel.template operator()<6>();
    case 7: return kernel.template operator()<7>();
    case 8: return kernel.template operator()<8>();
    default: return;
  }
}

/// store(target[i], Σ_c factors[c] · column c) for `Count` columns.
template <int Count, class Store>
void combine(double* __restrict target, const double* __restrict columns, std::ptrdiff_t lead,
             const double* __restrict factors, std::ptrdiff_t rows, Store store) {
  std::array<double, Count> f;
  for (int c = 0; c < Count; ++c) f[static_cast<std::size_t>(c)] = factors[c];
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    double sum = f[0] * columns[i];
    for (int c = 1; c < Count; ++c) sum += f[static_cast<std::size_t>(c)] * columns[c * lead + i];
    store(target[i], sum);
  }
}

/// target = Σ_c factors[c] · column c for 1 to most_columns columns.
inline void sum_columns(double* target, const double* columns, std::ptrdiff_t lead, const double* factors,
                        std::ptrdiff_t count, std::ptrdiff_t rows) {
  with_count(count, [&]<int Count>() {
    combine<Count>(target, columns, lead, factors, rows, [](double& entry, double sum) { entry = sum; });
  });
}

/// The same of any number of columns, eight at a time.
template <class Store>
void combine_columns(double* target, const double* columns, std::ptrdiff_t lead, const double* factors,
                     std::ptrdiff_t count, std::ptrdiff_t rows, Store store) {
  const auto some = [&]<int Count>() { combine<Count>(target, columns, lead, factors, rows, store); };
  for (; count >= most_columns; count -= most_columns) {
    some.template operator()<most_columns>();
    columns += most_columns * lead;
    factors += most_columns;
  }
  with_count(count, some);
}

/// target += Σ_c factors[c] · column c.
inline void add_columns(double* target, const double* columns, std::ptrdiff_t lead, const double* factors,
                        std::ptrdiff_t count, std::ptrdiff_t rows) {
  combine_columns(target, columns, lead, factors, count, rows, [](double& entry, double sum) { entry += sum; });
}

/// target −= Σ_c factors[c] · column c.
inline void subtract_columns(double* target, const double* columns, std::ptrdiff_t lead, const double* factors,
                             std::ptrdiff_t count, std::ptrdiff_t rows) {
  combine_columns(target, columns, lead, factors, count, rows, [](double& entry, double sum) { entry -= sum; });
}

/// sums[c] = column c · vector for 1 to most_columns columns.
inline void dot_columns(double* sums, const double* columns, std::ptrdiff_t lead, const double* vector,
                        std::ptrdiff_t count, std::ptrdiff_t rows) {
  for (; count > 4; count -= 4, sums += 4, columns += 4 * lead) dot_columns(sums, columns, lead, vector, 4, rows);
  with_count(count, [=]<int Count>() {
    // Four partial sums a column: a compiler may not reorder a single one.
    using Four = Eigen::Array4d;
    using Some = Eigen::Map<const Four>;
    Four partial[Count];
    for (int c = 0; c < Count; ++c) partial[c].setZero();
    std::ptrdiff_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      const Four v = Some(vector + i);
      for (int c = 0; c < Count; ++c) partial[c] += Some(columns + c * lead + i) * v;
    }
    for (int c = 0; c < Count; ++c) {
      const Eigen::Array2d halves = partial[c].template head<2>() + partial[c].template tail<2>();
      double sum = halves[0] + halves[1];
      for (std::ptrdiff_t k = i; k < rows; ++k) sum += columns[c * lead + k] * vector[k];
      sums[c] = sum;
    }
  });
}

}  // namespace conebench::column_kernels
