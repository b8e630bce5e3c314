#include "solvers/cascade/first_sweep.hpp"

#include <array>

#include "problems/cones/contact_rows.hpp"
#include "problems/scaled_natural_map.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::cascade {

namespace {

template <int Dim>
void sweep(const ContactProblem& problem, double* impulse) {
  using Part = ContactVector<Dim>;
  using Block = Eigen::Matrix<double, Dim, Dim>;
  const gauss_seidel::CoulombBlock local;
  const BlockSparseMatrix& matrix = problem.blocks();
  for (Index i = 0; i < matrix.block_rows(); ++i) {
    Part free = problem.free_term().segment<Dim>(Dim * i);
    for (Index k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k) {
      const Index j = matrix.column(k);
      if (j != i) free += matrix.block<Dim>(k) * Eigen::Map<const Part>(impulse + Dim * j);
    }
    Eigen::Map<Part> own(impulse + Dim * i);
    if (free[Dim - 1] >= 0.0) {  // an opening contact needs no inverse of its block
      own.setZero();
      continue;
    }
    Block block = matrix.block<Dim>(matrix.diagonal(i));
    block.diagonal() += problem.compliance().segment<Dim>(Dim * i);
    const double friction = problem.cones().friction()[static_cast<std::size_t>(i)];
    own = local.solve<Dim>(local.prepare<Dim>(block, friction), Eigen::Map<const Block>(block.data()), friction, free,
                           Part(own));
  }
}

}  // namespace

bool FirstSweep::fits(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  return cones.joints() == 0 && cones.limits() == 0 && cones.contacts() > 0 && cones.contacts() <= tuned.few_contacts;
}

double FirstSweep::run(const ContactProblem& problem, VectorRef impulse) {
  const ConeProduct& cones = problem.cones();
  with_contact_rows(cones.contact_dimension(), [&]<int Dim>() { sweep<Dim>(problem, impulse.data()); });
  std::array<double, static_cast<std::size_t>(tuned.few_contacts)> inverse_steps;
  std::array<double, static_cast<std::size_t>(3 * tuned.few_contacts)> velocities, scratches;
  Eigen::Map<Vector> steps(inverse_steps.data(), cones.blocks());
  Eigen::Map<Vector> velocity(velocities.data(), problem.rows());
  Eigen::Map<Vector> scratch(scratches.data(), problem.rows());
  const double reference = natural_map_scaling(problem, steps);
  problem.blocks().apply(impulse, velocity);
  velocity += problem.compliance().cwiseProduct(impulse) + problem.free_term();
  add_de_saxce(cones, velocity, velocity);
  return scaled_natural_map(cones, impulse, velocity, steps, reference, scratch);
}

}  // namespace conebench::cascade
