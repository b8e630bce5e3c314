#include <Eigen/Geometry>
#include <algorithm>

#include "runners/simulation/mujoco_base.hpp"

namespace conebench::simulation {

namespace {

/// A mechanism in reduced coordinates, as MuJoCo describes it: q and v are its joints' own. M is the composite
/// rigid-body matrix, J is built from the joints' motion axes.
class ReducedEngine final : public MujocoBase {
 public:
  using MujocoBase::MujocoBase;

  State start() const override {
    reset();
    const mjModel& m = *model_;
    mjData& d = *data_;
    return {as_vector(d.qpos, m.nq), as_vector(d.qvel, m.nv), as_vector(d.act, m.na), as_vector(d.ctrl, m.nu), d.time};
  }

  Result<std::monostate> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) override {
    std::optional<Error> full;
    auto ran = guarded(name_, notes_, [&] {
      set(state);
      kinematics();
      find_contacts(reach, highest_speed());
      forces_and_rows();
      full = overflow();
      const Index velocities = model_->nv;
      mechanics.mass = mass();
      mechanics.damping =
          Eigen::Map<const Vector>(model_->dof_damping, velocities).asDiagonal().toDenseMatrix().sparseView();
      mechanics.force = as_vector(data_->qfrc_passive, velocities) - as_vector(data_->qfrc_bias, velocities) +
                        as_vector(data_->qfrc_actuator, velocities);
      constraints(reach, mechanics);
    });
    if (full) return *full;
    return ran;
  }

  void advance_position(State& state, const Vector& velocity, double time_step) const override {
    mj_integratePos(model_.get(), state.position.data(), velocity.data(), time_step);
    mj_normalizeQuat(model_.get(), state.position.data());
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

 private:
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

  double highest_speed() const {
    double speed = 0.0;
    for (int g = 0; g < model_->ngeom; ++g) {
      mjtNum motion[6];
      mj_objectVelocity(model_.get(), data_.get(), mjOBJ_GEOM, g, motion, 0);
      speed = std::max(speed, vector3(motion + 3).norm() + vector3(motion).norm() * model_->geom_rbound[g]);
    }
    return speed;
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
    const mjData& d = *data_;
    Triplets entries;
    std::vector<double> residuals, gaps;
    mechanics.joint_softness.clear();
    mechanics.limit_names.clear();
    mechanics.limit_softness.clear();
    Index row = 0;
    Anchors anchors;
    for (int r = 0; r < d.nefc; ++r) {
      if (is_limit(r)) continue;
      const int e = d.efc_id[r];
      if (model_->eq_type[e] == mjEQ_CONNECT) {
        // MuJoCo's three rows are along the world's axes.
        const Eigen::Matrix3d rotation = matrix3(d.xmat + 9 * lower_body(e));
        for (const Eigen::Vector3d& along : connect_directions(e, rotation, anchors)) {
          double residual = 0.0;
          for (int k = 0; k < 3; ++k) {
            add_row(r + k, along[k], row, entries);
            residual += along[k] * d.efc_pos[r + k];
          }
          residuals.push_back(residual);
          ++row;
        }
        r += 2;
      } else {
        add_row(r, 1.0, row++, entries);
        residuals.push_back(d.efc_pos[r]);
      }
      mechanics.joint_softness.resize(residuals.size(), softness_of_row(r));
    }
    for (int r = 0; r < d.nefc; ++r) {
      if (!is_limit(r) || !near(d.efc_pos[r], row_velocity(r), reach)) continue;
      add_row(r, 1.0, row++, entries);
      gaps.push_back(d.efc_pos[r]);
      mechanics.limit_names.push_back(limit_name(r));
      mechanics.limit_softness.push_back(softness_of_row(r));
    }
    mechanics.joint_residuals = Eigen::Map<Vector>(residuals.data(), Index(residuals.size()));
    mechanics.limit_gaps = Eigen::Map<Vector>(gaps.data(), Index(gaps.size()));

    mechanics.contacts.clear();
    for (int c = 0; c < d.ncon; ++c) {
      const ContactPoint contact = contact_of(d.contact[c]);
      const std::size_t before = entries.size();
      // Velocity of the second body's point less the first's, along t1, t2 and n (004 eq. 39c–d with A the second
      // body).
      add_point_rows(contact.first_body, -1.0, contact, row, entries);
      add_point_rows(contact.second_body, 1.0, contact, row, entries);
      if (entries.size() == before || !near(contact, normal_velocity(entries, before, row, d.qvel), reach)) {
        entries.resize(before);
        continue;
      }
      mechanics.contacts.push_back(contact);
      row += 3;
    }
    mechanics.jacobian.resize(row, model_->nv);
    mechanics.jacobian.setFromTriplets(entries.begin(), entries.end());
  }

  /// MuJoCo's row, times a factor, to a row of J.
  void add_row(int from, double factor, Index row, Triplets& entries) const {
    for (int k = data_->efc_J_rowadr[from]; k < data_->efc_J_rowadr[from] + data_->efc_J_rownnz[from]; ++k) {
      if (factor * data_->efc_J[k] != 0.0) entries.emplace_back(row, data_->efc_J_colind[k], factor * data_->efc_J[k]);
    }
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
};

}  // namespace

std::unique_ptr<Engine> make_reduced_engine(ModelHandle model, DataHandle data, std::string name,
                                            std::vector<std::string> notes) {
  return std::make_unique<ReducedEngine>(std::move(model), std::move(data), std::move(name), std::move(notes));
}

}  // namespace conebench::simulation
