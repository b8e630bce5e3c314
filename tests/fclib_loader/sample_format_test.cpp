#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "fclib_loader/fclib_file.hpp"
#include "scenes/scene_table.hpp"
#include "tests/fclib_loader/file_maker.hpp"
#include "tests/fclib_loader/sample_maker.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

using ::testing::Contains;
using testing::FileMaker;
using ::testing::HasSubstr;
using testing::sample;
using testing::Shape;
using testing::shapes;

class SampleFormat : public ::testing::Test {
 protected:
  std::filesystem::path written(const ContactProblem& problem, const FclibWriteOptions& options = {}) {
    const auto file = folder_ / "sample.hdf5";
    const auto done = write_fclib(problem, file, options);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return file;
  }
  ContactProblem again(const ContactProblem& problem) {
    const auto file = written(problem);
    const auto content = read_fclib(file);
    EXPECT_TRUE(content.ok()) << content.error().message;
    EXPECT_EQ(content->notes, std::vector<std::string>{});
    const auto copy = to_problem(*content, file);
    EXPECT_TRUE(copy.ok()) << copy.error().message;
    return *copy;
  }

  testing::TemporaryFolder folder_;
};

void expect_equal(const std::optional<Vector>& a, const std::optional<Vector>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (a.has_value()) {
    EXPECT_EQ(*a, *b);
  }
}

TEST_F(SampleFormat, GivesTheIdenticalProblemBack) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(::testing::Message() << "primal " << shape.primal << " form " << static_cast<int>(shape.form)
                                      << " compliant " << shape.compliant << " bias " << shape.bias << " dimension "
                                      << shape.dimension << " joints " << shape.joints << " limits " << shape.limits);
    const ContactProblem problem = sample(shape);
    const ContactProblem copy = again(problem);
    EXPECT_EQ(copy.content_hash(), problem.content_hash());
    EXPECT_EQ(copy.data_hash(), problem.data_hash());
    EXPECT_EQ(copy.cones(), problem.cones());
    expect_equal(copy.bias(), problem.bias());
    EXPECT_EQ(copy.reference()->reaction, problem.reference()->reaction);
    EXPECT_EQ(copy.reference()->source, "NSGS at 1e-12");
    EXPECT_EQ(copy.reference()->residuals, problem.reference()->residuals);
    EXPECT_EQ(copy.provenance().family, "nunchuk");
    const Configuration& known = *copy.configuration();
    EXPECT_EQ(known.scene, "nunchuk links=2 größe=1");
    EXPECT_EQ(known.step, 17);
    EXPECT_EQ(known.seed, 0xfedcba9876543210);
    EXPECT_EQ(known.coordinates, Coordinates::maximal);
    EXPECT_EQ(known.contact_identities, problem.configuration()->contact_identities);
    expect_equal(known.body_masses, problem.configuration()->body_masses);
    expect_equal(known.contact_frames, problem.configuration()->contact_frames);
    EXPECT_EQ(known.nodes, problem.configuration()->nodes);
    expect_equal(known.velocity, problem.configuration()->velocity);
    expect_equal(known.inertia, problem.configuration()->inertia);
    expect_equal(known.friction_axes, problem.configuration()->friction_axes);
    EXPECT_EQ(copy.provenance().category, "dense constraints");
    EXPECT_EQ(copy.provenance().conditioning, 1.0 / 3.0);
    EXPECT_EQ(copy.provenance().loop, problem.provenance().loop);
  }
}

H5T_cset_t declared(const std::filesystem::path& file, const std::string& path) {
  const auto opened = FileMaker::open(file);
  const hid_t dataset = H5Dopen2(opened->id(), path.c_str(), H5P_DEFAULT);
  const hid_t type = H5Dget_type(dataset);
  const H5T_cset_t set = H5Tget_cset(type);
  H5Tclose(type);
  H5Dclose(dataset);
  return set;
}

