#include "simulation/deformable/soft_engine.hpp"
#include "simulation/engine.hpp"
#include "simulation/peer_loop.hpp"

namespace conebench::simulation {

namespace {

Error missing(const std::string& name) { return Error{ErrorCode::unsupported, name + ": " + missing_engine}; }

}  // namespace

Result<std::unique_ptr<Engine>> load_engine(const SimulatedModel& model, const std::string& name,
                                            const EngineOptions& options) {
  return model.soft ? make_soft_engine(*model.soft, name, options) : missing(name);
}

Result<std::unique_ptr<PeerLoop>> load_peer_loop(const SimulatedModel&, const std::string& name, const EngineOptions&,
                                                 double) {
  return missing(name);
}

Result<std::string> model_hash(const SimulatedModel& model, const std::string& name) {
  if (model.soft) return soft_model_hash(*model.soft);
  return missing(name);
}

std::string engine_version() { return {}; }

}  // namespace conebench::simulation
