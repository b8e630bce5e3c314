#include "simulation/softening.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "solvers/registry.hpp"
#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

SimulationOptions softened(const std::string& kind) {
  SimulationOptions options;
  options.step.softening = kind;
  return options;
}

TEST(Impedance, RunsFromTheLeastToTheMostAcrossTheWidth) {
  const Softness s{.min_impedance = 0.2, .max_impedance = 0.8, .width = 0.01, .midpoint = 0.3, .power = 3.0};
  const auto d = [&](double residual) { return impedance_at(s, residual, 0.001).impedance; };
  EXPECT_NEAR(d(0.0), 0.2, 1e-15);
  EXPECT_NEAR(d(-0.003), 0.2 + 0.6 * 0.3, 1e-15) << "the sigmoid passes through (m, m)";
  EXPECT_NEAR(d(0.003 - 1e-12), d(0.003 + 1e-12), 1e-9);
  EXPECT_NEAR(d(-0.01), 0.8, 1e-15);
  EXPECT_EQ(d(-1.0), d(1.0));
  Softness linear = s;
  linear.power = 1.0;
  EXPECT_NEAR(impedance_at(linear, -0.004, 0.001).impedance, 0.2 + 0.6 * 0.4, 1e-15);
  Softness flat = s;
  flat.width = 0.0;
  EXPECT_NEAR(impedance_at(flat, -0.004, 0.001).impedance, 0.5, 1e-15);
}

TEST(Impedance, PrintedOffsetOfTheResidualTakesTheMidpointForALength) {
  // Tsounis (104a) has x = |r - m| / w; its text and MuJoCo have d(0) = d_0.
  const Softness s;
  const double printed_x = std::abs(0.0 - s.midpoint) / s.width;
  EXPECT_GE(printed_x, 1.0) << "so that d(0) would be d_w";
  EXPECT_NEAR(impedance_at(s, 0.0, 0.001).impedance, s.min_impedance, 1e-15);
}

TEST(Impedance, ATimeConstantBelowTwoStepsIsTwoSteps) {
  const Softness fast{.time_constant = 0.001};
  const Softness safe{.time_constant = 0.02};
  EXPECT_EQ(impedance_at(fast, 0.0, 0.01).stiffness, impedance_at(safe, 0.0, 0.01).stiffness);
  EXPECT_GT(impedance_at(fast, 0.0, 0.0005).stiffness, impedance_at(safe, 0.0, 0.0005).stiffness);
}

class Softening : public WithMujoco {};

std::string ground(const std::string& body, const std::string& solver) {
  return world("<geom type=\"plane\" size=\"5 5 1\" " + solver + "/><body pos=\"0 0 0.1\"><freejoint/><geom " + body +
               " mass=\"3\" " + solver + "/></body>");
}

TEST_F(Softening, AMassRestsAtTheDepthOfTheFormulas) {
  // At rest D λ = g Δt, and R λ + v_r = 0 with R = c D: the depth is c g / k, whatever the mass.
  const std::string flat = R"(solref="0.05 1" solimp="0.8 0.8 0.001")";
  const std::string shaped = R"(solref="0.05 0.7" solimp="0.5 0.9 0.02 0.4 3")";
  const Softness of_shaped{0.05, 0.7, 0.5, 0.9, 0.02, 0.4, 3.0};
  double depth = 0.0;
  for (int k = 0; k < 200; ++k) {  // a contraction
    const Impedance at = impedance_at(of_shaped, depth, 0.01);
    depth = 0.5 * (depth - at.compliance * g / at.stiffness);
  }
  ASSERT_LT(depth, -0.001);
  const double flat_depth = -0.25 * g * 0.8 * 0.05 * 0.05;
  for (const std::string body : {R"(type="sphere" size="0.1")", R"(type="box" size="0.1 0.1 0.1")"}) {
    for (const std::string kind : {"mujoco", "printed"}) {
      for (const auto& [solver, expected] : {std::pair{flat, flat_depth}, std::pair{shaped, depth}}) {
        auto simulation = simulation_of(ground(body, solver), 0.01, softened(kind));
        run(simulation, 5.0);
        const StepRecord record = step(simulation);
        ASSERT_GE(record.problem.cones().contacts(), 1);
        for (const double gap : *record.problem.configuration()->gaps) EXPECT_NEAR(gap, expected, 1e-7) << body << kind;
        EXPECT_FALSE(record.problem.rigid());
        EXPECT_LE(record.residual, 1e-12);
      }
    }
  }
}

