#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "simulation/deformable/soft_engine.hpp"
#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

Result<std::unique_ptr<Engine>> load_engine(const SimulatedModel& model, const std::string& name,
                                            const EngineOptions& options) {
  if (model.soft) return make_soft_engine(*model.soft, name, options);
  std::vector<std::string> notes;
  CONEBENCH_TRY(auto loaded, load_model(model, name, notes));
  mjModel& m = *loaded;
  if (m.nv == 0) {
    return Error{ErrorCode::bad_input, name + ": nothing in the model can move; give a body a joint or a freejoint"};
  }
  adapt(m, options);
  m.opt.enableflags |= mjENBL_ENERGY;
#if mjVERSION_HEADER < 3008000
  m.opt.enableflags |= mjENBL_MULTICCD;  // several contacts a pair of convex shapes
#else
  m.opt.disableflags &= ~mjDSBL_MULTICCD;
#endif
#if mjVERSION_HEADER >= 324
  for (int e = 0; e < m.neq; ++e) {
    if (m.eq_objtype[e] != mjOBJ_SITE) continue;
    return Error{ErrorCode::bad_input, name + ": an equality joins sites; name the bodies and an anchor instead"};
  }
#endif
  m.opt.jacobian = mjJAC_SPARSE;
  make_room(m);
  DataHandle data;
  CONEBENCH_CHECK(guarded(name, notes, [&] { data.reset(mj_makeData(&m)); }));
  if (options.maximal) {
    return make_maximal_engine(std::move(loaded), std::move(data), name, std::move(notes));
  }
  return make_reduced_engine(std::move(loaded), std::move(data), name, std::move(notes));
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
