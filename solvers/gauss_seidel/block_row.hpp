#pragma once

#include <cstring>

#include "problems/cones/coulomb.hpp"

namespace conebench::gauss_seidel {

// One block row of G times the impulse. The impulse stands in lanes: a contact's components in one vector of
// `lanes<Dim>` doubles, written and read as a whole. A processor hands what it has just stored to a load of the same
// bytes; a load that spans two stores waits until they have reached the cache.

/// Doubles that a contact's impulse takes: (t1, t2, n, 0), (t, n), or with rolling friction its five rows alone.
template <int Dim>
constexpr int lanes = Dim;
template <>
inline constexpr int lanes<3> = 4;

template <int Count>
struct LanesOf {
  typedef double Type __attribute__((vector_size(Count * sizeof(double))));
};
template <int Count>
using Lanes = typename LanesOf<Count>::Type;

template <int Count>
Lanes<Count> load(const double* from) {
  Lanes<Count> result;
  std::memcpy(&result, from, sizeof(result));
  return result;
}

template <int Dim>
void store(const ContactVector<Dim>& value, double* to) {
  if constexpr (Dim == 3) {
    const Lanes<4> padded{value[0], value[1], value[2], 0.0};
    std::memcpy(to, &padded, sizeof(padded));
  } else if constexpr (Dim == 2) {
    const Lanes<2> padded{value[0], value[1]};
    std::memcpy(to, &padded, sizeof(padded));
  } else {
    Eigen::Map<ContactVector<Dim>> part(to);
    part = value;
  }
}

/// Doubles by which a sweep asks for G ahead of time: some eight rows of a sparse G.
constexpr int ahead = 768;

/// start + Σ over the blocks of a contact row, `count` of them and even: `values` one block after the other, column by
/// column, `slots` where the impulse of each begins.
/// `Prefetch`: asks for values that lie ahead, for a G that does not fit in the caches.
template <bool Prefetch>
ContactVector<3> contact_row_product(const double* values, const int* slots, int count, const double* impulse,
                                     const ContactVector<3>& start) {
  // Two blocks are 18 values: 8 + 2 + 8, of rows (0 1 2 0 1 2 0 1), (2 0) and (1 2 0 1 2 0 1 2).
  Lanes<8> low = {start[0], start[1], start[2]};
  Lanes<2> middle = {};
  Lanes<8> high = {};
  for (const int* end = slots + count; slots != end; slots += 2, values += 18) {
    if constexpr (Prefetch) {
      __builtin_prefetch(values + ahead);
      __builtin_prefetch(values + ahead + 8);
    }
    const Lanes<4> first = load<4>(impulse + slots[0]);
    const Lanes<4> second = load<4>(impulse + slots[1]);
    low += load<8>(values) * __builtin_shufflevector(first, first, 0, 0, 0, 1, 1, 1, 2, 2);
    middle += load<2>(values + 8) * __builtin_shufflevector(first, second, 2, 4);
    high += load<8>(values + 10) * __builtin_shufflevector(second, second, 0, 0, 1, 1, 1, 2, 2, 2);
  }
  const Lanes<4> sum =
      __builtin_shufflevector(low, low, 0, 1, 2, -1) + __builtin_shufflevector(low, low, 3, 4, 5, -1) +
      (__builtin_shufflevector(high, high, 2, 3, 4, -1) + __builtin_shufflevector(high, high, 5, 6, 7, -1));
  return {sum[0] + (low[6] + middle[1]), sum[1] + (low[7] + high[0]), sum[2] + (middle[0] + high[1])};
}

template <bool Prefetch>
ContactVector<2> contact_row_product(const double* values, const int* slots, int count, const double* impulse,
                                     const ContactVector<2>& start) {
  Lanes<4> even = {start[0], start[1]};
  Lanes<4> odd = {};
  for (const int* end = slots + count; slots != end; slots += 2, values += 8) {
    if constexpr (Prefetch) __builtin_prefetch(values + ahead);
    const Lanes<2> first = load<2>(impulse + slots[0]);
    const Lanes<2> second = load<2>(impulse + slots[1]);
    even += load<4>(values) * __builtin_shufflevector(first, first, 0, 0, 1, 1);
    odd += load<4>(values + 4) * __builtin_shufflevector(second, second, 0, 0, 1, 1);
  }
  const Lanes<4> sum = even + odd;
  return {sum[0] + sum[2], sum[1] + sum[3]};
}

template <bool Prefetch>
ContactVector<5> contact_row_product(const double* values, const int* slots, int count, const double* impulse,
                                     const ContactVector<5>& start) {
  ContactVector<5> sum = start;
  for (const int* end = slots + count; slots != end; ++slots, values += 25) {
    if constexpr (Prefetch) __builtin_prefetch(values + ahead);
    sum.noalias() +=
        Eigen::Map<const Eigen::Matrix<double, 5, 5>>(values) * Eigen::Map<const ContactVector<5>>(impulse + *slots);
  }
  return sum;
}

}  // namespace conebench::gauss_seidel
