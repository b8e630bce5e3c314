#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/workers.hpp"
#include "problems/cones/contact_cones.hpp"
#include "problems/contact_problem.hpp"
#include "solvers/gauss_seidel/block_row.hpp"

namespace conebench::gauss_seidel {

/// G_ii + R_ii of a contact.
template <class Cone>
using SquareMap = Eigen::Map<const typename Cone::Square>;

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

/// A one-contact solver that knows contacts of this class.
template <class Local, class Cone>
concept Solves = requires(const Local& local, const typename Cone::Square& block, const Cone& cone) {
  local.prepare(block, cone);
};

/// The sweeps of one problem, whatever its contacts are.
class AnySweep {
 public:
  virtual ~AnySweep() = default;
  /// Takes `impulse` (rows long) as the iterate.
  virtual void start(const double* impulse) = 0;
  /// Writes the iterate to `impulse` (rows long).
  virtual void write(double* impulse) const = 0;
  /// From now on so many threads share the contacts of each colour, which do not act on each other; a sweep that decays
  /// with every contact is shared by none.
  virtual void share(std::vector<std::size_t> colour_ends, int threads) = 0;
  virtual SweepChange operator()(double relaxation, ContactDecay decay) = 0;
  /// For an adapting one-contact solver: takes the iterate before the last sweep, and returns a factor for the next
  /// sweeps.
  virtual void step_back() {}
  virtual void set_factor(double) {}
};

/// One Gauss–Seidel sweep (paper Tsounis Alg. 5, lines 3–19) over joints, limits, intervals and contacts of one class;
/// contacts of any laws and sizes where that is FrictionCone. Each block in turn sees its free velocity
///     b_i = g_i + Σ_{j≠i} G_ij λ_j      (the paper's \bar v_f),
/// takes a new impulse from its one-block solver, and relaxes: λ_i ← (1 − ω) λ_i + ω λ_i,new (the order of weights of
/// Tsounis; LeLidec24 (25) has them swapped). A row with bounds is solved alone and clipped to them.
///
/// `Local` is the one-contact solver:
///     template <class Cone> struct Prepared;                 // what it precomputes of one contact
///     Prepared<Cone> prepare(const Square& block, const Cone& cone) const;
///     Block solve(const Prepared<Cone>&, const SquareMap<Cone>& block, const Cone& cone, const Block& free_velocity,
///                 const Block& old) const;
/// with block = G_ii + R_ii. It is called from the loop directly: no virtual call and no allocation in a sweep.
template <class Local, class Cone, Splitting S = Splitting::gauss_seidel>
class Sweep final : public AnySweep {
 public:
  /// `order`: contacts in the order of the sweep; `weights`: one a block, see SweepChange. Keeps pointers into the
  /// problem's matrix, so it keeps the problem too.
  Sweep(ContactProblem problem, Local local, const std::vector<int>& order, const Vector& weights)
      : problem_(std::move(problem)), local_(std::move(local)) {
    const ConeProduct& cones = problem_.cones();
    first_contact_block_ = static_cast<int>(cones.first_contact_row());
    nothing_ = Layout<Cone>::begin(cones, cones.contacts());
    first_scalar_ = nothing_ + Layout<Cone>::room;
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
      for (int c = 0; c < contact.cone.size(); ++c) impulse_[contact.slot + c] = impulse[contact.row + c];
    }
  }
  void write(double* impulse) const override {
    for (const Scalar& scalar : scalars_) impulse[scalar.row] = impulse_[scalar.slot];
    for (const Contact& contact : contacts_) {
      for (int c = 0; c < contact.cone.size(); ++c) impulse[contact.row + c] = impulse_[contact.slot + c];
    }
  }

  void share(std::vector<std::size_t> colour_ends, int threads) override {
    colour_ends_ = std::move(colour_ends);
    workers_ = std::make_unique<Workers>(threads);
    changes_.resize(static_cast<std::size_t>(threads));
    first_slot_.assign(1, 0);
    for (const Contact& contact : contacts_) {
      first_slot_.push_back(first_slot_.back() + static_cast<std::size_t>(contact.scalars + contact.blocks));
    }
  }

