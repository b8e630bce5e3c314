#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>

#include "simulation/joint_chain.hpp"
#include "simulation/mujoco_base.hpp"

// Symbols (Tsounis III–IV), with MuJoCo's tree kept for its names, joints and shapes:
//   s     pose of each body: r (centre of mass), unit quaternion of the body's frame; n_s = 7 n_b
//   u     twist of each body: velocity of the centre of mass, angular velocity, world axes; n_u = 6 n_b
//   A     joints' velocities from twists, q̇ = A u; n_v × n_u
// Joint forces τ (actuators, springs, damping) act on the bodies as Aᵀ τ.

namespace conebench::simulation {

namespace {

/// Every body free, the joints as bilateral rows.
class MaximalEngine final : public MujocoBase {
 public:
  explicit MaximalEngine(LoadedModel loaded) : MujocoBase(std::move(loaded)) {
    leave_out_armature();
    poses_.resize(std::size_t(model_->nbody));
    dimensions_.positions = 7 * dimensions_.bodies;
    dimensions_.velocities = 6 * dimensions_.bodies;
    for (int b = 1; b < model_->nbody; ++b) dimensions_.joints += is_free(b) ? 0 : 1;
  }

  State start() const override {
    reset();
    mjModel& m = *model_;
    mjData& d = *data_;
    mj_kinematics(&m, &d);
    mj_comPos(&m, &d);
    mj_comVel(&m, &d);
    State state;
    state.position.resize(dimensions_.positions);
    state.velocity.resize(dimensions_.velocities);
    for (int b = 1; b < m.nbody; ++b) {
      mjtNum motion[6];
      mj_objectVelocity(&m, &d, mjOBJ_BODY, b, motion, 0);
      state.position.segment<3>(pose_of(b)) = vector3(d.xipos + 3 * b);
      state.position.segment<4>(pose_of(b) + 3) = Eigen::Map<const Eigen::Vector4d>(d.xquat + 4 * b);
      state.velocity.segment<3>(twist_of(b)) = vector3(motion + 3);
      state.velocity.segment<3>(twist_of(b) + 3) = vector3(motion);
    }
    state.activation = as_vector(d.act, m.na);
    state.control = as_vector(d.ctrl, m.nu);
    state.time = d.time;
    return state;
  }

  Result<void> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) override {
    Result<void> in_list;
    auto ran = guarded(name_, notes_, [&] {
      state_ = state;
      model_->opt.timestep = reach.time_step;
      for (int b = 1; b < model_->nbody; ++b) poses_[std::size_t(b)] = pose_in_state(b);
      Rows rows;
      fit_tree(rows);
      mechanics.tree_rows = rows.count;
      rows.softness.resize(rows.residuals.size());
      tree_forces(state);
      loops(rows);
      std::vector<double> gaps;
      limits(reach, rows, gaps, mechanics);
      bounded(rows, mechanics.bounded);
      mechanics.joint_softness = std::move(rows.softness);
      if (implicit_) viscous_ = viscous_damping(*model_, *data_);
      pose_bodies(poses_);
      find_contacts(reach, highest_speed());
      in_list = check_contacts();
      mechanics.contacts_cut = contacts_are_cut();
      inertia_and_forces(mechanics);
      contacts(reach, rows, mechanics);

      mechanics.joint_residuals = Eigen::Map<Vector>(rows.residuals.data(), Index(rows.residuals.size()));
      mechanics.limit_gaps = Eigen::Map<Vector>(gaps.data(), Index(gaps.size()));
      mechanics.jacobian.resize(rows.count, dimensions_.velocities);
      mechanics.jacobian.setFromTriplets(rows.entries.begin(), rows.entries.end());
      mechanics.lengths = Eigen::Vector<double, 6>(1, 1, 1, typical_length_, typical_length_, typical_length_)
                              .replicate(dimensions_.bodies, 1);
    });
    CONEBENCH_CHECK(in_list);
    return ran;
  }