TEST_F(Softening, ALandingIsTheSpringsWhateverPartOfAStepItComesIn) {
  double least = 1e9;
  double most = 0.0;
  for (const double height : {0.6, 0.6005, 0.601, 0.6015, 0.602, 0.6025}) {
    auto simulation =
        simulation_of(ground(R"(type="sphere" size="0.1")", R"(solref="0.02 0.1" solimp="0.95 0.95 0.001")"), 0.001,
                      softened("mujoco"));
    State state = simulation.state();
    state.position[2] = height;
    simulation.set_state(state);
    double rebound = 0.0;
    for (int k = 0; k < 500; ++k) {
      step(simulation);
      rebound = std::max(rebound, simulation.state().velocity[2]);
    }
    least = std::min(least, rebound);
    most = std::max(most, rebound);
  }
  EXPECT_GT(least, 1.0);
  EXPECT_LT(most, 1.1 * least);
}

TEST_F(Softening, OptionsTakeTheModelsParametersPlace) {
  auto options = softened("mujoco");
  options.step.soft_time = 0.05;
  options.step.soft_damping = 1.0;
  options.step.soft_impedance = options.step.soft_max_impedance = 0.8;
  auto simulation =
      simulation_of(ground(R"(type="sphere" size="0.1")", R"(solref="0.02 2" solimp="0.1 0.2 0.01")"), 0.01, options);
  run(simulation, 5.0);
  const StepRecord record = step(simulation);
  ASSERT_GE(record.problem.cones().contacts(), 1);
  EXPECT_NEAR((*record.problem.configuration()->gaps)[0], -0.25 * g * 0.8 * 0.05 * 0.05, 1e-7);
}

TEST_F(Softening, AMassRestsOnAJointsLimitAtTheDepthOfTheFormulas) {
  const std::string lift = world(
      R"(<body><joint type="slide" axis="0 0 1" limited="true" range="0 1" solreflimit="0.04 1"
         solimplimit="0.6 0.6 0.001"/><geom type="sphere" size="0.1" mass="3"/></body>)");
  for (const std::string coordinates : {"reduced", "maximal"}) {
    auto options = softened("mujoco");
    options.coordinates = coordinates;
    options.step.soft_joints = false;
    auto simulation = simulation_of(lift, 0.01, options);
    run(simulation, 3.0);
    EXPECT_NEAR(simulation.mechanics().limit_gaps[0], -(0.4 / 0.6) * g * 0.6 * 0.04 * 0.04, 1e-7) << coordinates;
  }
}

/// A ball tied to the world, in no gravity.
Simulation tied(double time_constant, double damping_ratio, double time_step, const std::string& kind) {
  const std::string model =
      R"(<mujoco><option gravity="0 0 0"/><worldbody><body name="ball"><freejoint/><geom type="sphere" size="0.1"
      mass="2"/></body></worldbody><equality><connect body1="ball" anchor="0 0 0" solimp="0.7 0.7 0.001" solref=")" +
      std::to_string(time_constant) + " " + std::to_string(damping_ratio) + "\"/></equality></mujoco>";
  auto simulation = simulation_of(model, time_step, softened(kind));
  State off = simulation.state();
  off.position[0] = 0.03;
  simulation.set_state(off);
  return simulation;
}

