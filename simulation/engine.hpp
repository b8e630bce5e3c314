#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "problems/types.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "simulation/softening.hpp"

namespace conebench::simulation {

/// State and control of a mechanism.
struct State {
  Vector position;    ///< q, n_q (unit quaternions inside)
  Vector velocity;    ///< v, n_v [m/s, rad/s]
  Vector activation;  ///< of actuators with dynamics
  Vector control;     ///< of the actuators
  double time = 0.0;  ///< [s]
};

/// A contact point of two shapes that touch or nearly touch.
struct ContactPoint {
  Eigen::Vector3d position;  ///< midway between the shapes, world [m]
  Eigen::Matrix3d frame;     ///< columns t1, t2, n, world; n points from the first shape to the second
  double gap = 0.0;          ///< φ [m], negative where the shapes overlap
  double friction = 0.0;     ///< μ
  double across = 1.0;       ///< μ along t2 over that along t1; J's row of t2 has this factor
  /// μ_k along t1 and t2 [1] and about n, t1 and t2 [m], as many as the contact has rows for: one ellipsoid. Empty:
  /// Coulomb's law with `friction`.
  std::vector<double> coefficients = {};
  /// Draws the shapes together, part of τ [N]; the impulse is that of the pressure which it makes, too.
  double adhesion = 0.0;
  double restitution = 0.0;                   ///< ε
  int first_shape = 0, second_shape = 0;      ///< numbers of the geoms
  int first_body = 0, second_body = 0;        ///< 0 is the world
  Eigen::Vector3d first_local, second_local;  ///< the position in each body's frame [m]
  Softness softness;                          ///< of the two shapes, mixed by MuJoCo's rules

  Index rows() const { return coefficients.empty() ? 3 : Index(coefficients.size()) + 1; }
  /// Of its rows the normal's, which is the last.
  Index normal() const { return rows() - 1; }
};

/// A row whose force is between bounds: dry friction of a joint or tendon, or a drive that acts at the velocity after
/// the step, force = `force` − (damping + stiffness Δt) ċ⁺ within them.
struct BoundedRow {
  int name = 0;                      ///< the same number in every step
  double lower = 0.0, upper = 0.0;   ///< [N, N m]
  double force = 0.0;                ///< of a drive at rest [N, N m]
  double stiffness = 0.0;            ///< k_p of a drive [N/m, N m/rad]
  double damping = 0.0;              ///< k_d of a drive [N s/m, N m s/rad]
  std::optional<Softness> softness;  ///< of friction
};

/// What the engine's own solver is given for a step of Δt, in the rows of the mechanics, and its answer: the cone
/// complementarity problem with compliance R and b = −J v − Δt a_ref.
struct EngineRows {
  Vector compliance;      ///< R, rows [1/kg]
  Vector aimed_change;    ///< Δt a_ref, rows [m/s]
  Vector impulse;         ///< λ, rows [N s]
  long iterations = 0;    ///< of its solver
  Vector velocity;        ///< v⁺ after that, n_v [m/s, rad/s]
  SparseMatrix jacobian;  ///< J, rows × n_v, by the engine's code
  Vector free_velocity;   ///< v_free, n_v, by the engine's code [m/s, rad/s]
};

/// The mechanics at one state, in SI units: M v̇ = τ + Jᵀ λ/Δt.
///
/// J has the bilateral rows first, then the limits, then the bounded rows, then those of the contacts: (t1, t2, n),
/// with the angular velocities about n, t1 and t2 before n where friction acts on them. Its rows are the time
/// derivatives of the residuals and gaps, so a positive normal velocity separates.
struct Mechanics {
  SparseMatrix mass;             ///< M, n_v × n_v, symmetric positive definite
  SparseMatrix damping;          ///< D of viscous damping, n_v × n_v; its force −D v is part of τ, too
  SparseMatrix stiffness;        ///< K of elastic bodies, n_v × n_v, whose force is part of τ; empty: there is none
  Vector force;                  ///< τ: gravity, Coriolis, passive and actuator forces, n_v [N, N m]
  SparseMatrix jacobian;         ///< J, rows × n_v
  Vector joint_residuals;        ///< f_J of the bilateral rows [m, rad]
  Index tree_rows = 0;           ///< the first of these are of tree joints, and independent
  Vector lengths;                ///< n_v: 1 for linear velocities, for angular ones the model's typical length [m]
  Vector limit_gaps;             ///< g_l, positive inside the limits [m, rad]
  std::vector<int> limit_names;  ///< which limit a row is: the same number in every step
  std::vector<Softness> joint_softness, limit_softness;  ///< one a row; of joints without any MuJoCo's default
  std::vector<BoundedRow> bounded;
  std::vector<ContactPoint> contacts;
  bool contacts_cut = false;      ///< others of two shapes are missing: the engine keeps no more of them
  std::optional<EngineRows> own;  ///< with EngineOptions::own_rows
  Vector drift;  ///< velocity of the rows from surfaces that move by themselves [m/s]; empty: none does

