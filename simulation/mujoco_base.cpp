#include "simulation/mujoco_base.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <set>

#include "simulation/capsule_points.hpp"
#include "simulation/height_field_contacts.hpp"
#include "simulation/height_field_gaps.hpp"
#include "simulation/picture.hpp"

namespace conebench::simulation {

namespace {

/// All limits are asked for; which of them are near is decided by the caller's reach.
constexpr double limit_search_margin = 1e6;

/// Whether MuJoCo searches with the sum of two geoms' margins (before 3.5: with the larger).
constexpr bool margins_add = mjVERSION_HEADER >= 350;

}  // namespace

MujocoBase::MujocoBase(ModelHandle model, DataHandle data, std::string name, std::vector<std::string> notes)
    : model_(std::move(model)), data_(std::move(data)), name_(std::move(name)), notes_(std::move(notes)) {
  const mjModel& m = *model_;
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
  dimensions_.joint_drives = std::count(m.actuator_trntype, m.actuator_trntype + m.nu, int{mjTRN_JOINT});
  dimensions_.gravity = vector3(m.opt.gravity).norm();
  dimensions_.time_step = m.opt.timestep;
  if (m.stat.meansize > 0.0) typical_length_ = m.stat.meansize;
  shape_margins_.assign(m.geom_margin, m.geom_margin + m.ngeom);
  if ((m.opt.enableflags & mjENBL_OVERRIDE) != 0) shape_margins_.assign(shape_margins_.size(), m.opt.o_margin);
  const auto note = [&](bool present, const char* what) {
    if (present) notes_.push_back(fmt::format("{}: left out: {}", name_, what));
  };
  note(std::any_of(m.dof_frictionloss, m.dof_frictionloss + m.nv, [](mjtNum loss) { return loss > 0.0; }),
       "dry friction in joints");
  note(std::any_of(m.geom_condim, m.geom_condim + m.ngeom, [](int dim) { return dim > 3; }),
       "torsional and rolling friction (condim above 3)");
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
  Matrix waves(model_->nu, 3);
  for (int a = 0; a < model_->nu; ++a) waves.row(a) = vector3(model_->actuator_user + size * a).transpose();
  return waves;
}

std::vector<std::optional<Servo>> MujocoBase::servos() const {
  const mjModel& m = *model_;
  std::vector<std::optional<Servo>> servos(static_cast<std::size_t>(m.nu));
  for (int a = 0; a < m.nu; ++a) {
    const mjtNum* const bias = m.actuator_biasprm + mjNBIAS * a;
    const bool of_position = m.actuator_biastype[a] == mjBIAS_AFFINE && m.actuator_dyntype[a] == mjDYN_NONE &&
                             bias[1] == -m.actuator_gainprm[mjNGAIN * a] && m.actuator_gear[6 * a] == 1.0;
    if (!of_position || m.actuator_trntype[a] != mjTRN_JOINT) continue;
    const int joint = m.actuator_trnid[2 * a];
    if (m.jnt_type[joint] != mjJNT_HINGE && m.jnt_type[joint] != mjJNT_SLIDE) continue;
    servos[static_cast<std::size_t>(a)] = Servo{m.jnt_qposadr[joint], m.jnt_dofadr[joint]};
  }
  return servos;
}

void MujocoBase::advance_activation(State& state, double time_step) const {
  for (int k = 0; k < model_->na; ++k) state.activation[k] += time_step * data_->act_dot[k];
}

std::vector<double> MujocoBase::body_masses() const {
  return {model_->body_mass + 1, model_->body_mass + model_->nbody};
}

std::string MujocoBase::shape_name(int shape) const {
  const char* const name = mj_id2name(model_.get(), mjOBJ_GEOM, shape);
  return name != nullptr ? name : fmt::format("geom {}", shape);
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
    const double lift = reach.lifts ? largest_friction() * speed : 0.0;
    margin = 2.0 * reach.time_step * (dimensions_.gravity * reach.time_step + speed + lift);
    for (const double own : shape_margins_) margin = std::max(margin, own);
  }
  std::fill_n(m.geom_margin, m.ngeom, margins_add ? 0.5 * margin : margin);
  std::fill_n(m.pair_margin, m.npair, margin);
  m.opt.o_margin = margin;
  mj_collision(&m, data_.get());
  correct_height_field_gaps(m, *data_, margin);
  drop_impossible_contacts();
  contacts_ = make_height_field_contacts_exact(m, *data_, margin);
  if (!add_points_of_capsules(m, *data_, margin)) contacts_ = ContactList::full;
  begin(Stage::assembly);
}

