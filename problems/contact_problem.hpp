#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/block_sparse_matrix.hpp"
#include "problems/cone_product.hpp"
#include "problems/delassus_operator.hpp"
#include "problems/types.hpp"

namespace conebench {

/// The problem in velocities: G = J M⁻¹ Jᵀ, g = J v_free + b.
struct PrimalForm {
  SparseMatrix mass;      ///< M, n_v × n_v [kg, kg m²]
  SparseMatrix jacobian;  ///< J, rows × n_v
  Vector free_velocity;   ///< v_free, n_v [m/s, rad/s]
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
  std::string scene;                  ///< of a simulation, with all its parameters; empty: not known
  std::optional<std::int64_t> step;   ///< of the simulation, from 1
  std::optional<std::uint64_t> seed;  ///< of the simulation

  bool empty() const;
};

/// An answer believed to be right, and how right it is by the scaled natural map.
struct Reference {
  Vector reaction;  ///< λ, rows [N s]
  double residual = 0.0;
  std::string source;
  std::map<std::string, double> residuals = {};  ///< by the names of metrics, as whoever found λ judged it
};

/// Where a problem comes from. Not part of the content hash.
struct Provenance {
  std::string family;       ///< problems that belong together in a headline (a folder, a scene)
  std::string name;         ///< unique in its set; a file's stem or a scene with its parameters
  std::string source_file;  ///< empty for generated problems
  std::string form;         ///< FCLIB kind it was read from (local, global, …) or the scene's name
  std::string description;
  std::string category = {};                ///< of the sample, 004 VII-C, as its writer found it; empty: not known
  std::optional<double> conditioning = {};  ///< of G on its range, the same
};

/// Whether these are frames as Configuration has them: axes of length 1 at right angles, to 1e-6.
bool are_frames(const Vector& frames, int dimension);

/// Everything a ContactProblem is made of. Optional parts stay empty.
struct ContactProblemData {
  ConeProduct cones;
  std::shared_ptr<const DelassusOperator> delassus;
  Vector free_term;            ///< g, rows [m/s]
  Vector compliance;           ///< diagonal of R ≥ 0, rows; empty means R = 0
  std::optional<Vector> bias;  ///< b in g = J v_free + b, rows [m/s]
  std::optional<PrimalForm> primal;
  std::optional<Configuration> configuration;
  std::optional<Vector> guess;  ///< λ to start from, rows
  std::optional<Reference> reference;
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
  /// g ≠ J v_free + b where all of these are given.
  static Result<ContactProblem> create(ContactProblemData data);

  const ConeProduct& cones() const { return data().cones; }
  Index rows() const { return data().cones.rows(); }
  const DelassusOperator& delassus() const { return *data().delassus; }
  /// G assembled in blocks, made once when the problem is created.
  const BlockSparseMatrix& blocks() const { return *state_->blocks; }
  const Vector& free_term() const { return data().free_term; }
  /// Diagonal of R; zeros where the problem is rigid. Always rows() long.
  const Vector& compliance() const { return data().compliance; }
  bool rigid() const { return state_->rigid; }
  const std::optional<Vector>& bias() const { return data().bias; }
  const std::optional<PrimalForm>& primal() const { return data().primal; }
  const std::optional<Configuration>& configuration() const { return data().configuration; }
  const std::optional<Vector>& guess() const { return data().guess; }
  const std::optional<Reference>& reference() const { return data().reference; }
  const Provenance& provenance() const { return data().provenance; }
  /// All of it, to make a changed problem from.
  const ContactProblemData& data() const { return state_->data; }

  /// ‖G − Gᵀ‖_F / ‖G‖_F of the matrix as given.
  double symmetry_error() const { return state_->symmetry_error; }
  /// 32 hexadecimal digits over cones, G (assembled), R and g: equal where the mathematics is equal. A factored G
  /// hashes as its assembled blocks, so forms with different rounding hash differently.
  const std::string& content_hash() const { return state_->content_hash; }
  /// 32 hexadecimal digits over all that a solver or the judge may look at: the content, the form of G, b, M, J,
  /// v_free, the configuration and the guess; not the reference or the provenance. The key for stored results: with the
  /// scene and the step in it, two samples of a simulation never share one, even where nothing moved in between.
  const std::string& data_hash() const { return state_->data_hash; }

  /// sigma = (G + R) impulse + g. The two must not overlap. No allocation.
  void velocity(ConstVectorRef impulse, VectorRef sigma) const;

  /// The same problem with another provenance.
  ContactProblem with_provenance(Provenance provenance) const;
  /// The same problem with another reference. Throws std::invalid_argument where its reaction is not rows() long.
  ContactProblem with_reference(Reference reference) const;

 private:
  struct State {
    ContactProblemData data;
    std::shared_ptr<const BlockSparseMatrix> blocks;
    std::string content_hash;
    std::string data_hash;
    double symmetry_error = 0.0;
    bool rigid = true;
  };
  explicit ContactProblem(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace conebench
