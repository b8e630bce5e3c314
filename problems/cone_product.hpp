#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "problems/cones/friction_cone.hpp"
#include "problems/cones/interval.hpp"
#include "problems/types.hpp"

namespace conebench {

enum class BlockKind { joint, limit, interval, contact };

/// Each has a class in problems/cones; rolling and friction share one.
enum class ConeType {
  bilateral,
  unilateral,
  interval,
  coulomb_plane,
  coulomb_space,
  rolling,  ///< two discs of two rows, each of one coefficient: what FCLIB's rolling problems hold
  friction  ///< any other law of friction
};

/// Blocks of one type, one after the other.
struct ConeRun {
  ConeType type = ConeType::bilateral;
  Index first_row = 0;
  Index count = 0;  ///< of blocks, more than 0
  Index first = 0;  ///< of contacts the index of the first, of intervals too; else 0

  bool operator==(const ConeRun&) const = default;
};

/// K = R^joints × R_+^limits × Π [l, u] × Π K_i, with the rows in this order: runs of one type each.
///
/// Every row of a joint, limit or interval is a block of its own; a contact is a block of all its rows: (t, n) in the
/// plane, (t1, t2, n) in space, else the first group of the friction law, the normal, the other groups.
class ConeProduct {
 public:
  ConeProduct() = default;

  /// Contacts of one size: 2 or 3 rows with Coulomb's friction, 5 with rolling friction.
  ///
  /// Errors (bad_input): a negative count, a dimension other than 2, 3 or 5, a friction coefficient that is negative or
  /// not finite, coefficients of rolling friction for another dimension than 5 or another number of contacts.
  static Result<ConeProduct> create(Index joints, Index limits, std::vector<double> friction, int contact_dimension = 3,
                                    std::vector<double> rolling_friction = {});

  /// Contacts of any laws. Neighbours of one type make one run, so that sorting them by type makes code faster.
  ///
  /// Errors (bad_input): a negative count, bounds that are NaN, that are infinite on the wrong side or l > u, a law
  /// that FrictionLaw::check() refuses.
  static Result<ConeProduct> create(Index joints, Index limits, std::vector<Interval> intervals,
                                    const std::vector<FrictionLaw>& contacts);

  Index joints() const { return joints_; }
  Index limits() const { return limits_; }
  std::span<const Interval> intervals() const { return intervals_; }
  Index contacts() const { return static_cast<Index>(friction_.size()); }
  std::span<const ConeRun> runs() const { return runs_; }
  std::span<const ConeRun> contact_runs() const { return std::span(runs_).subspan(scalar_runs_); }
  /// That of every contact; ConeType::friction where they differ; coulomb_space without contacts, or as created.
  ConeType contact_type() const { return contact_type_; }
  /// Rows of every contact; 0 where they differ.
  int contact_dimension() const { return contact_dimension_; }
  /// 2 in the plane, 3 in space.
  int space_dimension() const { return contact_type_ == ConeType::coulomb_plane ? 2 : 3; }
  bool rolls() const { return contact_type_ == ConeType::rolling; }
  /// Every contact has Coulomb's isotropic friction, of one dimension.
  bool coulomb() const { return contact_type_ == ConeType::coulomb_plane || contact_type_ == ConeType::coulomb_space; }
  /// The same in scaled rows: elliptic cones of one size, too.
  bool coulomb_when_scaled() const;
  /// Whether solvers and the judge work in other variables than the problem states (problems/scaled_rows.hpp): a
  /// contact has several groups, or unequal coefficients in one.
  bool scales() const { return scales_; }

  /// The coefficient of each contact's first tangential row.
  std::span<const double> friction() const { return friction_; }
  /// mu_r [m], one a contact where contact_type() is rolling; else empty.
  std::vector<double> rolling_friction() const;
  /// The coefficients of a contact's tangential rows, in their order.
  std::span<const double> coefficients(Index contact) const;
  std::span<const int> groups(Index contact) const { return law_of(contact).groups; }
  ConeShape shape(Index contact) const { return law_of(contact).shape; }
  FrictionLaw law(Index contact) const;
  /// The cone of a contact of any type; its projections are those of K where the group's coefficients are equal.
  FrictionCone friction_cone(Index contact) const;

