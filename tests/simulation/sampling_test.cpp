#include "simulation/sampling.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/temporary_folder.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "metrics/residuals.hpp"
#include "simulation/sample_folder.hpp"
#include "simulation/scene_plan.hpp"
#include "tests/simulation/height_field_ground.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Features features(SampleCategory category, double conditioning) {
  Features made;
  made.category = category;
  made.spectrum.conditioning = conditioning;
  return made;
}

TEST(Strata, TakeWhatTheyAreShortOf) {
  auto strata = Strata::create("single-contact, sparse contacts", "1e2", 1);
  ASSERT_TRUE(strata);
  EXPECT_TRUE(strata->take(features(SampleCategory::single_contact, 10)));
  EXPECT_FALSE(strata->take(features(SampleCategory::single_contact, 20))) << "has its one";
  EXPECT_TRUE(strata->take(features(SampleCategory::single_contact, 200)));
  EXPECT_FALSE(strata->take(features(SampleCategory::dense_contacts, 10))) << "not asked for";
  EXPECT_TRUE(strata->take(features(SampleCategory::sparse_contacts, 1)));
  EXPECT_FALSE(strata->full());
  EXPECT_TRUE(strata->take(features(SampleCategory::sparse_contacts, 1e9)));
  EXPECT_TRUE(strata->full());
  ASSERT_EQ(strata->all().size(), 5U);
  EXPECT_EQ(strata->all()[0].name(), "single contact, conditioning below 1e2");
  EXPECT_EQ(strata->all()[0].met, 2);
  EXPECT_EQ(strata->all()[0].taken, 1);
  EXPECT_EQ(strata->all()[4].category, SampleCategory::dense_contacts);
  EXPECT_EQ(strata->all()[4].wanted, 0);
}

TEST(Strata, WithoutCategoriesEveryOneThatIsMetIsWantedAndNoneIsTheLast) {
  auto strata = Strata::create("", "", 2);
  ASSERT_TRUE(strata);
  EXPECT_TRUE(strata->take(features(SampleCategory::other, 1e9)));
  EXPECT_TRUE(strata->take(features(SampleCategory::other, 1)));
  EXPECT_FALSE(strata->take(features(SampleCategory::other, 1)));
  EXPECT_TRUE(strata->take(features(SampleCategory::single_contact, 1)));
  EXPECT_FALSE(strata->full());
}

TEST(Strata, WhatTheyAreMadeOfIsChecked) {
  const auto why = [](const std::string& categories, const std::string& edges) {
    const auto strata = Strata::create(categories, edges, 1);
    EXPECT_FALSE(strata);
    return strata ? "" : strata.error().message;
  };
  EXPECT_THAT(why("sparse", ""),
              HasSubstr("option 'categories': no category is called 'sparse'; did you mean 'sparse contacts'?"));
  EXPECT_THAT(why("", "1e4,1e2"), HasSubstr("'1e2' must be a number above 10000"));
  EXPECT_THAT(why("", "1"), HasSubstr("must be a number above 1"));
}

TEST(SamplingSummary, DistinguishesATrivialSetFromOneThatIsNot) {
  SamplingSummary summary;
  summary.samples = 10;
  EXPECT_THAT(summary.why_trivial(), HasSubstr("no contacts"));
  summary.modes = {.open = 5, .stick = 85, .slip = 10};
  EXPECT_EQ(summary.why_trivial(), "");
  summary.modes = {.open = 5, .stick = 86, .slip = 9};
  EXPECT_EQ(summary.why_trivial(), "of 100 contacts 9 % slip (fewer than 10 %) and 5 % open");
  summary.modes = {.open = 4, .stick = 0, .slip = 96};
  EXPECT_THAT(summary.why_trivial(), HasSubstr("4 % open"));
  EXPECT_TRUE(to_json(summary)["trivial"]);
}

