#pragma once

#include <utility>

namespace conebench {

/// Returns visit.operator()<Rows>(), Rows being the rows of a contact with Coulomb's friction: 3 in space, 2 in the
/// plane. Code outside problems/cones distinguishes the two by this alone; code that takes rolling friction too by
/// with_contact_cone (problems/cones/contact_cones.hpp).
template <class Visit>
decltype(auto) with_contact_rows(int contact_dimension, Visit&& visit) {
  if (contact_dimension == 3) return std::forward<Visit>(visit).template operator()<3>();
  return std::forward<Visit>(visit).template operator()<2>();
}

/// The same for any block, including joints and limits (1 row) and rolling friction (5 rows). For code that needs only
/// the number of rows.
template <class Visit>
decltype(auto) with_block_rows(int rows, Visit&& visit) {
  switch (rows) {
    case 1: return std::forward<Visit>(visit).template operator()<1>();
    case 2: return std::forward<Visit>(visit).template operator()<2>();
    case 3: return std::forward<Visit>(visit).template operator()<3>();
    default: return std::forward<Visit>(visit).template operator()<5>();
  }
}

}  // namespace conebench
