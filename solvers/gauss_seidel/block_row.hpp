#pragma once

#include <cstring>
#include <vector>

#include "problems/cone_product.hpp"
#include "problems/cones/coulomb.hpp"

namespace conebench::gauss_seidel {

// One block row of G times the impulse. Contacts with Coulomb's friction stand in lanes: a contact's components in one
// vector of `lanes<Rows>` doubles, written and read as a whole. A processor hands what it has just stored to a load of
// the same bytes; a load that spans two stores waits until they have reached the cache.

/// Doubles that a contact's impulse takes: (t1, t2, n, 0) or (t, n).
template <int Rows>
constexpr int lanes = Rows;
template <>
inline constexpr int lanes<3> = 4;

/// Where the impulses of contacts stand, and what a contact's row tells of them: the slot of each block.
template <class Cone>
struct Layout {
  static constexpr int room = lanes<Cone::rows>;
  static constexpr int at_once = 2;  ///< slots that contact_row_product takes in one step

  static int begin(const ConeProduct&, Index contact) { return room * static_cast<int>(contact); }
  static constexpr int rows(const ConeProduct&, Index) { return Cone::rows; }
  static void add_slots(int begin, int, std::vector<int>& slots) { slots.push_back(begin); }
};

/// Contacts of any sizes, one behind the other: the slot of each column.
template <>
struct Layout<FrictionCone> {
  static constexpr int room = max_contact_rows;
  static constexpr int at_once = 1;

  static int begin(const ConeProduct& cones, Index contact) {
    return static_cast<int>(cones.contact_row(contact) - cones.first_contact_row());
  }
  static int rows(const ConeProduct& cones, Index contact) { return cones.contact_rows(contact); }
  static void add_slots(int begin, int rows, std::vector<int>& slots) {
    for (int c = 0; c < rows; ++c) slots.push_back(begin + c);
  }
};

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

inline void store(const ContactVector<3>& value, double* to) {
  const Lanes<4> padded{value[0], value[1], value[2], 0.0};
  std::memcpy(to, &padded, sizeof(padded));
}
inline void store(const ContactVector<2>& value, double* to) {
  const Lanes<2> padded{value[0], value[1]};
  std::memcpy(to, &padded, sizeof(padded));
}
inline void store(const FrictionCone::Block& value, double* to) {
  Eigen::Map<FrictionCone::Block>(to, value.size()) = value;
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

/// The same for blocks of any widths: `count` columns.
template <bool Prefetch>
FrictionCone::Block contact_row_product(const double* values, const int* slots, int count, const double* impulse,
                                        const FrictionCone::Block& start) {
  FrictionCone::Block sum = start;
  const Index rows = start.size();
  for (const int* end = slots + count; slots != end; ++slots, values += rows) {
    if constexpr (Prefetch) __builtin_prefetch(values + ahead);
    sum += Eigen::Map<const FrictionCone::Block>(values, rows) * impulse[*slots];
  }
  return sum;
}

}  // namespace conebench::gauss_seidel