  void advance_position(State& state, const Vector& velocity, double time_step) const override {
    for (int b = 1; b < model_->nbody; ++b) {
      state.position.segment<3>(pose_of(b)) += time_step * velocity.segment<3>(twist_of(b));
      const Eigen::Vector3d turn = time_step * velocity.segment<3>(twist_of(b) + 3);
      auto quaternion = state.position.segment<4>(pose_of(b) + 3);
      const double angle = turn.norm();
      const Eigen::Quaterniond before(quaternion[0], quaternion[1], quaternion[2], quaternion[3]);
      const Eigen::Quaterniond by =
          angle > 0.0 ? Eigen::Quaterniond(Eigen::AngleAxisd(angle, turn / angle)) : Eigen::Quaterniond::Identity();
      const Eigen::Quaterniond after = (by * before).normalized();
      quaternion << after.w(), after.x(), after.y(), after.z();
    }
  }

  Energy energy() override {
    mj_energyPos(model_.get(), data_.get());
    Energy energy{.kinetic = 0.0, .potential = data_->energy[0]};
    for (int b = 1; b < model_->nbody; ++b) {
      const Eigen::Vector3d spin = state_.velocity.segment<3>(twist_of(b) + 3);
      energy.kinetic += 0.5 * model_->body_mass[b] * state_.velocity.segment<3>(twist_of(b)).squaredNorm() +
                        0.5 * spin.dot(inertia(b) * spin);
    }
    const Vector turns = joint_velocities_ * state_.velocity;
    energy.kinetic += 0.5 * turns.dot(as_vector(model_->dof_armature, model_->nv).cwiseProduct(turns));
    return energy;
  }

