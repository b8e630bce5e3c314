#pragma once

#include <vector>

#include "problems/contact_problem.hpp"
#include "problems/joint_elimination.hpp"
#include "problems/types.hpp"

namespace conebench::lcp {

/// The M-facet LCP of a contact problem, paper Yamane eqs. (17)–(26): find z ≥ 0 ⟂ w = M z + q ≥ 0.
///
///     symbol  meaning                                                            unit
///     a, b    normal impulse, shares of friction along the facets, (17)          N s
///     λ       Lagrangian of (22), the speed of a slipping contact                m/s
///     z       (limit impulses; those of intervals; a; b; λ), size() long; without b and λ where μ = 0
///     c_m     direction at 2π m / M from t1, m = 0, 1, …; in 2D the two of ±t
///
/// Yamane calls c_m the normals of the cone's side faces. In (17), (22) they span its edges: friction reaches μ a along
/// c_m and μ a cos(π/M) between two of them.
///
/// An interval's impulse is l + z, with z ≥ 0 ⟂ σ + t ≥ 0 and t ≥ 0 ⟂ u − l − z ≥ 0; where u is infinite t is left out.
/// Where l is it is u − z, where both are z − t, and l = u needs neither.
///
/// Joint rows leave by a Schur complement with a rank-revealing pseudoinverse, so that redundant joints do no harm.
/// R enters as G + R. Scaled, the LCP is D M D, D q / γ with unit diagonal (the rows of λ, whose diagonal is 0, make
/// the entries of E one on average), and ‖q‖∞ = 1 but for bounds; z = γ D z̃. All vectors z here are those of the scaled
/// LCP.
class FacetLcp {
 public:
  /// `facets`: M of a 3D contact, even.
  FacetLcp(const ContactProblem& problem, int facets, bool scaled);

  static Index size_of(const ConeProduct& cones, int facets);

  Index size() const { return offset_.size(); }
  const Matrix& matrix() const { return matrix_; }  ///< M
  const Vector& offset() const { return offset_; }  ///< q
  /// Rows of limits, intervals and normals, which come first: without the others the LCP is that without friction.
  Index normal_rows() const { return normal_rows_; }

  /// λ of the contact problem, by (17) and back-substitution of the joints. No allocation.
  void to_impulse(const Vector& z, VectorRef impulse) const;
  /// A z whose impulse is `impulse` where that keeps the cones: friction on the two nearest c_m. No allocation.
  void from_impulse(ConstVectorRef impulse, Vector& z);
  /// max(‖min(z, M z + q)‖∞, velocity left in the joint rows, scaled alike); +inf where that is not finite. From the
  /// matrix as assembled, whatever has been pivoted since. No allocation.
  double residual(const Vector& z);

 private:
  struct Bounded {
    Index row = 0;       ///< of the impulse
    double base = 0.0;   ///< impulse at z = 0
    double sign = 1.0;   ///< of z in the impulse
    Index z = -1;        ///< index of z, -1 where the impulse is given
    Index t = -1;        ///< index of t
    double width = 0.0;  ///< u − l, infinite where t is the impulse's negative part
  };
  struct Contact {
    Index row = 0;      ///< of the impulse
    Index a = 0;        ///< index of a in z
    Index b = -1;       ///< index of the first b in z, -1 without friction
    Index lambda = -1;  ///< index of λ in z
    double friction = 0.0;
  };

  void lay_out();
  void assemble(const Matrix& reduced, const Vector& free_term);
  void scale();

  ContactProblem problem_;
  int dimension_;
  int facets_;         ///< of one contact: M in 3D, 2 in 2D
  Matrix directions_;  ///< c_m as columns, tangential components
  std::vector<Bounded> intervals_;
  std::vector<Contact> contacts_;
  Index joints_ = 0;
  Index limits_ = 0;
  Index normal_rows_ = 0;
  Index impulses_ = 0;  ///< entries of z before λ

  Matrix matrix_;
  Vector offset_;
  Vector free_offset_;          ///< q where all bounds are 0
  Vector scale_;                ///< diagonal of D
  Vector joint_scale_;          ///< the same for the joint rows' residual
  double impulse_scale_ = 1.0;  ///< γ

  JointElimination elimination_;
  Vector impulse_, velocity_, w_;  // scratch
};

}  // namespace conebench::lcp