class Sampling : public WithMujoco {
 protected:
  /// The samples of a scene, as read back from their files.
  std::vector<ContactProblem> samples(const std::string& scene, const OptionValues& options, long steps) {
    const auto plan = plan_scene(**require_simulated_scene(scene), options, 1);
    if (!plan) throw std::runtime_error(plan.error().message);
    auto simulation = simulate(*plan);
    if (!simulation) throw std::runtime_error(simulation.error().message);
    summary = {};
    files.clear();
    const SamplingWatch watch{.sample = [&](const StepRecord& record) -> Result<void> {
                                const auto file = write_sample(record, folder);
                                if (!file) return file.error();
                                files.push_back(file->string());
                                return {};
                              },
                              .step = {}};
    const auto ran = sample(*simulation, steps, plan->options.tolerance, plan->sampling, watch, summary);
    if (!ran) throw std::runtime_error(ran.error().message);
    why_empty = summary.why_empty(plan->sampling, advice_without_rows(*plan));
    std::vector<ContactProblem> problems;
    for (const std::string& file : files) {
      auto problem = load_fclib(file);
      if (!problem) throw std::runtime_error(problem.error().message);
      problems.push_back(std::move(*problem));
    }
    return problems;
  }

  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  SamplingSummary summary;
  std::vector<std::string> files;
  std::string why_empty;
};

TEST_F(Sampling, ModesOfASetAreTheJudgesOfItsSamples) {
  Simulation loop = simulate(plan_scene(**require_simulated_scene("quadruped"), {}, 1).value()).value();
  Index open = 0, stick = 0, slip = 0;
  const auto take = [&](const StepRecord& record) -> Result<void> {
    const ContactModes modes = judge(record.problem, record.impulse).modes;
    open += modes.open;
    stick += modes.stick;
    slip += modes.slip;
    return {};
  };
  ASSERT_TRUE(sample(loop, 120, 1e-8, {}, {.sample = take, .step = {}}, summary));
  EXPECT_GT(summary.modes.stick, 0);
  EXPECT_GT(summary.modes.slip, 0);
  EXPECT_EQ(summary.modes.open, open);
  EXPECT_EQ(summary.modes.stick, stick);
  EXPECT_EQ(summary.modes.slip, slip);
}

TEST_F(Sampling, ASampleHasItsCategoryAndItsStepIsTheOneInItsName) {
  const auto problems = samples("box-on-plane", {{"every", 4L}, {"tolerance", 1e-6}}, 12);
  ASSERT_EQ(problems.size(), 3U);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    EXPECT_EQ(problems[i].configuration()->step, std::int64_t(4 * (i + 1)));
    EXPECT_THAT(files[i], HasSubstr(i == 0 ? "step=00004" : i == 1 ? "step=00008" : "step=00012"));
    const Features found = extract_features(problems[i]);
    EXPECT_EQ(problems[i].provenance().category, to_string(found.category));
    EXPECT_EQ(problems[i].provenance().conditioning, found.spectrum.conditioning);
    const Reference& reference = *problems[i].reference();
    for (const char* name : {"r_primal", "r_dual", "r_ncp", "r_nat", "natural_map_scaled"}) {
      EXPECT_NEAR(reference.residuals.at(name), judge(problems[i], reference.reaction)[name].value, 1e-15) << name;
    }
  }
}

TEST_F(Sampling, LocalFilesHoldTheSameProblemWithoutMAndJ) {
  for (const char* form : {"block_sparse", "factored"}) {
    const OptionValues options = {{"coordinates", "maximal"}, {"solver", "CASCADE"}, {"every", 150L}, {"form", form}};
    const auto global = samples("quadruped", options, 300);
    OptionValues of_local = options;
    of_local["fclib"] = "local";
    const auto local = samples("quadruped", of_local, 300);
    ASSERT_EQ(local.size(), 2U);
    ASSERT_EQ(global.size(), local.size());
    Index contacts = 0;
    for (std::size_t i = 0; i < local.size(); ++i) {
      EXPECT_EQ(read_fclib(files[i])->kind, FclibKind::mixed_local);
      EXPECT_TRUE(global[i].primal());
      EXPECT_FALSE(local[i].primal());
      const auto aliases = global[i].aliases();
      EXPECT_EQ(aliases.has_value(), form == std::string("factored"));
      EXPECT_EQ(local[i].content_hash(), aliases ? aliases->content_hash : global[i].content_hash())
          << "cones, G, R and g";
      EXPECT_EQ(local[i].bias(), global[i].bias());
      EXPECT_EQ(local[i].guess(), global[i].guess());
      EXPECT_EQ(local[i].reference()->reaction, global[i].reference()->reaction);
      EXPECT_EQ(local[i].configuration()->contact_identities, global[i].configuration()->contact_identities);
      EXPECT_EQ(local[i].provenance().category, global[i].provenance().category);
      EXPECT_EQ(local[i].cones().joints(), 12 * 5);
      contacts += local[i].cones().contacts();
    }
    EXPECT_GT(contacts, 0);
  }
}

