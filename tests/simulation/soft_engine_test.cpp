// Elastic bodies: forces against finite differences, and what a free body and one on the ground keep.

#include "simulation/deformable/soft_engine.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "base/temporary_folder.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "simulation/deformable/corotated_body.hpp"
#include "simulation/sample_folder.hpp"
#include "solvers/cond/nodal_form.hpp"
#include "tests/simulation/mechanisms.hpp"
#include "tests/support/allocation_counter.hpp"

namespace conebench::simulation {
namespace {

using testing::scene_of;
using testing::step;

TetrahedralMesh small_mesh() { return block_mesh(2, 1, 2, {0.2, 0.1, 0.15}); }

/// At rest, turned and moved.
Vector placed(const TetrahedralMesh& mesh, const Eigen::Matrix3d& turn, const Eigen::Vector3d& by) {
  Vector x(3 * Index(mesh.nodes.size()));
  for (std::size_t k = 0; k < mesh.nodes.size(); ++k) x.segment<3>(3 * Index(k)) = turn * mesh.nodes[k] + by;
  return x;
}

/// A body by itself, with a matrix of its own.
struct LoneBody {
  LoneBody(const TetrahedralMesh& mesh, double young, double poisson) : body(mesh, young, poisson) {
    std::vector<Eigen::Triplet<double>> entries;
    body.add_pattern(entries);
    const auto size = 3 * Index(mesh.nodes.size());
    matrix.resize(size, size);
    matrix.setFromTriplets(entries.begin(), entries.end());
    body.find_values(matrix);
  }
  double evaluate(const Vector& x, Vector& force, int threads = 1,
                  CorotatedBody::Tangent tangent = CorotatedBody::Tangent::turned) {
    force.setZero(x.size());
    std::fill(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros(), 0.0);
    Workers workers(threads);
    return body.evaluate(x, force, matrix, workers, tangent);
  }
  const SparseMatrix& stiffness() const { return matrix; }
  CorotatedBody body;
  SparseMatrix matrix;
};

const Eigen::Matrix3d turned = Eigen::AngleAxisd(1.1, Eigen::Vector3d(1, -2, 0.5).normalized()).toRotationMatrix();

TEST(CorotatedBody, PullsNowhereAtRestHoweverItIsTurned) {
  const TetrahedralMesh mesh = small_mesh();
  LoneBody body(mesh, 1e5, 0.3);
  Vector force;
  EXPECT_NEAR(body.evaluate(placed(mesh, turned, {1, 2, 3}), force), 0.0, 1e-18);
  EXPECT_LE(force.norm(), 1e-9);
}

TEST(CorotatedBody, StiffnessIsTheForcesDerivativeAtATurnedRest) {
  const TetrahedralMesh mesh = small_mesh();
  LoneBody body(mesh, 1e5, 0.3);
  const Vector x = placed(mesh, turned, {0.1, 0, 0});
  Vector force, ahead, behind;
  body.evaluate(x, force);
  const Matrix k = body.stiffness();
  EXPECT_EQ((k - k.transpose()).norm(), 0.0);
  const double h = 1e-6;
  for (Index c = 0; c < x.size(); c += 4) {
    Vector moved = x;
    moved[c] += h;
    body.evaluate(moved, ahead);
    moved[c] -= 2 * h;
    body.evaluate(moved, behind);
    const Vector difference = -(ahead - behind) / (2 * h);
    EXPECT_LE((difference - k.col(c)).norm(), 1e-6 * k.col(c).norm()) << c;
  }
  // Rigid motions are its null space, all else costs energy.
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(k).eigenvalues();
  EXPECT_LE(values.head<6>().cwiseAbs().maxCoeff(), 1e-9 * values.maxCoeff());
  EXPECT_GT(values[6], 1e-4 * values.maxCoeff());
}

TEST(CorotatedBody, ForceIsTheEnergysDerivativeWhereStrainsAreSmall) {
  const TetrahedralMesh mesh = small_mesh();
  LoneBody body(mesh, 1e5, 0.3);
  Vector x = placed(mesh, turned, {0, 0, 0});
  for (Index k = 0; k < x.size(); ++k) x[k] += 1e-5 * std::sin(double(7 * k + 1));
  Vector force, unused;
  body.evaluate(x, force);
  for (Index c = 0; c < x.size(); c += 5) {
    Vector moved = x;
    const double h = 1e-7;
    moved[c] += h;
    const double ahead = body.evaluate(moved, unused);
    moved[c] -= 2 * h;
    const double behind = body.evaluate(moved, unused);
    EXPECT_NEAR(force[c], -(ahead - behind) / (2 * h), 2e-3 * force.cwiseAbs().maxCoeff());
  }
}

TEST(CorotatedBody, StretchesAsHookesLawSays) {
  // A bar stretched by e along x, free across: stress E e, energy ½ E e² V.
  const TetrahedralMesh mesh = block_mesh(4, 1, 1, {0.4, 0.1, 0.1});
  LoneBody body(mesh, 2e5, 0.3);
  Vector x = placed(mesh, Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero()), force;
  const double e = 1e-3;
  for (Index k = 0; k < x.size(); k += 3)
    x.segment<3>(k) = x.segment<3>(k).cwiseProduct(Eigen::Vector3d(1 + e, 1 - 0.3 * e, 1 - 0.3 * e));
  EXPECT_NEAR(body.evaluate(x, force), 0.5 * 2e5 * e * e * 0.004, 1e-9);
  double pull = 0.0;
  for (std::size_t k = 0; k < mesh.nodes.size(); ++k) {
    if (mesh.nodes[k][0] > 0.39) pull -= force[3 * Index(k)];
  }
  EXPECT_NEAR(pull, 2e5 * e * 0.01, 1e-6);
  Vector mass = Vector::Zero(x.size());
  body.body.add_mass(1000.0, mass);
  EXPECT_NEAR(mass.sum() / 3.0, 4.0, 1e-12);
}

TEST(SoftEngine, FallsFreelyAndKeepsItsMomentum) {
  for (const char* integrator : {"euler", "midpoint"}) {
    Simulation loop = scene_of(
        "soft-drop",
        {{"height", 5.0}, {"integrator", integrator}, {"mass_damping", 0.0}, {"nx", 2L}, {"ny", 2L}, {"nz", 2L}});
    // Set spinning about its centre.
    State state = loop.state();
    step(loop);
    const Eigen::Vector3d centre = loop.engine().body_pose(1).position;
    const Eigen::Vector3d spin(3, -2, 4);
    for (Index k = 0; k < state.velocity.size(); k += 3) {
      state.velocity.segment<3>(k) += spin.cross(Eigen::Vector3d(state.position.segment<3>(k)) - centre);
    }
    loop.set_state(state);
    step(loop);
    const Momentum before = loop.engine().momentum();
    const Eigen::Vector3d from = loop.engine().body_pose(1).position;
    const int steps = 20;
    for (int k = 0; k < steps; ++k) EXPECT_EQ(step(loop).problem.rows(), 0);
    const Momentum after = loop.engine().momentum();
    const double mass = loop.engine().body_masses()[0], t = steps * loop.time_step();
    EXPECT_NEAR(mass, 1.0, 1e-12);
    EXPECT_LE((after.linear - before.linear + Eigen::Vector3d(0, 0, mass * 9.81 * t)).norm(), 1e-9);
    const Eigen::Vector3d to = loop.engine().body_pose(1).position;
    const double gravity =
        std::string(integrator) == "midpoint" ? 0.5 * 9.81 * t * t : 0.5 * 9.81 * t * (t + loop.time_step());
    const Eigen::Vector3d way = before.linear / mass * t - Eigen::Vector3d(0, 0, gravity);
    EXPECT_LE((to - from - way).norm(), 1e-9);
    // About its own centre. The linearised elastic forces are not quite central while it turns.
    const Eigen::Vector3d spun = before.angular - from.cross(before.linear);
    const Eigen::Vector3d left = after.angular - to.cross(after.linear);
    EXPECT_LE((left - spun).norm(), (std::string(integrator) == "midpoint" ? 0.1 : 0.5) * spun.norm());
  }
}

double total_energy(Simulation& loop) {
  const Energy energy = loop.engine().energy();
  return energy.kinetic + energy.potential;
}

TEST(SoftEngine, EnergyFallsWithStiffnessProportionalDamping) {
  const auto left = [](double damping) {
    Simulation loop = scene_of("soft-drop", {{"stiffness_damping", damping},
                                             {"height", 0.0},
                                             {"gravity", 0.0},
                                             {"speed", 0.0},
                                             {"contact_margin", 0.0},
                                             {"nx", 2L},
                                             {"ny", 2L},
                                             {"nz", 2L}});
    State state = loop.state();
    state.position *= 1.02;
    loop.set_state(state);
    step(loop);
    const double start = total_energy(loop);
    for (int k = 0; k < 20; ++k) step(loop);
    return total_energy(loop) / start;
  };
  const double none = left(0.0), some = left(1e-3), more = left(1e-2);
  EXPECT_NEAR(none, 1.0, 0.05) << "the midpoint rule keeps it";
  EXPECT_LT(some, none);
  EXPECT_LT(more, some);
}

TEST(SoftEngine, ComesToRestOnTheGroundWithItsWeight) {
  Simulation loop = scene_of("soft-drop", {{"nx", 2L},
                                           {"ny", 2L},
                                           {"nz", 2L},
                                           {"tilt", 0.0},
                                           {"height", 0.0},
                                           {"speed", 0.2},
                                           {"mass_damping", 2.0},
                                           {"integrator", "euler"},
                                           {"tolerance", 1e-9}});
  StepRecord last = step(loop);
  for (int k = 0; k < 150; ++k) last = step(loop);
  double carried = 0.0;
  for (Index m = 0; m < last.problem.cones().contacts(); ++m) carried += last.impulse[3 * m + 2];
  EXPECT_NEAR(carried, 9.81 * loop.time_step(), 1e-3 * 9.81 * loop.time_step());
  EXPECT_LE(last.residual, 1e-9);
  EXPECT_LT(loop.state().velocity.cwiseAbs().maxCoeff(), 1e-3);
}

TEST(SoftEngine, EveryContactIsANodes) {
  Simulation loop = scene_of("soft-mat", {{"nx", 5L}, {"ny", 8L}});
  StepRecord record = step(loop);
  for (int k = 0; k < 4; ++k) record = step(loop);
  ASSERT_GT(record.problem.cones().contacts(), 20);
  const Configuration& known = *record.problem.configuration();
  EXPECT_EQ(known.nodes->size(), 6U * 9U * 2U);
  EXPECT_EQ(known.velocity->size(), record.problem.primal()->mass.rows());
  EXPECT_NEAR(known.inertia->sum() / 3.0, 0.68, 1e-9);
  EXPECT_EQ(cond::nodalise(record.problem, {.nodes = known.nodes}).virtual_nodes(), 0);
  EXPECT_TRUE(record.problem.given_as_primal());
}

TEST(SoftEngine, MatIsLedOverAndLetGo) {
  Simulation loop = scene_of(
      "soft-mat", {{"nx", 3L}, {"ny", 6L}, {"grip_duration", 0.5}, {"grip_stiffness", 1e4}, {"tolerance", 1e-6}});
  const Index last = loop.state().position.size() - 3;
  const double length = loop.state().position[last + 1];
  double highest = 0.0;
  for (int k = 0; k < 50; ++k) {
    step(loop);
    highest = std::max(highest, loop.state().position[last + 2]);
  }
  EXPECT_NEAR(loop.state().position[last + 1], length - 0.34, 0.02) << "the held edge is above the other";
  EXPECT_GT(highest, 0.15);
}

TEST(SoftEngine, AssemblyAllocatesNothingAfterTheFirstStep) {
  if (!conebench::testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const std::vector<std::pair<std::string, OptionValues>> cases = {
      {"soft-mat", {{"nx", 4L}, {"ny", 6L}, {"mass_damping", 0.1}}},
      {"soft-ball-grip", {{"cells", 3L}}},
      {"soft-gripper", {{"nx", 1L}, {"ny", 2L}, {"nz", 3L}}},
      {"cable-winding", {{"links", 30L}, {"length", 1.0}}}};
  for (const auto& [id, options] : cases) {
    for (const long threads : {1L, 2L}) {
      OptionValues values = options;
      values["threads"] = threads;
      Simulation loop = scene_of(id, values);
      for (int k = 0; k < 3; ++k) step(loop);
      const State state = loop.state();
      const Reach reach{.time_step = loop.time_step()};
      Mechanics mechanics;
      ASSERT_TRUE(loop.engine().evaluate(state, reach, mechanics));
      EXPECT_FALSE(mechanics.contacts.empty()) << id;
      const long before = conebench::testing::allocation_count();
      ASSERT_TRUE(loop.engine().evaluate(state, reach, mechanics));
      EXPECT_EQ(conebench::testing::allocation_count() - before, 0) << id << ", " << threads << " threads";
    }
  }
}

TEST(SoftEngine, StepsHaveTheSameBitsOnOneThreadAndTwo) {
  for (const std::string id : {"soft-ball-grip", "cable-winding"}) {
    const auto after = [&](long threads, const char* integrator) {
      OptionValues values = {{"threads", threads}, {"integrator", integrator}, {"tolerance", 1e-6}};
      if (id == "soft-ball-grip") values["cells"] = 3L;
      if (id == "cable-winding") values.insert({{"links", 30L}, {"length", 1.0}});
      Simulation loop = scene_of(id, values);
      for (int k = 0; k < 5; ++k) step(loop);
      return loop.state().position;
    };
    for (const char* integrator : {"midpoint", "newton"}) {
      EXPECT_EQ(after(1, integrator), after(2, integrator)) << id << ", " << integrator;
    }
  }
}

TEST(SoftEngine, SamplesAreReadBackIdentically) {
  Simulation loop = scene_of("soft-drop", {{"nx", 2L}, {"ny", 2L}, {"nz", 2L}, {"height", 0.0}});
  const StepRecord record = step(loop);
  const TemporaryFolder folder;
  const auto file = write_sample(record, folder.path());
  ASSERT_TRUE(file) << file.error().message;
  const auto read = load_fclib(*file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->data_hash(), record.problem.data_hash());
  EXPECT_EQ(read->configuration()->nodes, record.problem.configuration()->nodes);
}

TEST(SoftEngine, SaysWhatIsWrongWithAModel) {
  SoftModel model;
  model.bodies.emplace_back();
  SoftBody& body = model.bodies[0];
  body.mesh = small_mesh();
  const auto fault = [&] { return make_soft_engine(model, "m").error().message; };
  EXPECT_NE(fault().find("0 positions"), std::string::npos);
  body.position = body.velocity = Vector::Zero(3 * Index(body.mesh.nodes.size()));
  body.mesh.nodes.push_back({9, 9, 9});
  body.position = body.velocity = Vector::Zero(3 * Index(body.mesh.nodes.size()));
  EXPECT_NE(fault().find("in no tetrahedron"), std::string::npos);
  body.mesh.nodes[1] = body.mesh.nodes[0];
  EXPECT_NE(fault().find("no volume"), std::string::npos);
  model.bodies.clear();
  model.rigid.resize(1);
  model.rigid[0].slide.emplace();
  EXPECT_NE(fault().find("slides on what is no free body"), std::string::npos);
  model.rigid[0].slide.reset();
  model.joints.emplace_back();
  model.joints[0].b = 7;
  EXPECT_NE(fault().find("end 7"), std::string::npos);
}

TEST(CorotatedBody, BitsDoNotDependOnTheNumberOfThreads) {
  const TetrahedralMesh mesh = block_mesh(4, 3, 2, {0.2, 0.1, 0.15});
  LoneBody one(mesh, 1e5, 0.3), three(mesh, 1e5, 0.3);
  Vector x = placed(mesh, turned, {0.1, 0, 0}), f, g;
  for (Index k = 0; k < x.size(); ++k) x[k] += 1e-2 * std::sin(double(5 * k));
  EXPECT_EQ(one.evaluate(x, f), three.evaluate(x, g, 3));
  EXPECT_EQ(f, g);
  EXPECT_EQ((one.matrix - three.matrix).norm(), 0.0);
}

/// The rigid box of paper Lee23's V-B: 0.5 kg, edge 0.2 m, μ 0.2, 2 N along the ground, on virtual nodes of gain k_v,
/// whose compliance is 1/(k_v Δt).
TEST(Table1, ErrorsOfVirtualNodesAreThePapersAndThoseOfTheClosedForm) {
  const double m = 0.5, g = 9.81, force = 2.0, mu = 0.2, dt = 0.01;
  for (const auto& [gain, y_mm, z_mm] :
       {std::tuple(1e3, 0.1226, 0.6131), {1e4, 0.0122, 0.0612}, {1e5, 0.0012, 0.0061}}) {
    const double compliance = 1.0 / (gain * dt);
    Simulation loop = scene_of(
        "box-penalty", {{"compliance", compliance}, {"tangential_compliance", compliance}, {"tolerance", 1e-11}});
    double along = 0.0, down = 0.0;
    const double height = loop.state().position[2];
    for (int k = 1; k <= 100; ++k) {
      step(loop);
      const double t = k * dt, exact = 0.5 * (force / m - mu * g) * t * t;
      along += std::abs(loop.state().position[1] - exact);
      down += std::abs(loop.state().position[2] - height);
    }
    along *= 1e3 / 101.0;
    down *= 1e3 / 101.0;
    // z = m g / (4 k_v) T/2 in the mean, y = μ z.
    const double closed = 1e3 * m * g / (4.0 * gain) * 0.5;
    EXPECT_NEAR(down, closed, 1e-3 * closed);
    EXPECT_NEAR(along, mu * closed, 1e-3 * mu * closed);
    EXPECT_NEAR(down, z_mm, 1.2e-4) << "but for one in the last digit printed";
    EXPECT_NEAR(along, y_mm, 1.2e-4);
  }
}

}  // namespace
}  // namespace conebench::simulation
