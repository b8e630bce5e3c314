#include "simulation/urdf_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "simulation/ground_plane.hpp"
#include "simulation/scenes/urdf_mesh_converter.hpp"

namespace conebench::simulation {

namespace {

constexpr std::uintmax_t max_mesh_bytes = 512 << 20;

/// Shapes that are deeper in each other than this overlap [m]; others touch.
constexpr double overlap_depth = 1e-6;

struct FilesDeleter {
  void operator()(mjVFS* files) const {
    mj_deleteVFS(files);
    delete files;
  }
};
struct SpecDeleter {
  void operator()(mjSpec* spec) const { mj_deleteSpec(spec); }
};
using FilesHandle = std::unique_ptr<mjVFS, FilesDeleter>;
using SpecHandle = std::unique_ptr<mjSpec, SpecDeleter>;

Error wrong(const std::string& what) { return {ErrorCode::bad_input, what}; }

Result<FilesHandle> read_meshes(const UrdfRobot& robot) {
  FilesHandle files(new mjVFS);
  mj_defaultVFS(files.get());
  for (const UrdfMesh& mesh : robot.meshes) {
    const std::string link = fmt::format("link '{}'", one_line(mesh.link));
    CONEBENCH_TRY(const auto bytes,
                  (mesh.converted ? binary_stl_of(mesh.file) : read_text_file(mesh.file, max_mesh_bytes)).within(link));
    mj_addBufferVFS(files.get(), mesh.name.c_str(), bytes.data(), static_cast<int>(bytes.size()));
  }
  return files;
}

void add_coupling(mjSpec& spec, const Coupling& coupling) {
  mjsEquality* const equality = mjs_addEquality(&spec, nullptr);
  equality->type = mjEQ_JOINT;
  equality->objtype = mjOBJ_JOINT;
  mjs_setString(equality->name1, coupling.joint.c_str());
  mjs_setString(equality->name2, coupling.of.c_str());
  std::fill_n(equality->data, mjNEQDATA, 0.0);
  equality->data[0] = coupling.offset;
  equality->data[1] = coupling.of.empty() ? 0.0 : coupling.multiplier;
}

/// Meshes need a volume only where mass is taken from them, and many have none, or a negative one. Then it is that of
/// the hull, which is what collides.
void set_mesh_volumes(mjSpec& spec, bool needed) {
  for (mjsElement* e = mjs_firstElement(&spec, mjOBJ_MESH); e != nullptr; e = mjs_nextElement(&spec, e)) {
    mjs_asMesh(e)->inertia = needed ? mjMESH_INERTIA_CONVEX : mjMESH_INERTIA_SHELL;
  }
}

Result<ModelHandle> compile(mjSpec& spec, const mjVFS& files) {
  ModelHandle model(mj_compile(&spec, &files));
  if (model == nullptr) return wrong(one_line(mjs_getError(&spec)));
  return model;
}

/// Joint coordinates within their limits, as near to 0 as they go, and mimic joints as they follow from these.
std::vector<mjtNum> start_of(const mjModel& m, const std::vector<Coupling>& couplings) {
  std::vector<mjtNum> start(m.qpos0, m.qpos0 + m.nq);
  const auto coordinate = [&](const std::string& joint) -> mjtNum& {
    return start[static_cast<std::size_t>(m.jnt_qposadr[mj_name2id(&m, mjOBJ_JOINT, joint.c_str())])];
  };
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_limited[j] == 0 || (m.jnt_type[j] != mjJNT_HINGE && m.jnt_type[j] != mjJNT_SLIDE)) continue;
    mjtNum& q = start[static_cast<std::size_t>(m.jnt_qposadr[j])];
    q = std::clamp(q, m.jnt_range[2 * j], m.jnt_range[2 * j + 1]);
  }
  for (std::size_t pass = 0; pass < couplings.size(); ++pass) {  // a mimic joint of a mimic joint waits for it
    const auto before = start;
    for (const auto& [joint, of, multiplier, offset] : couplings) {
      coordinate(joint) = offset + (of.empty() ? 0.0 : multiplier * coordinate(of));
    }
    if (start == before) break;
  }
  return start;
}

std::string body_name(const mjModel& m, int body) {
  const char* const name = body == 0 ? nullptr : mj_id2name(&m, mjOBJ_BODY, body);
  return name == nullptr ? "" : name;
}

/// A pair of bodies that move, or of one and the world (0), by number.
using BodyPair = std::pair<int, int>;

BodyPair body_pair(const mjModel& m, const ApartBodies& apart) {
  const auto number = [&](const std::string& name) {
    return name.empty() ? 0 : std::max(0, mj_name2id(&m, mjOBJ_BODY, name.c_str()));
  };
  return std::minmax({number(apart.first), number(apart.second)});
}

