#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "problems/types.hpp"

namespace conebench {

enum class BlockKind { joint, limit, contact };

/// K = R^joints × R_+^limits × Π K_{mu_i}, with the rows in this order.
///
/// Every joint row and every limit row is a block of one row; a contact is a block of `contact_dimension` rows,
/// (t1, t2, n) in 3D and (t, n) in 2D. K* is {0}^joints × R_+^limits × Π K_{mu_i}*.
class ConeProduct {
 public:
  ConeProduct() = default;

  /// Errors (bad_input): a negative count, a dimension other than 2 or 3, a friction coefficient that is negative or
  /// not finite.
  static Result<ConeProduct> create(Index joints, Index limits, std::vector<double> friction,
                                    int contact_dimension = 3);

  Index joints() const { return joints_; }
  Index limits() const { return limits_; }
  Index contacts() const { return static_cast<Index>(friction_.size()); }
  int contact_dimension() const { return contact_dimension_; }
  std::span<const double> friction() const { return friction_; }

  Index rows() const { return first_contact_row() + contact_dimension_ * contacts(); }
  Index first_limit_row() const { return joints_; }
  Index first_contact_row() const { return joints_ + limits_; }
  Index contact_row(Index contact) const { return first_contact_row() + contact_dimension_ * contact; }

  Index blocks() const { return joints_ + limits_ + contacts(); }
  BlockKind block_kind(Index block) const;
  Index block_row(Index block) const;
  int block_size(Index block) const { return block < first_contact_row() ? 1 : contact_dimension_; }

  bool operator==(const ConeProduct&) const = default;

 private:
  Index joints_ = 0;
  Index limits_ = 0;
  int contact_dimension_ = 3;
  std::vector<double> friction_;
};

/// P_K(x), rows as in `cones`. `out` may be `x` itself.
void project_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out);

/// P_{K*}(x), rows as in `cones`. `out` may be `x` itself.
void project_dual_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out);

/// De Saxcé's correction: out = sigma + Γ(sigma), Γ(sigma)_i = (0, 0, mu_i ‖sigma_{T,i}‖) on contacts and 0 elsewhere
/// (paper 000 eq. (9), paper 004 Sec. VI). `out` may be `sigma` itself. Units: those of sigma, m/s.
void add_de_saxce(const ConeProduct& cones, ConstVectorRef sigma, VectorRef out);

}  // namespace conebench