  Index rows() const { return jacobian.rows(); }
  Index first_bounded_row() const { return joint_residuals.size() + limit_gaps.size(); }
  Index first_contact_row() const { return first_bounded_row() + Index(bounded.size()); }
};

/// Selects the contacts and limits of a time step's problem.
struct Reach {
  double time_step = 0.01;  ///< Δt [s]
  /// Contacts with φ ≤ margin [m] are taken. Negative: those that can close within two steps, φ ≤ max(the model's own
  /// margin, 2 Δt (‖gravity‖ Δt + max(0, −v_N)), 1e-9 of the bodies' mean size).
  double contact_margin = -1.0;
  /// The solver's model lets sliding contacts open, φ/Δt + v_N = μ ‖v_T‖ (the cone complementarity problem): of those
  /// within two steps are then all with φ ≤ 2 Δt μ ‖v_T‖ more.
  bool lifts = false;
  /// Limits with g_l ≤ margin [m, rad] are taken, and those that can be reached within two steps.
  double limit_margin = 0.02;
  /// Forces that follow positions have guides where they are so long after the state [s].
  double ahead = 0.01;
};

/// The stages of a time step. Each is reported as it begins, so that a benchmark can time it. Nothing here reads a
/// clock.
enum class Stage {
  assembly,   ///< kinematics, M, forces, J, v_free, g, G
  collision,  ///< finding the contacts
  setup,      ///< the solver's prepare()
  solve,      ///< the solver's solve(), without the checks of the judge that ends it
  rest,       ///< moving on, identities, records, judging
};
inline constexpr std::size_t stage_count = 5;
using StageWatch = std::function<void(Stage)>;

struct EngineOptions {
  bool armature = true;  ///< the rotors' inertia that the model adds to the joints is part of M
  bool maximal =
      false;  ///< every body free and the joints as bilateral rows (Tsounis IV), else the joints' own coordinates
  bool passive = false;          ///< joints have no limits, damping, springs, dry friction or drives
  bool implicit_drives = false;  ///< position and velocity servos act at the velocity after the step, as bounded rows
  bool own_rows = false;         ///< exactly the rows that the engine's own solver has
  long own_iterations = 0;       ///< so many of that solver, whatever its tests say; 0: as the model has it
  bool self_contact = false;     ///< all bodies can touch each other but those that a joint connects
  int threads = 1;               ///< that work on the elements of elastic bodies; no bit depends on it
};

/// What the problems lack of a model.
struct LeftOut {
  std::string element;  ///< "joint 'knee'"
  std::string reason;   ///< "its spring yields"
};

/// A position servo of a hinge or a slide.
struct Servo {
  Index position = 0;  ///< of the joint in q
  Index velocity = 0;  ///< of it in v
};

/// Pose of a body's frame in the world.
struct BodyPose {
  Eigen::Vector3d position;    ///< of its origin [m]
  Eigen::Vector4d quaternion;  ///< w, x, y, z
};

struct Energy {
  double kinetic = 0.0;    ///< [J]
  double potential = 0.0;  ///< of gravity and springs [J]
};

struct Momentum {
  Eigen::Vector3d linear;   ///< [kg m/s]
  Eigen::Vector3d angular;  ///< about the world's origin [kg m²/s]
};

/// Fixed numbers of a mechanism.
struct Dimensions {
  Index positions = 0;   ///< n_q
  Index velocities = 0;  ///< n_v
  Index controls = 0;
  Index activations = 0;
  Index bodies = 0;        ///< n_b, the world not counted
  Index joints = 0;        ///< constraints (not rows) in J: closed loops; in maximal coordinates joints, too
  Index tree_joints = 0;   ///< bodies that do not float, fixed ones included, in either coordinates
  Index loops = 0;         ///< pairs of bodies that close one, in either coordinates
  Index joint_drives = 0;  ///< actuators of joints
  double gravity = 0.0;    ///< ‖g‖ [m/s²]
  double time_step = 0.0;  ///< the model's own (MJCF: <option timestep>, 0.002 where it has none) [s]
};

/// Kinematics, inertia, forces and collision detection of one model. Knows nothing of contact laws or time steps.
///
/// Errors of the functions below (bad_input) are what the engine reports against the state, in one line.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const Dimensions& dimensions() const = 0;
  /// The model's first keyframe, or its reference position at rest.
  virtual State start() const = 0;
  /// Lowest and highest control of each actuator; ±1 where the model gives no range.
  virtual Matrix control_ranges() const = 0;
  /// A, f [Hz] and p of each actuator's own wave, from <actuator user="A f p">; no columns where the model has none.
  virtual Matrix control_waves() const = 0;
  /// What each actuator drives, in reduced coordinates; nothing where it is no position servo.
  virtual std::vector<std::optional<Servo>> servos() const = 0;
  virtual Result<void> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) = 0;

  /// q ← q ⊕ Δt v, quaternions along the exponential map (Tsounis eq. 10b).
  virtual void advance_position(State& state, const Vector& velocity, double time_step) const = 0;
  /// Actuators' own states over one step, from the last evaluate().
  virtual void advance_activation(State& state, double time_step) const = 0;

  /// Of the last evaluated state.
  virtual Energy energy() = 0;
  virtual Momentum momentum() = 0;
  virtual Eigen::Vector3d world_point(int body, const Eigen::Vector3d& local) const = 0;
  virtual std::vector<double> body_masses() const = 0;  ///< [kg], the world left out
  /// The first of the three columns of each point that moves freely in space; empty where bodies are rigid.
  virtual std::vector<std::int64_t> nodes() const { return {}; }
  /// Forces of elastic bodies and springs where q were this and guides where they are `later` after the last evaluated
  /// state [N, N m]; empty where there are none.
  virtual Vector internal_force(const Vector& /*position*/, double /*later*/) { return {}; }
  /// Takes the forces in τ that follow positions for −dE/du [N, N m], E [J] their energy at q ⊕ u, u = Δt v with q of
  /// evaluate(), and K for d²E/du², or without what is negative of it in an element or joint. False where none do.
  enum class Tangent { whole, positive };
  virtual bool linearise(const Vector& /*velocity*/, double /*time_step*/, Tangent, Mechanics& /*mechanics*/) {
    return false;
  }
  virtual std::string shape_name(int shape) const = 0;
  /// The body of this name; 0 is the world. nullopt: the model has none.
  virtual std::optional<int> body_number(const std::string& name) const = 0;
  /// As the model has it; "body3" where it gives none.
  virtual std::string body_name(int body) const = 0;
  virtual BodyPose body_pose(int body) const = 0;
  /// A force at the body's centre of mass [N] and a torque [N m], along the world's axes, from now on part of τ; in
  /// place of the last one. False: bodies of this engine can't be pushed.
  virtual bool push(int /*body*/, const Eigen::Vector3d& /*force*/, const Eigen::Vector3d& /*torque*/) { return false; }
  /// Writes a picture of it as PNG (480 x 360), without a screen. Errors: unsupported where this build or machine
  /// cannot draw, in one line with the reason; bad_input where the file can't be written.
  virtual Result<void> write_picture(const std::filesystem::path& file) const = 0;

  /// `stages` is called as each stage begins, from now on. An empty one ends it.
  void watch(StageWatch stages) { stages_ = std::move(stages); }

  /// What the engine warned of, and how it takes the model where that is not as written; each line once.
  virtual const std::vector<std::string>& notes() const = 0;
  virtual std::vector<LeftOut> left_out() const { return {}; }

 protected:
  void begin(Stage stage) const {
    if (stages_) stages_(stage);
  }

 private:
  StageWatch stages_;
};

/// Reads the model. Errors: bad_input where MuJoCo refuses it (one line with its reason), unsupported where this build
/// has no MuJoCo and where the model has what no problem can hold (flexes, plugins, SDF; the line names the element).
Result<std::unique_ptr<Engine>> load_engine(const SimulatedModel& model, const std::string& name,
                                            const EngineOptions& options = {});

/// Hash of the model as MuJoCo compiles it, meshes and included files being part of that. Errors: as load_engine.
Result<std::string> model_hash(const SimulatedModel& model, const std::string& name);

/// Why scenes can't be simulated in a build without MuJoCo.
inline constexpr const char* missing_engine =
    "this Conebench was built without MuJoCo, which simulates scenes; run scripts/build.sh, which fetches it, or build "
    "with cmake -DMuJoCo_ROOT=DIR (3.3.6 or later)";

/// "4.0.1", or empty where this build has no MuJoCo.
std::string engine_version();
/// Of what simulates this model: MuJoCo, or the engine of elastic bodies, which is part of every build.
std::string engine_version(const SimulatedModel& model);

}  // namespace conebench::simulation