TEST_F(Softening, AJointReturnsCriticallyDamped) {
  const double time_constant = 0.1;
  const double exact = 0.03 * 3.0 * std::exp(-2.0);  // (1 + t/T) exp(-t/T) at t = 2 T
  expect_halving(0.004, [&](double time_step) {
    auto simulation = tied(time_constant, 1.0, time_step, "mujoco");
    run(simulation, 0.2);
    return std::abs(simulation.state().position[0] - exact);
  });
  // The printed v_r has no such limit: what it comes to depends on the time step.
  auto coarse = tied(time_constant, 1.0, 0.002, "printed");
  auto fine = tied(time_constant, 1.0, 0.0005, "printed");
  run(coarse, 0.2);
  run(fine, 0.2);
  EXPECT_GT(std::abs(coarse.state().position[0] - exact), 0.1 * exact);
  EXPECT_GT(fine.state().position[0], 0.97 * 0.03) << "the finer the step the less it moves";
}

TEST_F(Softening, ALowDampingRatioOscillatesAtItsFrequency) {
  const double time_constant = 0.1, ratio = 0.2, time = 0.15;
  const double omega = std::sqrt(1.0 / (ratio * ratio) - 1.0) / time_constant;
  const double exact = 0.03 * std::exp(-time / time_constant) *
                       (std::cos(omega * time) + std::sin(omega * time) / (omega * time_constant));
  expect_halving(0.0005, [&](double time_step) {
    auto simulation = tied(time_constant, ratio, time_step, "mujoco");
    run(simulation, time);
    return std::abs(simulation.state().position[0] - exact);
  });
}

TEST_F(Softening, JointsStayRigidWhereAsked) {
  auto options = softened("mujoco");
  options.step.soft_joints = false;
  const std::string hung = world(R"(<body name="ball"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>)",
                                 R"(<equality><connect body1="ball" anchor="0 0 0"/></equality>)");
  auto simulation = simulation_of(hung, 0.01, options);
  const StepRecord rigid = step(simulation);
  EXPECT_TRUE(rigid.problem.rigid());
  auto soft = simulation_of(hung, 0.01, softened("mujoco"));
  const StepRecord record = step(soft);
  // D = 1 kg⁻¹, and c at a residual of 0 is (1 - 0.9) / 0.9.
  for (const double r : record.problem.compliance()) EXPECT_NEAR(r, 1.0 / 9.0, 1e-12);
}

TEST_F(Softening, SolversOfDifferentKindsGiveOneMotion) {
  const std::string tumbling = ground(R"(type="box" size="0.1 0.05 0.1" euler="0.4 0.3 0.1" pos="0 0 0.2")", "");
  std::vector<Vector> ends;
  for (const std::string solver : {"NSGS", "ADMM-NCP-SA-S", "NSN-AC", "PPA"}) {
    auto options = softened("mujoco");
    options.solver = solver;
    options.tolerance = 1e-10;
    options.max_iterations = 20000;
    auto simulation = simulation_of(tumbling, 0.005, options);
    for (int k = 0; k < 100; ++k) EXPECT_LE(step(simulation).residual, 1e-10) << solver << " " << k;
    ends.push_back(simulation.state().position);
  }
  for (const Vector& end : ends) EXPECT_LT((end - ends[0]).norm(), 1e-6);
}

/// D λ + R λ + v_f + v_r = 0 as a problem of bilateral rows, solved by sweeps.
Vector velocity_of_sweeps(const Matrix& d, const Vector& r, const Vector& free, const Vector& regulated) {
  ContactProblemData data;
  data.cones = ConeProduct::create(d.rows(), 0, {}).value();
  data.delassus = make_dense_delassus(d);
  data.compliance = r;
  data.free_term = free + regulated;
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  const auto solver = find_solver("NSGS")->make({}).value();
  EXPECT_TRUE(solver->prepare(problem));
  SilentMonitor silent;
  Vector impulse = Vector::Zero(d.rows());
  solver->solve(impulse, {.tolerance = 1e-15, .max_iterations = 100000}, silent, impulse);
  return d * impulse + free;
}

