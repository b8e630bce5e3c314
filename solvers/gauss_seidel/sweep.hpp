#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "problems/cones/contact_cones.hpp"
#include "problems/contact_problem.hpp"
#include "solvers/gauss_seidel/block_row.hpp"

namespace conebench::gauss_seidel {

template <int Dim>
using ContactMatrix = Eigen::Matrix<double, Dim, Dim>;
template <int Dim>
using ContactMatrixMap = Eigen::Map<const ContactMatrix<Dim>>;

/// How far one sweep moved the impulse, in units of velocity over V = max ‖g_i‖: block by block
/// ‖Δλ_i‖ trace(G_ii + R_ii) / (d_i V), then the maximum. The sum of squares is there to catch NaN, which a maximum
/// forgets. Squares are taken of weighted impulses, which stay in range in whatever units λ is.
struct SweepChange {
  double largest = 0.0;
  double sum_of_squares = 0.0;
  double largest_impulse = 0.0;  ///< the same measure of λ itself
  double relaxation = 1.0;       ///< ω after the last contact, the smallest

  void add(double change_squared, double impulse_squared) {
    largest = std::max(largest, change_squared);
    sum_of_squares += change_squared;
    largest_impulse = std::max(largest_impulse, impulse_squared);
  }
  SweepChange rooted() const { return {std::sqrt(largest), sum_of_squares, std::sqrt(largest_impulse), relaxation}; }
};

/// ω ← gamma ω + (1 − gamma) minimum after every contact of a sweep (LeLidec24 Alg. 5 line 16).
struct ContactDecay {
  double gamma = 1.0;
  double minimum = 0.0;
};

/// Which impulses of the other blocks a block sees: the newest ones (Gauss–Seidel), or those before the sweep (Jacobi).
enum class Splitting { gauss_seidel, jacobi };

/// A one-contact solver whose steps are multiplied by a factor that may change from sweep to sweep.
template <class Local>
concept Adapting = requires(Local& local) {
  local.factor = 1.0;
};

/// A one-contact solver that knows rolling friction.
template <class Local>
concept Rolling = requires {
  requires Local::takes_rolling;
};

/// The sweeps of one problem, whatever its contacts are.
class AnySweep {
 public:
  virtual ~AnySweep() = default;
  /// Takes `impulse` (rows long) as the iterate.
  virtual void start(const double* impulse) = 0;
  /// Writes the iterate to `impulse` (rows long).
  virtual void write(double* impulse) const = 0;
  virtual SweepChange operator()(double relaxation, ContactDecay decay) = 0;
  /// For an adapting one-contact solver: takes the iterate before the last sweep, and returns a factor for the next
  /// sweeps.
  virtual void step_back() {}
  virtual void set_factor(double) {}
};

/// One Gauss–Seidel sweep (paper Tsounis Alg. 5, lines 3–19) over joints, limits and contacts of dimension Dim. Each
/// block in turn sees its free velocity
///     b_i = g_i + Σ_{j≠i} G_ij λ_j      (the paper's \bar v_f),
/// takes a new impulse from its one-block solver, and relaxes: λ_i ← (1 − ω) λ_i + ω λ_i,new (the order of weights of
/// Tsounis; LeLidec24 (25) has them swapped).
///
/// `Local` is the one-contact solver:
///     template <int Dim> struct Prepared;                    // what it precomputes of one contact
///     Prepared<Dim> prepare(const ContactMatrix<Dim>& block, const FrictionOf<Dim>& friction) const;
///     ContactVector<Dim> solve(const Prepared<Dim>&, const ContactMatrixMap<Dim>& block, const FrictionOf<Dim>&,
///                              const ContactVector<Dim>& free_velocity, const ContactVector<Dim>& old) const;
/// with block = G_ii + R_ii; Dim = 5 where it `takes_rolling`. It is called from the loop directly: no virtual call and
/// no allocation in a sweep.
template <class Local, int Dim, Splitting S = Splitting::gauss_seidel>
class Sweep final : public AnySweep {
 public:
  /// `order`: contacts in the order of the sweep; `weights`: one a block, see SweepChange. Keeps pointers into the
  /// problem's matrix, so it keeps the problem too.
  Sweep(ContactProblem problem, Local local, const std::vector<int>& order, const Vector& weights)
      : problem_(std::move(problem)), local_(std::move(local)) {
    const ConeProduct& cones = problem_.cones();
    first_contact_block_ = static_cast<int>(cones.first_contact_row());
    nothing_ = lanes<Dim> * static_cast<int>(cones.contacts());
    first_scalar_ = nothing_ + lanes<Dim>;
    impulse_.setZero(first_scalar_ + first_contact_block_);
    if constexpr (S == Splitting::jacobi || Adapting<Local>) other_ = impulse_;
    scalars_.reserve(static_cast<std::size_t>(first_contact_block_));
    for (int b = 0; b < first_contact_block_; ++b) scalars_.push_back(scalar_block(b, weights[b]));
    contacts_.reserve(order.size());
    slots_.reserve(static_cast<std::size_t>(problem_.blocks().stored_blocks()) + order.size());
    if (!problem_.rigid()) compliant_blocks_.reserve(order.size());
    for (const int contact : order) contacts_.push_back(contact_block(contact, weights));
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  void start(const double* impulse) override {
    for (const Scalar& scalar : scalars_) impulse_[scalar.slot] = impulse[scalar.row];
    for (const Contact& contact : contacts_) {
      for (int c = 0; c < Dim; ++c) impulse_[contact.slot + c] = impulse[contact.row + c];
    }
  }
  void write(double* impulse) const override {
    for (const Scalar& scalar : scalars_) impulse[scalar.row] = impulse_[scalar.slot];
    for (const Contact& contact : contacts_) {
      for (int c = 0; c < Dim; ++c) impulse[contact.row + c] = impulse_[contact.slot + c];
    }
  }

  SweepChange operator()(double relaxation, ContactDecay decay = {}) override {
    SweepChange change;
    if constexpr (S == Splitting::gauss_seidel && Adapting<Local>) other_ = impulse_;
    for (const Scalar& scalar : scalars_) visit(scalar, relaxation, change);
    const bool prefetch = 8 * problem_.blocks().stored_values() > larger_than_caches;
    if (decay.gamma != 1.0) {
      visit_contacts<false, true>(relaxation, decay, change);
    } else if (prefetch) {
      visit_contacts<true, false>(relaxation, decay, change);
    } else {
      visit_contacts<false, false>(relaxation, decay, change);
    }
    if constexpr (S == Splitting::jacobi) impulse_.swap(other_);
    return change.rooted();
  }

  void step_back() override {
    if constexpr (Adapting<Local>) impulse_.swap(other_);
  }
  void set_factor(double factor) override {
    if constexpr (Adapting<Local>) local_.factor = factor;
    scalar_factor_ = factor;
  }

 private:
  struct Row {
    const double* values;  ///< first value of the block row
    double weight;
    int scalars;  ///< number of 1-column blocks, which come first
    int blocks;   ///< number of Dim-column blocks; made even for a contact
    int row;      ///< of λ
    int slot;     ///< of λ in lanes
  };
  struct Scalar : Row {
    const int* columns;  ///< of the block row
    double diagonal;     ///< G_ii + R_ii
    bool limit;
  };
  struct Contact : Row {
    const double* matrix;  ///< G_ii + R_ii, column by column
    ContactVector<Dim> free_term;
    FrictionOf<Dim> friction;
    typename Local::template Prepared<Dim> prepared;
  };

  Row row(int b, double weight) const {
    const BlockSparseMatrix& matrix = problem_.blocks();
    const Index begin = matrix.row_begin(b);
    const Index end = matrix.row_begin(b + 1);
    Index split = begin;
    while (split < end && matrix.column(split) < first_contact_block_) ++split;
    return {matrix.block_values(begin),
            weight,
            static_cast<int>(split - begin),
            static_cast<int>(end - split),
            static_cast<int>(matrix.block_offset(b)),
            slot_of(b)};
  }
  const int* columns(int b) const { return problem_.blocks().columns().data() + problem_.blocks().row_begin(b); }
  int slot_of(int b) const {
    return b < first_contact_block_ ? first_scalar_ + b : lanes<Dim> * (b - first_contact_block_);
  }

  Scalar scalar_block(int b, double weight) const {
    const BlockSparseMatrix& matrix = problem_.blocks();
    return {row(b, weight), columns(b), *matrix.block_values(matrix.diagonal(b)) + problem_.compliance()[b],
            problem_.cones().block_kind(b) == BlockKind::limit};
  }

  Contact contact_block(int contact, const Vector& weights) {
    const BlockSparseMatrix& matrix = problem_.blocks();
    const int b = first_contact_block_ + contact;
    const double* values = matrix.block_values(matrix.diagonal(b));
    ContactMatrix<Dim> own = ContactMatrixMap<Dim>(values);
    if (!problem_.rigid()) {
      own.diagonal() += problem_.compliance().template segment<Dim>(matrix.block_offset(b));
      compliant_blocks_.push_back(own);
      values = compliant_blocks_.back().data();
    }
    const FrictionOf<Dim> friction = friction_of<Dim>(problem_.cones(), contact);
    const ContactVector<Dim> free_term = problem_.free_term().template segment<Dim>(matrix.block_offset(b));
    Contact result{row(b, weights[b]), values, free_term, friction, local_.template prepare<Dim>(own, friction)};
    for (int k = result.scalars; k < result.scalars + result.blocks; ++k) {
      const int column = columns(b)[k];
      slots_.push_back(column == b ? nothing_ : slot_of(column));
    }
    if (result.blocks % 2 != 0) {
      // One block more, times nothing: the first of the next row, or a copy where there is none.
      slots_.push_back(nothing_);
      ++result.blocks;
      if (b + 1 == matrix.block_rows()) {
        last_row_.assign(result.values, problem_.blocks().values().data() + matrix.stored_values());
        last_row_.resize(last_row_.size() + Dim * Dim);
        result.values = last_row_.data();
      }
    }
    return result;
  }

  template <bool Prefetch, bool Decays>
  [[gnu::noinline]] void visit_contacts(double relaxation, ContactDecay decay, SweepChange& change) {
    const int* slots = slots_.data();
    for (const Contact& contact : contacts_) {
      visit<Prefetch>(contact, slots, relaxation, change);
      slots += contact.blocks;
      if constexpr (Decays) relaxation = decay.gamma * relaxation + (1.0 - decay.gamma) * decay.minimum;
    }
    change.relaxation = relaxation;
  }

  template <bool Prefetch>
  [[gnu::always_inline]] void visit(const Contact& contact, const int* slots, double relaxation, SweepChange& change) {
    double* here = impulse_.data() + contact.slot;
    const ContactVector<Dim> old = Eigen::Map<const ContactVector<Dim>>(here);
    const double* values = contact.values;
    ContactVector<Dim> free_velocity = contact.free_term;
    for (int k = 0; k < contact.scalars; ++k, values += Dim) {
      free_velocity +=
          Eigen::Map<const ContactVector<Dim>>(values) * impulse_[first_scalar_ + scalar_column(contact, k)];
    }
    free_velocity = contact_row_product<Prefetch>(values, slots, contact.blocks, impulse_.data(), free_velocity);
    ContactVector<Dim> next = local_.template solve<Dim>(contact.prepared, ContactMatrixMap<Dim>(contact.matrix),
                                                         contact.friction, free_velocity, old);
    if (relaxation != 1.0) next = (1.0 - relaxation) * old + relaxation * next;
    store<Dim>(next, S == Splitting::jacobi ? other_.data() + contact.slot : here);
    change.add((contact.weight * (next - old)).squaredNorm(), (contact.weight * next).squaredNorm());
  }
  int scalar_column(const Contact& contact, int k) const {
    return columns(first_contact_block_ + contact.slot / lanes<Dim>)[k];
  }

  void visit(const Scalar& scalar, double relaxation, SweepChange& change) {
    const double old = impulse_[scalar.slot];
    impulse_[scalar.slot] = 0.0;
    double free_velocity = problem_.free_term()[scalar.row];
    for (int k = 0; k < scalar.scalars; ++k) {
      free_velocity += scalar.values[k] * impulse_[first_scalar_ + scalar.columns[k]];
    }
    const double* value = scalar.values + scalar.scalars;
    for (int k = 0; k < scalar.blocks; ++k, value += Dim) {
      const double* x = impulse_.data() + slot_of(scalar.columns[scalar.scalars + k]);
      for (int c = 0; c < Dim; ++c) free_velocity += value[c] * x[c];
    }
    double next = old;
    if (scalar.diagonal > 0.0) {
      next = -free_velocity / scalar.diagonal;
      if constexpr (Adapting<Local>) next = (1.0 - scalar_factor_) * old + scalar_factor_ * next;
      if (scalar.limit) next = std::max(0.0, next);
    } else if (scalar.limit && free_velocity >= 0.0) {
      next = 0.0;  // A row that no impulse of its own can move: open where it opens, else left as it is.
    }
    if (relaxation != 1.0) next = (1.0 - relaxation) * old + relaxation * next;
    impulse_[scalar.slot] = S == Splitting::jacobi ? old : next;
    if constexpr (S == Splitting::jacobi) other_[scalar.slot] = next;
    const double moved = scalar.weight * (next - old);
    const double measured = scalar.weight * next;
    change.add(moved * moved, measured * measured);
  }

  /// Bytes of G from which on a sweep waits for memory.
  static constexpr Index larger_than_caches = Index{1} << 24;

  ContactProblem problem_;
  Local local_;
  int first_contact_block_ = 0;
  int nothing_ = 0;       ///< slot of an impulse that stays zero
  int first_scalar_ = 0;  ///< slot of the first joint or limit
  Vector impulse_;        ///< λ in lanes: contacts, nothing, joints and limits
  Vector other_;          ///< the next iterate (Jacobi) or the one before (adapting)
  double scalar_factor_ = 1.0;
  std::vector<Scalar> scalars_;
  std::vector<Contact> contacts_;
  std::vector<int> slots_;  ///< of the blocks of the contacts' rows, in the order of the sweep
  std::vector<double> last_row_;
  std::vector<ContactMatrix<Dim>> compliant_blocks_;
};

}  // namespace conebench::gauss_seidel