TEST_F(SampleFormat, TextsAreDeclaredUtf8AndFclibsOwnAsciiWhereTheyAre) {
  const ContactProblem problem = sample({});
  const auto file = written(problem);
  for (const char* path : {"family", "category", "scene", "coordinates", "reference/source"}) {
    EXPECT_EQ(declared(file, std::string("/conebench/") + path), H5T_CSET_UTF8) << path;
  }
  for (const char* path : {"title", "description", "math_info"}) {
    EXPECT_EQ(declared(file, std::string("/fclib_global/info/") + path), H5T_CSET_ASCII) << path;
  }
  Provenance provenance = problem.provenance();
  provenance.name = "Größe";
  written(problem.with_provenance(provenance));
  EXPECT_EQ(declared(file, "/fclib_global/info/title"), H5T_CSET_UTF8);
  EXPECT_EQ(read_fclib(file)->title, "Größe");

  // Files of before, all of them ASCII by their type.
  const std::string scene = problem.configuration()->scene;
  FileMaker::open(file)->text("/conebench/scene", scene, scene.size() + 1);
  ASSERT_EQ(declared(file, "/conebench/scene"), H5T_CSET_ASCII);
  EXPECT_EQ(read_fclib(file)->extension->configuration.scene, scene);
}

TEST_F(SampleFormat, GivesEverySceneBackIdentical) {
  for (const SceneRow& scene : scene_table()) {
    SCOPED_TRACE(scene.id);
    const auto problem = scene.make({}, 1);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    const ContactProblem copy = again(*problem);
    EXPECT_EQ(copy.content_hash(), problem->content_hash());
    EXPECT_EQ(copy.data_hash(), problem->data_hash());
  }
}

/// Made link by link, as the document says, and not by our own writer.
TEST_F(SampleFormat, IsReadAsTheDocumentSays) {
  for (const bool local : {true, false}) {
    SCOPED_TRACE(local);
    const auto file = folder_ / "made.hdf5";
    {
      FileMaker maker(file);
      local ? testing::make_local_sample(maker) : testing::make_global_sample(maker);
    }
    const auto content = read_fclib(file);
    ASSERT_TRUE(content.ok()) << content.error().message;
    EXPECT_EQ(content->notes, std::vector<std::string>{});
    const auto problem = to_problem(*content, file);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    EXPECT_EQ(problem->cones().limits(), 1);
    EXPECT_EQ(problem->cones().contacts(), local ? 3 : 1);
    EXPECT_EQ(problem->compliance()[0], 0.5);
    EXPECT_EQ(problem->compliance().sum(), 0.5);
    if (local) {
      EXPECT_EQ(problem->delassus().dense()(0, 0), testing::local_w()[12 * 9 + 9] - 0.5);
    } else {
      EXPECT_EQ(problem->primal()->mass.rows(), 8);
      EXPECT_EQ(problem->primal()->free_velocity[7], -4.0);
    }
    EXPECT_EQ(problem->configuration()->scene, "made");
    again(*problem);
  }
}

/// Without Conebench's group a limit is a frictionless contact with empty tangents, and R is a part of G.
TEST_F(SampleFormat, IsTheSameProblemForReadersThatDoNotKnowTheExtension) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(::testing::Message() << "primal " << shape.primal << " form " << static_cast<int>(shape.form)
                                      << " compliant " << shape.compliant << " dimension " << shape.dimension);
    const ContactProblem problem = sample(shape);
    const auto file = written(problem);
    FileMaker::open(file)->remove("/conebench");
    const auto plain = load_fclib(file);
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    const ConeProduct& cones = plain->cones();
    ASSERT_EQ(cones.joints(), shape.joints);
    ASSERT_EQ(cones.limits(), 0);
    ASSERT_EQ(cones.contacts(), shape.contacts + shape.limits);
    EXPECT_TRUE(plain->rigid());
    // Any impulse gives the same velocities there, and the tangents of limits none.
    const Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 1.0);
    Vector expected(problem.rows());
    problem.velocity(impulse, expected);
    const auto stretched = [&](const Vector& rows) {
      Vector result = Vector::Zero(cones.rows());
      const Index contact_rows = shape.dimension * shape.contacts;
      result.head(shape.joints) = rows.head(shape.joints);
      result.segment(shape.joints, contact_rows) = rows.tail(contact_rows);
      for (Index k = 0; k < shape.limits; ++k) {
        result[shape.joints + contact_rows + shape.dimension * (k + 1) - 1] = rows[shape.joints + k];
      }
      return result;
    };
    Vector velocity(cones.rows());
    plain->velocity(stretched(impulse), velocity);
    EXPECT_LT((velocity - stretched(expected)).norm(), 1e-11 * expected.norm());
    for (Index k = 0; k < shape.limits; ++k) {
      EXPECT_EQ(cones.friction()[static_cast<std::size_t>(shape.contacts + k)], 0.0);
    }
  }
}

