#include <Eigen/Geometry>
#include <algorithm>
#include <utility>
#include <vector>

#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

namespace {

/// A mechanism in reduced coordinates, as MuJoCo describes it: q and v are its joints' own. M is the composite
/// rigid-body matrix, J is built from the joints' motion axes.
class ReducedEngine final : public MujocoBase {
 public:
  ReducedEngine(ModelHandle model, DataHandle data, std::string name, std::vector<std::string> notes)
      : MujocoBase(std::move(model), std::move(data), std::move(name), std::move(notes)),
        mass_entries_(mass_entries()),
        damping_(Eigen::Map<const Vector>(model_->dof_damping, model_->nv).asDiagonal().toDenseMatrix().sparseView()),
        lengths_(lengths()) {}

  State start() const override {
    reset();
    const mjModel& m = *model_;
    mjData& d = *data_;
    return {as_vector(d.qpos, m.nq), as_vector(d.qvel, m.nv), as_vector(d.act, m.na), as_vector(d.ctrl, m.nu), d.time};
  }

  Result<void> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) override {
    Result<void> in_list;
    auto ran = guarded(name_, notes_, [&] {
      set(state);
      kinematics();
#if mjVERSION_HEADER < 230
      forces_and_rows();
      find_contacts(reach, highest_speed());
#else
      // Collision detection empties the arena that rows are in.
      mj_comVel(model_.get(), data_.get());
      find_contacts(reach, highest_speed());
      forces_and_rows();
#endif
      in_list = check_contacts();
      mechanics.contacts_cut = contacts_are_cut();
      const Index velocities = model_->nv;
      fill_mass(mechanics.mass);
      mechanics.damping = damping_;
      mechanics.lengths = lengths_;
      mechanics.force = as_vector(data_->qfrc_passive, velocities) - as_vector(data_->qfrc_bias, velocities) +
                        as_vector(data_->qfrc_actuator, velocities);
      constraints(reach, mechanics);
    });
    CONEBENCH_CHECK(in_list);
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
    mj_transmission(model_.get(), data_.get());
  }

  Vector lengths() const {
    Vector lengths = Vector::Constant(model_->nv, typical_length_);
    for (int j = 0; j < model_->njnt; ++j) {
      const int type = model_->jnt_type[j];
      if (type == mjJNT_SLIDE || type == mjJNT_FREE) {
        lengths.segment(model_->jnt_dofadr[j], type == mjJNT_FREE ? 3 : 1).setOnes();
      }
    }
    return lengths;
  }

  /// Upper bound over the shapes' points.
  double highest_speed() const {
    const mjModel& m = *model_;
    double speed = 0.0;
    for (int g = 0; g < m.ngeom; ++g) {
      const int body = m.geom_bodyid[g];
      const mjtNum* const motion = data_->cvel + 6 * body;  // angular, then linear at the tree's centre of mass
      const Eigen::Vector3d arm =
          vector3(data_->geom_xpos + 3 * g) - vector3(data_->subtree_com + 3 * m.body_rootid[body]);
      const Eigen::Vector3d spin = vector3(motion);
      speed = std::max(speed, (vector3(motion + 3) + spin.cross(arm)).norm() + spin.norm() * m.geom_rbound[g]);
    }
    return speed;
  }

  /// Where M's entries are in MuJoCo's list, by columns, rows ascending.
  struct MassEntry {
    int row, column, address;
  };
  std::vector<MassEntry> mass_entries() const {
    const mjModel& m = *model_;
    std::vector<MassEntry> entries;
    const auto add = [&](int i, int j, int address) {
      entries.push_back({i, j, address});
      if (i != j) entries.push_back({j, i, address});
    };
    for (int i = 0; i < m.nv; ++i) {
#if mjVERSION_HEADER < 3011000
      int address = m.dof_Madr[i];
      for (int j = i; j >= 0; j = m.dof_parentid[j], ++address) add(i, j, address);
#else
      for (int a = m.M_rowadr[i]; a < m.M_rowadr[i] + m.M_rownnz[i]; ++a) add(i, m.M_colind[a], a);
#endif
    }
    std::sort(entries.begin(), entries.end(), [](const MassEntry& a, const MassEntry& b) {
      return std::pair(a.column, a.row) < std::pair(b.column, b.row);
    });
    return entries;
  }

  void fill_mass(SparseMatrix& mass) const {
#if mjVERSION_HEADER < 3011000
    const mjtNum* const values = data_->qM;
#else
    const mjtNum* const values = data_->M;
#endif
    mass.resize(model_->nv, model_->nv);
    mass.reserve(Index(mass_entries_.size()));
    int column = -1;
    for (const MassEntry& entry : mass_entries_) {
      if (entry.column != column) mass.startVec(column = entry.column);
      const double value = values[entry.address];
      if (value != 0.0 || entry.row == entry.column) mass.insertBackByOuterInner(column, entry.row) = value;
    }
    mass.finalize();
  }

  void constraints(const Reach& reach, Mechanics& mechanics) {
    const mjData& d = *data_;
    entries_.clear();
    residuals_.clear();
    gaps_.clear();
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
            add_row(r + k, along[k], row, entries_);
            residual += along[k] * d.efc_pos[r + k];
          }
          residuals_.push_back(residual);
          ++row;
        }
        r += 2;
      } else {
        add_row(r, 1.0, row++, entries_);
        residuals_.push_back(d.efc_pos[r]);
      }
      mechanics.joint_softness.resize(residuals_.size(), softness_of_row(r));
    }
    for (int r = 0; r < d.nefc; ++r) {
      if (!is_limit(r) || !near(d.efc_pos[r], row_velocity(r), reach)) continue;
      add_row(r, 1.0, row++, entries_);
      gaps_.push_back(d.efc_pos[r]);
      mechanics.limit_names.push_back(limit_name(r));
      mechanics.limit_softness.push_back(softness_of_row(r));
    }
    mechanics.joint_residuals = Eigen::Map<Vector>(residuals_.data(), Index(residuals_.size()));
    mechanics.limit_gaps = Eigen::Map<Vector>(gaps_.data(), Index(gaps_.size()));

    mechanics.contacts.clear();
    for (int c = 0; c < d.ncon; ++c) {
      const ContactPoint contact = contact_of(d.contact[c]);
      const std::size_t before = entries_.size();
      // Velocity of the second body's point less the first's, along t1, t2 and n (Tsounis eq. 39c–d with A the second
      // body).
      add_point_rows(contact.first_body, -1.0, contact, row, entries_);
      add_point_rows(contact.second_body, 1.0, contact, row, entries_);
      if (entries_.size() == before || !near(contact, contact_velocity(entries_, before, row, d.qvel), reach)) {
        entries_.resize(before);
        continue;
      }
      mechanics.contacts.push_back(contact);
      row += 3;
    }
    mechanics.jacobian.resize(row, model_->nv);
    mechanics.jacobian.setFromTriplets(entries_.begin(), entries_.end());
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

  std::vector<MassEntry> mass_entries_;
  SparseMatrix damping_;
  Vector lengths_;
  // As J grows.
  Triplets entries_;
  std::vector<double> residuals_, gaps_;
};

}  // namespace

std::unique_ptr<Engine> make_reduced_engine(ModelHandle model, DataHandle data, std::string name,
                                            std::vector<std::string> notes) {
  return std::make_unique<ReducedEngine>(std::move(model), std::move(data), std::move(name), std::move(notes));
}

}  // namespace conebench::simulation
