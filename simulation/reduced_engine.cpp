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
  explicit ReducedEngine(LoadedModel loaded)
      : MujocoBase(std::move(loaded)), mass_entries_(mass_entries()), damping_(joint_damping()), lengths_(lengths()) {}

  State start() const override {
    reset();
    const mjModel& m = *model_;
    mjData& d = *data_;
    return {as_vector(d.qpos, m.nq), as_vector(d.qvel, m.nv), as_vector(d.act, m.na), as_vector(d.ctrl, m.nu), d.time};
  }

  Result<void> evaluate(const State& state, const Reach& reach, Mechanics& mechanics) override {
    if (own_rows_) {
      CONEBENCH_CHECK(guarded(name_, notes_, [&] { evaluate_own_rows(state, reach, mechanics); }));
      return check_contacts();
    }
    Result<void> in_list;
    auto ran = guarded(name_, notes_, [&] {
      set(state);
      model_->opt.timestep = reach.time_step;
      kinematics();
      // Collision detection empties the arena that rows are in.
      mj_comVel(model_.get(), data_.get());
      find_contacts(reach, highest_speed());
      forces_and_rows();
      in_list = check_contacts();
      mechanics.contacts_cut = contacts_are_cut();
      const Index velocities = model_->nv;
      fill_mass(mechanics.mass);
      mechanics.lengths = lengths_;
      mechanics.force =
          passive_force() - as_vector(data_->qfrc_bias, velocities) + as_vector(data_->qfrc_actuator, velocities);
      constraints(reach, mechanics);
      mechanics.damping = implicit_ ? viscous_damping(*model_, *data_) : damping_;
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
    mj_makeM(model_.get(), data_.get());
    data_->ncon = 0;  // of another state
    mj_transmission(model_.get(), data_.get());
  }

  /// mj_forward with the model's own solver, and the rows that it has.
  void evaluate_own_rows(const State& state, const Reach& reach, Mechanics& mechanics) {
    mjData& d = *data_;
    set(state);
    model_->opt.timestep = reach.time_step;
    mj_forward(model_.get(), &d);
    fill_mass(mechanics.mass);
    mechanics.damping = damping_;
    mechanics.lengths = lengths_;
    mechanics.force = as_vector(d.qfrc_smooth, model_->nv);
    entries_.clear();
    residuals_.clear();
    gaps_.clear();
    mechanics.limit_names.clear();
    mechanics.bounded.clear();
    mechanics.contacts.clear();
    std::vector<int> own;  // MuJoCo's row of each; -1: it has none, as no force acts
    for (int r = 0; r < d.nefc; ++r) {
      if (!is_loop(r)) continue;
      own.push_back(r);
      residuals_.push_back(d.efc_pos[r]);
    }
    for (int r = 0; r < d.nefc; ++r) {
      if (!is_limit(r)) continue;
      own.push_back(r);
      gaps_.push_back(d.efc_pos[r]);
      mechanics.limit_names.push_back(limit_name(r));
    }
    for (int r = 0; r < d.nefc; ++r) {
      if (!is_friction(r)) continue;
      own.push_back(r);
      mechanics.bounded.push_back(friction_row(r));
    }
    for (std::size_t row = 0; row < own.size(); ++row) add_row(own[row], 1.0, Index(row), entries_);
    for (int c = 0; c < d.ncon; ++c) {
      const int first = d.contact[c].efc_address;
      if (first < 0) continue;
      ContactPoint contact = contact_of(d.contact[c]);
      add_point_rows(contact.first_body, -1.0, contact, Index(own.size()), entries_);
      add_point_rows(contact.second_body, 1.0, contact, Index(own.size()), entries_);
      // MuJoCo has the normal first, and nothing else where there is no friction.
      for (Index k = 0; k < contact.normal(); ++k) own.push_back(d.contact[c].dim > 1 ? first + 1 + int(k) : -1);
      own.push_back(first);
      mechanics.contacts.push_back(std::move(contact));
    }
    mechanics.joint_residuals = Eigen::Map<Vector>(residuals_.data(), Index(residuals_.size()));
    mechanics.limit_gaps = Eigen::Map<Vector>(gaps_.data(), Index(gaps_.size()));
    const auto rows = Index(own.size());
    mechanics.jacobian.resize(rows, model_->nv);
    mechanics.jacobian.setFromTriplets(entries_.begin(), entries_.end());
    mechanics.own = engine_rows(own, reach.time_step);
  }

  EngineRows engine_rows(const std::vector<int>& own, double time_step) const {
    const mjData& d = *data_;
    const auto rows = Index(own.size());
    EngineRows given{Vector::Zero(rows), Vector::Zero(rows), Vector::Zero(rows), 0, {}, {}, {}};
    const int* const iterations = d.solver_niter;  // one an island
    given.iterations = *std::max_element(iterations, iterations + std::clamp<int>(d.nisland, 1, mjNISLAND));
    Triplets entries;
    for (Index row = 0; row < rows; ++row) {
      const int from = own[std::size_t(row)];
      if (from < 0) continue;
      given.compliance[row] = d.efc_R[from];
      given.aimed_change[row] = time_step * d.efc_aref[from];
      given.impulse[row] = time_step * d.efc_force[from];
      add_row(from, 1.0, row, entries);
    }
    given.jacobian.resize(rows, model_->nv);
    given.jacobian.setFromTriplets(entries.begin(), entries.end());
    given.velocity = as_vector(d.qvel, model_->nv) + time_step * as_vector(d.qacc, model_->nv);
    given.free_velocity = as_vector(d.qvel, model_->nv) + time_step * as_vector(d.qacc_smooth, model_->nv);
    return given;
  }

  /// What MuJoCo's Euler takes at the velocity after the step.
  SparseMatrix joint_damping() const {
    SparseMatrix damping(model_->nv, model_->nv);
    if ((model_->opt.disableflags & (mjDSBL_DAMPER | mjDSBL_EULERDAMP)) != 0) return damping;
    for (int j = 0; j < model_->nv; ++j) {
      if (model_->dof_damping[j] != 0.0) damping.insert(j, j) = model_->dof_damping[j];
    }
    damping.makeCompressed();
    return damping;
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
      for (int a = m.M_rowadr[i]; a < m.M_rowadr[i] + m.M_rownnz[i]; ++a) add(i, m.M_colind[a], a);
    }
    std::sort(entries.begin(), entries.end(), [](const MassEntry& a, const MassEntry& b) {
      return std::pair(a.column, a.row) < std::pair(b.column, b.row);
    });
    return entries;
  }

  void fill_mass(SparseMatrix& mass) const {
    mass.resize(model_->nv, model_->nv);
    mass.reserve(Index(mass_entries_.size()));
    int column = -1;
    for (const MassEntry& entry : mass_entries_) {
      if (entry.column != column) mass.startVec(column = entry.column);
      const double value = data_->M[entry.address];
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
      if (!is_loop(r)) continue;
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
    mechanics.bounded.clear();
    for (int r = 0; r < d.nefc; ++r) {
      if (!is_friction(r)) continue;
      add_row(r, 1.0, row++, entries_);
      mechanics.bounded.push_back(friction_row(r));
    }
    for (const Drive& drive : drives_) {
      const int from = first_force(*model_, drive.actuator);
      for (int k = d.moment_rowadr[from]; k < d.moment_rowadr[from] + d.moment_rownnz[from]; ++k) {
        entries_.emplace_back(row, d.moment_colind[k], d.actuator_moment[k]);
      }
      ++row;
      mechanics.bounded.push_back(drive_row(drive));
    }
    mechanics.joint_residuals = Eigen::Map<Vector>(residuals_.data(), Index(residuals_.size()));
    mechanics.limit_gaps = Eigen::Map<Vector>(gaps_.data(), Index(gaps_.size()));

    mechanics.contacts.clear();
    const std::vector<double> adhesive = adhesion();
    std::vector<double> drift(std::size_t(laws_.moving_surfaces() ? row : 0), 0.0);
    for (int c = 0; c < d.ncon; ++c) {
      ContactPoint contact = contact_of(d.contact[c]);
      contact.adhesion = adhesive[std::size_t(c)];
      const std::size_t before = entries_.size();
      // Velocity of the second body's point less the first's, along t1, t2 and n (Tsounis eq. 39c–d with A the second
      // body).
      add_point_rows(contact.first_body, -1.0, contact, row, entries_);
      add_point_rows(contact.second_body, 1.0, contact, row, entries_);
      if (entries_.size() == before ||
          !near(contact, contact_velocity(entries_, before, row, contact, d.qvel), reach)) {
        entries_.resize(before);
        continue;
      }
      draw_together(contact, entries_, before, row, mechanics.force);
      row += contact.rows();
      if (laws_.moving_surfaces()) append_drift(contact, drift);
      mechanics.contacts.push_back(std::move(contact));
    }
    mechanics.drift = Eigen::Map<Vector>(drift.data(), Index(drift.size()));
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
      const auto put = [&](Index to, double value) {
        if (value != 0.0) entries.emplace_back(row + to, dof, value);
      };
      put(0, along[0]);
      put(1, along[1]);
      if (contact.normal() > 2) {
        const Eigen::Vector3d turn = sign * contact.frame.transpose() * vector3(axis);
        for (Index k = 2; k < contact.normal(); ++k) put(k, turn[turned_axis(k)]);
      }
      put(contact.normal(), along[2]);
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

std::unique_ptr<Engine> make_reduced_engine(LoadedModel loaded) {
  return std::make_unique<ReducedEngine>(std::move(loaded));
}

}  // namespace conebench::simulation