  Momentum momentum() override {
    Momentum sum{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
    for (int b = 1; b < model_->nbody; ++b) {
      const Eigen::Vector3d linear = model_->body_mass[b] * state_.velocity.segment<3>(twist_of(b));
      sum.linear += linear;
      sum.angular += state_.position.segment<3>(pose_of(b)).cross(linear) +
                     inertia(b) * state_.velocity.segment<3>(twist_of(b) + 3);
    }
    return sum;
  }

 private:
  /// J as it grows: joints and loops, then limits, then contacts.
  struct Rows {
    Triplets entries;
    Index count = 0;
    std::vector<double> residuals;   ///< of joints and loops
    std::vector<Softness> softness;  ///< of the same
  };

  /// M has that of joints.
  void leave_out_armature() {
    const auto leave_out = [&](mjtObj type, Index count, const mjtNum* armature) {
      for (int i = 0; i < count; ++i) {
        if (armature[i] > 0.0) left_out_.push_back({element_name(type, i), "its armature, in maximal coordinates"});
      }
    };
    leave_out(mjOBJ_TENDON, model_->ntendon, model_->tendon_armature);
#if mjVERSION_HEADER >= 3011000
    leave_out(mjOBJ_ACTUATOR, model_->nactuator, model_->actuator_armature);
#endif
  }

  static Index pose_of(int body) { return 7 * (body - 1); }
  static Index twist_of(int body) { return 6 * (body - 1); }
  bool is_free(int body) const {
    return model_->body_jntnum[body] > 0 && model_->jnt_type[model_->body_jntadr[body]] == mjJNT_FREE;
  }
  const Pose& pose(int body) const { return poses_[std::size_t(body)]; }
  Eigen::Vector3d centre(int body) const { return state_.position.segment<3>(pose_of(body)); }
  Pose pose_in_state(int body) const {
    const auto q = state_.position.segment<4>(pose_of(body) + 3);
    const Eigen::Matrix3d r = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
    return {centre(body) - r * vector3(model_->body_ipos + 3 * body), r};
  }
  Eigen::Matrix3d inertia(int body) const {
    mjtNum local[9];
    mju_quat2Mat(local, model_->body_iquat + 4 * body);
    const Eigen::Matrix3d axes = pose(body).rotation * matrix3(local);
    return axes * vector3(model_->body_inertia + 3 * body).asDiagonal() * axes.transpose();
  }

  /// sign × (force · velocity of the body's point + torque · angular velocity), as one body's part of a row (Tsounis
  /// eq. 63).
  void add_part(Triplets& entries, Index row, int body, double sign, const Eigen::Vector3d& point,
                const Eigen::Vector3d& force, const Eigen::Vector3d& torque) const {
    if (body == 0) return;
    const Eigen::Vector3d about_centre = (point - centre(body)).cross(force) + torque;
    for (int k = 0; k < 3; ++k) {
      if (force[k] != 0.0) entries.emplace_back(row, twist_of(body) + k, sign * force[k]);
      if (about_centre[k] != 0.0) entries.emplace_back(row, twist_of(body) + 3 + k, sign * about_centre[k]);
    }
  }

  void add_pair(Triplets& entries, Index row, int first, int second, const Eigen::Vector3d& point,
                const Eigen::Vector3d& force, const Eigen::Vector3d& torque) const {
    add_part(entries, row, first, -1.0, point, force, torque);
    add_part(entries, row, second, 1.0, point, force, torque);
  }

  /// Joint coordinates, A, and the joints' rows (Tsounis eq. 21–26, 63–64).
  void fit_tree(Rows& rows) {
    const mjModel& m = *model_;
    Triplets to_joints;
    for (int b = 1; b < m.nbody; ++b) {
      const int parent = m.body_parentid[b];
      const Pose above = pose(parent), here = pose(b);
      if (is_free(b)) {
        mjtNum* const q = data_->qpos + m.jnt_qposadr[m.body_jntadr[b]];
        Eigen::Map<Eigen::Vector3d>(q, 3) = here.position;
        Eigen::Map<Eigen::Vector4d>(q + 3, 4) = state_.position.segment<4>(pose_of(b) + 3);
        for (int k = 0; k < 3; ++k) {
          const Index dof = m.body_dofadr[b] + k;
          add_part(to_joints, dof, b, 1.0, here.position, Eigen::Vector3d::Unit(k), Eigen::Vector3d::Zero());
          add_part(to_joints, dof + 3, b, 1.0, here.position, Eigen::Vector3d::Zero(), here.rotation.col(k));
        }
        continue;
      }
      const Eigen::Matrix3d& r = above.rotation;
      const JointRows joint = fit_joints(
          m, b, {r.transpose() * (here.position - above.position), r.transpose() * here.rotation}, data_->qpos);
      const Eigen::Vector3d point = here.position + here.rotation * joint.anchor;
      for (Index k = 0; k < joint.constraints.cols(); ++k) {
        const auto c = joint.constraints.col(k);
        add_pair(rows.entries, rows.count++, parent, b, point, r * c.head<3>(), r * c.tail<3>());
        rows.residuals.push_back(joint.residual[k]);
      }
      for (Index k = 0; k < joint.freedoms.rows(); ++k) {
        const Eigen::Matrix<double, 6, 1> f = joint.freedoms.row(k).transpose();
        add_pair(to_joints, m.body_dofadr[b] + k, parent, b, point, r * f.head<3>(), r * f.tail<3>());
      }
    }
    joint_velocities_.resize(m.nv, dimensions_.velocities);
    joint_velocities_.setFromTriplets(to_joints.begin(), to_joints.end());
  }

  /// MuJoCo's forces of joints and tendons, and its rows of limits and of couplings between joints, at A u.
  void tree_forces(const State& state) {
    as_vector(data_->qvel, model_->nv) = joint_velocities_ * state.velocity;
    as_vector(data_->act, model_->na) = state.activation;
    as_vector(data_->ctrl, model_->nu) = state.control;
    data_->time = state.time;
    mj_kinematics(model_.get(), data_.get());
    mj_comPos(model_.get(), data_.get());
    mj_tendon(model_.get(), data_.get());
    mj_makeM(model_.get(), data_.get());
    mj_factorM(model_.get(), data_.get());
    data_->ncon = 0;  // of another state
    mj_transmission(model_.get(), data_.get());
    forces_and_rows();
  }

  /// A row in joint velocities, as one in twists (Tsounis eq. 65).
  void add_joint_row(const int* columns, const mjtNum* values, int count, Rows& rows) const {
    SparseMatrix row(1, model_->nv);
    for (int k = 0; k < count; ++k) row.insert(0, columns[k]) = values[k];
    const SparseMatrix in_twists = row * joint_velocities_;
    for (Index j = 0; j < in_twists.outerSize(); ++j) {
      for (SparseMatrix::InnerIterator it(in_twists, j); it; ++it) rows.entries.emplace_back(rows.count, j, it.value());
    }
    ++rows.count;
  }
  /// MuJoCo's row.
  void add_joint_row(int row, Rows& rows) const {
    const int from = data_->efc_J_rowadr[row];
    add_joint_row(data_->efc_J_colind + from, data_->efc_J + from, data_->efc_J_rownnz[row], rows);
  }

  void loops(Rows& rows) const {
    Anchors anchors;
    const bool any = (model_->opt.disableflags & (mjDSBL_EQUALITY | mjDSBL_CONSTRAINT)) == 0;
    for (int e = 0; any && e < model_->neq; ++e) {
      if (!is_active(*model_, e)) continue;
      const int first = model_->eq_obj1id[e], second = model_->eq_obj2id[e];
      const mjtNum* const data = model_->eq_data + mjNEQDATA * e;
      if (model_->eq_type[e] == mjEQ_CONNECT) {
        connect(e, anchors, rows);
      } else if (model_->eq_type[e] == mjEQ_WELD) {
        weld(first, second, data, rows);
      } else {
        for (int r = 0; r < data_->nefc; ++r) {
          if (data_->efc_type[r] != mjCNSTR_EQUALITY || data_->efc_id[r] != e) continue;
          rows.residuals.push_back(data_->efc_pos[r]);
          add_joint_row(r, rows);
        }
      }
      rows.softness.resize(rows.residuals.size(),
                           softness_of(model_->eq_solref + mjNREF * e, model_->eq_solimp + mjNIMP * e));
    }
  }

  void connect(int equality, Anchors& anchors, Rows& rows) const {
    const auto [first, second] = attachments(equality);
    const auto in_world = [&](const Attachment& at) -> Eigen::Vector3d {
      return pose(at.body).position + pose(at.body).rotation * at.point;
    };
    const Eigen::Vector3d on_first = in_world(first), on_second = in_world(second);
    for (const Eigen::Vector3d& d : connect_directions(equality, pose(lower_body(equality)).rotation, anchors)) {
      add_part(rows.entries, rows.count, first.body, 1.0, on_first, d, Eigen::Vector3d::Zero());
      add_part(rows.entries, rows.count++, second.body, -1.0, on_second, d, Eigen::Vector3d::Zero());
      rows.residuals.push_back(d.dot(on_first - on_second));
    }
  }

  void weld(int first, int second, const mjtNum* data, Rows& rows) const {
    const Pose a = pose(first), b = pose(second);
    const Eigen::Vector3d on_first = a.position + a.rotation * vector3(data + 3);
    const Eigen::Vector3d on_second = b.position + b.rotation * vector3(data);
    mjtNum turn[9];
    mju_quat2Mat(turn, data + 6);
    const Eigen::Vector3d twisted = rotation_vector(a.rotation * matrix3(turn) * b.rotation.transpose());
    for (int k = 0; k < 6; ++k) {
      const Eigen::Vector3d d = Eigen::Vector3d::Unit(k % 3), none = Eigen::Vector3d::Zero();
      add_part(rows.entries, rows.count, first, 1.0, on_first, k < 3 ? d : none, k < 3 ? none : d);
      add_part(rows.entries, rows.count++, second, -1.0, on_second, k < 3 ? d : none, k < 3 ? none : d);
      rows.residuals.push_back(k < 3 ? (on_first - on_second)[k] : twisted[k - 3]);
    }
  }

  void limits(const Reach& reach, Rows& rows, std::vector<double>& gaps, Mechanics& mechanics) const {
    mechanics.limit_names.clear();
    mechanics.limit_softness.clear();
    for (int r = 0; r < data_->nefc; ++r) {
      if (!is_limit(r) || !near(data_->efc_pos[r], row_velocity(r), reach)) continue;
      gaps.push_back(data_->efc_pos[r]);
      mechanics.limit_names.push_back(limit_name(r));
      mechanics.limit_softness.push_back(softness_of_row(r));
      add_joint_row(r, rows);
    }
  }

  void bounded(Rows& rows, std::vector<BoundedRow>& bounded) const {
    bounded.clear();
    for (int r = 0; r < data_->nefc; ++r) {
      if (!is_friction(r)) continue;
      add_joint_row(r, rows);
      bounded.push_back(friction_row(r));
    }
    for (const Drive& drive : drives_) {
      const int force = first_force(*model_, drive.actuator), from = data_->moment_rowadr[force];
      add_joint_row(data_->moment_colind + from, data_->actuator_moment + from, data_->moment_rownnz[force], rows);
      bounded.push_back(drive_row(drive));
    }
  }

  double highest_speed() const {
    double speed = 0.0;
    for (int g = 0; g < model_->ngeom; ++g) {
      const int b = model_->geom_bodyid[g];
      if (b == 0) continue;
      const double arm = (vector3(data_->geom_xpos + 3 * g) - centre(b)).norm() + model_->geom_rbound[g];
      speed = std::max(speed, state_.velocity.segment<3>(twist_of(b)).norm() +
                                  arm * state_.velocity.segment<3>(twist_of(b) + 3).norm());
    }
    return speed;
  }

  /// Tsounis eq. (66).
  void contacts(const Reach& reach, Rows& rows, Mechanics& mechanics) const {
    mechanics.contacts.clear();
    const std::vector<double> adhesive = adhesion();
    std::vector<double> drift(std::size_t(laws_.moving_surfaces() ? rows.count : 0), 0.0);
    const Eigen::Vector3d none = Eigen::Vector3d::Zero();
    for (int c = 0; c < data_->ncon; ++c) {
      ContactPoint contact = contact_of(data_->contact[c]);
      contact.adhesion = adhesive[std::size_t(c)];
      const std::size_t before = rows.entries.size();
      const auto add = [&](Index row, const Eigen::Vector3d& force, const Eigen::Vector3d& torque) {
        add_pair(rows.entries, rows.count + row, contact.first_body, contact.second_body, contact.position, force,
                 torque);
      };
      for (Index k = 0; k < 2; ++k) add(k, contact.frame.col(k), none);
      for (Index k = 2; k < contact.normal(); ++k) add(k, none, contact.frame.col(turned_axis(k)));
      add(contact.normal(), contact.frame.col(2), none);
      if (rows.entries.size() == before ||
          !near(contact, contact_velocity(rows.entries, before, rows.count, contact, state_.velocity.data()), reach)) {
        rows.entries.resize(before);
        continue;
      }
      draw_together(contact, rows.entries, before, rows.count, mechanics.force);
      rows.count += contact.rows();
      if (laws_.moving_surfaces()) append_drift(contact, drift);
      mechanics.contacts.push_back(std::move(contact));
    }
    mechanics.drift = Eigen::Map<Vector>(drift.data(), Index(drift.size()));
  }

  /// M (Tsounis eq. 57), gravity and Coriolis (59), joint forces (64, 72). Rotors' inertia and damping act along A.
  void inertia_and_forces(Mechanics& mechanics) const {
    const mjModel& m = *model_;
    Triplets entries;
    mechanics.force = joint_velocities_.transpose() * (passive_force() + as_vector(data_->qfrc_actuator, m.nv));
    const bool weight = (m.opt.disableflags & mjDSBL_GRAVITY) == 0;
    for (int b = 1; b < m.nbody; ++b) {
      const Index at = twist_of(b);
      const Eigen::Matrix3d i = inertia(b);
      const Eigen::Vector3d spin = state_.velocity.segment<3>(at + 3);
      for (int k = 0; k < 3; ++k) {
        entries.emplace_back(at + k, at + k, m.body_mass[b]);
        for (int l = 0; l < 3; ++l) entries.emplace_back(at + 3 + k, at + 3 + l, i(k, l));
      }
      if (weight) mechanics.force.segment<3>(at) += m.body_mass[b] * vector3(m.opt.gravity);
      mechanics.force.segment<3>(at + 3) -= spin.cross(i * spin);
    }
    mechanics.mass.resize(dimensions_.velocities, dimensions_.velocities);
    mechanics.mass.setFromTriplets(entries.begin(), entries.end());
    if (implicit_) {
      mechanics.damping = joint_velocities_.transpose() * SparseMatrix(viscous_ * joint_velocities_);
    } else if ((m.opt.disableflags & (mjDSBL_DAMPER | mjDSBL_EULERDAMP)) != 0) {
      mechanics.damping = SparseMatrix(dimensions_.velocities, dimensions_.velocities);
    } else {
      mechanics.damping = along_joints(m.dof_damping);
    }
    if (std::any_of(m.dof_armature, m.dof_armature + m.nv, [](mjtNum x) { return x > 0.0; })) {
      mechanics.mass += along_joints(m.dof_armature);
    }
  }

  /// Aᵀ diag(values) A
  SparseMatrix along_joints(const mjtNum* values) const {
    SparseMatrix scaled(model_->nv, model_->nv);
    for (int i = 0; i < model_->nv; ++i) {
      if (values[i] != 0.0) scaled.insert(i, i) = values[i];
    }
    return SparseMatrix(joint_velocities_.transpose() * SparseMatrix(scaled * joint_velocities_)).pruned();
  }

  State state_;                    ///< last evaluated
  std::vector<Pose> poses_;        ///< of the bodies' frames in it, the world first
  SparseMatrix joint_velocities_;  ///< A
  SparseMatrix viscous_;           ///< of joint velocities, where the model integrates implicitly
};

}  // namespace

Result<std::unique_ptr<Engine>> make_maximal_engine(LoadedModel loaded) {
  const mjModel& m = *loaded.model;
  for (int e = 0; e < m.neq; ++e) {
    if (m.eq_type[e] != mjEQ_WELD || m.eq_objtype[e] != mjOBJ_SITE) continue;
    return Error{ErrorCode::unsupported,
                 loaded.name +
                     ": a weld joins sites, which maximal coordinates don't take; name its bodies or use "
                     "coordinates=reduced"};
  }
  for (int b = 1; b < m.nbody; ++b) {
    if (m.body_mass[b] > 0.0 && vector3(m.body_inertia + 3 * b).minCoeff() > 0.0) continue;
    const char* const body = mj_id2name(&m, mjOBJ_BODY, b);
    return Error{
        ErrorCode::bad_input,
        fmt::format("{}: body {} has no mass or no inertia, which every body needs in maximal coordinates; give it "
                    "some or use coordinates=reduced",
                    loaded.name, body != nullptr ? body : std::to_string(b))};
  }
  return std::unique_ptr<Engine>(std::make_unique<MaximalEngine>(std::move(loaded)));
}

}  // namespace conebench::simulation
