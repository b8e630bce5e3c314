#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "simulation/deformable/soft_engine.hpp"
#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

namespace {

/// What no problem of rigid bodies holds.
Result<void> check_elements(const mjModel& m, const std::string& name) {
  const auto refused = [&](mjtObj type, int number, const char* what) {
    const char* const own = mj_id2name(&m, type, number);
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: {} {} is no rigid body's constraint; leave it out", name, what,
                             own != nullptr && *own != '\0' ? own : std::to_string(number))};
  };
  if (m.nflex > 0) return refused(mjOBJ_FLEX, 0, "flex");
  for (int g = 0; g < m.ngeom; ++g) {
    if (m.geom_type[g] == mjGEOM_SDF) return refused(mjOBJ_GEOM, g, "SDF geom");
  }
  if (m.nhfield > 0 && mj_version() < 4000000) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: MuJoCo {} finds wrong gaps over height fields; build with 4.0 "
                             "or later",
                             name, mj_versionString())};
  }
  if (m.nplugin > 0) return refused(mjOBJ_PLUGIN, 0, "plugin");
  return {};
}

}  // namespace

Result<std::unique_ptr<Engine>> load_engine(const SimulatedModel& model, const std::string& name,
                                            const EngineOptions& options) {
  if (model.soft) return make_soft_engine(*model.soft, name, options);
  std::vector<std::string> notes;
  std::vector<LeftOut> left_out;
  CONEBENCH_TRY(auto loaded, load_model(model, name, notes, &left_out));
  mjModel& m = *loaded;
  if (m.nv == 0) {
    return Error{ErrorCode::bad_input, name + ": nothing in the model can move; give a body a joint or a freejoint"};
  }
  CONEBENCH_CHECK(check_elements(m, name));
  adapt(m, options);
  m.opt.enableflags |= mjENBL_ENERGY;
#if mjVERSION_HEADER < 3008000
  m.opt.enableflags |= mjENBL_MULTICCD;  // several contacts a pair of convex shapes
#else
  m.opt.disableflags &= ~mjDSBL_MULTICCD;
#endif
  m.opt.jacobian = mjJAC_SPARSE;
  LoadedModel ready{.model = std::move(loaded), .data = {}, .name = name, .notes = {}, .drives = {}};
  ready.left_out = std::move(left_out);
#if mjVERSION_HEADER >= 3005000
  for (int a = 0; a < actuators(m); ++a) {
    if (m.actuator_delay[a] <= 0.0) continue;
    m.actuator_delay[a] = 0.0;  // there is no history of controls
    const char* const own = mj_id2name(&m, mjOBJ_ACTUATOR, a);
    ready.left_out.push_back({fmt::format("actuator '{}'", own != nullptr ? own : ""), "its delay"});
  }
#endif
#if mjVERSION_HEADER >= 4000000
  if ((m.opt.enableflags & mjENBL_SLEEP) != 0) ready.left_out.push_back({"option sleep", "bodies stay awake"});
  m.opt.enableflags &= ~mjENBL_SLEEP;
#endif
  ready.integrator = m.opt.integrator;
  ready.implicit = integrates_implicitly(m);
  if (ready.implicit) m.opt.integrator = mjINT_EULER;  // whose forces are whole
  if (options.implicit_drives) ready.drives = take_drives(m);
  ready.own_rows = options.own_rows;
  if (options.own_rows) {
    m.opt.cone = mjCONE_ELLIPTIC;
    const bool damped =
        ready.implicit || std::any_of(m.dof_damping, m.dof_damping + m.nv, [](mjtNum d) { return d > 0.0; });
    if (damped)
      notes.push_back(name + ": softening=engine steps with M: damping is explicit, in MuJoCo's step implicit");
    if (m.opt.noslip_iterations > 0)
      notes.push_back(name + ": MuJoCo's noslip iterations leave the problem of its solver");
  }
  if (options.own_iterations > 0) {
    m.opt.solver = mjSOL_NEWTON;
    m.opt.tolerance = m.opt.ls_tolerance = 0.0;
    m.opt.iterations = static_cast<int>(options.own_iterations);
    m.opt.noslip_iterations = 0;  // they leave the problem that it solves
  }
  constexpr mjtSize min_room = 64 << 20;  // of contacts and rows [bytes]; a model may give itself less
  m.narena = std::max(m.narena, min_room);
  CONEBENCH_CHECK(guarded(name, notes, [&] { ready.data.reset(mj_makeData(&m)); }));
  ready.notes = std::move(notes);
  if (options.maximal) return make_maximal_engine(std::move(ready));
  return make_reduced_engine(std::move(ready));
}

Result<std::string> model_hash(const SimulatedModel& model, const std::string& name) {
  if (model.soft) return soft_model_hash(*model.soft);
  std::vector<std::string> notes;
  CONEBENCH_TRY(const auto loaded, load_model(model, name, notes));
  std::vector<char> bytes;
  CONEBENCH_CHECK(guarded(name, notes, [&] {
    bytes.resize(static_cast<std::size_t>(mj_sizeModel(loaded.get())));
    mj_saveModel(loaded.get(), nullptr, bytes.data(), static_cast<int>(bytes.size()));
  }));
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string engine_version() { return mj_versionString(); }

}  // namespace conebench::simulation
