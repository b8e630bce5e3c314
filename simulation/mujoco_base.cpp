#include "simulation/mujoco_base.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <set>

#include "simulation/capsule_points.hpp"
#include "simulation/height_field_contacts.hpp"
#include "simulation/picture.hpp"

namespace conebench::simulation {

namespace {

/// All limits are asked for; which of them are near is decided by the caller's reach.
constexpr double limit_search_margin = 1e6;

}  // namespace

MujocoBase::MujocoBase(LoadedModel loaded)
    : model_(std::move(loaded.model)),
      data_(std::move(loaded.data)),
      name_(std::move(loaded.name)),
      notes_(std::move(loaded.notes)),
      drives_(std::move(loaded.drives)),
      left_out_(std::move(loaded.left_out)),
      implicit_(loaded.implicit),
      own_rows_(loaded.own_rows),
      laws_(*model_) {
  mjModel& m = *model_;
  dimensions_.positions = m.nq;
  dimensions_.velocities = m.nv;
  dimensions_.controls = m.nu;
  dimensions_.activations = m.na;
  dimensions_.bodies = m.nbody - 1;
  std::set<std::pair<int, int>> loops;
  for (int e = 0; e < m.neq; ++e) {
    if (!is_active(m, e)) continue;
    ++dimensions_.joints;
    loops.insert(std::minmax(m.eq_obj1id[e], m.eq_obj2id[e]));
  }
  dimensions_.loops = Index(loops.size());
  for (int b = 1; b < m.nbody; ++b) dimensions_.tree_joints += m.body_dofnum[b] == 6 ? 0 : 1;
  dimensions_.joint_drives = std::count(m.actuator_trntype, m.actuator_trntype + actuators(m), int{mjTRN_JOINT});
  dimensions_.gravity = vector3(m.opt.gravity).norm();
  dimensions_.time_step = m.opt.timestep;
  if (m.stat.meansize > 0.0) typical_length_ = m.stat.meansize;
  if (!own_rows_) {
    // find_contacts() sets the margins.
    std::fill_n(m.geom_gap, m.ngeom, 0.0);
    std::fill_n(m.pair_gap, m.npair, 0.0);
  }
  const auto note = [&](bool present, const char* what) {
    if (present) notes_.push_back(fmt::format("{}: {}", name_, what));
  };
  const bool friction = std::any_of(m.geom_condim, m.geom_condim + m.ngeom, [](int dim) { return dim > 1; });
  note(m.opt.cone == mjCONE_PYRAMIDAL && friction && m.ngeom > 1,
       "its pyramidal friction cones are taken as the circular or elliptic ones around them");
  note(loaded.integrator == mjINT_RK4, "integrated by semi-implicit Euler in place of RK4");
  note(loaded.integrator == mjINT_IMPLICIT,
       "integrated as with implicitfast, without the derivative of Coriolis's forces");
#if mjVERSION_HEADER >= 4000000
  note(loaded.integrator == mjINT_DISCRETE, "integrated as with implicitfast; its springs are explicit");
#endif
}

std::vector<LeftOut> MujocoBase::left_out() const {
  std::vector<LeftOut> left_out = left_out_;
#if mjVERSION_HEADER >= 4000000
  for (int j = 0; j < model_->njnt; ++j) {
    if (model_->jnt_plasticadr[j] >= 0) left_out.push_back({element_name(mjOBJ_JOINT, j), "its spring does not yield"});
  }
  for (int t = 0; t < model_->ntendon; ++t) {
    if (model_->tendon_plasticadr[t] >= 0) {
      left_out.push_back({element_name(mjOBJ_TENDON, t), "its spring does not yield"});
    }
  }
#endif
  return left_out;
}

void MujocoBase::reset() const {
  mjModel& m = *model_;
  mjData& d = *data_;
  if (m.nkey > 0) {
    mj_resetDataKeyframe(&m, &d, 0);
  } else {
    mj_resetData(&m, &d);
  }
  mj_normalizeQuat(&m, d.qpos);
}

Matrix MujocoBase::control_ranges() const {
  Matrix ranges(model_->nu, 2);
  for (int a = 0; a < model_->nu; ++a) {
    const bool limited = model_->actuator_ctrllimited[a] != 0;
    ranges(a, 0) = limited ? model_->actuator_ctrlrange[2 * a] : -1.0;
    ranges(a, 1) = limited ? model_->actuator_ctrlrange[2 * a + 1] : 1.0;
  }
  return ranges;
}

Matrix MujocoBase::control_waves() const {
  const int size = model_->nuser_actuator;
  if (size < 3) return Matrix(model_->nu, 0);
  Matrix waves = Matrix::Zero(model_->nu, 3);
  for (int a = 0; a < actuators(*model_); ++a) {
    waves.row(first_control(*model_, a)) = vector3(model_->actuator_user + size * a).transpose();
  }
  return waves;
}

std::vector<std::optional<Servo>> MujocoBase::servos() const {
  const mjModel& m = *model_;
  std::vector<std::optional<Servo>> servos(static_cast<std::size_t>(m.nu));
  for (int a = 0; a < actuators(m); ++a) {
    const mjtNum* const bias = m.actuator_biasprm + mjNBIAS * a;
    const bool of_position = m.actuator_biastype[a] == mjBIAS_AFFINE && m.actuator_dyntype[a] == mjDYN_NONE &&
                             bias[1] == -m.actuator_gainprm[mjNGAIN * a] &&
                             m.actuator_gear[6 * first_force(m, a)] == 1.0;
    if (!of_position || m.actuator_trntype[a] != mjTRN_JOINT) continue;
    const int joint = m.actuator_trnid[2 * a];
    if (m.jnt_type[joint] != mjJNT_HINGE && m.jnt_type[joint] != mjJNT_SLIDE) continue;
    servos[static_cast<std::size_t>(first_control(m, a))] = Servo{m.jnt_qposadr[joint], m.jnt_dofadr[joint]};
  }
  return servos;
}

void MujocoBase::advance_activation(State& state, double time_step) const {
  const mjModel& m = *model_;
  for (int k = 0; k < m.na; ++k) state.activation[k] += time_step * data_->act_dot[k];
  for (int a = 0; a < actuators(m); ++a) {
    const int first = m.actuator_actadr[a], last = first + m.actuator_actnum[a] - 1;
    if (first < 0) continue;
    double& activation = state.activation[last];  // the one that makes the force
    if (m.actuator_dyntype[a] == mjDYN_FILTEREXACT) {
      const double tau = std::max(mjMINVAL, m.actuator_dynprm[mjNDYN * a]);
      activation -= data_->act_dot[last] * (time_step + tau * std::expm1(-time_step / tau));
    }
    if (m.actuator_actlimited[a] != 0) {
      activation = std::clamp(activation, m.actuator_actrange[2 * a], m.actuator_actrange[2 * a + 1]);
    }
  }
}

std::vector<double> MujocoBase::body_masses() const {
  return {model_->body_mass + 1, model_->body_mass + model_->nbody};
}

std::string MujocoBase::shape_name(int shape) const {
  const char* const name = mj_id2name(model_.get(), mjOBJ_GEOM, shape);
  if (name != nullptr && *name != '\0') return name;
  return fmt::format("geom {} of {}", shape, body_name(model_->geom_bodyid[shape]));
}

std::string MujocoBase::element_name(mjtObj type, int number) const {
  const char* const name = mj_id2name(model_.get(), type, number);
  const char* const what = mju_type2Str(type);
  return name != nullptr && *name != '\0' ? fmt::format("{} '{}'", what, name) : fmt::format("{} {}", what, number);
}

std::optional<int> MujocoBase::body_number(const std::string& name) const {
  for (int b = 0; b < model_->nbody; ++b) {
    if (body_name(b) == name) return b;
  }
  return std::nullopt;
}

std::string MujocoBase::body_name(int body) const {
  const char* const name = mj_id2name(model_.get(), mjOBJ_BODY, body);
  return name != nullptr ? name : fmt::format("body{}", body);
}

BodyPose MujocoBase::body_pose(int body) const {
  return {vector3(data_->xpos + 3 * body), Eigen::Map<const Eigen::Vector4d>(data_->xquat + 4 * body)};
}

Result<void> MujocoBase::write_picture(const std::filesystem::path& file) const {
  return draw_picture(*model_, *data_, file);
}

Eigen::Vector3d MujocoBase::world_point(int body, const Eigen::Vector3d& local) const {
  return vector3(data_->xpos + 3 * body) + matrix3(data_->xmat + 9 * body) * local;
}

void MujocoBase::pose_bodies(const std::vector<Pose>& poses) {
  const mjModel& m = *model_;
  mjData& d = *data_;
  const auto put = [](mjtNum* position, mjtNum* matrix, const Pose& frame, const mjtNum* local,
                      const mjtNum* quaternion) {
    mjtNum turned[9];
    mju_quat2Mat(turned, quaternion);
    const Eigen::Matrix<mjtNum, 3, 3, Eigen::RowMajor> rotation = frame.rotation * matrix3(turned);
    const Eigen::Vector3d point = frame.position + frame.rotation * vector3(local);
    std::copy_n(point.data(), 3, position);
    std::copy_n(rotation.data(), 9, matrix);
  };
  constexpr mjtNum origin[3] = {0, 0, 0}, unturned[4] = {1, 0, 0, 0};
  for (int b = 1; b < m.nbody; ++b) {
    const Pose& frame = poses[std::size_t(b)];
    put(d.xpos + 3 * b, d.xmat + 9 * b, frame, origin, unturned);
    put(d.xipos + 3 * b, d.ximat + 9 * b, frame, m.body_ipos + 3 * b, m.body_iquat + 4 * b);
    mju_mat2Quat(d.xquat + 4 * b, d.xmat + 9 * b);
  }
  for (int g = 0; g < m.ngeom; ++g) {
    const Pose& frame = poses[std::size_t(m.geom_bodyid[g])];
    put(d.geom_xpos + 3 * g, d.geom_xmat + 9 * g, frame, m.geom_pos + 3 * g, m.geom_quat + 4 * g);
  }
}

void MujocoBase::find_contacts(const Reach& reach, double speed) {
  begin(Stage::collision);
  mjModel& m = *model_;
  double margin = reach.contact_margin;
  if (margin < 0.0) {
    const double lift = reach.lifts ? laws_.largest_friction() * speed : 0.0;
    margin =
        std::max(laws_.largest_reach(), 2.0 * reach.time_step * (dimensions_.gravity * reach.time_step + speed + lift));
  }
  if (laws_.adheres()) margin = std::max(margin, laws_.largest_reach());
  const double of_shape = margins_add ? 0.5 * margin : margin;
  std::fill_n(m.geom_margin, m.ngeom, of_shape);
  std::fill_n(m.body_margin, m.nbody, of_shape);
  std::fill_n(m.pair_margin, m.npair, margin);
  m.opt.o_margin = margin;
  mj_collision(&m, data_.get());
  contacts_ = make_height_field_contacts_exact(m, *data_, margin);
  if (!add_points_of_capsules(m, *data_, margin)) contacts_ = ContactList::full;
  begin(Stage::assembly);
}

void MujocoBase::forces_and_rows() {
  mjModel& m = *model_;
  const int flags = m.opt.disableflags;
  m.opt.disableflags = flags | mjDSBL_CONTACT;
  std::fill_n(m.jnt_margin, m.njnt, limit_search_margin);
  std::fill_n(m.tendon_margin, m.ntendon, limit_search_margin);
  mj_makeConstraint(&m, data_.get());
  m.opt.disableflags = flags;
  mj_fwdVelocity(&m, data_.get());
  mj_fwdActuation(&m, data_.get());
}

Result<void> MujocoBase::check_contacts() const {
  const auto full = [&](mjtWarning list) { return data_->warning[list].number > 0; };
  if (contacts_ != ContactList::full && !full(mjWARN_CONTACTFULL) && !full(mjWARN_CNSTRFULL)) return {};
  return Error{ErrorCode::bad_input,
               fmt::format("more than {} contacts or {} rows; use fewer or coarser shapes", data_->ncon, data_->nefc)};
}

bool MujocoBase::is_limit(int row) const {
  return data_->efc_type[row] == mjCNSTR_LIMIT_JOINT || data_->efc_type[row] == mjCNSTR_LIMIT_TENDON;
}

bool MujocoBase::is_friction(int row) const {
  return data_->efc_type[row] == mjCNSTR_FRICTION_DOF || data_->efc_type[row] == mjCNSTR_FRICTION_TENDON;
}

BoundedRow MujocoBase::friction_row(int row) const {
  const bool of_tendon = data_->efc_type[row] == mjCNSTR_FRICTION_TENDON;
  const double loss = data_->efc_frictionloss[row];
  return {.name = data_->efc_id[row] + (of_tendon ? int(model_->nv) : 0),
          .lower = -loss,
          .upper = loss,
          .softness = softness_of_row(row)};
}

BoundedRow MujocoBase::drive_row(const Drive& drive) const {
  BoundedRow row = row_of(drive, *model_, *data_);
  row.name += int(model_->nv + model_->ntendon);
  return row;
}

int MujocoBase::limit_name(int row) const {
  const mjModel& m = *model_;
  const int object = data_->efc_id[row];
  if (data_->efc_type[row] == mjCNSTR_LIMIT_TENDON) {
    // Both ends may be near and just as far: then MuJoCo's first row is that of the lower one.
    const auto is_same = [&](int other) {
      return other >= 0 && other < data_->nefc && data_->efc_type[other] == mjCNSTR_LIMIT_TENDON &&
             data_->efc_id[other] == object;
    };
    const bool at_lower = data_->efc_pos[row] == data_->ten_length[object] - m.tendon_range[2 * object];
    const bool lower = !is_same(row - 1) && (is_same(row + 1) || at_lower);
    return 2 * (m.njnt + object) + (lower ? 0 : 1);
  }
  const bool lower = m.jnt_type[object] == mjJNT_BALL || data_->efc_J[data_->efc_J_rowadr[row]] > 0.0;
  return 2 * object + (lower ? 0 : 1);
}

Softness MujocoBase::softness_of_row(int row) const {
  const mjModel& m = *model_;
  const int object = data_->efc_id[row];
  switch (data_->efc_type[row]) {
    case mjCNSTR_EQUALITY: return softness_of(m.eq_solref + mjNREF * object, m.eq_solimp + mjNIMP * object);
    case mjCNSTR_FRICTION_DOF: return softness_of(m.dof_solref + mjNREF * object, m.dof_solimp + mjNIMP * object);
    case mjCNSTR_FRICTION_TENDON:
      return softness_of(m.tendon_solref_fri + mjNREF * object, m.tendon_solimp_fri + mjNIMP * object);
    case mjCNSTR_LIMIT_TENDON:
      return softness_of(m.tendon_solref_lim + mjNREF * object, m.tendon_solimp_lim + mjNIMP * object);
    default: return softness_of(m.jnt_solref + mjNREF * object, m.jnt_solimp + mjNIMP * object);
  }
}

std::pair<MujocoBase::Attachment, MujocoBase::Attachment> MujocoBase::attachments(int equality) const {
  const mjModel& m = *model_;
  const int first = m.eq_obj1id[equality], second = m.eq_obj2id[equality];
  if (m.eq_objtype[equality] == mjOBJ_SITE) {
    const auto of = [&](int site) { return Attachment{m.site_bodyid[site], vector3(m.site_pos + 3 * site)}; };
    return {of(first), of(second)};
  }
  const mjtNum* const data = m.eq_data + mjNEQDATA * equality;
  return {{first, vector3(data)}, {second, vector3(data + 3)}};
}

std::vector<Eigen::Vector3d> MujocoBase::connect_directions(int equality, const Eigen::Matrix3d& rotation,
                                                            Anchors& anchors) const {
  constexpr double same_position = 1e-9;
  const auto [first, second] = attachments(equality);
  const Eigen::Vector3d anchor = first.body < second.body ? first.point : second.point;
  std::vector<Eigen::Vector3d>& before = anchors[std::minmax(first.body, second.body)];
  before.push_back(anchor);
  if (before.size() == 1) return {Eigen::Vector3d::UnitX(), Eigen::Vector3d::UnitY(), Eigen::Vector3d::UnitZ()};
  const Eigen::Vector3d line = anchor - before[0];
  // Only an anchor that adds something is kept for those to come.
  if (before.size() == 2 && line.norm() > same_position) {
    const Eigen::Vector3d along = line.normalized();
    return {rotation * along.unitOrthogonal(), rotation * along.cross(along.unitOrthogonal())};
  }
  const Eigen::Vector3d across = (before[1] - before[0]).cross(line);
  if (before.size() == 3 && across.norm() > same_position * (before[1] - before[0]).norm()) {
    return {rotation * across.normalized()};
  }
  before.pop_back();
  return {};
}

double MujocoBase::row_velocity(int row) const {
  double velocity = 0.0;
  for (int k = 0; k < data_->efc_J_rownnz[row]; ++k) {
    const int at = data_->efc_J_rowadr[row] + k;
    velocity += data_->efc_J[at] * data_->qvel[data_->efc_J_colind[at]];
  }
  return velocity;
}

bool MujocoBase::near(double gap, double velocity, const Reach& reach) const {
  return gap <= std::max(reach.limit_margin, -2.0 * reach.time_step * velocity);
}

bool MujocoBase::near(const ContactPoint& contact, const Eigen::Vector3d& velocity, const Reach& reach) const {
  if (contact.adhesion > 0.0 && contact.gap <= laws_.reach(contact.first_shape, contact.second_shape)) return true;
  if (reach.contact_margin >= 0.0) return contact.gap <= reach.contact_margin;
  const double own = laws_.margin(contact.first_shape, contact.second_shape);
  const double across = contact.coefficients.empty() ? contact.friction : contact.coefficients[1];
  const double lift = reach.lifts ? std::hypot(contact.friction * velocity[0], across * velocity[1]) : 0.0;
  const double closing = dimensions_.gravity * reach.time_step + std::max(0.0, -velocity[2]) + lift;
  // Shapes that touch may be apart by rounding; without gravity nothing else would take them.
  const double touch = 1e-9 * typical_length_;
  return contact.gap <= std::max({own, touch, 2.0 * reach.time_step * closing});
}

ContactPoint MujocoBase::contact_of(const mjContact& found) const {
  const mjModel& m = *model_;
  ContactPoint contact;
  contact.position = vector3(found.pos);
  // MuJoCo's rows are n, t1, t2, a right-handed frame; n points from the first geom to the second.
  const Eigen::Matrix3d rows = matrix3(found.frame);
  contact.frame << rows.row(1).transpose(), rows.row(2).transpose(), rows.row(0).transpose();
  contact.gap = found.dist;
  contact.first_shape = found.geom1;
  contact.second_shape = found.geom2;
  contact.first_body = m.geom_bodyid[found.geom1];
  contact.second_body = m.geom_bodyid[found.geom2];
  laws_.describe(found, contact);
  contact.softness = softness_of(found.solref, found.solimp);
  contact.first_local = local_point(contact.first_body, contact.position);
  contact.second_local = local_point(contact.second_body, contact.position);
  return contact;
}

std::vector<double> MujocoBase::adhesion() const {
  const mjModel& m = *model_;
  std::vector<double> forces(std::size_t(data_->ncon), 0.0);
  const auto sticks = [&](const mjContact& c) { return c.dist <= laws_.reach(c.geom1, c.geom2); };
  for (int c = 0; c < data_->ncon; ++c) {
    if (sticks(data_->contact[c])) forces[std::size_t(c)] = laws_.adhesion(data_->contact[c]);
  }
  for (int a = 0; a < actuators(m); ++a) {
    if (m.actuator_trntype[a] != mjTRN_BODY) continue;
    // Each contact of the body has the same share.
    std::vector<std::size_t> held;
    for (int c = 0; c < data_->ncon; ++c) {
      const mjContact& contact = data_->contact[c];
      const auto is_of = [&](int geom) { return m.geom_bodyid[geom] == m.actuator_trnid[2 * a]; };
      if ((is_of(contact.geom1) || is_of(contact.geom2)) && sticks(contact)) held.push_back(std::size_t(c));
    }
    for (const std::size_t c : held) forces[c] += data_->actuator_force[first_force(m, a)] / double(held.size());
  }
  return forces;
}

void MujocoBase::draw_together(const ContactPoint& contact, const Triplets& entries, std::size_t first, Index row,
                               Vector& force) {
  if (contact.adhesion == 0.0) return;
  for (std::size_t k = first; k < entries.size(); ++k) {
    if (entries[k].row() != row + contact.normal()) continue;
    force[entries[k].col()] -= contact.adhesion * entries[k].value();
  }
}

void MujocoBase::append_drift(const ContactPoint& contact, std::vector<double>& drift) const {
  const Eigen::Vector3d surface = laws_.surface_velocity(*data_, contact);
  const std::size_t first = drift.size();
  drift.resize(first + std::size_t(contact.rows()), 0.0);
  std::copy_n(surface.data(), contact.normal() > 2 ? 3 : 2, drift.begin() + std::ptrdiff_t(first));
}

bool MujocoBase::push(int body, const Eigen::Vector3d& force, const Eigen::Vector3d& torque) {
  mjtNum* push = data_->xfrc_applied + 6 * body;
  std::copy_n(force.data(), 3, push);
  std::copy_n(torque.data(), 3, push + 3);
  return true;
}

Vector MujocoBase::passive_force() const {
  Vector force = as_vector(data_->qfrc_passive, model_->nv);
#if mjVERSION_HEADER >= 3011000
  if (model_->flg_adhesion) force -= as_vector(data_->qfrc_adhesion, model_->nv);
#endif
  for (int body = 1; body < model_->nbody; ++body) {
    const mjtNum* push = data_->xfrc_applied + 6 * body;
    if (std::all_of(push, push + 6, [](mjtNum value) { return value == 0.0; })) continue;
    mj_applyFT(model_.get(), data_.get(), push, push + 3, data_->xipos + 3 * body, body, force.data());
  }
  return force;
}

Eigen::Vector3d MujocoBase::local_point(int body, const Eigen::Vector3d& point) const {
  return matrix3(data_->xmat + 9 * body).transpose() * (point - vector3(data_->xpos + 3 * body));
}

void set_contact(mjContact& contact, const Eigen::Vector3d& point, const Eigen::Vector3d& normal, double gap) {
  // The first tangent as MuJoCo chooses it: the y axis, or the z axis where that is near the normal.
  const Eigen::Vector3d axis = std::abs(normal.y()) < 0.5 ? Eigen::Vector3d::UnitY() : Eigen::Vector3d::UnitZ();
  const Eigen::Vector3d first = (axis - axis.dot(normal) * normal).normalized();
  const Eigen::Vector3d second = normal.cross(first);
  contact.dist = gap;
  std::copy_n(point.data(), 3, contact.pos);
  std::copy_n(normal.data(), 3, contact.frame);
  std::copy_n(first.data(), 3, contact.frame + 3);
  std::copy_n(second.data(), 3, contact.frame + 6);
}

Eigen::Vector3d contact_velocity(const Triplets& entries, std::size_t first, Index row, const ContactPoint& contact,
                                 const double* velocity) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (std::size_t k = first; k < entries.size(); ++k) {
    const Index of = entries[k].row() - row;
    if (of >= 2 && of != contact.normal()) continue;  // an angular velocity
    sum[std::min<Index>(of, 2)] += entries[k].value() * velocity[entries[k].col()];
  }
  return sum;
}

}  // namespace conebench::simulation
