#pragma once

#include <Eigen/Core>
#include <array>

#include "problems/contact_problem.hpp"
#include "problems/types.hpp"
#include "solvers/cascade/contact_step.hpp"

namespace conebench::cascade {

/// SSN (SemismoothNewton) on a few contacts and limits, with a dense matrix of the unknowns that the modes leave free
/// and without heap allocation: for so few of them to scale, allocate and analyse costs as much as several steps. In
/// the coordinates of ScaledProblem but for γ, rows as in the problem.
///
/// The regularisation is α = min(1e-3, a · residual) with a = 0.1 at first and where a mode has changed, a hundredth of
/// the last a where none has, 10 where six steps have not helped.
class FewNewton {
 public:
  static constexpr int most_contacts = 16;
  static constexpr int most_rows = 3 * most_contacts;  ///< limits' included

  /// `inverse_steps` and `velocity_scale`: of the natural map (natural_map_scaling()). All must outlive this object.
  FewNewton(const ContactProblem& problem, const double* inverse_steps, double velocity_scale);

  void start_from(const double* impulse);
  void write(double* impulse) const;
  /// The scaled natural map here; leaves the velocity for step().
  double measure();
  /// One step from where measure() gave `residual`, which has not fallen much for `without_progress` steps.
  void step(double residual, int without_progress);

 private:
  using Columns = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most_rows, most_rows>;
  using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, most_rows, 1>;
  /// A limit or a contact.
  struct Part {
    std::array<Index, 3> rows{-1, -1, -1};  ///< of t1, t2 and n; −1 where it has none of its own
    double friction = 1.0;                  ///< 1 where none acts
    ContactStep step{};
    bool seen = false;
  };
  struct Unknown {
    int part;
    int component;  ///< of z
  };

  /// A part's three components of `x`, 0 where it has none.
  Eigen::Vector3d components(const Part& part, const Column& x) const;
  void scale(const ContactProblem& problem);
  /// sum += G̃ x.
  void add_product(const Column& x, Column& sum) const;
  /// False where a part's mode is another than at the last point.
  bool linearise();
  /// z, in right_side_.
  void solve();
  void eliminate();

  const double* inverse_steps_;
  double velocity_scale_;
  int parts_count_;
  double relative_ = 0.1;  ///< regularisation over residual
  std::array<Part, most_rows> parts_;
  std::array<Unknown, most_rows> unknowns_;
  int unknowns_count_ = 0;
  Columns matrix_;  ///< G̃
  Columns turned_;  ///< G̃ R
  Columns system_;  ///< L G̃ R + B
  Column weights_, free_, r_, w_, known_, product_, right_side_;
};

}  // namespace conebench::cascade