  Index rows() const { return contact_row(contacts()); }
  Index first_limit_row() const { return joints_; }
  Index first_interval_row() const { return joints_ + limits_; }
  /// Also the number of blocks of one row that are no contacts.
  Index first_contact_row() const { return joints_ + limits_ + static_cast<Index>(intervals_.size()); }
  Index contact_row(Index contact) const {
    return first_contact_row() +
           (first_rows_.empty() ? contact_dimension_ * contact : first_rows_[static_cast<std::size_t>(contact)]);
  }
  int contact_rows(Index contact) const { return static_cast<int>(contact_row(contact + 1) - contact_row(contact)); }
  /// The index of a contact's normal among its rows; the others are tangents and moments.
  int normal_of(Index contact) const { return groups(contact)[0]; }

  Index blocks() const { return first_contact_row() + contacts(); }
  BlockKind block_kind(Index block) const;
  Index block_row(Index block) const {
    return block < first_contact_row() ? block : contact_row(block - first_contact_row());
  }
  int block_size(Index block) const {
    return block < first_contact_row() ? 1 : contact_rows(block - first_contact_row());
  }
  /// The row of a block's normal; the only row where it is no contact.
  Index normal_row_of(Index block) const {
    return block_row(block) + (block < first_contact_row() ? 0 : normal_of(block - first_contact_row()));
  }
  /// The bounds of a row that is no contact's: infinite, or 0 below for a limit.
  Interval bounds(Index row) const;

  /// The same with all bounds divided by `unit`.
  ConeProduct with_bounds_over(double unit) const;
  /// The same with the bounds of each interval divided by the unit of its row; `units`: one a row of this product.
  ConeProduct with_bounds_over(ConstVectorRef units) const;
  /// The same where every group has one coefficient: that of its first row over the unit of that row. Errors: those of
  /// create(), where it leaves the range of numbers.
  Result<ConeProduct> with_balls_over(ConstVectorRef units) const;
  /// The product of these blocks alone, which ascend.
  ConeProduct of_blocks(std::span<const Index> blocks) const;
  /// The same without joints.
  ConeProduct without_joints() const;

  bool operator==(const ConeProduct&) const = default;

 private:
  struct Law {
    ConeShape shape = ConeShape::discs;
    std::vector<int> groups;
    bool operator==(const Law&) const = default;
  };
  const Law& law_of(Index contact) const {
    return laws_[law_index_.empty() ? 0 : static_cast<std::size_t>(law_index_[static_cast<std::size_t>(contact)])];
  }
  void make_runs();
  ConeType type_of(Index contact) const;

  Index joints_ = 0;
  Index limits_ = 0;
  std::vector<Interval> intervals_;
  int contact_dimension_ = 3;
  ConeType contact_type_ = ConeType::coulomb_space;
  bool scales_ = false;
  std::vector<double> friction_;
  std::vector<double> coefficients_;  ///< of all contacts' tangential rows; empty: each contact has one, friction_
  std::vector<Law> laws_{{ConeShape::discs, {2}}};
  std::vector<int> law_index_;     ///< into laws_, one a contact; empty: the first
  std::vector<Index> first_rows_;  ///< of contacts, behind first_contact_row(), and one more; empty: of one size
  std::vector<ConeRun> runs_;
  std::size_t scalar_runs_ = 0;
};

/// P_K(x), rows as in `cones`. `out` may be `x` itself. In scaled variables where cones.scales().
void project_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out);

/// P_{K*}(x), rows as in `cones`; of an interval, onto the velocities that some impulse allows. `out` may be `x`.
void project_dual_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out);

/// De Saxcé's correction: out = sigma + Γ(sigma), Γ(sigma)_i = Σ_g mu_g ‖sigma_{g,i}‖ on the normals of contacts, one
/// term a group of tangential rows, and 0 elsewhere (paper Carpentier24 eq. (9), paper Tsounis Sec. VI). `out` may be
/// `sigma` itself. Units: those of sigma, m/s.
void add_de_saxce(const ConeProduct& cones, ConstVectorRef sigma, VectorRef out);

/// The largest |λ_i · v_i| over limits and contacts, and of intervals |σ⁺ (λ − l)| and |σ⁻ (u − λ)|, where the term of
/// an infinite bound is 0.
double largest_complementarity(const ConeProduct& cones, ConstVectorRef impulse, ConstVectorRef velocity);

}  // namespace conebench
