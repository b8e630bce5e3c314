#include "runners/simulation/engine.hpp"

namespace conebench::simulation {

Result<std::unique_ptr<Engine>> load_engine(const SimulatedModel&, const std::string& name, const EngineOptions&) {
  return Error{ErrorCode::unsupported, name +
                                           ": this Conebench was built without MuJoCo, which simulates scenes; on "
                                           "Debian: apt-get install libmujoco-dev, then build again"};
}

std::string engine_version() { return {}; }

}  // namespace conebench::simulation