TEST_F(Sampling, AStepWithoutConstraintsLeavesItsTurnToTheNextOneThatHasSome) {
  const auto all = samples("box-on-plane", {{"height", 0.02}, {"every", 1L}, {"tolerance", 1e-6}}, 60);
  ASSERT_FALSE(all.empty());
  const std::int64_t first = *all.front().configuration()->step;
  ASSERT_GT(first, 2) << "the box falls at first";
  const auto rare = samples("box-on-plane", {{"height", 0.02}, {"every", first - 1}, {"tolerance", 1e-6}}, first);
  ASSERT_EQ(rare.size(), 1U);
  EXPECT_EQ(rare[0].configuration()->step, first);
}

TEST_F(Sampling, ASetWithoutSamplesSaysWhy) {
  EXPECT_TRUE(samples("box-on-plane", {{"height", 2.0}}, 5).empty());
  EXPECT_THAT(why_empty, HasSubstr("none of the 5 steps had a contact"));
  EXPECT_TRUE(samples("box-on-plane", {{"every", 50L}, {"tolerance", 1e-6}}, 5).empty());
  EXPECT_THAT(why_empty, HasSubstr("every=50 leaves none of the 5 steps"));
  EXPECT_TRUE(
      samples("box-on-plane", {{"every", 50L}, {"sample", std::string("impacts")}, {"tolerance", 1e-6}}, 5).empty());
  EXPECT_THAT(why_empty, HasSubstr("fewer than every=50 contacts began to push"));
  EXPECT_TRUE(samples("box-on-plane",
                      {{"sample", std::string("stratified")}, {"categories", std::string("redundant-joints")}}, 5)
                  .empty());
  EXPECT_THAT(why_empty, HasSubstr("(redundant-joints)"));
}

TEST_F(Sampling, StepsThatLackContactsAreNoSamples) {
  const auto run = [&](const std::string& shape) {
    const Ground ground = Ground::random(1);
    Rounded position;
    position.centre = Vec3(0.0, 0.0, ground.highest() + 0.3);
    SimulationOptions options;
    options.contact_margin = 0.3;
    options.tolerance = 1e-3;
    auto loop = Simulation::create(model_of(ground, position, {.shape = shape}), options, 1, "test", "test");
    if (!loop) throw std::runtime_error(loop.error().message);
    summary = {};
    const auto taken = [](const StepRecord&) -> Result<void> { return {}; };
    EXPECT_TRUE(sample(*loop, 2, options.tolerance, {}, {.sample = taken, .step = {}}, summary));
    return loop->notes();
  };
  EXPECT_THAT(run(R"(type="box" size="0.9 0.9 0.3")"),
              ::testing::Contains(HasSubstr("2 steps are left out of the samples: MuJoCo keeps 50 contacts")));
  EXPECT_EQ(summary.samples, 0);
  EXPECT_EQ(summary.cut, 2);
  EXPECT_THAT(summary.why_empty({}, ""), HasSubstr("two shapes have more contacts than MuJoCo keeps"));
  EXPECT_THAT(run(R"(type="sphere" size="0.3")"), ::testing::IsEmpty()) << "balls have contacts of our own";
  EXPECT_EQ(summary.samples, 2);
}

TEST_F(Sampling, AURDFWithoutSamplesSaysWhatItLacks) {
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "ball.urdf").string();
  std::ofstream(file) << R"(<robot name="ball"><link name="base"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>)";
  const auto advice = [&](OptionValues options) {
    options["path"] = file;
    return advice_without_rows(plan_scene(**require_simulated_scene("file"), options, 1).value());
  };
  const std::string free = "free", plane = "plane";
  EXPECT_THAT(advice({}), HasSubstr("set base=free and ground=plane"));
  EXPECT_THAT(advice({{"ground", plane}}), AllOf(HasSubstr("set base=free"), Not(HasSubstr("ground"))));
  EXPECT_THAT(advice({{"base", free}}), AllOf(HasSubstr("set ground=plane"), Not(HasSubstr("base"))));
  EXPECT_EQ(advice({{"base", free}, {"ground", plane}}), "simulate more steps");
  EXPECT_EQ(advice_without_rows(plan_scene(**require_simulated_scene("box-on-plane"), {}, 1).value()),
            "simulate more steps");
}