TEST_F(SampleFormat, AnswersOfOthersAreTakenInTheirOrder) {
  const Shape shape;
  const ContactProblem problem = sample(shape);
  const auto file = written(problem);
  const auto reaction = read_reaction(file, problem);
  ASSERT_TRUE(reaction.ok()) << reaction.error().message;
  EXPECT_EQ(*reaction, problem.reference()->reaction);
  const Vector impulse = Vector::LinSpaced(problem.rows(), 3.0, 4.0);
  const auto solved = write_solution(file, folder_ / "solved.hdf5", problem, impulse);
  ASSERT_TRUE(solved.ok()) << solved.error().message;
  const auto copy = load_fclib(folder_ / "solved.hdf5");
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(copy->data_hash(), problem.data_hash());
  EXPECT_EQ(copy->reference()->reaction, impulse);
  // The residuals of the old answer are not those of the new one.
  EXPECT_EQ(copy->reference()->source, "/solution of the file");
  EXPECT_TRUE(copy->reference()->residuals.empty());
}

TEST_F(SampleFormat, SummaryDistinguishesContactsFromLimits) {
  const auto content = read_fclib(written(sample({})));
  ASSERT_TRUE(content.ok());
  const FclibSummary summary = summarise(*content);
  EXPECT_EQ(summary.contacts, 3);
  EXPECT_EQ(summary.limits, 2);
  EXPECT_EQ(summary.rows, 11);
  EXPECT_DOUBLE_EQ(*summary.mu_max, 0.2);
}

struct Mutated {
  std::string name;
  Shape shape;
  std::function<void(FileMaker&)> edit;
  std::string says;
};

