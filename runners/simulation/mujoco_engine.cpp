#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <optional>

#include "runners/simulation/engine.hpp"
#include "runners/simulation/mujoco_handle.hpp"

namespace conebench::simulation {

namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

Eigen::Vector3d vector3(const mjtNum* values) { return {values[0], values[1], values[2]}; }

Eigen::Matrix3d matrix3(const mjtNum* values) {
  return Eigen::Map<const Eigen::Matrix<mjtNum, 3, 3, Eigen::RowMajor>>(values);
}

Eigen::Map<Vector> as_vector(mjtNum* values, int size) { return {values, size}; }

/// A mechanism in reduced coordinates, as MuJoCo describes it: q and v are its joints' own. M is the composite
/// rigid-body matrix, J is built from the joints' motion axes. MuJoCo's contact solver never runs.
class MujocoEngine final : public Engine {
 public:
  MujocoEngine(ModelHandle model, DataHandle data, std::string name, std::vector<std::string> notes)
      : model_(std::move(model)), data_(std::move(data)), name_(std::move(name)), notes_(std::move(notes)) {
    const mjModel& m = *model_;
    dimensions_.positions = m.nq;
    dimensions_.velocities = m.nv;
    dimensions_.controls = m.nu;
    dimensions_.activations = m.na;
    dimensions_.bodies = m.nbody - 1;
    for (int e = 0; e < m.neq; ++e) dimensions_.equalities += m.eq_active[e] != 0 ? 1 : 0;
    dimensions_.gravity = vector3(m.opt.gravity).norm();
    shape_margins_.assign(m.geom_margin, m.geom_margin + m.ngeom);
    note_what_is_left_out();
  }

  const Dimensions& dimensions() const override { return dimensions_; }
  const std::vector<std::string>& notes() const override { return notes_; }

  State start() const override {
    mjModel& m = *model_;
    mjData& d = *data_;
    if (m.nkey > 0) {
      mj_resetDataKeyframe(&m, &d, 0);
    } else {
      mj_resetData(&m, &d);
    }
    mj_normalizeQuat(&m, d.qpos);
    return {as_vector(d.qpos, m.nq), as_vector(d.qvel, m.nv), as_vector(d.act, m.na), as_vector(d.ctrl, m.nu), d.time};
  }

  Matrix control_ranges() const override {
    Matrix ranges(model_->nu, 2);
    for (int a = 0; a < model_->nu; ++a) {
      const bool limited = model_->actuator_ctrllimited[a] != 0;
      ranges(a, 0) = limited ? model_->actuator_ctrlrange[2 * a] : -1.0;
      ranges(a, 1) = limited ? model_->actuator_ctrlrange[2 * a + 1] : 1.0;
    }
    return ranges;
  }

  Matrix control_waves() const override {
    const int size = model_->nuser_actuator;
    if (size < 3) return Matrix(model_->nu, 0);
    Matrix waves(model_->nu, 3);
    for (int a = 0; a < model_->nu; ++a) waves.row(a) = vector3(model_->actuator_user + size * a).transpose();
    return waves;
  }

  Result<std::monostate> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) override {
    std::optional<Error> full;
    auto ran = guarded(name_, notes_, [&] {
      set(state);
      kinematics();
      find_contacts(reach);
      forces();
      if (data_->warning[mjWARN_CONTACTFULL].number > 0) {
        full = Error{ErrorCode::bad_input,
                     fmt::format("{}: more than {} contacts; use fewer or coarser shapes", name_, model_->nconmax)};
        return;
      }
      mechanics.mass = mass();
      mechanics.damping = Eigen::Map<const Vector>(model_->dof_damping, model_->nv);
      mechanics.force = as_vector(data_->qfrc_passive, model_->nv) - as_vector(data_->qfrc_bias, model_->nv) +
                        as_vector(data_->qfrc_actuator, model_->nv);
      constraints(reach, mechanics);
    });
    if (full) return *full;
    return ran;
  }

  void advance_position(State& state, const Vector& velocity, double time_step) const override {
    mj_integratePos(model_.get(), state.position.data(), velocity.data(), time_step);
    mj_normalizeQuat(model_.get(), state.position.data());
  }

