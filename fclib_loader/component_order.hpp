#pragma once

#include <algorithm>

#include "problems/cone_product.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"

/// FCLIB has a contact's normal component first, Conebench has it after the tangents: (n, t1, t2) ↔ (t1, t2, n),
/// (n, t) ↔ (t, n), (n, t1, t2, m1, m2) ↔ (t1, t2, n, m1, m2). FCLIB has
/// no limits: in a file a limit is a frictionless contact with empty tangents, after the other contacts. No other
/// source file changes the order of FCLIB's files.
namespace conebench {

/// Index of the normal among a contact's rows: behind its tangents, of which there are two at most.
inline Index normal_component(int dimension) { return std::min(dimension - 1, 2); }

/// FCLIB's row (normal first) of contact row `row` (normal after the tangents). Both count rows of contacts only.
inline Index fclib_row(Index row, int dimension) {
  const Index component = row % dimension;
  const Index normal = normal_component(dimension);
  if (component == normal) return row - component;
  return component < normal ? row + 1 : row;
}

/// Contact row (normal after the tangents) of FCLIB's row `row` (normal first).
inline Index contact_row(Index row, int dimension) {
  const Index component = row % dimension;
  const Index normal = normal_component(dimension);
  if (component == 0) return row + normal;
  return component <= normal ? row - 1 : row;
}

/// Positions of a problem's rows (joints, limits, contacts) in a file. Joints are in FCLIB's l. Contacts, and after
/// them limits as contacts, are in its r. Vectors of the group /conebench have joints, contacts (normal first) and
/// limits, one row each.
struct RowOrder {
  Index joints = 0;
  Index limits = 0;
  Index contacts = 0;
  int dimension = 3;

  static RowOrder of(const ConeProduct& cones) {
    return {cones.joints(), cones.limits(), cones.contacts(), cones.contact_dimension()};
  }
  /// Axes of a contact's frame.
  int axes() const { return std::min(dimension, 3); }
  Index rows() const { return joints + limits + dimension * contacts; }
  Index reaction_rows() const { return dimension * (contacts + limits); }

  /// Row of r of the problem's row `row`, which is not a joint's.
  Index reaction_row(Index row) const {
    if (row < joints + limits) return dimension * (contacts + row - joints);
    return fclib_row(row - joints - limits, dimension);
  }
  /// The problem's row for row `row` of r; −1 for a limit's tangent.
  Index row_of_reaction(Index row) const {
    if (row < dimension * contacts) return joints + limits + contact_row(row, dimension);
    const Index behind = row - dimension * contacts;
    return behind % dimension == 0 ? joints + behind / dimension : -1;
  }
  /// Row in the group /conebench for the problem's row `row`.
  Index extension_row(Index row) const {
    if (row < joints) return row;
    if (row < joints + limits) return row + dimension * contacts;
    return joints + fclib_row(row - joints - limits, dimension);
  }

  /// r of a vector over the problem's rows; a limit's tangents are 0.
  Vector reaction(ConstVectorRef values) const {
    Vector result = Vector::Zero(reaction_rows());
    for (Index row = joints; row < rows(); ++row) result[reaction_row(row)] = values[row];
    return result;
  }
  /// The problem's rows from l and r.
  Vector joined(ConstVectorRef l, ConstVectorRef r) const {
    Vector result(rows());
    for (Index row = 0; row < rows(); ++row) result[row] = row < joints ? l[row] : r[reaction_row(row)];
    return result;
  }
  /// l, then r, as rows of an answer.
  GivenRows answer_rows() const {
    GivenRows result{.row = std::vector<Index>(static_cast<std::size_t>(joints + reaction_rows())),
                     .shift = Vector::Zero(joints + reaction_rows())};
    for (Index row = 0; row < joints; ++row) result.row[static_cast<std::size_t>(row)] = row;
    for (Index row = 0; row < reaction_rows(); ++row) {
      result.row[static_cast<std::size_t>(joints + row)] = row_of_reaction(row);
    }
    return result;
  }
  Vector to_extension(ConstVectorRef values) const {
    Vector result(rows());
    for (Index row = 0; row < rows(); ++row) result[extension_row(row)] = values[row];
    return result;
  }
  Vector from_extension(ConstVectorRef values) const {
    Vector result(rows());
    for (Index row = 0; row < rows(); ++row) result[row] = values[extension_row(row)];
    return result;
  }
};

}  // namespace conebench
