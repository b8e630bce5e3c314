#include "solvers/cascade/contact_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/cones/contact_rows.hpp"

namespace conebench::cascade {

namespace {

constexpr gauss_seidel::CoulombBlock local;

}  // namespace

template <int Dim>
ContactSweep::Own<Dim> ContactSweep::own(Index i) const {
  const double friction = system_.cones.friction()[static_cast<std::size_t>(i - system_.cones.limits())];
  Eigen::Matrix<double, Dim, Dim> block = system_.matrix.block<Dim>(system_.matrix.diagonal(i));
  if (system_.compliance != nullptr)
    block.diagonal() += system_.compliance->segment<Dim>(system_.matrix.block_offset(i));
  return {local.prepare<Dim>(block, friction), block, friction};
}

void ContactSweep::prepare() {
  with_contact_rows(system_.cones.contact_dimension(), [&]<int Dim>() {
    auto& prepared = std::get<std::vector<Own<Dim>>>(prepared_);
    prepared.reserve(static_cast<std::size_t>(system_.cones.contacts()));
    for (Index i = system_.cones.limits(); i < system_.cones.blocks(); ++i) prepared.push_back(own<Dim>(i));
  });
}

template <int Dim>
double ContactSweep::sweep_over(double* const impulse) const {
  using Part = ContactVector<Dim>;
  using Block = Eigen::Matrix<double, Dim, Dim>;
  const BlockSparseMatrix& matrix = system_.matrix;
  const auto limits = static_cast<int>(system_.cones.limits());
  const auto blocks = static_cast<int>(system_.cones.blocks());
  const int* const columns = matrix.columns().data();
  const int* column = columns;
  const double* value = matrix.values().data();
  const double* free_term = system_.free_term.data();
  double* const contacts = impulse + limits;
  // The next row's velocity but for its own impulse.
  const auto free_velocity = [&]<int Rows>(int i) {
    ContactVector<Rows> sum = Eigen::Map<const ContactVector<Rows>>(free_term);
    const auto add_until = [&](const int* end) {
      for (; column != end && *column < limits; ++column, value += Rows)
        sum += Eigen::Map<const ContactVector<Rows>>(value) * impulse[*column];
      for (; column != end; ++column, value += Rows * Dim)
        sum.noalias() += Eigen::Map<const Eigen::Matrix<double, Rows, Dim>>(value) *
                         Eigen::Map<const Part>(contacts + Dim * static_cast<Index>(*column - limits));
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
  const auto& prepared = std::get<std::vector<Own<Dim>>>(prepared_);
  Own<Dim> made;
  double* here = contacts;
  for (int i = limits; i < blocks; ++i, here += Dim) {
    Eigen::Map<Part> part(here);
    const Part old = part;
    const Part free = free_velocity.template operator()<Dim>(i);
    Part solved = Part::Zero();
    if (free[Dim - 1] < 0.0) {  // one that opens needs no inverse of its block
      const Own<Dim>& at = prepared.empty() ? made = own<Dim>(i) : prepared[static_cast<std::size_t>(i - limits)];
      solved = local.solve<Dim>(at.prepared, Eigen::Map<const Block>(at.block.data()), at.friction, free, old);
    }
    part = solved;
    const double weight = matrix.block_values(matrix.diagonal(i))[Dim * Dim - 1];
    change += weight * (solved - old).squaredNorm();
    size += weight * solved.squaredNorm();
  }
  return std::sqrt(change / std::max(size, std::numeric_limits<double>::min()));
}

double ContactSweep::sweep(VectorRef impulse) const {
  return with_contact_rows(system_.cones.contact_dimension(),
                           [&]<int Dim>() { return sweep_over<Dim>(impulse.data()); });
}

}  // namespace conebench::cascade