std::vector<Mutated> mutated() {
  Shape local;
  local.primal = false;
  local.form = DelassusForm::block_sparse;
  Shape soft;
  const auto reals = [](const std::string& path, std::vector<double> values) {
    return [=](FileMaker& m) { m.reals("/conebench/" + path, values); };
  };
  const auto integers = [](const std::string& path, std::vector<std::int64_t> values) {
    return [=](FileMaker& m) { m.integers("/conebench/" + path, values); };
  };
  const auto text = [](const std::string& path, const std::string& value) {
    return [=](FileMaker& m) { m.text("/conebench/" + path, value, value.size() + 1); };
  };
  return {
      {"newer version", soft, integers("version", {4}), "/conebench/version: is 4, this build reads 1 to 3"},
      {"version 0", soft, integers("version", {0}), "/conebench/version: is 0"},
      {"too many limits", soft, integers("limits", {6}), "/conebench/limits: is 6, the file has 5 contacts"},
      {"negative limits", soft, integers("limits", {-1}), "/conebench/limits: is out of range"},
      {"limit with friction", soft,
       [](FileMaker& m) {
         std::vector<double> friction = m.read_reals("/fclib_global/vectors/mu");
         friction.back() = 0.5;
         m.reals("/fclib_global/vectors/mu", friction);
       },
       "has friction"},
      {"tangent in H", soft,
       [](FileMaker& m) {
         std::vector<double> w = m.read_reals("/fclib_global/vectors/w");
         w.back() = 1.0;
         m.reals("/fclib_global/vectors/w", w);
       },
       "tangents that are not empty"},
      {"compliance short", soft, reals("compliance", {1, 2}), "/conebench/compliance: has 2 entries, expected 12"},
      {"compliance negative", soft, reals("compliance", std::vector<double>(12, -1.0)), "entry 0 is negative"},
      {"compliance of others", soft, reals("compliance", {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
       "velocities behind v_free"},
      {"g short", soft, reals("g", {1}), "/conebench/g: has 1 entries"},
      {"v_free long", soft, reals("v_free", std::vector<double>(99)),
       "/conebench/v_free: has 99 entries, the file has"},
      {"unknown form", soft, text("delassus_form", "round"), "is 'round', expected dense"},
      {"no matrix and too large a compliance", local,
       [](FileMaker& m) {
         m.remove("/conebench/delassus");
         m.reals("/conebench/compliance", std::vector<double>(12, 1e9));
       },
       "/conebench/compliance: is larger than the diagonal of the file's W"},
      {"another W", local,
       [](FileMaker& m) {
         std::vector<double> x = m.read_reals("/fclib_local/W/x");
         x[3] += 1e-6;
         m.reals("/fclib_local/W/x", x);
       },
       "/conebench/delassus: plus R is not what"},
      {"matrix too small", local, integers("delassus/m", {3}), "/conebench/delassus"},
      {"gaps short", soft, reals("gaps", {1, 2}), "/conebench/gaps: has 2 entries, expected 3"},
      {"time step", soft, reals("time_step", {-0.01}), "/conebench/time_step: is -0.01"},
      {"coordinates", soft, text("coordinates", "polar"), "is 'polar', expected reduced or maximal"},
      {"masses short", soft, reals("body_masses", {1}), "/conebench/body_masses: has 1 entries, expected 2"},
      {"negative mass", soft, reals("body_masses", {1, -1}), "has a negative mass"},
      {"identity twice", soft, integers("contact_identities", {5, 6, 5}), "/conebench/contact_identities: has 5 twice"},
      {"identities short", soft, integers("limit_identities", {5}), "has 1 entries, expected 2"},
      {"identities of text", soft, text("contact_identities", "abc"), "holds text, expected integers"},
      {"frames short", soft, reals("contact_frames", {1, 0, 0}),
       "/conebench/contact_frames: has 3 entries, expected 27"},
      {"frames no frames", soft, reals("contact_frames", std::vector<double>(27, 0.5)), "that is not orthonormal"},
      {"nodes that overlap", soft, integers("node_dofs", {0, 2}),
       "/conebench/node_dofs: has 2, which overlaps another"},
      {"nodes outside", soft, integers("node_dofs", {0, 9}),
       "/conebench/node_dofs: has 9, which overlaps another, or is"},
      {"velocity short", soft, reals("velocity", {1, 2}), "/conebench/velocity: has 2 entries, expected 11"},
      {"friction axes", soft, reals("friction_axes", {1, 1, 1, 1, 1, -1}),
       "/conebench/friction_axes: has a negative one"},
      {"conditioning of two", soft, reals("conditioning", {1, 2}), "/conebench/conditioning: has 2 entries"},
      {"step of two", soft, integers("step", {1, 2}), "/conebench/step: has 2 entries"},
      {"residual of text", soft, text("reference/residuals/natural_map", "small"), "residuals/natural_map"},
  };
}

TEST_F(SampleFormat, StoresFramesWithTheNormalFirst) {
  const ContactProblem problem = sample({});
  const auto file = written(problem);
  const std::vector<double> stored = FileMaker::open(file)->read_reals("/conebench/contact_frames");
  const Vector& frames = *problem.configuration()->contact_frames;
  ASSERT_EQ(stored.size(), 27U);
  for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(stored[k], frames[Index((k + 6) % 9)]) << k;
}

TEST_F(SampleFormat, StepsOfOlderVersionsCountFromZero) {
  for (const std::int64_t version : {1, 2, 3}) {
    const auto file = written(sample({}));
    FileMaker::open(file)->integers("/conebench/version", {version});
    const auto content = read_fclib(file);
    ASSERT_TRUE(content.ok()) << content.error().message;
    ASSERT_TRUE(content->extension) << content->notes.front();
    EXPECT_EQ(content->extension->configuration.step, version < 3 ? 18 : 17) << version;
  }
}

/// FCLIB's part is a whole problem, so whatever is wrong with the group costs only what the group adds.
TEST_F(SampleFormat, LeavesAMalformedGroupOutWithOneLine) {
  for (const Mutated& test : mutated()) {
    SCOPED_TRACE(test.name);
    const auto file = written(sample(test.shape));
    test.edit(*FileMaker::open(file));
    const auto content = read_fclib(file);
    ASSERT_TRUE(content.ok()) << content.error().message;
    EXPECT_FALSE(content->extension);
    EXPECT_THAT(content->notes, Contains(HasSubstr(test.says)));
    for (const std::string& note : content->notes) EXPECT_EQ(note.find('\n'), std::string::npos);
    const auto problem = to_problem(*content, file);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    EXPECT_EQ(problem->cones().contacts(), 5);
  }
}

TEST_F(SampleFormat, WithoutDelassusGIsWLessTheCompliance) {
  for (const Shape& shape : shapes()) {
    if (shape.primal || !shape.compliant) continue;
    SCOPED_TRACE(shape.dimension);
    const ContactProblem problem = sample(shape);
    const auto file = written(problem);
    FileMaker::open(file)->remove("/conebench/delassus");
    const auto content = read_fclib(file);
    ASSERT_TRUE(content.ok()) << content.error().message;
    EXPECT_EQ(content->notes, std::vector<std::string>{});
    const auto copy = to_problem(*content, file);
    ASSERT_TRUE(copy.ok()) << copy.error().message;
    EXPECT_EQ(copy->cones().limits(), problem.cones().limits());
    EXPECT_EQ(copy->compliance(), problem.compliance());
    EXPECT_TRUE(copy->delassus().dense().isApprox(problem.delassus().dense(), 1e-12));
  }
}

/// What agrees in size but not in value with M, H, f and w is not used.
TEST_F(SampleFormat, DoesNotUseWhatFclibsPartContradicts) {
  Shape dense;
  dense.form = DelassusForm::dense;
  const ContactProblem problem = sample(dense);
  const auto file = written(problem);
  {
    const auto maker = FileMaker::open(file);
    std::vector<double> x = maker->read_reals("/conebench/delassus/x");
    for (double& value : x) value *= 2.0;
    maker->reals("/conebench/delassus/x", x);
    maker->reals("/conebench/g", std::vector<double>(static_cast<std::size_t>(problem.rows()), 1.0));
  }
  const auto copy = load_fclib(file);
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(copy->delassus().form(), DelassusForm::factored);
  EXPECT_TRUE(copy->delassus().dense().isApprox(problem.delassus().dense(), 1e-12));
  EXPECT_TRUE(copy->free_term().isApprox(problem.free_term(), 1e-12));
}

TEST_F(SampleFormat, MakesNoDenseMatrixThatTheFileDoesNotAccountFor) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, std::vector<double>(5000, 0.5)).value();
  Eigen::SparseMatrix<double, Eigen::RowMajor> identity(15000, 15000);
  identity.setIdentity();
  data.delassus = make_block_sparse_delassus(BlockSparseMatrix::from_sparse(identity, data.cones));
  data.free_term = Vector::Ones(15000);
  const auto file = written(ContactProblem::create(std::move(data)).value());
  FileMaker::open(file)->text("/conebench/delassus_form", "dense", 6);
  const auto problem = load_fclib(file);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->delassus().form(), DelassusForm::block_sparse);
}

TEST_F(SampleFormat, RefusesAComplianceWhoseInverseOverflows) {
  ContactProblemData data = sample({}).data();
  data.compliance[1] = 1e-310;
  const auto done = write_fclib(*ContactProblem::create(data), folder_ / "soft.hdf5");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::unsupported);
  EXPECT_THAT(done.error().message, HasSubstr("overflows"));
}

TEST_F(SampleFormat, IsWhatPythonReadsByTheDocumentAlone) {
  std::string command = "/usr/bin/python3 " CONEBENCH_SOURCE_DIR "/tests/fclib_loader/check_sample_format.py";
  int count = 0;
  for (const Shape& shape : shapes()) {
    const auto file = folder_ / ("sample" + std::to_string(count++) + ".hdf5");
    const auto done = write_fclib(sample(shape), file);
    ASSERT_TRUE(done.ok()) << done.error().message;
    command += " " + file.string();
  }
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a fixed command
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 77 || code == 127) GTEST_SKIP() << "no /usr/bin/python3 with h5py and numpy";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace conebench
