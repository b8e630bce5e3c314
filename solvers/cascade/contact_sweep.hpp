#pragma once

#include <tuple>
#include <vector>

#include "problems/contact_problem.hpp"
#include "problems/joint_elimination.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::cascade {

/// Limits, intervals and contacts with Coulomb's friction alone, σ = (matrix + R) λ + free_term: a problem without
/// joints, or what their elimination leaves. Refers to what it is made from.
struct ContactSystem {
  explicit ContactSystem(const ContactProblem& p)
      : cones(p.cones()),
        matrix(p.blocks()),
        free_term(p.free_term()),
        compliance(p.rigid() ? nullptr : &p.compliance()) {}
  explicit ContactSystem(const JointElimination& e) : cones(e.cones), matrix(e.matrix), free_term(e.free_term) {}

  /// R's entry of a row.
  double compliance_of(Index row) const { return compliance != nullptr ? (*compliance)[row] : 0.0; }

  const ConeProduct& cones;
  const BlockSparseMatrix& matrix;
  const Vector& free_term;
  const Vector* compliance = nullptr;  ///< R's diagonal, null where it is 0 or `matrix` contains it
};

/// Block Gauss–Seidel with NSGS's exact one-contact solution, in the problem's own units.
class ContactSweep {
 public:
  explicit ContactSweep(const ContactSystem& system) : system_(system) {}

  /// Inverts the contacts' own blocks once: for more than one sweep.
  void prepare();
  /// One sweep over all rows. Returns ‖Δλ‖/‖λ‖, squares of a contact weighted by its G_nn, so that the
  /// units of single rows do not count. No allocation.
  double sweep(VectorRef impulse) const;

 private:
  /// A contact's own block, with what the one-contact solution precomputes.
  template <class Cone>
  struct Own {
    gauss_seidel::CoulombBlock::Prepared<Cone> prepared;
    typename Cone::Square block;
    Cone cone;
  };
  template <class Cone>
  Own<Cone> own(Index i) const;
  template <class Cone>
  double sweep_over(double* impulse) const;

  ContactSystem system_;
  std::tuple<std::vector<Own<CoulombPlane>>, std::vector<Own<CoulombSpace>>> prepared_;  ///< one of them, or none
};

}  // namespace conebench::cascade