TEST_F(Sampling, ControlOfAModelWithoutActuatorsIsNoted) {
  const auto notes = [](const char* scene, const char* control) {
    return simulate(plan_scene(**require_simulated_scene(scene), {{"control", std::string(control)}}, 1).value())
        .value()
        .notes();
  };
  EXPECT_THAT(notes("box-on-plane", "sine"),
              ::testing::Contains(HasSubstr("control=sine does nothing: the model has no actuators")));
  EXPECT_THAT(notes("box-on-plane", "none"), ::testing::IsEmpty());
  EXPECT_THAT(notes("arm7d", "sine"), Not(::testing::Contains(HasSubstr("actuators"))));
}

SampleList unsolved_list(const std::string& solver, double tolerance, double worst_residual) {
  SampleList list;
  list.solver = solver;
  list.tolerance = tolerance;
  list.summary.steps = list.summary.unsolved = 3;
  list.summary.worst_residual = worst_residual;
  return list;
}

TEST_F(Sampling, AToleranceBelowRoundingIsAnError) {
  SampleList list = unsolved_list("CASCADE", 1e-15, 1e-13);
  EXPECT_THAT(*loop_warning(list), AllOf(HasSubstr("a tolerance of 1e-10 or more"), Not(HasSubstr("time_step"))));
  list.summary.worst_residual = 1e-3;
  EXPECT_THAT(*loop_warning(list),
              AllOf(HasSubstr("more max_iterations or a smaller time_step"), Not(HasSubstr("1e-10"))));
}

TEST_F(Sampling, OptionsOfTheLoopsSolverAreBlamedWhereTheyAreNoDefaults) {
  SampleList list = unsolved_list("ADMM-NCP-SA", 1e-6, 1e-3);
  list.request.options["solver_options"] = "increment=0.1,ratio=5";
  EXPECT_THAT(*loop_warning(list), AllOf(HasSubstr("ADMM-NCP-SA (with increment=0.1 ratio=5) missed its tolerance"),
                                         HasSubstr("other solver_options, or none")));
  list.request.options["solver_options"] = "increment=0.05";
  EXPECT_THAT(*loop_warning(list), Not(HasSubstr("increment"))) << "its default";
}

TEST_F(Sampling, AnEmptySolverOptionsIsNone) {
  const auto name = [](const char* options) {
    const OptionValues values = {{"speed", 1.0}, {"solver_options", std::string(options)}};
    return plan_scene(**require_simulated_scene("box-on-plane"), values, 1).value().name;
  };
  EXPECT_EQ(name(""), "box-on-plane_speed=1");
  EXPECT_EQ(name(" "), "box-on-plane_speed=1");
  EXPECT_EQ(name("relaxation=0.5"), "box-on-plane_solver_options=relaxation=0.5_speed=1");
}

TEST_F(Sampling, AStratifiedSetHasSoManyOfEachAndEndsWhenAllAreThere) {
  // A free linkage falls on a corner, then on a side: joints alone, then contacts with joints.
  const auto falling = [&](const std::string& categories) {
    return samples("fourbar",
                   {{"base", std::string("free")},
                    {"coordinates", std::string("maximal")},
                    {"tolerance", 1e-6},
                    {"sample", std::string("stratified")},
                    {"per_stratum", 3L},
                    {"bands", std::string("")},
                    {"categories", categories}},
                   100);
  };
  const auto count = [](const std::vector<ContactProblem>& problems) {
    std::map<std::string, long> of;
    for (const ContactProblem& problem : problems) ++of[problem.provenance().category];
    return of;
  };
  const std::map<std::string, long> three_each = {{"redundant joints", 3}, {"dense constraints", 3}};
  const auto problems = falling("redundant-joints,dense-constraints");
  EXPECT_EQ(count(problems), three_each);
  EXPECT_TRUE(summary.full);
  EXPECT_LT(summary.steps, 100);
  EXPECT_EQ(problems.back().configuration()->step, std::int64_t(summary.steps)) << "it ends with the last one";

  EXPECT_EQ(count(falling("redundant-joints,dense-constraints,independent-joints")), three_each);
  EXPECT_FALSE(summary.full);
  EXPECT_EQ(summary.steps, 100) << "one that is not met keeps it going";
  std::map<std::string, long> taken;
  for (const Stratum& stratum : summary.strata) {
    EXPECT_EQ(stratum.taken, std::min(stratum.met, stratum.wanted)) << stratum.name();
    EXPECT_EQ(stratum.is_short(), stratum.category == SampleCategory::independent_joints) << stratum.name();
    if (stratum.taken > 0) taken[to_string(stratum.category)] = stratum.taken;
  }
  EXPECT_EQ(taken, three_each);
}

}  // namespace
}  // namespace conebench::simulation
