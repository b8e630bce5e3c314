#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/spectrum.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// Sample categories of paper Tsounis, Sec. VII-C. They overlap and leave gaps there; here the first that fits counts.
enum class SampleCategory {
  unknown,             ///< nothing is known of the bodies
  no_constraint,       ///< no rows
  independent_joints,  ///< no contacts, joints, J of full row rank
  redundant_joints,    ///< no contacts, joints, J rank deficient, d_j < 1
  dense_joints,        ///< no contacts, joints, J rank deficient, d_j ≥ 1
  dense_constraints,   ///< contacts and joints, d_jlc > 1
  single_contact,      ///< one contact
  sparse_contacts,     ///< n_c ≤ 2 n_b (in reduced coordinates n_v / 3), that is d_c ≤ 1
  dense_contacts,      ///< d_c > 1
  other,               ///< limits and intervals alone
};
std::string to_string(SampleCategory category);  ///< "sparse contacts", …
/// Of "sparse contacts" and "sparse-contacts", as people write them; nothing where there is no such category.
std::optional<SampleCategory> category_of(const std::string& name);
/// to_string of all of them, in their order.
std::vector<std::string> category_names();
/// Against a name that category_of knows nothing of: which one may have been meant, and all that there are.
std::string unknown_category(const std::string& name);

/// Velocities of a free rigid body: 3 in the plane, 6 in space.
inline Index body_velocities(int space_dimension) { return space_dimension * (space_dimension + 1) / 2; }

/// Rows per degree of freedom of the bodies (paper Tsounis, Sec. VII-C), and where the latter come from.
struct ConstraintDensities {
  enum class Source {
    bodies,                  ///< n_b known: 6 n_b (3 n_b in 2D)
    generalised_velocities,  ///< n_v, of the configuration or of M, stands for 6 n_b: reduced coordinates, or n_b not
                             ///< known
  };
  Source source = Source::bodies;
  Index degrees_of_freedom = 0;
  double joints = 0.0;    ///< d_j = joint rows / degrees of freedom
  double contacts = 0.0;  ///< d_c = contact rows / degrees of freedom
  double all = 0.0;       ///< d_jlc = rows / degrees of freedom
};

/// What kind of problem this is, for reports and filters.
struct Features {
  Spectrum spectrum;  ///< of G; `spectrum.estimated` marks rank, conditioning and definiteness
  double symmetry_error = 0.0;
  /// max ‖G_NT‖ / G_NN over the contacts' diagonal blocks (the larger of row and column where G is not symmetric), T
  /// the first group of friction: how much friction and normal impulse talk to each other. Nothing without contacts or
  /// with a G_NN ≤ 0.
  std::optional<double> coupling;
  std::optional<ConstraintDensities> densities;  ///< nothing where neither n_b nor n_v is known
  SampleCategory category = SampleCategory::unknown;
};

/// What extract_features finds of a problem whose G has this rank.
SampleCategory sample_category(const ContactProblem& problem, Index rank);

/// Where rank(J) is asked for, rank(G) is taken, which equals it where M is positive definite.
Features extract_features(const ContactProblem& problem, const SpectrumOptions& options = {});

}  // namespace conebench
