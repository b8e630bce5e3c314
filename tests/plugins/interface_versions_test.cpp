#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problems/scaled_rows.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "solvers/registry.hpp"
#include "tests/plugins/foreign_solvers.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

const FrictionLaw space = FrictionLaw::coulomb(0.5);
const FrictionLaw elliptic{ConeShape::discs, {2}, {0.6, 0.2}};
const FrictionLaw ellipsoid{ConeShape::discs, {3}, {0.5, 0.5, 0.1}};
const FrictionLaw torsion{ConeShape::discs, {2, 1}, {0.5, 0.5, 0.1}};
const FrictionLaw pyramid{ConeShape::pyramid, {2}, {0.5, 0.5}};

/// Coupled rows that are pushed into their sets, and along them.
ContactProblem pushed(Index joints, Index limits, std::vector<Interval> intervals,
                      const std::vector<FrictionLaw>& contacts) {
  ContactProblemData data;
  data.cones = ConeProduct::create(joints, limits, std::move(intervals), contacts).value();
  const Index n = data.cones.rows();
  Matrix g = Matrix::Identity(n, n);
  for (Index i = 0; i + 1 < n; ++i) g(i, i + 1) = g(i + 1, i) = 0.1;
  data.delassus = make_block_sparse_delassus(BlockSparseMatrix::from_sparse(g.sparseView(), data.cones));
  data.free_term = Vector::Constant(n, -1.0);
  return ContactProblem::create(std::move(data)).value();
}

ContactProblem of_every_kind() {
  return pushed(2, 1, {{-0.3, 0.3}, {0.0, 9.0}}, {space, elliptic, ellipsoid, torsion});
}

/// The largest entry of the natural map, in scaled rows.
double natural_map_of(const ContactProblem& problem, const Vector& impulse) {
  const Vector units = row_units_of(problem);
  const ContactProblem scaled = in_row_units(problem, units).value();
  const Vector own = impulse.cwiseQuotient(units);
  Vector velocity(own.size()), projected(own.size());
  scaled.velocity(own, velocity);
  add_de_saxce(scaled.cones(), velocity, velocity);
  project_cone(scaled.cones(), own - velocity, projected);
  return (own - projected).lpNorm<Eigen::Infinity>();
}

Vector solved(Solver& solver, const ContactProblem& problem) {
  const auto prepared = solver.prepare(problem);
  EXPECT_TRUE(prepared) << (prepared ? "" : prepared.error().message);
  Vector impulse = Vector::Zero(problem.rows());
  if (!prepared) return impulse;
  SilentMonitor silent;
  const SolveSummary summary =
      solver.solve(Vector::Zero(problem.rows()),
                   {.tolerance = 1e-12, .max_iterations = 2000, .stop_by = StopBy::solver}, silent, impulse);
  EXPECT_EQ(summary.status, SolveStatus::converged) << summary.message;
  return impulse;
}

std::unique_ptr<Solver> plugin_solver(const std::string& file, const std::string& id) {
  const auto added = add_plugin(plugin(file));
  EXPECT_TRUE(added) << (added ? "" : added.error().message);
  return find_solver(id)->make({}).value();
}

TEST(PluginVersions, OneThatIsBuiltTodaySeesIntervalsAndEveryLawOfFriction) {
  const auto solver = plugin_solver("cones", "CONES");
  for (const ContactProblem& problem :
       {of_every_kind(), pushed(1, 1, {{-0.2, 0.2}}, {}), pushed(0, 0, {}, {FrictionLaw::rolling(0.5, 0.1), torsion}),
        pushed(0, 0, {}, {FrictionLaw::coulomb(0.5, 1), space})}) {
    EXPECT_EQ(solver->unsupported_reason(problem), std::nullopt);
    EXPECT_LE(natural_map_of(problem, solved(*solver, problem)), 1e-10);
  }
  EXPECT_EQ(solver->unsupported_reason(pushed(0, 0, {}, {pyramid})), "CONES takes no pyramids");
}

TEST(PluginVersions, OneThatIsBuiltForVersion1GetsWhatThatCanHold) {
  const auto solver = plugin_solver("interface_1", "OLD-JACOBI");
  EXPECT_FALSE(solver->info().intervals);
  EXPECT_FALSE(solver->info().friction_cones);
  const ContactProblem plain = pushed(2, 1, {}, {space, FrictionLaw::coulomb(0.3)});
  EXPECT_LE(natural_map_of(plain, solved(*solver, plain)), 1e-10);
  const ContactProblem scaled = pushed(1, 1, {}, {space, elliptic});
  EXPECT_LE(natural_map_of(scaled, solved(*solver, scaled)), 1e-10) << "it sees a ball";
  EXPECT_THAT(solver->unsupported_reason(pushed(1, 0, {{-0.2, 0.2}}, {})).value_or(""),
              HasSubstr("OLD-JACOBI takes no interval rows"));
  for (const FrictionLaw& law : {ellipsoid, torsion, pyramid}) {
    EXPECT_THAT(solver->unsupported_reason(pushed(0, 0, {}, {space, law})).value_or(""), HasSubstr("OLD-JACOBI takes"));
  }
  EXPECT_EQ(solver->prepare(of_every_kind()).error().code, ErrorCode::unsupported);
}

