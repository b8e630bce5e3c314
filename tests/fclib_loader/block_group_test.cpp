#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fclib_loader/fclib_file.hpp"
#include "problems/blocks.hpp"
#include "scenes/random_source.hpp"
#include "tests/fclib_loader/file_maker.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

using testing::FileMaker;
using ::testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Shape {
  bool primal = true;
  DelassusForm form = DelassusForm::factored;
  bool compliant = true;
  bool bias = true;
  std::vector<FrictionLaw> laws;
};

/// In the order in which readers sort contacts.
std::vector<FrictionLaw> every_law() {
  return {FrictionLaw::coulomb(0.5),
          FrictionLaw::rolling(0.4, 0.01),
          {ConeShape::discs, {2}, {0.5, 0.25}},
          {ConeShape::discs, {3}, {0.5, 0.5, 0.01}},
          {ConeShape::discs, {5}, {0.5, 0.5, 0.01, 1e-3, 1e-3}},
          {ConeShape::discs, {2, 1}, {0.5, 0.5, 0.02}},
          {ConeShape::discs, {1, 2}, {0.3, 0.1, 0.2}},
          {ConeShape::pyramid, {2}, {0.7, 0.7}}};
}

/// A joint, two limits, four intervals and contacts of the given laws, with numbers that round.
ContactProblem sample(const Shape& shape) {
  constexpr Index velocities = 12;
  RandomSource random(3);
  ContactProblemData data;
  data.cones =
      ConeProduct::create(1, 2, {{-0.5, 0.5}, {-infinity, 0.0}, {0.25, 0.25}, {-1.0, infinity}}, shape.laws).value();
  const Index rows = data.cones.rows();
  Matrix jacobian(rows, velocities);
  for (double& value : jacobian.reshaped()) value = random.normal();
  const Vector masses = Vector::LinSpaced(velocities, 1.0 / 3.0, 7.0);
  PrimalForm primal;
  primal.mass = Matrix(masses.asDiagonal()).sparseView();
  primal.jacobian = jacobian.sparseView();
  primal.free_velocity = Vector::LinSpaced(velocities, -1.0 / 3.0, 0.7);
  const Vector bias = Vector::LinSpaced(rows, -0.1, 1.0 / 7.0);
  data.free_term = bias;
  for (Index row = 0; row < rows; ++row) {
    for (Index k = velocities; k-- > 0;) data.free_term[row] += jacobian(row, k) * primal.free_velocity[k];
  }
  const Matrix matrix = jacobian * masses.cwiseInverse().asDiagonal() * jacobian.transpose();
  switch (shape.form) {
    case DelassusForm::factored: data.delassus = make_factored_delassus(primal.mass, primal.jacobian).value(); break;
    case DelassusForm::dense: data.delassus = make_dense_delassus(matrix); break;
    case DelassusForm::block_sparse:
      data.delassus = make_block_sparse_delassus(BlockSparseMatrix::from_dense(matrix, data.cones));
      break;
  }
  if (shape.primal) data.primal = primal;
  if (shape.bias) data.bias = bias;
  if (shape.compliant) data.compliance = Vector::LinSpaced(rows, 0.0, 1e-3);
  Configuration known;
  const Index contacts = data.cones.contacts();
  known.gaps = Vector::LinSpaced(contacts, -1e-3, 1e-3);
  known.time_step = 0.01;
  known.bodies = 2;
  known.contact_identities.emplace();
  for (Index k = 0; k < contacts; ++k) known.contact_identities->push_back(100 - k);
  known.limit_identities = {7, -7};
  const int d = data.cones.space_dimension();
  known.contact_frames.emplace(d * d * contacts);
  for (Index k = 0; k < contacts; ++k) {
    const double c = std::cos(0.3 + static_cast<double>(k)), s = std::sin(0.3 + static_cast<double>(k));
    Matrix axes = Matrix::Identity(d, d);
    axes.bottomRightCorner<2, 2>() << c, -s, s, c;
    known.contact_frames->segment(axes.size() * k, axes.size()) = axes.reshaped();
  }
  if (shape.primal) known.velocity = Vector::LinSpaced(velocities, -1.0 / 3.0, 2.0);
  known.scene = "pendulum links=2";
  known.step = 17;
  known.seed = 0xfedcba9876543210;
  data.configuration = std::move(known);
  data.guess = Vector::LinSpaced(rows, 0.0, 1.0 / 3.0);
  Vector reference = Vector::LinSpaced(rows, 0.1, 0.2);
  reference[4] = -0.125;
  reference[5] = 0.25;
  for (Index i = 0; i < contacts; ++i) {  // in its cone
    for (Index row = data.cones.contact_row(i); row < data.cones.contact_row(i + 1); ++row) {
      if (row != data.cones.contact_row(i) + data.cones.normal_of(i)) reference[row] *= 1e-4;
    }
  }
  data.reference = Reference{reference, 0.5, "NSGS at 1e-12", {{"natural_map", 1e-13}}};
  data.provenance.family = "pendulum";
  data.provenance.law = "ccp";
  data.provenance.category = "dense constraints";
  data.provenance.loop = LoopSolve{StepOutcome::unsolved, "stalled", HUGE_VAL, 1e-6};
  auto problem = ContactProblem::create(std::move(data));
  if (!problem) throw std::runtime_error(problem.error().message);
  return *problem;
}