  SweepChange operator()(double relaxation, ContactDecay decay = {}) override {
    SweepChange change;
    if constexpr (S == Splitting::gauss_seidel && Adapting<Local>) other_ = impulse_;
    for (const Scalar& scalar : scalars_) visit(scalar, relaxation, change);
    const bool prefetch = 8 * problem_.blocks().stored_values() > larger_than_caches;
    if (decay.gamma != 1.0) {
      visit_contacts<false, true>(relaxation, decay, change);
    } else if (workers_) {
      visit_colours(relaxation, change);
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
  using Block = typename Cone::Block;
  using Square = typename Cone::Square;

  struct Row {
    const double* values;  ///< first value of the block row
    double weight;
    int scalars;  ///< number of 1-column blocks, which come first
    int blocks;   ///< number of the others; of a contact, of their slots
    int row;      ///< of λ
    int slot;     ///< of λ among impulse_
  };
  struct Scalar : Row {
    const int* columns;  ///< of the block row
    double diagonal;     ///< G_ii + R_ii
    BlockKind kind;
    Interval bounds;
  };
  struct Contact : Row {
    const double* matrix;  ///< G_ii + R_ii, column by column
    Block free_term;
    Cone cone;
    typename Local::template Prepared<Cone> prepared;
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
    return b < first_contact_block_ ? first_scalar_ + b
                                    : Layout<Cone>::begin(problem_.cones(), b - first_contact_block_);
  }

  Scalar scalar_block(int b, double weight) const {
    const BlockSparseMatrix& matrix = problem_.blocks();
    return {row(b, weight), columns(b), *matrix.block_values(matrix.diagonal(b)) + problem_.compliance()[b],
            problem_.cones().block_kind(b), problem_.cones().bounds(b)};
  }

  Contact contact_block(int contact, const Vector& weights) {
    const BlockSparseMatrix& matrix = problem_.blocks();
    const int b = first_contact_block_ + contact;
    const Cone cone = contact_cone<Cone>(problem_.cones(), contact);
    const int size = cone.size();
    const double* values = matrix.block_values(matrix.diagonal(b));
    Square own = SquareMap<Cone>(values, size, size);
    if (!problem_.rigid()) {
      own.diagonal() += problem_.compliance().template segment<Cone::rows>(matrix.block_offset(b), size);
      compliant_blocks_.push_back(own);
      values = compliant_blocks_.back().data();
    }
    const Block free_term = problem_.free_term().template segment<Cone::rows>(matrix.block_offset(b), size);
    Contact result{row(b, weights[b]), values, free_term, cone, local_.prepare(own, cone)};
    for (int k = 0; k < result.scalars; ++k) slots_.push_back(slot_of(columns(b)[k]));
    const std::size_t scalars_end = slots_.size();
    for (int k = result.scalars; k < result.scalars + result.blocks; ++k) {
      const int column = columns(b)[k];
      Layout<Cone>::add_slots(column == b ? nothing_ : slot_of(column), matrix.block_size(column), slots_);
    }
    result.blocks = static_cast<int>(slots_.size() - scalars_end);
    if (result.blocks % Layout<Cone>::at_once != 0) {
      // One block more, times nothing: the first of the next row, or a copy where there is none.
      slots_.push_back(nothing_);
      ++result.blocks;
      if (b + 1 == matrix.block_rows()) {
        last_row_.assign(result.values, problem_.blocks().values().data() + matrix.stored_values());
        last_row_.resize(last_row_.size() + static_cast<std::size_t>(own.size()));
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
      slots += contact.scalars + contact.blocks;
      if constexpr (Decays) relaxation = decay.gamma * relaxation + (1.0 - decay.gamma) * decay.minimum;
    }
    change.relaxation = relaxation;
  }

  /// Colour by colour, its contacts shared among threads. Prefetching rows ahead would fetch other colours'.
  [[gnu::noinline]] void visit_colours(double relaxation, SweepChange& change) {
    std::size_t first = 0;
    for (const std::size_t end : colour_ends_) {
      const auto visit_part = [&, first](std::size_t part, std::size_t begin, std::size_t past) {
        SweepChange own;
        for (std::size_t i = first + begin; i < first + past; ++i) {
          visit<false>(contacts_[i], slots_.data() + first_slot_[i], relaxation, own);
        }
        changes_[part].change = own;
      };
      if (end - first < worth_sharing) {
        visit_part(0, 0, end - first);
        merge(changes_[0].change, change);
      } else {
        workers_->run_parts(end - first, visit_part);
        for (const Part& part : changes_) merge(part.change, change);
      }
      first = end;
    }
    change.relaxation = relaxation;
  }
  static void merge(const SweepChange& part, SweepChange& all) {
    all.largest = std::max(all.largest, part.largest);
    all.sum_of_squares += part.sum_of_squares;
    all.largest_impulse = std::max(all.largest_impulse, part.largest_impulse);
  }

  template <bool Prefetch>
  [[gnu::always_inline]] void visit(const Contact& contact, const int* slots, double relaxation, SweepChange& change) {
    double* here = impulse_.data() + contact.slot;
    const int size = contact.cone.size();
    const Block old = Eigen::Map<const Block>(here, size);
    const double* values = contact.values;
    Block free_velocity = contact.free_term;
    for (int k = 0; k < contact.scalars; ++k, values += size) {
      free_velocity += Eigen::Map<const Block>(values, size) * impulse_[slots[k]];
    }
    free_velocity =
        contact_row_product<Prefetch>(values, slots + contact.scalars, contact.blocks, impulse_.data(), free_velocity);
    Block next =
        local_.solve(contact.prepared, SquareMap<Cone>(contact.matrix, size, size), contact.cone, free_velocity, old);
    if (relaxation != 1.0) next = (1.0 - relaxation) * old + relaxation * next;
    store(next, S == Splitting::jacobi ? other_.data() + contact.slot : here);
    change.add((contact.weight * (next - old)).squaredNorm(), (contact.weight * next).squaredNorm());
  }

  void visit(const Scalar& scalar, double relaxation, SweepChange& change) {
    const double old = impulse_[scalar.slot];
    impulse_[scalar.slot] = 0.0;
    double free_velocity = problem_.free_term()[scalar.row];
    for (int k = 0; k < scalar.scalars; ++k) {
      free_velocity += scalar.values[k] * impulse_[first_scalar_ + scalar.columns[k]];
    }
    const double* value = scalar.values + scalar.scalars;
    for (int k = 0; k < scalar.blocks; ++k) {
      const int column = scalar.columns[scalar.scalars + k];
      const double* x = impulse_.data() + slot_of(column);
      const int rows = Layout<Cone>::rows(problem_.cones(), column - first_contact_block_);
      for (int c = 0; c < rows; ++c) free_velocity += value[c] * x[c];
      value += rows;
    }
    double next = old;
    if (scalar.diagonal > 0.0) {
      next = -free_velocity / scalar.diagonal;
      if constexpr (Adapting<Local>) next = (1.0 - scalar_factor_) * old + scalar_factor_ * next;
      if (scalar.kind != BlockKind::joint) next = scalar.bounds.project(next);
    } else {
      next = unmoved(scalar, free_velocity, old);
    }
    if (relaxation != 1.0) next = (1.0 - relaxation) * old + relaxation * next;
    impulse_[scalar.slot] = S == Splitting::jacobi ? old : next;
    if constexpr (S == Splitting::jacobi) other_[scalar.slot] = next;
    const double moved = scalar.weight * (next - old);
    const double measured = scalar.weight * next;
    change.add(moved * moved, measured * measured);
  }

  /// Of a row that no impulse of its own can move: a limit is open where it opens, an interval at the bound that its
  /// velocity leads to, where there is one; else left as it is.
  static double unmoved(const Scalar& scalar, double velocity, double old) {
    if (scalar.kind == BlockKind::limit) return velocity >= 0.0 ? 0.0 : old;
    const double bound = velocity > 0.0 ? scalar.bounds.lower : velocity < 0.0 ? scalar.bounds.upper : old;
    return std::isfinite(bound) ? bound : old;
  }

  /// Contacts of a colour from which on threads gain: handing out costs some 10 us, a contact 0.1 us or more.
  static constexpr std::size_t worth_sharing = 256;
  /// In a line of the cache of its own.
  struct alignas(64) Part {
    SweepChange change;
  };

  /// Bytes of G from which on a sweep waits for memory.
  static constexpr Index larger_than_caches = Index{1} << 24;

  ContactProblem problem_;
  Local local_;
  int first_contact_block_ = 0;
  int nothing_ = 0;       ///< slot of an impulse that stays zero
  int first_scalar_ = 0;  ///< slot of the first row that is no contact's
  Vector impulse_;        ///< λ: contacts (see Layout), nothing, joints, limits and intervals
  Vector other_;          ///< the next iterate (Jacobi) or the one before (adapting)
  double scalar_factor_ = 1.0;
  std::vector<Scalar> scalars_;
  std::vector<Contact> contacts_;
  std::vector<int> slots_;  ///< of the contacts' rows, in the order of the sweep
  std::vector<double> last_row_;
  std::vector<Square> compliant_blocks_;
  std::unique_ptr<Workers> workers_;  ///< null: one thread
  std::vector<std::size_t>
      colour_ends_;  ///< where threads share the sweep, as first_slot_, one a contact, and changes_
  std::vector<std::size_t> first_slot_;
  std::vector<Part> changes_;  ///< one a thread
};

}  // namespace conebench::gauss_seidel
