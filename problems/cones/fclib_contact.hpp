#pragma once

#include <vector>

namespace conebench {

/// Sizes of the groups of tangential rows of a contact of FCLIB with so many rows: Coulomb's friction with 2 and 3,
/// rolling friction with 5. Empty for another number.
inline std::vector<int> groups_of_fclib(int rows) {
  switch (rows) {
    case 2: return {1};
    case 3: return {2};
    case 5: return {2, 2};
    default: return {};
  }
}

}  // namespace conebench
