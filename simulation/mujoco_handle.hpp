#pragma once

#include <mujoco/mujoco.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "simulation/engine.hpp"
#include "simulation/scenes/simulated_scene.hpp"

namespace conebench::simulation {

struct ModelDeleter {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct DataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using ModelHandle = std::unique_ptr<mjModel, ModelDeleter>;
using DataHandle = std::unique_ptr<mjData, DataDeleter>;

/// What MuJoCo calls an error. It expects its handler never to return: the handler throws this through MuJoCo's frames.
class EngineFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs calls of MuJoCo: its errors end in the Result, its warnings in `notes` (each once). Nothing is printed, logged
/// to MUJOCO_LOG.TXT or exited from.
Result<void> guarded(const std::string& name, std::vector<std::string>& notes, const std::function<void()>& calls);

/// The compiled model, from its text or, where it has one, from its file. Errors: bad_input.
Result<ModelHandle> load_model(const SimulatedModel& model, const std::string& name, std::vector<std::string>& notes);

/// Whether an equality is on at the start.
inline bool is_active(const mjModel& model, int equality) {
#if mjVERSION_HEADER < 300
  return model.eq_active[equality] != 0;
#else
  return model.eq_active0[equality] != 0;
#endif
}

/// Changes the model as the options ask, but for the coordinates.
void adapt(mjModel& model, const EngineOptions& options);

/// Enough room in a model's data for its contacts and rows, for versions that do not find it themselves.
void make_room(mjModel& model);

}  // namespace conebench::simulation
