#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "problems/types.hpp"

namespace conebench {

enum class BlockKind { joint, limit, contact };

/// Each has a class in problems/cones.
enum class ConeType { joint, limit, coulomb_plane, coulomb_space, rolling };

/// Blocks of one type, one after the other.
struct ConeRun {
  ConeType type = ConeType::joint;
  Index first_row = 0;
  Index count = 0;  ///< of blocks, more than 0

  bool operator==(const ConeRun&) const = default;
};

/// K = R^joints × R_+^limits × Π K_i, with the rows in this order: runs of one cone type each.
///
/// Every joint row and every limit row is a block of one row; a contact is a block of `contact_dimension` rows: (t, n)
/// in the plane, (t1, t2, n) in space, (t1, t2, n, m1, m2) with rolling friction. K* is {0}^joints × R_+^limits × Π
/// K_i*.
class ConeProduct {
 public:
  ConeProduct() = default;

  /// Errors (bad_input): a negative count, a dimension other than 2, 3 or 5, a friction coefficient that is negative or
  /// not finite, coefficients of rolling friction for another dimension than 5 or another number of contacts.
  static Result<ConeProduct> create(Index joints, Index limits, std::vector<double> friction, int contact_dimension = 3,
                                    std::vector<double> rolling_friction = {});

  Index joints() const { return joints_; }
  Index limits() const { return limits_; }
  Index contacts() const { return static_cast<Index>(friction_.size()); }
  std::span<const ConeRun> runs() const { return runs_; }
  ConeType contact_type() const { return contact_type_; }
  /// Rows of a contact.
  int contact_dimension() const { return contact_dimension_; }
  /// The index of the normal among them; the others are tangents and moments.
  int normal_row() const { return space_dimension() - 1; }
  /// 2 in the plane, 3 in space.
  int space_dimension() const { return contact_type_ == ConeType::coulomb_plane ? 2 : 3; }
  bool rolls() const { return contact_type_ == ConeType::rolling; }
  std::span<const double> friction() const { return friction_; }
  /// mu_r [m], one a contact; empty: no rolling friction.
  std::span<const double> rolling_friction() const { return rolling_friction_; }

  Index rows() const { return first_contact_row() + contact_dimension_ * contacts(); }
  Index first_limit_row() const { return joints_; }
  Index first_contact_row() const { return joints_ + limits_; }
  Index contact_row(Index contact) const { return first_contact_row() + contact_dimension_ * contact; }

  Index blocks() const { return joints_ + limits_ + contacts(); }
  BlockKind block_kind(Index block) const;
  Index block_row(Index block) const;
  int block_size(Index block) const { return block < first_contact_row() ? 1 : contact_dimension_; }
  /// The row of a block's normal. A joint or limit has one row.
  Index normal_row_of(Index block) const { return block_row(block) + (block < first_contact_row() ? 0 : normal_row()); }

  bool operator==(const ConeProduct&) const = default;

 private:
  Index joints_ = 0;
  Index limits_ = 0;
  int contact_dimension_ = 3;
  ConeType contact_type_ = ConeType::coulomb_space;
  std::vector<double> friction_, rolling_friction_;
  std::vector<ConeRun> runs_;
};

/// P_K(x), rows as in `cones`. `out` may be `x` itself.
void project_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out);

/// P_{K*}(x), rows as in `cones`. `out` may be `x` itself.
void project_dual_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out);

/// De Saxcé's correction: out = sigma + Γ(sigma), Γ(sigma)_i = (0, 0, mu_i ‖sigma_{T,i}‖) on contacts, with rolling
/// friction (0, 0, mu_i ‖sigma_{T,i}‖ + mu_{r,i} ‖ω_i‖, 0, 0), and 0 elsewhere (paper Carpentier24 eq. (9), paper
/// Tsounis Sec. VI). `out` may be `sigma` itself. Units: those of sigma, m/s.
void add_de_saxce(const ConeProduct& cones, ConstVectorRef sigma, VectorRef out);

}  // namespace conebench
