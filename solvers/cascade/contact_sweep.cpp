#include "solvers/cascade/contact_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/cones/contact_cones.hpp"

namespace conebench::cascade {

namespace {

constexpr gauss_seidel::CoulombBlock local;

/// Returns visit.operator()<Cone>() for Coulomb's cone that all contacts have.
template <class Visit>
decltype(auto) with_coulomb_cone(const ConeProduct& cones, Visit&& visit) {
  if (cones.contact_type() == ConeType::coulomb_plane) return visit.template operator()<CoulombPlane>();
  return visit.template operator()<CoulombSpace>();
}

}  // namespace

template <class Cone>
ContactSweep::Own<Cone> ContactSweep::own(Index i) const {
  const Cone cone = contact_cone<Cone>(system_.cones, i - system_.cones.first_contact_row());
  typename Cone::Square block = system_.matrix.block<Cone::rows>(system_.matrix.diagonal(i));
  if (system_.compliance != nullptr)
    block.diagonal() += system_.compliance->segment<Cone::rows>(system_.matrix.block_offset(i));
  return {local.prepare<Cone>(block, cone), block, cone};
}

void ContactSweep::prepare() {
  with_coulomb_cone(system_.cones, [&]<class Cone>() {
    auto& prepared = std::get<std::vector<Own<Cone>>>(prepared_);
    prepared.reserve(static_cast<std::size_t>(system_.cones.contacts()));
    for (Index i = system_.cones.first_contact_row(); i < system_.cones.blocks(); ++i) prepared.push_back(own<Cone>(i));
  });
}

template <class Cone>
double ContactSweep::sweep_over(double* const impulse) const {
  constexpr int Dim = Cone::rows;
  using Part = typename Cone::Block;
  using Block = typename Cone::Square;
  const BlockSparseMatrix& matrix = system_.matrix;
  const auto limits = static_cast<int>(system_.cones.limits());
  const auto scalars = static_cast<int>(system_.cones.first_contact_row());
  const auto blocks = static_cast<int>(system_.cones.blocks());
  const int* const columns = matrix.columns().data();
  const int* column = columns;
  const double* value = matrix.values().data();
  const double* free_term = system_.free_term.data();
  double* const contacts = impulse + scalars;
  // The next row's velocity but for its own impulse.
  const auto free_velocity = [&]<int Rows>(int i) {
    ContactVector<Rows> sum = Eigen::Map<const ContactVector<Rows>>(free_term);
    const auto add_until = [&](const int* end) {
      for (; column != end && *column < scalars; ++column, value += Rows)
        sum += Eigen::Map<const ContactVector<Rows>>(value) * impulse[*column];
      for (; column != end; ++column, value += Rows * Dim)
        sum.noalias() += Eigen::Map<const Eigen::Matrix<double, Rows, Dim>>(value) *
                         Eigen::Map<const Part>(contacts + Dim * static_cast<Index>(*column - scalars));
    };
    add_until(columns + matrix.diagonal(i));
    ++column;
    value += Rows * Rows;
    add_until(columns + matrix.row_begin(i + 1));
    free_term += Rows;
    return sum;
  };
  double change = 0.0;
  double size = 0.0;
  for (int i = 0; i < limits; ++i) {
    const double old = impulse[i];
    const double free = free_velocity.template operator()<1>(i)[0];
    const double own = *matrix.block_values(matrix.diagonal(i)) + system_.compliance_of(i);
    impulse[i] = free < 0.0 && own > 0.0 ? -free / own : 0.0;
    change += own * (impulse[i] - old) * (impulse[i] - old);
    size += own * impulse[i] * impulse[i];
  }
  for (int i = limits; i < scalars; ++i) {
    const double old = impulse[i];
    const double free = free_velocity.template operator()<1>(i)[0];
    const double own = *matrix.block_values(matrix.diagonal(i)) + system_.compliance_of(i);
    impulse[i] = system_.cones.bounds(i).project(own > 0.0 ? -free / own : old);
    change += own * (impulse[i] - old) * (impulse[i] - old);
    size += own * impulse[i] * impulse[i];
  }
  const auto& prepared = std::get<std::vector<Own<Cone>>>(prepared_);
  Own<Cone> made;
  double* here = contacts;
  for (int i = scalars; i < blocks; ++i, here += Dim) {
    Eigen::Map<Part> part(here);
    const Part old = part;
    const Part free = free_velocity.template operator()<Dim>(i);
    Part solved = Part::Zero();
    if (free[Cone::normal] < 0.0) {  // one that opens needs no inverse of its block
      const Own<Cone>& at = prepared.empty() ? made = own<Cone>(i) : prepared[static_cast<std::size_t>(i - scalars)];
      solved = local.solve<Cone>(at.prepared, Eigen::Map<const Block>(at.block.data()), at.cone, free, old);
    }
    part = solved;
    const double weight = matrix.block_values(matrix.diagonal(i))[Dim * Dim - 1];
    change += weight * (solved - old).squaredNorm();
    size += weight * solved.squaredNorm();
  }
  return std::sqrt(change / std::max(size, std::numeric_limits<double>::min()));
}

double ContactSweep::sweep(VectorRef impulse) const {
  return with_coulomb_cone(system_.cones, [&]<class Cone>() { return sweep_over<Cone>(impulse.data()); });
}

}  // namespace conebench::cascade