void MujocoBase::drop_impossible_contacts() {
  constexpr double rounding = 1e-6;
  mjData& d = *data_;
  const auto reach = [&](int geom, const Eigen::Vector3d& along) {
    const Eigen::Vector3d share = (matrix3(d.geom_xmat + 9 * geom).transpose() * along).cwiseAbs();
    return share.dot(vector3(model_->geom_size + 3 * geom));
  };
  const auto impossible = [&](const mjContact& found) {
    if (found.dist >= 0.0) return false;
    if (model_->geom_type[found.geom1] != mjGEOM_BOX || model_->geom_type[found.geom2] != mjGEOM_BOX) return false;
    const Eigen::Vector3d normal = vector3(found.frame);
    const double reaches = reach(found.geom1, normal) + reach(found.geom2, normal);
    const Eigen::Vector3d between = vector3(d.geom_xpos + 3 * found.geom2) - vector3(d.geom_xpos + 3 * found.geom1);
    return -found.dist > reaches - between.dot(normal) + rounding * reaches;
  };
  d.ncon = static_cast<int>(std::remove_if(d.contact, d.contact + d.ncon, impossible) - d.contact);
}

void MujocoBase::forces_and_rows() {
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

Result<void> MujocoBase::check_contacts() const {
  if (contacts_ != ContactList::full && data_->warning[mjWARN_CONTACTFULL].number == 0) return {};
  return Error{ErrorCode::bad_input, fmt::format("more than {} contacts; use fewer or coarser shapes",
                                                 std::max(model_->nconmax, data_->ncon))};
}

bool MujocoBase::is_limit(int row) const {
  return data_->efc_type[row] == mjCNSTR_LIMIT_JOINT || data_->efc_type[row] == mjCNSTR_LIMIT_TENDON;
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
    case mjCNSTR_LIMIT_TENDON:
      return softness_of(m.tendon_solref_lim + mjNREF * object, m.tendon_solimp_lim + mjNIMP * object);
    default: return softness_of(m.jnt_solref + mjNREF * object, m.jnt_solimp + mjNIMP * object);
  }
}

std::vector<Eigen::Vector3d> MujocoBase::connect_directions(int equality, const Eigen::Matrix3d& rotation,
                                                            Anchors& anchors) const {
  constexpr double same_position = 1e-9;
  const int first = model_->eq_obj1id[equality], second = model_->eq_obj2id[equality];
  const Eigen::Vector3d anchor = vector3(model_->eq_data + mjNEQDATA * equality + (first < second ? 0 : 3));
  std::vector<Eigen::Vector3d>& before = anchors[std::minmax(first, second)];
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
  if (reach.contact_margin >= 0.0) return contact.gap <= reach.contact_margin;
  const double own =
      std::max(shape_margins_[std::size_t(contact.first_shape)], shape_margins_[std::size_t(contact.second_shape)]);
  const double lift = reach.lifts ? contact.friction * velocity.head<2>().norm() : 0.0;
  const double closing = dimensions_.gravity * reach.time_step + std::max(0.0, -velocity[2]) + lift;
  return contact.gap <= std::max(own, 2.0 * reach.time_step * closing);
}

ContactPoint MujocoBase::contact_of(const mjContact& found) const {
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
  contact.softness = softness_of(found.solref, found.solimp);
  contact.first_local = local_point(contact.first_body, contact.position);
  contact.second_local = local_point(contact.second_body, contact.position);
  return contact;
}

double MujocoBase::largest_friction() const {
  double largest = 0.0;
  for (int g = 0; g < model_->ngeom; ++g) largest = std::max(largest, model_->geom_friction[3 * g]);
  for (int p = 0; p < model_->npair; ++p) largest = std::max(largest, model_->pair_friction[5 * p]);
  return largest;
}

double MujocoBase::restitution(int geom) const {
  return model_->nuser_geom > 0 ? std::clamp(model_->geom_user[model_->nuser_geom * geom], 0.0, 1.0) : 0.0;
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

Eigen::Vector3d contact_velocity(const Triplets& entries, std::size_t first, Index row, const double* velocity) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (std::size_t k = first; k < entries.size(); ++k) {
    sum[entries[k].row() - row] += entries[k].value() * velocity[entries[k].col()];
  }
  return sum;
}

}  // namespace conebench::simulation
