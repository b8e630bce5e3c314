#include "solvers/cascade/first_sweep.hpp"

#include "problems/cones/contact_rows.hpp"
#include "problems/scaled_natural_map.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::cascade {

namespace {

template <int Dim>
void sweep_over(const ContactProblem& problem, double* impulse) {
  using Part = ContactVector<Dim>;
  using Block = Eigen::Matrix<double, Dim, Dim>;
  const gauss_seidel::CoulombBlock local;
  const BlockSparseMatrix& matrix = problem.blocks();
  const Index limits = problem.cones().limits();
  const auto at = [&](Index j) { return impulse + matrix.block_offset(j); };
  for (Index i = 0; i < limits; ++i) {
    double free = problem.free_term()[i];
    for (Index k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k) {
      const Index j = matrix.column(k);
      if (j >= limits)
        free += Eigen::Map<const Part>(matrix.block_values(k)).dot(Eigen::Map<const Part>(at(j)));
      else if (j != i)
        free += *matrix.block_values(k) * impulse[j];
    }
    const double own = *matrix.block_values(matrix.diagonal(i)) + problem.compliance()[i];
    impulse[i] = free >= 0.0 || !(own > 0.0) ? 0.0 : -free / own;
  }
  for (Index i = limits; i < matrix.block_rows(); ++i) {
    const Index row = matrix.block_offset(i);
    Part free = problem.free_term().segment<Dim>(row);
    Index k = matrix.row_begin(i);
    for (; matrix.column(k) < limits; ++k) free += matrix.block<Dim, 1>(k) * impulse[matrix.column(k)];
    for (; k < matrix.row_begin(i + 1); ++k) {
      const Index j = matrix.column(k);
      if (j != i) free += matrix.block<Dim>(k) * Eigen::Map<const Part>(at(j));
    }
    Eigen::Map<Part> own(impulse + row);
    if (free[Dim - 1] >= 0.0) {  // an opening contact needs no inverse of its block
      own.setZero();
      continue;
    }
    Block block = matrix.block<Dim>(matrix.diagonal(i));
    block.diagonal() += problem.compliance().segment<Dim>(row);
    const double friction = problem.cones().friction()[static_cast<std::size_t>(i - limits)];
    own = local.solve<Dim>(local.prepare<Dim>(block, friction), Eigen::Map<const Block>(block.data()), friction, free,
                           Part(own));
  }
}

}  // namespace

bool FirstSweep::fits(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  return cones.joints() == 0 && cones.blocks() > 0 && cones.blocks() <= tuned.few_contacts;
}

FirstSweep::FirstSweep(const ContactProblem& problem)
    : problem_(problem),
      inverse_steps_(problem.cones().blocks()),
      velocity_(problem.rows()),
      scratch_(problem.rows()),
      reference_(natural_map_scaling(problem, inverse_steps_)) {}

double FirstSweep::residual(ConstVectorRef impulse) {
  velocity_ = problem_.free_term();
  if (!impulse.isZero(0.0)) {
    problem_.blocks().apply(impulse, scratch_);
    velocity_ += scratch_ + problem_.compliance().cwiseProduct(impulse);
    ++products_;
  }
  add_de_saxce(problem_.cones(), velocity_, velocity_);
  return scaled_natural_map(problem_.cones(), impulse, velocity_, inverse_steps_, reference_, scratch_);
}

void FirstSweep::sweep(VectorRef impulse) const {
  with_contact_rows(problem_.cones().contact_dimension(),
                    [&]<int Dim>() { sweep_over<Dim>(problem_, impulse.data()); });
}

}  // namespace conebench::cascade