std::vector<ApartBodies> overlapping(const mjModel& m, const mjData& d, const std::set<BodyPair>& apart) {
  std::set<BodyPair> pairs;
  for (int c = 0; c < d.ncon; ++c) {
    const mjContact& contact = d.contact[c];
    const auto body = [&](int geom) { return m.body_weldid[m.geom_bodyid[geom]]; };
    const BodyPair pair = std::minmax({body(contact.geom[0]), body(contact.geom[1])});
    if (contact.dist < -overlap_depth && !apart.contains(pair)) pairs.insert(pair);
  }
  std::vector<ApartBodies> found;
  for (const auto& [a, b] : pairs) found.push_back({body_name(m, a), body_name(m, b), ApartReason::overlap});
  return found;
}

/// Pairs with the world are left out by bits of contype and conaffinity, since its body has the ground, too: 1 is for
/// the ground, 2 for what is fixed to the world.
void keep_apart(mjSpec& spec, const mjModel& m, const std::set<BodyPair>& apart) {
  constexpr int with_ground = 1, with_fixed = 2;
  for (mjsElement* e = mjs_firstElement(&spec, mjOBJ_GEOM); e != nullptr; e = mjs_nextElement(&spec, e)) {
    mjsGeom* const geom = mjs_asGeom(e);
    const int body = m.body_weldid[m.geom_bodyid[mjs_getId(e)]];
    const int bits = body == 0 ? with_fixed : apart.contains({0, body}) ? with_ground : with_ground | with_fixed;
    geom->contype = geom->conaffinity = bits;
  }
  for (int a = 1; a < m.nbody; ++a) {
    for (int b = a + 1; b < m.nbody; ++b) {
      if (!apart.contains(std::minmax({m.body_weldid[a], m.body_weldid[b]})) || m.body_weldid[a] == 0) continue;
      mjsExclude* const exclude = mjs_addExclude(&spec);
      mjs_setString(exclude->bodyname1, body_name(m, a).c_str());
      mjs_setString(exclude->bodyname2, body_name(m, b).c_str());
    }
  }
}

void add_ground(mjSpec& spec, double height) {
  mjsGeom* const plane = mjs_addGeom(mjs_findBody(&spec, "world"), nullptr);
  plane->type = mjGEOM_PLANE;
  plane->size[2] = 1.0;
  plane->pos[2] = height;
}

}  // namespace

Result<ModelHandle> compile_urdf(const UrdfRobot& robot, bool ground, UrdfFindings& found) {
  CONEBENCH_TRY(const auto files, read_meshes(robot));
  std::array<char, 1000> message{};
  const SpecHandle spec(
      mj_parseXMLString(robot.text.c_str(), files.get(), message.data(), static_cast<int>(message.size())));
  if (spec == nullptr) return wrong(one_line(message.data()));
  set_mesh_volumes(*spec, !robot.massless.empty());
  spec->option.cone = mjCONE_ELLIPTIC;
  for (const Coupling& coupling : robot.couplings) add_coupling(*spec, coupling);
  if (robot.self_collision) spec->option.disableflags |= mjDSBL_FILTERPARENT;
  CONEBENCH_TRY(auto compiled, compile(*spec, *files));

  const mjModel& m = *compiled;
  found = {};
  for (const std::string& body : robot.massless) {
    found.masses.push_back(m.body_mass[mj_name2id(&m, mjOBJ_BODY, body.c_str())]);
  }
  const DataHandle data(mj_makeData(&m));
  const std::vector<mjtNum> start = start_of(m, robot.couplings);
  std::copy(start.begin(), start.end(), data->qpos);
  mj_kinematics(&m, data.get());
  mj_collision(&m, data.get());
  for (int j = 0; j < m.njnt; ++j) {
    if (start[static_cast<std::size_t>(m.jnt_qposadr[j])] == m.qpos0[m.jnt_qposadr[j]]) continue;
    found.moved.emplace_back(mj_id2name(&m, mjOBJ_JOINT, j));
  }
  if (!robot.self_collision) {
    std::set<BodyPair> apart;
    for (const ApartBodies& pair : robot.apart) apart.insert(body_pair(m, pair));
    found.overlapping = overlapping(m, *data, apart);
    for (const ApartBodies& pair : found.overlapping) apart.insert(body_pair(m, pair));
    keep_apart(*spec, m, apart);
  }
  if (ground) add_ground(*spec, lowest_point(m, *data));
  if (!found.moved.empty()) mjs_setDouble(mjs_addKey(spec.get())->qpos, start.data(), static_cast<int>(m.nq));
  return compile(*spec, *files);
}

}  // namespace conebench::simulation
