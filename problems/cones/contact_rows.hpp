#pragma once

#include <utility>

namespace conebench {

/// Returns visit.operator()<Rows>(), Rows being the rows of a contact: 3 in space, 2 in the plane. Code outside
/// problems/cones tells the two apart by this alone.
template <class Visit>
decltype(auto) with_contact_rows(int contact_dimension, Visit&& visit) {
  if (contact_dimension == 3) return std::forward<Visit>(visit).template operator()<3>();
  return std::forward<Visit>(visit).template operator()<2>();
}

}  // namespace conebench