class BlockGroup : public ::testing::Test {
 protected:
  std::filesystem::path written(const ContactProblem& problem, const FclibWriteOptions& options = {}) {
    const auto file = folder_ / "blocks.hdf5";
    const auto done = write_fclib(problem, file, options);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return file;
  }
  ContactProblem loaded(const std::filesystem::path& file) {
    auto problem = load_fclib(file);
    if (!problem) throw std::runtime_error(problem.error().message);
    return *problem;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(BlockGroup, GivesTheIdenticalProblemBack) {
  std::vector<std::vector<FrictionLaw>> mixtures = {
      every_law(), {}, {FrictionLaw::coulomb(0.5, 1), FrictionLaw::coulomb(0.1, 1)}};
  for (const FrictionLaw& law : every_law()) mixtures.push_back({law, law});
  for (const auto& laws : mixtures) {
    for (const bool primal : {true, false}) {
      for (const DelassusForm form : {DelassusForm::factored, DelassusForm::dense, DelassusForm::block_sparse}) {
        if (!primal && form == DelassusForm::factored) continue;
        for (const bool known : {true, false}) {
          SCOPED_TRACE(::testing::Message() << laws.size() << " contacts, primal " << primal << " form "
                                            << static_cast<int>(form) << " compliance and bias " << known);
          const ContactProblem problem = sample({primal, form, known, known, laws});
          const ContactProblem copy = loaded(written(problem));
          EXPECT_EQ(copy.cones(), problem.cones());
          EXPECT_EQ(copy.content_hash(), problem.content_hash());
          EXPECT_EQ(copy.data_hash(), problem.data_hash());
          EXPECT_EQ(copy.guess(), problem.guess());
          EXPECT_EQ(copy.reference()->reaction, problem.reference()->reaction);
          EXPECT_EQ(copy.reference()->source, "NSGS at 1e-12");
          EXPECT_EQ(copy.reference()->residuals, problem.reference()->residuals);
          EXPECT_EQ(copy.configuration()->limit_identities, problem.configuration()->limit_identities);
          EXPECT_EQ(copy.provenance().law, "ccp");
          EXPECT_EQ(copy.provenance().family, "pendulum");
          EXPECT_EQ(copy.provenance().category, "dense constraints");
          EXPECT_EQ(copy.provenance().loop, problem.provenance().loop) << "a residual beyond all numbers, too";
        }
      }
    }
  }
}

TEST_F(BlockGroup, HasNoFclibPartBesideIt) {
  const auto file = written(sample({.laws = every_law()}));
  const auto content = read_fclib(file);
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(content->format, FileFormat::blocks);
  const auto maker = FileMaker::open(file);
  EXPECT_EQ(maker->read_integers("/conebench/version"), std::vector<std::int64_t>{4});
  for (const char* group : {"fclib_local", "fclib_global", "fclib_global_rolling"}) {
    EXPECT_EQ(H5Lexists(maker->id(), group, H5P_DEFAULT), 0) << group;
  }
}

TEST_F(BlockGroup, AnswersStandInTheOrderOfItsRows) {
  const ContactProblem problem = sample({.laws = every_law()});
  const auto file = written(problem);
  const Vector impulse = Vector::LinSpaced(problem.rows(), 3.0, 4.0);
  // As first written, and into a copy of what was read.
  const auto direct = read_reaction(file, problem, AnswerOf::written);
  ASSERT_TRUE(direct.ok()) << direct.error().message;
  EXPECT_EQ(*direct, problem.reference()->reaction);
  const ContactProblem copy = loaded(file);
  const auto solved = write_solution(file, folder_ / "solved.hdf5", copy, impulse);
  ASSERT_TRUE(solved.ok()) << solved.error().message;
  const auto reaction = read_reaction(folder_ / "solved.hdf5", copy);
  ASSERT_TRUE(reaction.ok()) << reaction.error().message;
  EXPECT_EQ(*reaction, impulse);
  const auto stored = FileMaker::open(folder_ / "solved.hdf5")->read_reals("/solution/r");
  const Index contact = problem.cones().contact_row(0);
  EXPECT_EQ(stored[static_cast<std::size_t>(contact)], impulse[contact + 2]);  // the normal first
  EXPECT_EQ(stored[static_cast<std::size_t>(contact + 1)], impulse[contact]);
}

/// Link by link: a tendon, a contact with torsion of which t2 has no friction, a drive, a joint of two rows, a shifted
/// contact without friction. Rows: 0 | 1 2 3 4 | 5 | 6 7 | 8.
void make_mixed(FileMaker& maker) {
  maker.group("/conebench");
  maker.integers("/conebench/version", {4}, {.scalar = true});
  maker.integers("/conebench/block_rows", {0, 1, 5, 6, 8, 9});
  maker.integers("/conebench/cone", {0, 1, 0, 0, 2}, {.type = H5T_STD_U8LE});
  maker.reals("/conebench/lower", {-infinity, nan, nan, nan, nan, -2.0, -infinity, -infinity, nan});
  maker.reals("/conebench/upper", {0.0, nan, nan, nan, nan, 3.0, infinity, infinity, nan});
  maker.reals("/conebench/mu", {0, 0, 0.5, 0, 0.01, 0, 0, 0, 0});
  maker.integers("/conebench/groups", {0, 0, 1, 1, 2, 0, 0, 0, 0});
  maker.reals("/conebench/shift", {0, 0, 0, 0, 0.5});
  std::vector<double> matrix(81);
  for (std::size_t i = 0; i < 9; ++i) {
    for (std::size_t j = 0; j < 9; ++j)
      matrix[9 * i + j] = i == j ? 10.0 + static_cast<double>(i) : 0.1 * static_cast<double>(i + j);
  }
  maker.reals("/conebench/G", matrix, {.shape = {9, 9}});
  maker.reals("/conebench/b", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9});
  maker.reals("/conebench/R", {1, 2, 3, 4, 5, 6, 7, 8, 9});
  maker.integers("/conebench/identity", {11, 12, 13, 14, 15});
  maker.reals("/conebench/gap", {nan, -0.001, nan, nan, 0.002});
}

TEST_F(BlockGroup, IsReadInAnyOrderOfBlocks) {
  const auto file = folder_ / "mixed.hdf5";
  {
    FileMaker maker(file);
    make_mixed(maker);
  }
  const ContactProblem problem = loaded(file);
  const ConeProduct& cones = problem.cones();
  EXPECT_EQ(cones.joints(), 2);
  EXPECT_EQ(cones.limits(), 1);  // the contact without friction
  ASSERT_EQ(cones.intervals().size(), 2U);
  EXPECT_EQ(cones.bounds(3), (Interval{-infinity, 0.0}));
  EXPECT_EQ(cones.bounds(4), (Interval{-2.0, 3.0}));
  ASSERT_EQ(cones.contacts(), 1);
  EXPECT_EQ(cones.law(0), (FrictionLaw{ConeShape::discs, {1, 1}, {0.5, 0.01}}));
  // Problem: 6 7 | 8 | 0 5 | 2 1 4; row 3 has no force.
  const std::vector<Index> of = {6, 7, 8, 0, 5, 2, 1, 4};
  const Matrix matrix = problem.delassus().dense();
  for (Index i = 0; i < 8; ++i) {
    for (Index j = 0; j < 8; ++j) {
      const Index a = of[static_cast<std::size_t>(i)], b = of[static_cast<std::size_t>(j)];
      EXPECT_EQ(matrix(i, j), a == b ? 10.0 + static_cast<double>(a) : 0.1 * static_cast<double>(a + b));
    }
    EXPECT_EQ(problem.compliance()[i], 1.0 + static_cast<double>(of[static_cast<std::size_t>(i)]));
  }
  // g' = g − (G + R) s.
  EXPECT_NEAR(problem.free_term()[2], 0.9 - 0.5 * (18.0 + 9.0), 1e-14);
  EXPECT_NEAR(problem.free_term()[3], 0.1 - 0.5 * 0.8, 1e-14);
  EXPECT_EQ(problem.configuration()->contact_identities, std::vector<std::int64_t>{12});
  EXPECT_EQ(problem.configuration()->limit_identities, std::vector<std::int64_t>{15});
  EXPECT_EQ((*problem.configuration()->gaps)[0], -0.001);

  const Vector impulse = Vector::LinSpaced(8, 1.0, 8.0);
  ASSERT_TRUE(write_solution(file, folder_ / "solved.hdf5", problem, impulse).ok());
  EXPECT_EQ(FileMaker::open(folder_ / "solved.hdf5")->read_reals("/solution/r"),
            (std::vector<double>{4, 7, 6, 0, 8, 5, 1, 2, 2.5}));
  EXPECT_EQ(read_reaction(folder_ / "solved.hdf5", problem).value(), impulse);
}

TEST_F(BlockGroup, AnAnswerWithAnImpulseWhereNoForceActsIsRefused) {
  const auto file = folder_ / "mixed.hdf5";
  {
    FileMaker maker(file);
    make_mixed(maker);
    FileMaker answer(folder_ / "answer.hdf5");
    answer.group("/solution");
    answer.reals("/solution/r", {-1, 1, 0, 0.5, 0, 0, 0, 0, 1});
  }
  const auto reaction = read_reaction(folder_ / "answer.hdf5", loaded(file));
  ASSERT_FALSE(reaction.ok());
  EXPECT_EQ(reaction.error().code, ErrorCode::bad_input);
  EXPECT_THAT(
      reaction.error().message,
      ::testing::EndsWith("answer.hdf5: block 1, row 3 has mu = 0, where no force acts, but the answer has 0.5"));
}

TEST_F(BlockGroup, AShiftIsKeptInCopies) {
  const auto file = folder_ / "mixed.hdf5";
  {
    FileMaker maker(file);
    make_mixed(maker);
  }
  const ContactProblem problem = loaded(file);
  FclibWriteOptions options;
  const Vector impulse = Vector::LinSpaced(8, 1.0, 8.0);
  options.guesses = {{impulse, {}}};
  const auto copied = written(problem, options);
  EXPECT_EQ(FileMaker::open(copied)->read_reals("/conebench/shift"), (std::vector<double>{0, 0, 0.5, 0, 0, 0}));
  EXPECT_EQ(FileMaker::open(copied)->read_reals("/guesses/1/r")[2], 2.5);
  const ContactProblem copy = loaded(copied);
  EXPECT_EQ(copy.cones(), problem.cones());
  EXPECT_LT((copy.free_term() - problem.free_term()).norm(), 1e-14 * problem.free_term().norm());
  EXPECT_EQ(*copy.guess(), impulse);
}

TEST_F(BlockGroup, OfWhatFclibHoldsIsWrittenInFclibsParts) {
  const auto file = folder_ / "plain.hdf5";
  {
    FileMaker maker(file);
    maker.group("/conebench");
    maker.integers("/conebench/version", {4});
    maker.integers("/conebench/block_rows", {0, 3, 4});
    maker.integers("/conebench/cone", {2, 0});
    maker.reals("/conebench/lower", {nan, nan, nan, 0});
    maker.reals("/conebench/upper", {nan, nan, nan, infinity});
    maker.reals("/conebench/mu", {0, 0.5, 0.5, 0});
    maker.reals("/conebench/G", {4, 0, 0, 1, 0, 4, 0, 0, 0, 0, 4, 0, 1, 0, 0, 4}, {.shape = {4, 4}});
    maker.reals("/conebench/b", {1, 2, 3, 4});
  }
  const ContactProblem problem = loaded(file);
  const auto copy = read_fclib(written(problem));
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(copy->kind, FclibKind::local);
  EXPECT_EQ(loaded(folder_ / "blocks.hdf5").content_hash(), problem.content_hash());
}

struct Malformed {
  std::string name;
  std::function<void(FileMaker&)> edit;
  std::string says;
};

std::vector<Malformed> malformed() {
  const auto reals = [](const std::string& path, std::vector<double> values, FileMaker::Storage storage = {}) {
    return [=](FileMaker& m) { m.reals("/conebench/" + path, values, storage); };
  };
  const auto integers = [](const std::string& path, std::vector<std::int64_t> values) {
    return [=](FileMaker& m) { m.integers("/conebench/" + path, values); };
  };
  const auto answer = [](std::vector<double> values) {
    return [=](FileMaker& m) {
      m.group("/solution");
      m.reals("/solution/r", values);
    };
  };
  const auto guess = [](std::vector<double> values) {
    return [=](FileMaker& m) {
      m.group("/guesses");
      m.group("/guesses/1");
      m.reals("/guesses/1/r", values);
    };
  };
  std::vector<double> holed(81, 1.0);
  holed[9 * 2 + 3] = nan;
  const auto sparse = [=](FileMaker& m) {
    m.remove("/conebench/G");
    testing::write_matrix(m, "/conebench/G", testing::stored(holed, 9, 9, -2));
  };
  const auto without = [](const std::string& path) { return [=](FileMaker& m) { m.remove("/conebench/" + path); }; };
  return {
      {"newer version", integers("version", {5}), "/conebench/version: is 5, this build reads 1 to 4"},
      {"no version", without("version"), "not an FCLIB file; a file by blocks needs /conebench/version 4"},
      {"version 3 alone", integers("version", {3}), "a file by blocks needs /conebench/version 4"},
      {"bounds long", reals("lower", std::vector<double>(21)),
       "/conebench/lower: has 21 entries, block_rows ends at 9"},
      {"b short", reals("b", {1, 2}), "/conebench/b: has 2 entries, block_rows ends at 9"},
      {"groups short", integers("groups", {0, 0}), "/conebench/groups: has 2 entries, block_rows ends at 9"},
      {"NaN in a dense matrix", reals("G", holed, {.shape = {9, 9}}), "/conebench/G: row 2, column 3 is nan"},
      {"NaN in a sparse matrix", sparse, "/conebench/G/x: entry 21 is nan (row 2, column 3)"},
      {"groups of an ellipsoid", integers("cone", {0, 2, 0, 0, 2}),
       "block 1, row 4: an ellipsoid has one group (got 2 after 1)"},
      {"mu of a row with bounds", reals("mu", {0, 0, 0.5, 0, 0.01, 0.3, 0, 0, 0}),
       "block 2, row 5: only a cone's tangential rows have mu (got 0.3)"},
      {"frame that is none", reals("frame", std::vector<double>(18, 0.5), {.shape = {2, 3, 3}}),
       "block 1: its frame (number 0) is not orthonormal"},
      {"solution where no force acts", answer({-1, 1, 0, 0.5, 0, 0, 0, 0, 1}),
       "block 1, row 3 has mu = 0, where no force acts, but the reference has 0.5"},
      {"guess where no force acts", guess({-1, 1, 0, 0.5, 0, 0, 0, 0, 1}),
       "block 1, row 3 has mu = 0, where no force acts, but the guess has 0.5"},
      {"solution outside its cone", answer({-1, 1, 0.6, 0, 0, 0, 0, 0, 1}),
       "block 1, row 1: the reference is outside its cone"},
      {"no blocks", without("block_rows"), "/conebench/block_rows: is missing"},
      {"no bounds", without("upper"), "/conebench/upper: is missing"},
      {"no cones", without("cone"), "/conebench/cone: is missing"},
      {"no coefficients", without("mu"), "/conebench/mu: is missing"},
      {"no matrix", without("G"), "/conebench/G: is missing"},
      {"J without M", reals("J", {1}), "/conebench/M: is missing"},
      {"blocks that descend", integers("block_rows", {0, 1, 5, 4, 8, 9}),
       "/conebench/block_rows: block 2 ends at row 4, after 5"},
      {"blocks from 1", integers("block_rows", {1, 1, 5, 6, 8, 9}), "must start with 0"},
      {"unknown cone", integers("cone", {0, 4, 0, 0, 2}), "/conebench/cone: block 1 has the cone 4"},
      {"cones short", integers("cone", {0, 1, 0, 0}), "/conebench/cone: has 4 entries, expected 5"},
      {"lower above upper", reals("lower", {1, nan, nan, nan, nan, -2, -infinity, -infinity, nan}),
       "mixed.hdf5: block 0, row 0: bounds must be numbers with lower <= upper (got 1 and 0)"},
      {"no bound of a row", reals("upper", {nan, nan, nan, nan, nan, 3, infinity, infinity, nan}),
       "block 0, row 0: bounds must be numbers"},
      {"bounds of a cone", reals("lower", {-infinity, nan, 0, nan, nan, -2, -infinity, -infinity, nan}),
       "block 1, row 2: a cone's rows have the bounds NaN (got 0 and nan)"},
      {"negative mu", reals("mu", {0, 0, -0.5, 0, 0.01, 0, 0, 0, 0}),
       "block 1, row 2: mu must be finite and not negative (got -0.5)"},
      {"mu of a normal", reals("mu", {0, 0.5, 0.5, 0, 0.01, 0, 0, 0, 0}), "block 1, row 1: the normal's mu must be 0"},
      {"groups out of order", integers("groups", {0, 0, 2, 1, 2, 0, 0, 0, 0}), "block 1, row 2: groups must be 1, 2"},
      {"negative shift", reals("shift", {0, 0, 0, 0, -1}), "block 4, row 8: the shift must be finite and not negative"},
      {"shift of a row", reals("shift", {1, 0, 0, 0, 0}), "block 0, row 0: only a cone has a shift (got 1)"},
      {"matrix of another shape", reals("G", std::vector<double>(81), {.shape = {27, 3}}),
       "/conebench/G: has the shape (27, 3), expected (9, 9)"},
      {"negative compliance", reals("R", {1, 2, 3, -4, 5, 6, 7, 8, 9}), "/conebench/R: row 3 is negative (-4)"},
      {"infinite b", reals("b", {1, 2, infinity, 4, 5, 6, 7, 8, 9}), "/conebench/b: entry 2 is inf"},
      {"identities short", integers("identity", {1, 2}), "/conebench/identity: has 2 entries, expected 5"},
      {"unknown law", [](FileMaker& m) { m.text("/conebench/law", "nlp", 4); }, "/conebench/law: is 'nlp'"},
      {"solution short", answer({1, 2}), "/solution/r: has 2 entries, expected 9"},
      {"solution outside its bounds", answer({1, 1, 0, 0, 0, 0, 0, 0, 1}),
       "block 0, row 0: the reference 1 is outside its bounds -inf and 0"},
  };
}

TEST_F(BlockGroup, ThatIsMalformedIsRefusedInOneLine) {
  for (const Malformed& one : malformed()) {
    SCOPED_TRACE(one.name);
    const auto file = folder_ / "mixed.hdf5";
    {
      FileMaker maker(file);
      make_mixed(maker);
      one.edit(maker);
    }
    const auto problem = load_fclib(file);
    ASSERT_FALSE(problem.ok());
    EXPECT_EQ(problem.error().code, ErrorCode::bad_input);
    EXPECT_THAT(problem.error().message, HasSubstr(one.says));
    EXPECT_THAT(problem.error().message, ::testing::StartsWith(file.string()));
    EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(BlockGroup, BesideAnFclibPartIsLeftOut) {
  const auto file = folder_ / "both.hdf5";
  {
    FileMaker maker(file);
    testing::make_local(maker);
    make_mixed(maker);
  }
  const auto content = read_fclib(file);
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(content->format, FileFormat::fclib);
  ASSERT_EQ(content->notes.size(), 1U);
  EXPECT_THAT(content->notes[0], HasSubstr("is 4, this build reads 1 to 3 beside an FCLIB part"));
}

/// Files of h5py, which declares numbers and texts in its own way.
TEST_F(BlockGroup, WrittenByPythonIsRead) {
  const std::string command =
      "/usr/bin/python3 " CONEBENCH_SOURCE_DIR "/tests/fclib_loader/make_block_files.py " + (folder_ / ".").string();
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a fixed command
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 77 || code == 127) GTEST_SKIP() << "no /usr/bin/python3 with h5py and numpy";
  ASSERT_EQ(code, 0);
  const ContactProblem by_matrix = loaded(folder_ / "by_matrix.hdf5");
  const ContactProblem by_velocities = loaded(folder_ / "by_velocities.hdf5");
  EXPECT_EQ(by_matrix.form(), DelassusForm::dense);
  EXPECT_EQ(by_velocities.form(), DelassusForm::factored);
  EXPECT_EQ(by_matrix.cones(), by_velocities.cones());
  EXPECT_EQ(by_matrix.cones().contacts(), 4);
  EXPECT_EQ(by_matrix.cones().law(0).rows(), 3);
  EXPECT_EQ(by_matrix.provenance().law, "ccp");
  EXPECT_EQ(by_velocities.provenance().law, "ncp");
  EXPECT_LT((by_matrix.blocks().dense() - by_velocities.blocks().dense()).norm(), 1e-12);
  EXPECT_LT((by_matrix.free_term() - by_velocities.free_term()).norm(), 1e-12);
  EXPECT_EQ(by_velocities.configuration()->time_step, 0.001);
  EXPECT_EQ(by_velocities.configuration()->velocity->size(), 9);
  EXPECT_TRUE(by_velocities.configuration()->contact_frames.has_value());
  // The script's answer, judged by the rows that it names.
  const auto reaction = read_reaction(folder_ / "by_matrix.hdf5", by_matrix);
  ASSERT_TRUE(reaction.ok()) << reaction.error().message;
  EXPECT_LT(by_matrix.reference()->residual, 1e-9);
}

}  // namespace
}  // namespace conebench