  void advance_activation(State& state, double time_step) const override {
    for (int k = 0; k < model_->na; ++k) state.activation[k] += time_step * data_->act_dot[k];
  }

  Energy energy() override {
    mj_energyPos(model_.get(), data_.get());
    mj_energyVel(model_.get(), data_.get());
    return {.kinetic = data_->energy[1], .potential = data_->energy[0]};
  }

  Momentum momentum() override {
    mj_subtreeVel(model_.get(), data_.get());
    const Eigen::Vector3d linear = mj_getTotalmass(model_.get()) * vector3(data_->subtree_linvel);
    const Eigen::Vector3d about_centre = vector3(data_->subtree_angmom);
    return {linear, about_centre + vector3(data_->subtree_com).cross(linear)};
  }

  Eigen::Vector3d world_point(int body, const Eigen::Vector3d& local) const override {
    return vector3(data_->xpos + 3 * body) + matrix3(data_->xmat + 9 * body) * local;
  }

  std::vector<double> body_masses() const override {
    return {model_->body_mass + 1, model_->body_mass + model_->nbody};
  }

  std::string shape_name(int shape) const override {
    const char* const name = mj_id2name(model_.get(), mjOBJ_GEOM, shape);
    return name != nullptr ? name : fmt::format("geom {}", shape);
  }

 private:
  void note_what_is_left_out() {
    const mjModel& m = *model_;
    const auto note = [&](bool present, const char* what) {
      if (present) notes_.push_back(fmt::format("{}: left out: {}", name_, what));
    };
    note(std::any_of(m.dof_frictionloss, m.dof_frictionloss + m.nv, [](mjtNum loss) { return loss > 0.0; }),
         "dry friction in joints");
    note(std::any_of(m.geom_condim, m.geom_condim + m.ngeom, [](int dim) { return dim > 3; }),
         "torsional and rolling friction (condim above 3)");
  }

  void set(const State& state) {
    as_vector(data_->qpos, model_->nq) = state.position;
    as_vector(data_->qvel, model_->nv) = state.velocity;
    as_vector(data_->act, model_->na) = state.activation;
    as_vector(data_->ctrl, model_->nu) = state.control;
    data_->time = state.time;
  }

  void kinematics() {
    mj_kinematics(model_.get(), data_.get());
    mj_comPos(model_.get(), data_.get());
    mj_tendon(model_.get(), data_.get());
    mj_crb(model_.get(), data_.get());
    mj_factorM(model_.get(), data_.get());
    mj_transmission(model_.get(), data_.get());
    mj_comVel(model_.get(), data_.get());
  }

  /// As far apart as shapes can meet in a step; the contacts themselves are then chosen one by one.
  void find_contacts(const Reach& reach) {
    mjModel& m = *model_;
    double margin = reach.contact_margin;
    if (margin < 0.0) {
      double speed = 0.0;
      for (int g = 0; g < m.ngeom; ++g) {
        mjtNum motion[6];
        mj_objectVelocity(&m, data_.get(), mjOBJ_GEOM, g, motion, 0);
        speed = std::max(speed, vector3(motion + 3).norm() + vector3(motion).norm() * m.geom_rbound[g]);
      }
      margin = 2.0 * reach.time_step * (dimensions_.gravity * reach.time_step + speed);
      for (const double own : shape_margins_) margin = std::max(margin, own);
    }
    std::fill_n(m.geom_margin, m.ngeom, margin);
    std::fill_n(m.pair_margin, m.npair, margin);
    mj_collision(&m, data_.get());
  }

  /// Passive, Coriolis and actuator forces, and the rows of loops and limits: all but MuJoCo's own rows of contacts.
  void forces() {
    mjModel& m = *model_;
    const int flags = m.opt.disableflags;
    m.opt.disableflags = flags | mjDSBL_CONTACT | mjDSBL_FRICTIONLOSS;
    std::fill_n(m.jnt_margin, m.njnt, limit_search_margin);
    std::fill_n(m.tendon_margin, m.ntendon, limit_search_margin);
    mj_makeConstraint(&m, data_.get());
    m.opt.disableflags = flags;
    mj_fwdVelocity(&m, data_.get());
    mj_fwdActuation(&m, data_.get());
  }