TEST(Regulation, PrintedClosedFormOfSoftRowsHasItsMatricesAndSignsExchanged) {
  // Tsounis (111) lacks the minus of λ = −(D + R)⁻¹ (v_f + v_r), (112) takes D for R and adds the second term.
  Matrix d(3, 3);
  d << 2.0, 0.3, -0.4, 0.3, 1.5, 0.2, -0.4, 0.2, 1.0;
  const Vector r = Eigen::Vector3d(0.1, 0.7, 0.4), free = Eigen::Vector3d(0.5, -1.0, 0.25),
               regulated = Eigen::Vector3d(0.2, 0.1, -0.3);
  const Matrix compliance = r.asDiagonal(), inverse = (d + compliance).inverse();
  const Vector found = velocity_of_sweeps(d, r, free, regulated);
  EXPECT_LT((compliance * inverse * free - d * inverse * regulated - found).norm(), 1e-12);
  EXPECT_GT((d * inverse * free + compliance * inverse * regulated - found).norm(), 0.1) << "as printed";
}

TEST_F(Softening, ALoneRowsVelocityIsTheMixtureOfTheFreeOneAndThatOfItsSpring) {
  // Tsounis (113), corrected: v⁺ = (1 − d) v_f + d (v⁻ − Δt (b v⁻ + k r)).
  const double dt = 0.004, d = 0.7;
  auto simulation = tied(0.1, 0.4, dt, "mujoco");
  const Impedance at = impedance_at(
      {.time_constant = 0.1, .damping_ratio = 0.4, .min_impedance = d, .max_impedance = d, .width = 0.001}, 0.0, dt);
  for (int k = 0; k < 20; ++k) {
    const double before = simulation.state().velocity[0], off = simulation.state().position[0];
    step(simulation);
    const double spring = at.damping * before + at.stiffness * off;
    EXPECT_NEAR(simulation.state().velocity[0], (1 - d) * before + d * (before - dt * spring), 1e-9) << k;
    EXPECT_GT(std::abs(simulation.state().velocity[0] - (d * spring + (1 - d) * before)), 1e-3) << "as printed";
  }
}

/// The largest modulus of an eigenvalue of v⁺ = (1 − B) v − K ρ, ρ⁺ = ρ + v⁺ with ρ = r/Δt.
double growth_of_lone_row(double damping, double stiffness) {
  Eigen::Matrix2d step;
  step << 1.0 - damping, -stiffness, 1.0 - damping, 1.0 - stiffness;
  return step.eigenvalues().cwiseAbs().maxCoeff();
}

TEST(Regulation, ALoneSoftRowIsStableWithinJurysBound) {
  // B = d b Δt, K = d k Δt²: stable where K > 0, B > 0 and B + K/2 < 2.
  std::mt19937_64 random(4001);
  std::uniform_real_distribution<double> b(-0.5, 3.0), k(-0.5, 5.0);
  int stable = 0;
  for (int i = 0; i < 4001; ++i) {
    const double damping = b(random), stiffness = k(random);
    const bool bound = stiffness > 0.0 && damping > 0.0 && damping + 0.5 * stiffness < 2.0;
    EXPECT_EQ(growth_of_lone_row(damping, stiffness) < 1.0, bound) << damping << " " << stiffness;
    stable += bound ? 1 : 0;
  }
  EXPECT_GT(stable, 400);
  EXPECT_LT(stable, 3600);
}

TEST_F(Softening, ALowDampingRatioRunsAwayThoughTheTimeConstantIsTwoSteps) {
  // T = 2 Δt with d = d_w: B = 1 and K = 1/(4 ζ²), so stable for ζ > 1/√8 = 0.354 alone.
  const double dt = 0.01;
  const auto after = [&](double ratio) {
    auto simulation = tied(2.0 * dt, ratio, dt, "mujoco");
    double most = 0.0;
    for (int k = 0; k < 100; ++k) {
      step(simulation);
      most = std::max(most, std::abs(simulation.state().position[0]));
      if (most > 1.0) break;
    }
    return std::pair(std::abs(simulation.state().position[0]), most);
  };
  EXPECT_LT(after(0.40).first, 1e-3);
  EXPECT_GT(after(0.30).second, 1.0);
}

}  // namespace
}  // namespace conebench::simulation
