#pragma once

#include "problems/contact_problem.hpp"
#include "solvers/cascade/constants.hpp"

namespace conebench::cascade {

/// One sweep of NSGS over up to sixteen contacts and limits in the problem's own units, without heap allocation: the
/// answer where contacts do not feel each other, as one alone, for a fraction of what scaling costs.
class FirstSweep {
 public:
  static constexpr const char* name = "first-sweep";  ///< among the driver's stages

  /// At most sixteen contacts and limits, no joints.
  static bool fits(const ContactProblem& problem);

  /// `problem` fits, and must outlive this.
  explicit FirstSweep(const ContactProblem& problem);

  /// The scaled natural map of `impulse`, +inf where a number is not finite.
  double residual(ConstVectorRef impulse);
  void sweep(VectorRef impulse) const;
  /// With G, by residual().
  long products() const { return products_; }

 private:
  static constexpr int most_ = tuned.few_contacts;
  template <int Most>
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, Most, 1>;

  const ContactProblem& problem_;
  Rows<most_> inverse_steps_;
  Rows<3 * most_> velocity_, scratch_;
  double reference_;
  long products_ = 0;
};

}  // namespace conebench::cascade