  SparseMatrix mass() const {
    const mjModel& m = *model_;
    Triplets entries;
    for (int i = 0; i < m.nv; ++i) {
      int address = m.dof_Madr[i];
      for (int j = i; j >= 0; j = m.dof_parentid[j], ++address) {
        const double value = data_->qM[address];
        if (value == 0.0 && i != j) continue;
        entries.emplace_back(i, j, value);
        if (i != j) entries.emplace_back(j, i, value);
      }
    }
    SparseMatrix matrix(m.nv, m.nv);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
  }

  void constraints(const Reach& reach, Mechanics& mechanics) {
    const mjModel& m = *model_;
    const mjData& d = *data_;
    Triplets entries;
    std::vector<double> residuals, gaps;
    mechanics.limit_names.clear();
    Index row = 0;
    for (int kind : {0, 1}) {
      for (int r = 0; r < d.nefc; ++r) {
        const int type = d.efc_type[r];
        const bool limit = type == mjCNSTR_LIMIT_JOINT || type == mjCNSTR_LIMIT_TENDON;
        if (limit != (kind == 1) || !(limit || type == mjCNSTR_EQUALITY)) continue;
        if (limit && !within_reach(r, reach)) continue;
        for (int k = 0; k < d.efc_J_rownnz[r]; ++k) {
          const int at = d.efc_J_rowadr[r] + k;
          if (d.efc_J[at] != 0.0) entries.emplace_back(row, d.efc_J_colind[at], d.efc_J[at]);
        }
        (limit ? gaps : residuals).push_back(d.efc_pos[r]);
        if (limit) mechanics.limit_names.push_back(limit_name(r));
        ++row;
      }
    }
    mechanics.joint_residuals = Eigen::Map<Vector>(residuals.data(), Index(residuals.size()));
    mechanics.limit_gaps = Eigen::Map<Vector>(gaps.data(), Index(gaps.size()));

    mechanics.contacts.clear();
    for (int c = 0; c < d.ncon; ++c) {
      const ContactPoint contact = contact_of(d.contact[c]);
      const std::size_t before = entries.size();
      add_contact_rows(contact, row, entries);
      if (entries.size() == before || !within_reach(contact, row, entries, before, reach)) {
        entries.resize(before);
        continue;
      }
      mechanics.contacts.push_back(contact);
      row += 3;
    }
    mechanics.jacobian.resize(row, m.nv);
    mechanics.jacobian.setFromTriplets(entries.begin(), entries.end());
  }

  bool within_reach(int row, const Reach& reach) const {
    double velocity = 0.0;
    for (int k = 0; k < data_->efc_J_rownnz[row]; ++k) {
      const int at = data_->efc_J_rowadr[row] + k;
      velocity += data_->efc_J[at] * data_->qvel[data_->efc_J_colind[at]];
    }
    return data_->efc_pos[row] <= std::max(reach.limit_margin, -2.0 * reach.time_step * velocity);
  }

  bool within_reach(const ContactPoint& contact, Index row, const Triplets& entries, std::size_t first,
                    const Reach& reach) const {
    if (reach.contact_margin >= 0.0) return contact.gap <= reach.contact_margin;
    double normal_velocity = 0.0;
    for (std::size_t k = first; k < entries.size(); ++k) {
      if (entries[k].row() == row + 2) normal_velocity += entries[k].value() * data_->qvel[entries[k].col()];
    }
    const double own =
        std::max(shape_margins_[std::size_t(contact.first_shape)], shape_margins_[std::size_t(contact.second_shape)]);
    const double closing = dimensions_.gravity * reach.time_step + std::max(0.0, -normal_velocity);
    return contact.gap <= std::max(own, 2.0 * reach.time_step * closing);
  }

  /// The same number for the same limit in every step: two for each joint, then two for each tendon.
  int limit_name(int row) const {
    const mjModel& m = *model_;
    const int object = data_->efc_id[row];
    if (data_->efc_type[row] == mjCNSTR_LIMIT_TENDON) {
      const bool lower = data_->efc_pos[row] == data_->ten_length[object] - m.tendon_range[2 * object];
      return 2 * (m.njnt + object) + (lower ? 0 : 1);
    }
    const bool lower = m.jnt_type[object] == mjJNT_BALL || data_->efc_J[data_->efc_J_rowadr[row]] > 0.0;
    return 2 * object + (lower ? 0 : 1);
  }

