#include "tests/simulation/scenes/engine_model.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

namespace conebench {

namespace {

void add_file(mjVFS& files, const std::string& name, const std::string& bytes) {
  mj_addBufferVFS(&files, name.c_str(), bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

EngineModel compile(const SimulatedModel& scene) {
  // The virtual file system is a megabyte of names: not for the stack.
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  add_file(*files, "scene.xml", scene.mjcf);
  for (const auto& [name, bytes] : scene.files) add_file(*files, name, bytes);
  std::array<char, 1000> message{};
  EngineModel engine;
  engine.model.reset(mj_loadXML("scene.xml", files.get(), message.data(), static_cast<int>(message.size())));
  mj_deleteVFS(files.get());
  engine.message = message.data();
  if (!engine.model) return engine;
  engine.data.reset(mj_makeData(engine.model.get()));
  if (engine.model->nkey > 0) mj_resetDataKeyframe(engine.model.get(), engine.data.get(), 0);
  mj_kinematics(engine.model.get(), engine.data.get());
  mj_comPos(engine.model.get(), engine.data.get());
  mj_crb(engine.model.get(), engine.data.get());
  mj_collision(engine.model.get(), engine.data.get());
  return engine;
}

EngineModel compile_scene(const std::string& id, const OptionValues& values, std::uint64_t seed) {
  const auto row = require_simulated_scene(id);
  EXPECT_TRUE(row) << row.error().message;
  if (!row) return {};
  const auto made = (*row)->make(values, seed);
  EXPECT_TRUE(made) << made.error().message;
  if (!made) return {};
  EngineModel engine = compile(*made);
  EXPECT_TRUE(engine.model) << id << ": " << engine.message;
  return engine;
}

int rank(const Matrix& rows) {
  if (rows.size() == 0) return 0;
  const Eigen::JacobiSVD<Matrix> svd(rows);
  return static_cast<int>((svd.singularValues().array() > 1e-9 * svd.singularValues()[0]).count());
}

Counts count(EngineModel& engine) {
  const mjModel& m = *engine.model;
  mjData& d = *engine.data;
  Counts c;
  double heaviest = 0.0;
  double lightest = INFINITY;
  for (int body = 1; body < m.nbody; ++body) {
    ++c.bodies;
    heaviest = std::max(heaviest, m.body_mass[body]);
    lightest = std::min(lightest, m.body_mass[body]);
    c.coordinates += m.body_dofnum[body];
    if (m.body_dofnum[body] == 6) continue;
    ++c.joints;
    c.rows += 6 - m.body_dofnum[body];
    if (m.body_parentid[body] == 0 && m.body_dofnum[body] == 0) ++c.base_joints;
  }
  std::map<std::pair<int, int>, int> shared_points;
  for (int i = 0; i < m.neq; ++i) {
    if (m.eq_type[i] == mjEQ_CONNECT) ++shared_points[std::minmax(m.eq_obj1id[i], m.eq_obj2id[i])];
  }
  for (const auto& [pair, points] : shared_points) {
    ++c.joints;
    const int rows = std::array{0, 3, 5, 6}.at(static_cast<std::size_t>(std::min(points, 3)));
    c.rows += rows;
    c.coordinates += 6 - rows;
  }
  c.joint_drives = static_cast<int>(std::count(m.actuator_trntype, m.actuator_trntype + m.nu, int{mjTRN_JOINT}));
  c.mass_ratio = heaviest / lightest;
  c.mobility = m.nv;
  if (m.neq > 0) {
    mj_makeConstraint(&m, &d);
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(d.ne, m.nv);
    for (int row = 0; row < d.ne; ++row) {
      if (mj_isSparse(&m) != 0) {
        const int start = d.efc_J_rowadr[row];
        for (int k = start; k < start + d.efc_J_rownnz[row]; ++k) jacobian(row, d.efc_J_colind[k]) = d.efc_J[k];
      } else {
        for (int k = 0; k < m.nv; ++k) jacobian(row, k) = d.efc_J[row * m.nv + k];
      }
    }
    c.mobility -= rank(jacobian);
  }
  return c;
}

}  // namespace conebench
