#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "problems/contact_problem.hpp"
#include "solvers/gauss_seidel/block_row.hpp"

namespace conebench::gauss_seidel {

template <int Dim>
using ContactMatrix = Eigen::Matrix<double, Dim, Dim>;
template <int Dim>
using ContactMatrixMap = Eigen::Map<const ContactMatrix<Dim>>;

/// How far one sweep moved the impulse, in units of velocity over V = max ‖g_i‖: block by block
/// ‖Δλ_i‖ trace(G_ii + R_ii) / (d_i V), then the maximum. The sum of squares is there to catch NaN, which a maximum
/// forgets.
struct SweepChange {
  double largest = 0.0;
  double sum_of_squares = 0.0;
  double largest_impulse = 0.0;  ///< the same measure of λ itself

  void add(double change_squared, double impulse_squared) {
    largest = std::max(largest, change_squared);
    sum_of_squares += change_squared;
    largest_impulse = std::max(largest_impulse, impulse_squared);
  }
  SweepChange rooted() const { return {std::sqrt(largest), sum_of_squares, std::sqrt(largest_impulse)}; }
};

/// One Gauss–Seidel sweep (paper 004 Alg. 5, lines 3–19) over joints, limits and contacts of dimension Dim. Each block
/// in turn sees its free velocity
///     b_i = g_i + Σ_{j≠i} G_ij λ_j      (the paper's \bar v_f),
/// takes a new impulse from its one-block solver, and relaxes: λ_i ← (1 − ω) λ_i + ω λ_i,new (the order of weights of
/// 004; 002 (25) has them swapped).
///
/// `Local` is the one-contact solver:
///     template <int Dim> struct Prepared;                    // what it precomputes of one contact
///     Prepared<Dim> prepare(const ContactMatrix<Dim>& block, double friction) const;
///     ContactVector<Dim> solve(const Prepared<Dim>&, const ContactMatrixMap<Dim>& block, double friction,
///                              const ContactVector<Dim>& free_velocity, const ContactVector<Dim>& old) const;
/// with block = G_ii + R_ii. It is called from the loop directly: no virtual call and no allocation in a sweep.
template <class Local, int Dim>
class Sweep {
 public:
  /// `order`: contacts in the order of the sweep; `weights`: one a block, see SweepChange. Keeps pointers into the
  /// problem's matrix, so it keeps the problem too.
  Sweep(ContactProblem problem, Local local, const std::vector<int>& order, const Vector& weights)
      : problem_(std::move(problem)), local_(std::move(local)) {
    const ConeProduct& cones = problem_.cones();
    first_contact_block_ = cones.first_contact_row();
    scalars_.reserve(static_cast<std::size_t>(first_contact_block_));
    for (Index b = 0; b < first_contact_block_; ++b) scalars_.push_back(scalar_block(b, weights[b]));
    contacts_.reserve(order.size());
    if (!problem_.rigid()) compliant_blocks_.reserve(order.size());
    for (const int contact : order) contacts_.push_back(contact_block(contact, weights));
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  SweepChange operator()(double relaxation, double* impulse) {
    SweepChange change;
    for (const Scalar& block : scalars_) visit(block, relaxation, impulse, change);
    for (const Contact& contact : contacts_) visit(contact, relaxation, impulse, change);
    return change.rooted();
  }

 private:
  struct Block {
    const double* values;  ///< first value of the block row
    double weight_squared;
    int begin;  ///< first position of the row in columns()
    int scalars;
    int contacts;
    int row;  ///< of λ
  };
  struct Scalar : Block {
    double diagonal;  ///< G_ii + R_ii
    bool limit;
  };
  struct Contact : Block {
    const double* matrix;  ///< G_ii + R_ii, column by column
    double friction;
    typename Local::template Prepared<Dim> prepared;
  };

  Block block(Index b, double weight) const {
    const BlockSparseMatrix& matrix = problem_.blocks();
    const Index begin = matrix.row_begin(b);
    const Index end = matrix.row_begin(b + 1);
    Index split = begin;
    while (split < end && matrix.column(split) < first_contact_block_) ++split;
    return {matrix.block_values(begin),    weight * weight,
            static_cast<int>(begin),       static_cast<int>(split - begin),
            static_cast<int>(end - split), static_cast<int>(matrix.block_offset(b))};
  }

  Scalar scalar_block(Index b, double weight) const {
    const BlockSparseMatrix& matrix = problem_.blocks();
    return {block(b, weight), *matrix.block_values(matrix.diagonal(b)) + problem_.compliance()[b],
            problem_.cones().block_kind(b) == BlockKind::limit};
  }

  Contact contact_block(int contact, const Vector& weights) {
    const BlockSparseMatrix& matrix = problem_.blocks();
    const Index b = first_contact_block_ + contact;
    const double* values = matrix.block_values(matrix.diagonal(b));
    ContactMatrix<Dim> own = ContactMatrixMap<Dim>(values);
    if (!problem_.rigid()) {
      own.diagonal() += problem_.compliance().template segment<Dim>(matrix.block_offset(b));
      compliant_blocks_.push_back(own);
      values = compliant_blocks_.back().data();
    }
    const double friction = problem_.cones().friction()[static_cast<std::size_t>(contact)];
    return {block(b, weights[b]), values, friction, local_.template prepare<Dim>(own, friction)};
  }

  BlockRow row_of(const Block& block, const double* impulse) const {
    return {problem_.blocks().columns().data() + block.begin,
            block.values,
            block.scalars,
            block.contacts,
            impulse,
            first_contact_block_ * (1 - Dim)};
  }

  void visit(const Contact& contact, double relaxation, double* impulse, SweepChange& change) {
    Eigen::Map<ContactVector<Dim>> here(impulse + contact.row);
    const ContactVector<Dim> old = here;
    // With its own impulse set aside, the whole block row sums to b without the cancellation of σ − G_ii λ_i.
    here.setZero();
    const ContactVector<Dim> free_velocity = contact_row_product(
        row_of(contact, impulse), ContactVector<Dim>(problem_.free_term().template segment<Dim>(contact.row)));
    ContactVector<Dim> next = local_.template solve<Dim>(contact.prepared, ContactMatrixMap<Dim>(contact.matrix),
                                                         contact.friction, free_velocity, old);
    if (relaxation != 1.0) next = (1.0 - relaxation) * old + relaxation * next;
    here = next;
    change.add((next - old).squaredNorm() * contact.weight_squared, next.squaredNorm() * contact.weight_squared);
  }

  void visit(const Scalar& scalar, double relaxation, double* impulse, SweepChange& change) {
    const double old = impulse[scalar.row];
    impulse[scalar.row] = 0.0;
    const double free_velocity = scalar_row_product<Dim>(row_of(scalar, impulse), problem_.free_term()[scalar.row]);
    double next = old;
    if (scalar.diagonal > 0.0) {
      next = -free_velocity / scalar.diagonal;
      if (scalar.limit) next = std::max(0.0, next);
    } else if (scalar.limit && free_velocity >= 0.0) {
      next = 0.0;  // A row that no impulse of its own can move: open where it opens, else left as it is.
    }
    if (relaxation != 1.0) next = (1.0 - relaxation) * old + relaxation * next;
    impulse[scalar.row] = next;
    change.add((next - old) * (next - old) * scalar.weight_squared, next * next * scalar.weight_squared);
  }

  ContactProblem problem_;
  Local local_;
  Index first_contact_block_ = 0;
  std::vector<Scalar> scalars_;
  std::vector<Contact> contacts_;
  std::vector<ContactMatrix<Dim>> compliant_blocks_;
};

}  // namespace conebench::gauss_seidel