  ContactPoint contact_of(const mjContact& found) const {
    const mjModel& m = *model_;
    ContactPoint contact;
    contact.position = vector3(found.pos);
    // MuJoCo's rows are n, t1, t2, a right-handed frame; n points from the first geom to the second.
    const Eigen::Matrix3d rows = matrix3(found.frame);
    contact.frame << rows.row(1).transpose(), rows.row(2).transpose(), rows.row(0).transpose();
    contact.gap = found.dist;
    contact.friction = found.dim > 1 ? found.friction[0] : 0.0;
    contact.first_shape = found.geom1;
    contact.second_shape = found.geom2;
    contact.first_body = m.geom_bodyid[found.geom1];
    contact.second_body = m.geom_bodyid[found.geom2];
    contact.restitution = std::max(restitution(found.geom1), restitution(found.geom2));
    contact.first_local = local_point(contact.first_body, contact.position);
    contact.second_local = local_point(contact.second_body, contact.position);
    return contact;
  }

  double restitution(int geom) const {
    return model_->nuser_geom > 0 ? std::clamp(model_->geom_user[model_->nuser_geom * geom], 0.0, 1.0) : 0.0;
  }

  Eigen::Vector3d local_point(int body, const Eigen::Vector3d& point) const {
    return matrix3(data_->xmat + 9 * body).transpose() * (point - vector3(data_->xpos + 3 * body));
  }

  /// Velocity of the second body's point less the first's, along t1, t2 and n (004 eq. 39c–d with A the second body).
  void add_contact_rows(const ContactPoint& contact, Index row, Triplets& entries) const {
    add_point_rows(contact.first_body, -1.0, contact, row, entries);
    add_point_rows(contact.second_body, 1.0, contact, row, entries);
  }

  void add_point_rows(int body, double sign, const ContactPoint& contact, Index row, Triplets& entries) const {
    const mjModel& m = *model_;
    const Eigen::Vector3d arm = contact.position - vector3(data_->subtree_com + 3 * m.body_rootid[body]);
    while (body > 0 && m.body_dofnum[body] == 0) body = m.body_parentid[body];
    if (body == 0) return;
    for (int dof = m.body_dofadr[body] + m.body_dofnum[body] - 1; dof >= 0; dof = m.dof_parentid[dof]) {
      const mjtNum* const axis = data_->cdof + 6 * dof;
      const Eigen::Vector3d velocity = vector3(axis + 3) + vector3(axis).cross(arm);
      const Eigen::Vector3d along = sign * contact.frame.transpose() * velocity;
      for (int k = 0; k < 3; ++k) {
        if (along[k] != 0.0) entries.emplace_back(row + k, dof, along[k]);
      }
    }
  }

  /// All limits are asked for; which of them are near is decided by the caller's reach.
  static constexpr double limit_search_margin = 1e6;

  ModelHandle model_;
  DataHandle data_;
  std::string name_;
  std::vector<std::string> notes_;
  Dimensions dimensions_;
  std::vector<double> shape_margins_;
};

}  // namespace

Result<std::unique_ptr<Engine>> load_engine(const SimulatedModel& model, const std::string& name,
                                            const EngineOptions& options) {
  std::vector<std::string> notes;
  auto loaded = load_model(model, name, notes);
  if (!loaded) return loaded.error();
  mjModel& m = **loaded;
  if (m.nv == 0) {
    return Error{ErrorCode::bad_input, name + ": nothing in the model can move; give a body a joint or a freejoint"};
  }
  if (!options.armature) std::fill_n(m.dof_armature, m.nv, 0.0);
  m.opt.enableflags |= mjENBL_MULTICCD | mjENBL_ENERGY;  // several contacts a pair of convex shapes
  m.opt.jacobian = mjJAC_SPARSE;
  make_room(m);
  DataHandle data;
  const auto made = guarded(name, notes, [&] { data.reset(mj_makeData(&m)); });
  if (!made) return made.error();
  return std::unique_ptr<Engine>(
      std::make_unique<MujocoEngine>(std::move(*loaded), std::move(data), name, std::move(notes)));
}

std::string engine_version() { return mj_versionString(); }

}  // namespace conebench::simulation
