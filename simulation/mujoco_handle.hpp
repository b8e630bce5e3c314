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
/// `left_out` gets what a URDF has that the model has not.
Result<ModelHandle> load_model(const SimulatedModel& model, const std::string& name, std::vector<std::string>& notes,
                               std::vector<LeftOut>* left_out = nullptr);

/// Whether an equality is on at the start.
inline bool is_active(const mjModel& model, int equality) { return model.eq_active0[equality] != 0; }

/// Actuators, and where the first force and the first control of one stand (before 3.11 each had one control and one
/// force).
#if mjVERSION_HEADER >= 3011000
inline int actuators(const mjModel& model) { return static_cast<int>(model.nactuator); }
inline int first_force(const mjModel& model, int actuator) { return model.actuator_outadr[actuator]; }
inline int first_control(const mjModel& model, int actuator) { return model.actuator_ctrladr[actuator]; }
#else
inline int actuators(const mjModel& model) { return static_cast<int>(model.nu); }
inline int first_force(const mjModel&, int actuator) { return actuator; }
inline int first_control(const mjModel&, int actuator) { return actuator; }
#endif

/// Changes the model as the options ask, but for the coordinates.
void adapt(mjModel& model, const EngineOptions& options);

}  // namespace conebench::simulation
