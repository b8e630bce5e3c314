#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "simulation/mujoco_base.hpp"
#include "simulation/peer_loop.hpp"

namespace conebench::simulation {

namespace {

/// Has MuJoCo time its parts while it lives.
class Timed {
 public:
  explicit Timed(PeerLoop::Clock clock) { mjcb_time = clock; }
  ~Timed() { mjcb_time = nullptr; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
};

class MujocoPeerLoop final : public PeerLoop {
 public:
  MujocoPeerLoop(ModelHandle model, DataHandle data, std::string name)
      : model_(std::move(model)), data_(std::move(data)), name_(std::move(name)) {
    restart();
  }

  void restart() override {
    if (model_->nkey > 0) {
      mj_resetDataKeyframe(model_.get(), data_.get(), 0);
    } else {
      mj_resetData(model_.get(), data_.get());
    }
  }

  Result<PeerStep> step(const Vector& control, Clock clock) override {
    const Timed timed(clock);
    mjData& d = *data_;
    as_vector(d.ctrl, model_->nu) = control;
    for (mjTimerStat& timer : d.timer) timer.duration = 0.0;
    CONEBENCH_CHECK(guarded(name_, notes_, [&] { mj_step(model_.get(), &d); }));
    if (!as_vector(d.qvel, model_->nv).allFinite()) {
      return Error{ErrorCode::bad_input, name_ + ": mj_step gives velocities that are not finite"};
    }
    const auto seconds = [&](int timer) { return d.timer[timer].duration; };
    return PeerStep{.contacts = d.ncon,
                    .iterations = d.solver_niter[0],
                    .collision = seconds(mjTIMER_POS_COLLISION),
                    .rows = seconds(mjTIMER_POS_MAKE) + seconds(mjTIMER_POS_PROJECT),
                    .solve = seconds(mjTIMER_CONSTRAINT),
                    .all = seconds(mjTIMER_STEP)};
  }

  double highest_speed() const override {
    return model_->nv == 0 ? 0.0 : as_vector(data_->qvel, model_->nv).lpNorm<Eigen::Infinity>();
  }

 private:
  ModelHandle model_;
  DataHandle data_;
  std::string name_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<std::unique_ptr<PeerLoop>> load_peer_loop(const SimulatedModel& model, const std::string& name,
                                                 const EngineOptions& options, double time_step) {
  if (model.soft) return Error{ErrorCode::unsupported, name + ": MuJoCo's own loop has no such elastic bodies"};
  std::vector<std::string> notes;
  CONEBENCH_TRY(auto loaded, load_model(model, name, notes));
  mjModel& m = *loaded;
  adapt(m, options);
  m.opt.timestep = time_step;
  m.opt.solver = mjSOL_NEWTON;
  m.opt.cone = mjCONE_ELLIPTIC;
  DataHandle data;
  CONEBENCH_CHECK(guarded(name, notes, [&] { data.reset(mj_makeData(&m)); }));
  return std::unique_ptr<PeerLoop>(std::make_unique<MujocoPeerLoop>(std::move(loaded), std::move(data), name));
}

}  // namespace conebench::simulation
