#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/block_sparse_matrix.hpp"
#include "problems/cone_product.hpp"
#include "problems/delassus_operator.hpp"
#include "problems/diagonal_blocks.hpp"
#include "problems/types.hpp"

namespace conebench {

/// What the M of a step is: the bodies' inertia, or that with the derivatives of forces that an implicit integrator
/// adds, M − Δt ∂τ/∂v.
enum class Metric { unknown, mass, effective };
std::string to_string(Metric metric);
std::optional<Metric> metric_of(const std::string& name);

/// The problem in velocities: G = J M⁻¹ Jᵀ, g = J v_free + b.
struct PrimalForm {
  SparseMatrix mass;                ///< M, n_v × n_v [kg, kg m²]
  SparseMatrix jacobian;            ///< J, rows × n_v
  Vector free_velocity;             ///< v_free, n_v [m/s, rad/s]
  Metric metric = Metric::unknown;  ///< of M; no part of the hashes
};

/// How a simulator describes its bodies: by joint angles, or every body free and the joints as bilateral rows.
enum class Coordinates { reduced, maximal };
std::string to_string(Coordinates coordinates);
std::optional<Coordinates> coordinates_of(const std::string& name);

/// What is known of the bodies behind a problem and of the simulation that it is a step of; used for penetration, for
/// sample categories and for warm starts (problems/sequence.hpp). All of it is part of the data hash.
struct Configuration {
  std::optional<Vector> gaps;                   ///< φ, one a contact [m]
  std::optional<double> time_step;              ///< Δt [s]
  std::optional<Index> bodies;                  ///< n_b
  std::optional<Index> generalised_velocities;  ///< n_v; in reduced coordinates densities have it for 6 n_b
  std::optional<Index> joint_count;             ///< n_j, joints (not rows)
  std::optional<Coordinates> coordinates;
  std::optional<Vector> body_masses;  ///< one a body [kg]
  /// One number a contact (a limit row), all different. What has the same number in the next step's problem is the same
  /// contact (limit).
  std::optional<std::vector<std::int64_t>> contact_identities, limit_identities;
  /// The axes of each contact's frame in the world's, orthonormal: t1, t2, n (in 2D t, n), 9 (4) numbers a contact,
  /// axis by axis.
  std::optional<Vector> contact_frames;
  /// Of elastic bodies: the first of the three columns in M of each point that moves freely in space, ascending.
  std::optional<std::vector<std::int64_t>> nodes;
  std::optional<Vector> velocity;  ///< v before the step, n_v [m/s, rad/s]
  std::optional<Vector> inertia;   ///< the lumped mass where M holds stiffness, n_v [kg, kg m²]
  std::optional<Vector>
      friction_axes;  ///< μ along each contact's tangents, 2 a contact, where J is scaled by their ratios
  std::string scene;  ///< of a simulation, with all its parameters; empty: not known
  std::optional<std::int64_t> step;   ///< of the simulation, from 1
  std::optional<double> time;         ///< of the simulation, at the step's end [s]
  std::optional<std::uint64_t> seed;  ///< of the simulation

  bool empty() const;
};

/// How the rows of a problem stand among those of whoever gave it.
struct GivenRows {
  std::vector<Index> row;         ///< one a given row: the problem's row, or -1 where no force acts
  Vector shift;                   ///< one a given row: its impulse is the problem's minus this [N s]
  std::vector<Index> block = {};  ///< one a given row: its block among the given ones; empty: not known

  /// Errors (bad_input, with block, row and value; they begin with `name` and call the impulse `what`): one that is not
  /// 0 where no force acts.
  Result<void> check(ConstVectorRef given, const std::string& name, const std::string& what) const;
  /// Rows that stand as they were given.
  static GivenRows same(Index rows);
  /// An impulse of the given rows as one of the problem's, and back: 0 where no force acts.
  Vector to_problem(ConstVectorRef given, Index rows) const;
  Vector to_given(ConstVectorRef impulse) const;
  /// The same of velocities, which have no shift; NaN where no force acts.
  Vector velocity_to_given(ConstVectorRef velocity) const;
};

/// An answer believed to be right, and how right it is by the scaled natural map.
struct Reference {
  Vector reaction;  ///< λ, rows [N s]
  double residual = 0.0;
  std::string source;
  std::map<std::string, double> residuals = {};  ///< by the names of metrics, as whoever found λ judged it
};

/// What became of a simulation's step.
enum class StepOutcome {
  solved,
  unsolved,      ///< λ is the last iterate of the solver, or where it started
  frictionless,  ///< not solved: λ is that of the step without friction
  failed         ///< nor was the step without friction solved: λ is as of `unsolved`
};
std::string to_string(StepOutcome outcome);
std::optional<StepOutcome> step_outcome_of(const std::string& name);

/// How a simulation's loop solved the step of this problem.
struct LoopSolve {
  StepOutcome outcome = StepOutcome::solved;
  std::string status;      ///< of the solver, in a word: "max_iterations"
  double residual = 0.0;   ///< natural_map_scaled of the λ that the loop went on with
  double tolerance = 0.0;  ///< of the loop

