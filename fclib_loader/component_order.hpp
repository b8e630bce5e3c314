#pragma once

#include "problems/cone_product.hpp"
#include "problems/types.hpp"

/// FCLIB keeps a contact's normal component first, Conebench last: (n, t1, t2) ↔ (t1, t2, n), (n, t) ↔ (t, n). The only
/// place where the order changes.
namespace conebench {

/// Row of FCLIB (normal first) that holds contact row `row` (normal last) among the rows of contacts alone.
inline Index fclib_row(Index row, int dimension) {
  const Index component = row % dimension;
  return component + 1 == dimension ? row - component : row + 1;
}

/// Row (normal last) of FCLIB's row `row` (normal first).
inline Index contact_row(Index row, int dimension) { return row % dimension == 0 ? row + dimension - 1 : row - 1; }

inline Vector to_normal_last(const Vector& fclib, int dimension) {
  Vector result(fclib.size());
  for (Index k = 0; k < fclib.size(); ++k) result[contact_row(k, dimension)] = fclib[k];
  return result;
}

inline Vector to_normal_first(ConstVectorRef contacts, int dimension) {
  Vector result(contacts.size());
  for (Index k = 0; k < contacts.size(); ++k) result[fclib_row(k, dimension)] = contacts[k];
  return result;
}

}  // namespace conebench
