#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "problems/linear/elimination.hpp"
#include "solvers/cascade/contact_sweep.hpp"

namespace conebench::cascade {

/// The problem in the coordinates in which every cone is ‖r_T‖ ≤ r_n and every diagonal block has trace 3:
///
///     P = diag(1, 1, μ),  c_i = 1/√((G_t1t1 + G_t2t2 + G_nn/μ²)/3),  γ = ‖g̃‖/√n_c
///     r = P λ / (c γ),    w = c P⁻¹ σ / γ,    G̃_ij = c_i c_j P⁻¹ G_ij P⁻¹,   w = G̃ r + g̃
///
/// With u(w) = (w_T, w_n + ‖w_T‖), De Saxcé's velocity, the NCP reads cone ∋ r ⟂ u(w) ∈ cone, and u(w) lies in the cone
/// exactly where w_n ≥ 0. R is part of G's diagonal.
///
/// Every block is embedded as a 3D contact: a limit row, a frictionless contact and the second tangent of a 2D contact
/// become components with a unit diagonal, no coupling and no free term, whose impulse stays 0. So all parts of the
/// cascade see vectors of one kind; where no block has a second tangent of its own, those of G̃ are stored without it.
/// An interval is embedded as a limit is, and keeps its bounds. Joints are eliminated first (JointElimination); G and g
/// are those of what is left, the residual is that of the problem with its joints satisfied.
///
/// | symbol | here | shape | unit |
/// | --- | --- | --- | --- |
/// | n_c | contacts() | | |
/// | G̃ | block(k) in rows row_begin(i) … | dimension() × dimension() blocks | 1 |
/// | g̃ | free_term() | 3 n_c | 1 |
class ScaledProblem {
 public:
  using Block = Eigen::Matrix3d;

  /// `joints`: what eliminate_joints() gave for `problem`, if that was asked already.
  explicit ScaledProblem(const ContactProblem& problem, std::optional<JointElimination> joints = std::nullopt);

  /// As it was given, and what is left of it without joints.
  const ContactProblem& given() const { return given_; }
  ContactSystem system() const { return joints_ ? ContactSystem(*joints_) : ContactSystem(given_); }

  int contacts() const { return static_cast<int>(contacts_.size()); }
  /// 2 where no block has a second tangent of its own.
  int dimension() const { return planar_ ? 2 : 3; }
  bool planar() const { return planar_; }
  Index size() const { return 3 * static_cast<Index>(contacts()); }
  /// Whether block i is a row with bounds, and those in the unit of r.
  bool is_interval(int i) const { return static_cast<std::size_t>(i - first_interval_) < bounds_.size(); }
  const Interval& bounds(int i) const { return bounds_[static_cast<std::size_t>(i - first_interval_)]; }
  bool has_intervals() const { return !bounds_.empty(); }
  /// visit.operator()<Dim>() for dimension().
  template <class Visit>
  decltype(auto) with_dimension(Visit&& visit) const {
    return planar_ ? visit.template operator()<2>() : visit.template operator()<3>();
  }
  int row_begin(int i) const { return static_cast<int>(pattern_->row_begin(i)); }
  int column(int k) const { return static_cast<int>(pattern_->column(k)); }
  int diagonal(int i) const { return static_cast<int>(pattern_->diagonal(i)); }
  int stored_blocks() const { return static_cast<int>(pattern_->stored_blocks()); }
  BlockGraph graph() const { return {pattern_->row_begins(), pattern_->columns()}; }
  bool same_pattern(const ScaledProblem& other) const {
    return planar_ == other.planar_ && std::ranges::equal(pattern_->row_begins(), other.pattern_->row_begins()) &&
           std::ranges::equal(pattern_->columns(), other.pattern_->columns());
  }
  template <int Dim = 3>
  Eigen::Map<const Eigen::Matrix<double, Dim, Dim>> block(int k) const {
    return Eigen::Map<const Eigen::Matrix<double, Dim, Dim>>(values_.data() + Dim * Dim * static_cast<Index>(k));
  }
  const Vector& free_term() const { return free_term_; }

  /// G̃ + shift I with free term `free_term`, for the proximal point's inner problems: takes the same pattern's values
  /// from `base`.
  void become_shifted(const ScaledProblem& base, double shift, const Vector& center);

  /// α where this is G̃ + α I of another problem.
  double shift() const { return shift_; }
  /// out = G̃ r. Counted, together with the products of its copies.
  void multiply(const Vector& r, Vector& out) const;
  long products() const { return *products_; }
  /// w = G̃ r + g̃.
  void velocity(const Vector& r, Vector& w) const;
  /// The scaled natural map (the official verdict) of r with w = G̃ r + g̃, in the problem's own units.
  double residual(const Vector& r, const Vector& w) const;
  /// The part of contact i in it, the largest of which is the whole.
  double residual_of(int i, const Vector& r, const Vector& w) const;

  /// V of that map: the largest ‖g_i‖, joints included [m/s].
  double reference_velocity() const { return reference_velocity_; }

  /// λ (rows of the problem, joints included) from r, and back.
  void to_impulse(const Vector& r, VectorRef all) const;
  void from_impulse(ConstVectorRef all, Vector& r) const;

 private:
  /// Components are t1, t2, n; one that is embedded weighs nothing, and its index is 0.
  struct Contact {
    Index first = 0;                           ///< row in the problem but for joints
    std::array<int, 3> indices = {};           ///< rows from there on
    Eigen::Array3d weights = {0.0, 0.0, 0.0};  ///< c P⁻¹
    double scale = 1.0;                        ///< c
    double friction = 1.0;                     ///< μ, and 1 where friction does not act
    double step = 1.0;                         ///< r_i of the natural map
    double tolerance = 1.0;                    ///< 1 / (r_i V)
  };
  const Contact& contact(Index i) const { return contacts_[static_cast<std::size_t>(i)]; }

  /// Block i of the system, whose step in the natural map is `step`; then the values of G̃.
  Contact scaling_of(const ContactSystem& system, Index i, double step) const;
  template <int Dim>
  void scale_blocks(const ContactSystem& system);

  ContactProblem given_;
  std::shared_ptr<const JointElimination> joints_;  ///< null without joints
  const BlockSparseMatrix* pattern_;                ///< that of the system
  std::shared_ptr<long> products_ = std::make_shared<long>(0);
  std::vector<Contact> contacts_;
  int first_interval_ = 0;
  std::vector<Interval> bounds_;
  Vector values_;  ///< of all blocks, and one more, which multiply() reads past the last
  Vector free_term_;
  double gamma_ = 1.0;
  double reference_velocity_ = 1.0;
  double shift_ = 0.0;
  bool planar_ = true;
};

}  // namespace conebench::cascade
