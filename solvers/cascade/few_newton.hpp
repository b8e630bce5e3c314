#pragma once

#include <array>

#include "problems/cone_projection.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"
#include "solvers/cascade/constants.hpp"

namespace conebench::cascade {

/// SSN (SemismoothNewton: modes, letters and steps are described there) on a few contacts and limits, with a dense
/// matrix and without heap allocation: for so few of them to scale, allocate and analyse costs as much as several
/// steps. The unknowns are those that the modes leave free, three of a sticking contact, two of a slipping one, none of
/// an open one; in 2D two and one. A limit is a contact without friction, of one row. In the coordinates of
/// ScaledProblem but for γ; rows as in the problem.
///
/// The regularisation is α = min(1e-3, a · residual) with a = 0.1 at first and where a mode has changed, a hundredth of
/// the last a where none has.
///
/// `Limits`: whether the problem has any.
template <int Dim, bool Limits>
class FewNewton {
 public:
  static constexpr int most_contacts = 16;
  static constexpr int most_rows = Dim * most_contacts;  ///< limits' included

  /// `inverse_steps` and `velocity_scale`: of the natural map (natural_map_scaling()). All must outlive this object.
  FewNewton(const ContactProblem& problem, const double* inverse_steps, double velocity_scale);

  void start_from(const double* impulse);
  void write(double* impulse) const;
  /// The scaled natural map here; leaves the velocity for step().
  double measure();
  /// One step from where measure() gave `residual`.
  void step(double residual);

 private:
  using Part = ContactVector<Dim>;
  static constexpr int n = Dim - 1;  ///< of a contact's components the normal one
  static constexpr int most_padded = (most_rows + 3) / 4 * 4;

  enum class Mode : char { none, open, stick, slip, frictionless };
  struct Contact {
    Mode mode;
    int first;      ///< of its unknowns
    int normal;     ///< row of its normal component
    Part along;     ///< f1
    Part across;    ///< f3; in 2D none
    Part row;       ///< first row of L where it slips
    double turned;  ///< τ
  };

  /// Of the contact that is block i.
  double friction(int i) const { return problem_.cones().friction()[static_cast<std::size_t>(i - limits())]; }
  /// The first blocks.
  int limits() const { return Limits ? limits_ : 0; }
  bool is_limit(int i) const { return Limits && i < limits_; }
  int row(int i) const { return is_limit(i) ? i : Dim * i - n * limits(); }
  const double* column(int b) const { return matrix_.data() + stride_ * b; }
  void scale();
  /// sum += G̃ x.
  void add_product(const double* x, double* sum) const;
  void find_velocity();
  /// False where a contact's mode is another than at the last point.
  bool linearise();
  void linearise_normal(Contact& contact);
  void linearise_slip(int i, const Part& y);
  void assemble(double alpha);
  void eliminate();

  const ContactProblem& problem_;
  const double* inverse_steps_;
  const double velocity_scale_;
  const int limits_;
  const int blocks_;
  const int rows_;
  const int stride_;                      ///< of matrix_, a multiple of four as padded_
  double relative_ = tuned.few_relative;  ///< regularisation over residual
  int unknowns_ = 0;
  int padded_ = 0;
  template <int Count>
  using Doubles = std::array<double, static_cast<std::size_t>(Count)>;
  // Whole registers are read: from one line of the cache where they begin at multiples of their size.
  alignas(64) Doubles<most_rows * most_padded> matrix_;          ///< G̃, by columns
  alignas(64) Doubles<most_rows * most_padded> turned_columns_;  ///< G̃ R of those that slip
  alignas(64) Doubles<(most_rows + 1) * most_padded> reduced_;   ///< and the right side
  alignas(64) Doubles<most_padded> weights_, free_, r_, w_, known_, right_side_;
  Doubles<most_rows> solution_;
  std::array<Contact, static_cast<std::size_t>(most_rows)> linear_;  ///< limits and contacts
};

extern template class FewNewton<2, false>;
extern template class FewNewton<3, false>;
extern template class FewNewton<2, true>;
extern template class FewNewton<3, true>;

}  // namespace conebench::cascade
