#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "problems/cones/contact_vector.hpp"

namespace conebench {

/// Whether every group's friction is bounded by a Euclidean norm, or all of it by the sum of its parts.
enum class ConeShape : std::uint8_t { discs, pyramid };

/// The friction of one contact as its problem states it: groups of tangential rows, and a coefficient of each row.
///     discs     ‖D_g⁻¹ λ_g‖₂ ≤ λ_N for every group g, D_g = diag(mu_k)
///     pyramid   Σ_k |λ_k| / mu_k ≤ λ_N over all rows, which are one group
struct FrictionLaw {
  ConeShape shape = ConeShape::discs;
  std::vector<int> groups;           ///< sizes; the first is that of sliding
  std::vector<double> coefficients;  ///< mu_k [1 for sliding, m for moments], one a tangential row, group by group

  static FrictionLaw coulomb(double mu, int tangents = 2);
  static FrictionLaw rolling(double mu, double mu_r);

  int rows() const { return 1 + static_cast<int>(coefficients.size()); }
  /// Every group's rows have one coefficient.
  bool isotropic() const;
  /// Errors (bad_input, without the contact's name): no group, sizes that don't sum to the coefficients, too many rows,
  /// a coefficient that is negative or not finite, a pyramid of several groups, and where groups have unequal
  /// coefficients, a zero, whose row is to be left out.
  Result<void> check() const;
  bool operator==(const FrictionLaw&) const = default;
};

/// A normal row and groups of tangential rows, in the scaled variables of problems/scaled_rows.hpp, where a group is a
/// ball:
///     K = {‖x_g‖ ≤ mu_g x_n for all g},  K* = {Σ_g mu_g ‖x_g‖ ≤ x_n},  De Saxcé's term Σ_g mu_g ‖v_g‖,
/// and for a pyramid K = {Σ|x_k| ≤ mu x_n}, K* = {mu max|x_k| ≤ x_n}. Rows: the first group, the normal, the other
/// groups. With one group it is a second-order cone of any size; two of two rows are a contact with rolling friction
/// (V. Acary, F. Bourrier, "Coulomb friction with rolling resistance as a cone complementarity problem", 2021).
/// mu_g = 0: no force in the group, whose velocity is free.
class FrictionCone {
 public:
  static constexpr int rows = Eigen::Dynamic;
  using Block = ContactVector<Eigen::Dynamic>;
  using Square = ContactSquare<Eigen::Dynamic>;

  struct Group {
    int first = 0, size = 0;
    double coefficient = 0.0;  ///< mu_g
  };

  FrictionCone() = default;
  /// `coefficients`: one a tangential row; a group's first one is taken.
  FrictionCone(ConeShape shape, std::span<const int> groups, std::span<const double> coefficients);

  int normal = 0;  ///< index of the normal's row

  int size() const { return size_; }
  ConeShape shape() const { return shape_; }
  std::span<const Group> groups() const { return {groups_.data(), static_cast<std::size_t>(group_count_)}; }

  Block project(const Block& x) const { return x - outside(x); }
  Block project_dual(const Block& x) const {
    const Block reflected = -x;
    return x + project(reflected);
  }
  double de_saxce(const Block& velocity) const;
  Block de_saxce_gradient(const Block& velocity) const;
  /// λ − P(λ − s) as s + (y − P(y)), y = λ − s.
  Block natural_map(const Block& impulse, const Block& s) const {
    const Block y = impulse - s;
    if (in_polar(y)) return impulse;
    return s + outside(y);
  }
  /// P(x) = 0.
  bool in_polar(const Block& x) const;
  /// x − P(x). With a_g = ‖x_g‖ the projection's normal entry s ≥ 0 minimises (s − x_n)² + Σ_g (a_g − mu_g s)₊², convex
  /// and quadratic in pieces; the groups are then shortened to mu_g s.
  Block outside(const Block& x) const;
  /// An element of P's generalised Jacobian; on a kink that of the smaller face, but the whole space's inside.
  Square derivative(const Block& x) const;
  /// visit.operator()<Eigen::Dynamic>(first row, size, coefficient) for every group; a pyramid has none that is a ball.
  template <class Visit>
  void for_each_group(Visit&& visit) const {
    for (const Group& group : groups()) {
      visit.template operator()<Eigen::Dynamic>(group.first, group.size, group.coefficient);
    }
  }

 private:
  /// By how much the normal is raised and each group is shortened.
  struct Cut {
    double raised = 0.0;
    std::array<double, max_contact_rows> length{}, shortened{};
    std::array<bool, max_contact_rows> active{};
    bool any = false;
  };
  Cut cut(const Block& x) const;
  /// τ of the pyramid's projection: |x_k| → (|x_k| − τ)₊, x_n → x_n + mu τ.
  double threshold(const Block& x) const;

  ConeShape shape_ = ConeShape::discs;
  int size_ = 1;
  int group_count_ = 0;
  std::array<Group, max_contact_rows> groups_{};
};

}  // namespace conebench
