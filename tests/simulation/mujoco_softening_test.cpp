#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <cstring>
#include <memory>
#include <set>

#include "tests/simulation/mechanisms.hpp"

// MuJoCo's own rows of a model against those of the step: its impedances, compliance and reference accelerations come
// from its compiled parameters and its own formulas, none of which the simulator uses.

namespace conebench::simulation {
namespace {

using namespace testing;

const std::string model_text = R"(<mujoco><option timestep="0.004" gravity="0 0 -9.81" cone="elliptic"/>
  <worldbody><geom name="floor" type="plane" size="5 5 1" solref="0.03 0.8" solimp="0.3 0.7 0.02 0.4 3" solmix="3"/>
  <geom name="stiff" type="box" pos="3 0 0.5" size="0.5 0.5 0.5" solref="-700 -30" priority="2"/>
  <body name="a" pos="0 0 0.095"><freejoint/>
    <geom type="sphere" size="0.1" mass="2" solref="0.05 1.2" solimp="0.6 0.9 0.004 0.5 1" solmix="1"/></body>
  <body name="b" pos="3 0 1.093"><freejoint/><geom type="sphere" size="0.1" mass="2"/></body>
  <body name="c" pos="0 3 1"><joint name="one" type="hinge" axis="0 1 0" limited="true" range="-0.5 0.05"
      solreflimit="0.001 1" solimplimit="0.2 0.95 0.1 0.3 2"/>
    <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1"/>
    <body name="d" pos="0.4 0 0"><joint name="two" type="slide" axis="1 0 0"/>
      <geom type="sphere" size="0.04" mass="0.5"/></body></body></worldbody>
  <equality><joint joint1="one" joint2="two" polycoef="0.01 0.5 0 0 0" solref="0.04 0.9" solimp="0.1 0.8 0.1 0.6 2"/>
  </equality></mujoco>)";

struct Deleter {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
  void operator()(mjData* d) const { mj_deleteData(d); }
};

std::unique_ptr<mjModel, Deleter> compiled() {
  auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_addBufferVFS(files.get(), "m.xml", model_text.data(), static_cast<int>(model_text.size()));
  char error[500] = "";
  std::unique_ptr<mjModel, Deleter> model(mj_loadXML("m.xml", files.get(), error, sizeof error));
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error(error);
  return model;
}

TEST(SofteningBesideMujoco, ComplianceAndReferenceVelocityAreItsOwn) {
  const double time_step = 0.004;
  const auto m = compiled();
  const std::unique_ptr<mjData, Deleter> d(mj_makeData(m.get()));
  SimulatedModel model;
  model.mjcf = model_text;
  const auto engine = load_engine(model, "m");
  ASSERT_TRUE(engine) << engine.error().message;
  State state = (*engine)->start();
  state.position[14] = 0.08;  // beyond the limit
  for (Index k = 0; k < state.velocity.size(); ++k) state.velocity[k] = 0.1 * double(k % 5) - 0.25;
  for (int k = 0; k < m->nq; ++k) d->qpos[k] = state.position[k];
  for (int k = 0; k < m->nv; ++k) d->qvel[k] = state.velocity[k];
  mj_forward(m.get(), d.get());

  Mechanics mechanics;
  ASSERT_TRUE(
      (*engine)->evaluate(state, {.time_step = time_step, .contact_margin = 0.0, .limit_margin = 0.0}, mechanics));
  StepOptions soft;
  soft.softening = "mujoco";
  const auto step = discretise(mechanics, state.velocity, time_step, soft, "m");
  ASSERT_TRUE(step);
  const auto problem = step_problem(mechanics, *step, time_step, soft, {});
  ASSERT_TRUE(problem) << problem.error().message;
  const Vector before = mechanics.jacobian * state.velocity;
  const Matrix delassus = problem->blocks().dense();

  // MuJoCo's rows are equality, limit, then n, t1, t2 of each contact; ours t1, t2, n.
  ASSERT_EQ(mechanics.contacts.size(), 2U);
  ASSERT_EQ(d->nefc, 1 + 1 + 3 * 2);
  const Index ours[] = {0, 1, 4, 2, 3, 7, 5, 6};
  std::set<double> compliances;
  for (int row = 0; row < d->nefc; ++row) {
    const Index own = ours[row];
    SCOPED_TRACE(row);
    const double velocity = d->efc_vel[row];
    EXPECT_NEAR(before[own], velocity, 1e-12);
    EXPECT_NEAR(step->bias[own], -time_step * d->efc_aref[row] - velocity, 1e-12)
        << "v_r is the velocity's part of the reference acceleration";
    const bool tangent = row >= 2 && (row - 2) % 3 != 0;
    if (tangent) continue;  // there MuJoCo divides the normal's R by impratio
    const double share = d->efc_R[row] / d->efc_diagA[row];
    EXPECT_NEAR(problem->compliance()[own] / delassus(own, own), share, 1e-10 * share);
    compliances.insert(share);
  }
  EXPECT_EQ(compliances.size(), 4U) << "each row has parameters of its own";
}

}  // namespace
}  // namespace conebench::simulation