  bool operator==(const LoopSolve&) const = default;
};

/// Where a problem comes from. Not part of the content hash.
struct Provenance {
  std::string family;       ///< problems that belong together in a headline (a folder, a scene)
  std::string name;         ///< unique in its set; a file's stem or a scene with its parameters
  std::string source_file;  ///< empty for generated problems
  std::string form;         ///< FCLIB kind it was read from (local, global, …) or the scene's name
  std::string description;
  std::string law = {};                     ///< what its engine meant, "ncp" or "ccp"; empty: not known
  std::string category = {};                ///< of the sample, Tsounis VII-C, as its writer found it; empty: not known
  std::optional<double> conditioning = {};  ///< of G on its range, the same
  std::optional<LoopSolve> loop = {};       ///< of a simulation's step; nullopt: it is none, or not known
};

/// Whether these are frames as Configuration has them: axes of length 1 at right angles, to 1e-6.
bool are_frames(const Vector& frames, int dimension);

/// What of a problem was read through a handle of watched(), and so had to be made.
struct ProblemUse {
  std::atomic<bool> delassus = false;  ///< G, assembled
  std::atomic<bool> products = false;  ///< G times a vector
  std::atomic<bool> diagonal = false;  ///< the blocks G_ii alone
  std::atomic<bool> primal = false;    ///< M, J or v_free
};

enum class UsedParts : std::uint8_t;  // problems/used_parts.hpp
UsedParts used_parts(const ProblemUse& use);

/// Everything a ContactProblem is made of. Optional parts stay empty.
struct ContactProblemData {
  ConeProduct cones;
  /// G. Null or factored beside a primal form: the problem is given as (M, J, v_free), and G is made where it is asked
  /// for.
  std::shared_ptr<const DelassusOperator> delassus;
  Vector free_term;            ///< g, rows [m/s]
  Vector compliance;           ///< diagonal of R ≥ 0, rows; empty means R = 0
  std::optional<Vector> bias;  ///< b in g = J v_free + b, rows [m/s]
  std::optional<PrimalForm> primal;
  std::optional<Configuration> configuration;
  std::optional<Vector> guess;  ///< λ to start from, rows
  std::optional<Reference> reference;
  std::shared_ptr<const GivenRows> given_rows;  ///< null: the rows stand as they were given
  Provenance provenance;
};

/// find λ ∈ K: σ = (G + R) λ + g, K ∋ λ ⟂ σ + Γ(σ) ∈ K*.
///
/// Immutable and checked; a cheap handle to shared data, so copies cost nothing.
class ContactProblem {
 public:
  /// Errors (bad_input, with the part's name and the sizes or the row): sizes that don't match, values that are not
  /// finite, a negative compliance, mass or count, a time step that is not positive, an identity given twice, a
  /// contact's frame that is none,
  /// g ≠ J v_free + b where all of these are given, a singular M where G is not given.
  static Result<ContactProblem> create(ContactProblemData data);

  const ConeProduct& cones() const { return data().cones; }
  Index rows() const { return data().cones.rows(); }
  const DelassusOperator& delassus() const {
    note(&ProblemUse::products);
    return *data().delassus;
  }
  DelassusForm form() const { return data().delassus->form(); }
  /// Whether it is given as (M, J, v_free), so that G is not known before somebody asks for it.
  bool given_as_primal() const { return state_->given_as_primal; }
  /// Whether G is given, or M falls apart in small blocks (rigid bodies), so that G takes time and memory in proportion
  /// to the entries of M and J. Elsewhere (elastic bodies) G may be a dense matrix: work with products and diagonal().
  bool condenses_sparsely() const { return !given_as_primal() || data().delassus->assembles_sparsely(); }
  /// Bytes that G takes where it is made, at most; what is made already or condenses_sparsely() counts 0.
  double bytes_to_condense() const;
  /// G assembled in blocks; made by the first who asks where the problem is given as (M, J, v_free).
  const BlockSparseMatrix& blocks() const {
    note(&ProblemUse::delassus);
    const BlockSparseMatrix* const made = made_blocks();
    return made != nullptr ? *made : state_->make_blocks();
  }
  /// G in blocks where it is made already, else null.
  const BlockSparseMatrix* made_blocks() const { return state_->made->blocks.load(std::memory_order_acquire); }
  /// Takes what blocks() gave an equal problem, unless they are made already.
  void take_blocks(BlockSparseMatrix blocks) const { state_->take_blocks(std::move(blocks)); }
  /// The blocks G_ii, without G where that is not given; made by the first who asks.
  const DiagonalBlocks& diagonal() const {
    note(&ProblemUse::diagonal);
    return state_->make_diagonal();
  }
  /// Takes what diagonal() gave an equal problem (of the same content_hash()), unless it is made already. False where
  /// its layout is another.
  bool take_diagonal(DiagonalBlocks diagonal) const;
  const Vector& free_term() const { return data().free_term; }
  /// Diagonal of R; zeros where the problem is rigid. Always rows() long.
  const Vector& compliance() const { return data().compliance; }
  bool rigid() const { return state_->rigid; }
  const std::optional<Vector>& bias() const { return data().bias; }
  const std::optional<PrimalForm>& primal() const {
    note(&ProblemUse::primal);
    return data().primal;
  }
  const std::optional<Configuration>& configuration() const { return data().configuration; }
  const std::optional<Vector>& guess() const { return data().guess; }
  const std::optional<Reference>& reference() const { return data().reference; }
  const std::shared_ptr<const GivenRows>& given_rows() const { return data().given_rows; }
  const Provenance& provenance() const { return data().provenance; }
  /// All of it, to make a changed problem from.
  const ContactProblemData& data() const { return state_->data; }