TEST(PluginVersions, OneThatIsBuiltForVersion1HasTheBitsOfToday) {
  const auto old = plugin_solver("interface_1", "OLD-JACOBI"), today = plugin_solver("jacobi_cpp", "JACOBI-CPP");
  const ContactProblem plain = pushed(2, 2, {}, {space, FrictionLaw::coulomb(0.3)});
  EXPECT_EQ(solved(*old, plain), solved(*today, plain));
}

class ProgramVersions : public ForeignSolvers {
 protected:
  /// Writes the request beside itself and the given answer.
  std::string script(const std::string& name, const std::string& id, const std::string& keys) {
    write(name,
          "#!/bin/sh\nreply=$(sed 's/.*\"reply\":\"\\([^\"]*\\)\".*/\\1/' \"$1\")\n"
          "answer=$(sed 's/.*\"answer\":\"\\([^\"]*\\)\".*/\\1/' \"$1\")\n"
          "if grep -q '\"request\":\"describe\"' \"$1\"; then\n"
          "echo '{\"id\": \"" +
              id + "\", \"name\": \"A script\"" + keys +
              "}' > \"$reply\"; exit; fi\n"
              "cp \"$1\" '" +
              (folder / "request.json") +
              "'\n"
              "cp '" +
              (folder / "answer.npy") +
              "' \"$answer.npy\"\n"
              "echo '{\"status\": \"converged\"}' > \"$reply\"\n");
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
    return folder / name;
  }
  void write_answer(const std::vector<double>& r) {
    std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(r.size()) + ",), }";
    head.resize(117, ' ');
    write("answer.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + head + "\n" +
                            std::string(reinterpret_cast<const char*>(r.data()), r.size() * sizeof(double)));
  }
  std::unique_ptr<Solver> program_solver(const std::string& command) {
    const auto id = add_program({command});
    EXPECT_TRUE(id) << (id ? "" : id.error().message);
    return find_solver(*id)->make({}).value();
  }
  nlohmann::json request() { return nlohmann::json::parse(std::ifstream(folder / "request.json")); }
};

TEST_F(ProgramVersions, OneOfProtocol1GetsWhatFclibCanHold) {
  const auto solver = program_solver(script("old.sh", "OLD-PROGRAM", ""));
  EXPECT_THAT(solver->unsupported_reason(pushed(0, 1, {{-0.2, 0.2}}, {})).value_or(""),
              HasSubstr("OLD-PROGRAM takes no interval rows"));
  EXPECT_THAT(solver->unsupported_reason(pushed(0, 0, {}, {ellipsoid})).value_or(""), HasSubstr("OLD-PROGRAM takes"));
  // Normal first; the second row of an elliptic cone comes in units of the first.
  write_answer({1.0, 0.3, 0.3});
  const Vector r = solved(*solver, pushed(0, 0, {}, {elliptic}));
  EXPECT_NEAR(r[0], 0.3, 1e-15);
  EXPECT_NEAR(r[1], 0.3 / 3.0, 1e-15);
  EXPECT_EQ(r[2], 1.0);
  EXPECT_FALSE(request().contains("layout"));
}

TEST_F(ProgramVersions, OneOfProtocol2GetsIntervalsAndEveryLawAsTheyAreStated) {
  const auto solver = program_solver(
      script("new.sh", "NEW-PROGRAM", ", \"protocol\": 2, \"intervals\": true, \"friction_cones\": true"));
  write_answer({0.1, 1.0, 0.3, 0.2});
  const Vector r = solved(*solver, pushed(0, 0, {{-0.2, 0.2}}, {elliptic}));
  EXPECT_EQ(r, (Vector(4) << 0.1, 0.3, 0.2, 1.0).finished());
  EXPECT_EQ(request()["layout"], "conebench");
  EXPECT_EQ(request()["protocol"], 2);
  write_answer({1.0, 0.3, 0.2});
  solved(*solver, pushed(0, 0, {}, {space}));
  EXPECT_EQ(request()["layout"], "fclib");
}

TEST_F(ProgramVersions, OneThatDeclaresWhatItsProtocolLacksIsRefused) {
  const auto refused = [&](const std::string& keys) {
    const auto added = add_program({script("wrong.sh", "WRONG-PROGRAM", keys)});
    return added ? std::string() : added.error().message;
  };
  EXPECT_THAT(refused(", \"intervals\": true"), HasSubstr("needs \"protocol\": 2"));
  EXPECT_THAT(refused(", \"protocol\": 3"), HasSubstr("protocol"));
}

}  // namespace
}  // namespace conebench::testing