  /// ‖G − Gᵀ‖_F / ‖G‖_F of the matrix as given, or made where it condenses_sparsely(); else that of M, without which G
  /// is symmetric but for rounding.
  double symmetry_error() const;
  /// 32 hexadecimal digits over cones, G (assembled), R and g: equal where the mathematics is equal. A problem given as
  /// (M, J, v_free) has M and J in place of G.
  const std::string& content_hash() const { return state_->content_hash; }
  /// 32 hexadecimal digits over all that a solver or the judge may read: the content, the form of G, b, M, J,
  /// v_free, the configuration and the guess; not the reference or the provenance. The key for stored results: with the
  /// scene and the step in it, two samples of a simulation never share one, even where nothing moved in between.
  const std::string& data_hash() const { return state_->data_hash; }
  /// The same two with G assembled, which is what builds that made G of every problem called it. Nothing where G is
  /// given (they would be the same) or costly (no such build could make it).
  struct Aliases {
    std::string content_hash, data_hash;
  };
  std::optional<Aliases> aliases() const;
  /// Whether `hash` is data_hash() or its alias.
  bool is_called(const std::string& hash) const;

  /// product = G x as solvers form it: by the assembled G where that is given or sparse, elsewhere by solves with M.
  /// The two must not overlap. No allocation but for G's, once.
  void multiply(ConstVectorRef x, VectorRef product) const;
  /// The same, shared among threads; no bit depends on their number.
  void multiply(ConstVectorRef x, VectorRef product, Workers& workers) const;
  /// sigma = (G + R) impulse + g. The two must not overlap. No allocation.
  void velocity(ConstVectorRef impulse, VectorRef sigma) const;

  /// The same problem through a handle that notes in `use` what of it is read; null: one that doesn't.
  ContactProblem watched(std::shared_ptr<ProblemUse> use) const;
  /// Who watches this handle, so that a problem made from it can go on telling.
  const std::shared_ptr<ProblemUse>& watcher() const { return use_; }

  /// The same problem with another provenance.
  ContactProblem with_provenance(Provenance provenance) const;
  /// The same problem without its reference and, unless `keep_guess`, without the guess; its hashes stay.
  ContactProblem without_answers(bool keep_guess) const;
  /// The same problem with another reference. Throws std::invalid_argument where its reaction is not rows() long.
  ContactProblem with_reference(Reference reference) const;

 private:
  /// What is made once for all handles of a problem, by the first who asks.
  struct Made {
    std::atomic<const BlockSparseMatrix*> blocks = nullptr;
    std::once_flag blocks_once, diagonal_once, symmetry_once;
    std::optional<BlockSparseMatrix> own_blocks;
    std::optional<DiagonalBlocks> diagonal;
    double symmetry_error = 0.0;
  };
  struct State {
    ContactProblemData data;
    std::shared_ptr<Made> made;
    std::string content_hash;
    std::string data_hash;
    bool given_as_primal = false;
    bool rigid = true;
    const BlockSparseMatrix& make_blocks() const;
    void take_blocks(BlockSparseMatrix blocks) const;
    const DiagonalBlocks& make_diagonal() const;
  };
  explicit ContactProblem(std::shared_ptr<const State> state, std::shared_ptr<ProblemUse> use = nullptr)
      : state_(std::move(state)), use_(std::move(use)) {}
  void note(std::atomic<bool> ProblemUse::*part) const {
    if (use_) ((*use_).*part).store(true, std::memory_order_relaxed);
  }

  std::shared_ptr<const State> state_;
  std::shared_ptr<ProblemUse> use_;
};

}  // namespace conebench
