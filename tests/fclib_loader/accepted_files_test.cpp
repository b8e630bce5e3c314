#include <gtest/gtest.h>

#include <limits>

#include "fclib_loader/fclib_file.hpp"
#include "tests/fclib_loader/file_maker.hpp"
#include "tests/fclib_loader/malformed_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using testing::Edit;
using testing::FileMaker;
using testing::mu;
using testing::q;
using testing::StoredMatrix;
using testing::w;

Result<ContactProblem> loaded(const std::function<void(const fs::path&)>& make) {
  const testing::TemporaryFolder folder;
  make(folder / "file.hdf5");
  return load_fclib(folder / "file.hdf5");
}

Result<FclibContent> read(const std::function<void(const fs::path&)>& make) {
  const testing::TemporaryFolder folder;
  make(folder / "file.hdf5");
  return read_fclib(folder / "file.hdf5");
}

std::string base_hash() {
  const Result<ContactProblem> base = loaded(testing::local([](FileMaker&) {}));
  return base ? base->content_hash() : base.error().message;
}

/// Another way to write the same problem.
struct Variant {
  std::string name;
  std::function<void(const fs::path&)> make;
};

/// i, p, x, q and mu written again with `storage`.
Edit stored_as(const FileMaker::Storage& storage, bool scalars = false) {
  return [=](FileMaker& maker) {
    for (const std::string part : {"p", "i"})
      maker.integers(w + "/" + part, maker.read_integers(w + "/" + part), storage);
    for (const std::string& path : {w + "/x", q, mu}) maker.reals(path, maker.read_reals(path), storage);
    if (!scalars) return;
    for (const std::string part : {"m", "n", "nz", "nzmax"}) {
      maker.integers(w + "/" + part, maker.read_integers(w + "/" + part), storage);
    }
  };
}

FileMaker::Storage packed(bool shuffle, bool gzip, bool checksum) {
  FileMaker::Storage storage;
  storage.chunk = 3;
  storage.shuffle = shuffle;
  storage.gzip = gzip;
  storage.checksum = checksum;
  return storage;
}

void scalar_fields(FileMaker& maker) {
  FileMaker::Storage scalar;
  scalar.scalar = true;
  for (const std::string part : {"W/m", "W/n", "W/nz", "W/nzmax", "spacedim"}) {
    const std::string path = "/fclib_local/" + part;
    maker.integers(path, maker.read_integers(path), scalar);
  }
}

void integers_of_type(FileMaker& maker, hid_t type) {
  FileMaker::Storage storage;
  storage.type = type;
  for (const std::string part : {"W/m", "W/n", "W/nz", "W/nzmax", "W/p", "W/i", "spacedim"}) {
    const std::string path = "/fclib_local/" + part;
    maker.integers(path, maker.read_integers(path), storage);
  }
}

void split_entries(StoredMatrix& matrix) {
  const std::size_t entries = matrix.x.size();
  for (std::size_t k = 0; k < entries; ++k) {
    matrix.x[k] *= 0.5;
    matrix.p.push_back(matrix.p[k]);
    matrix.i.push_back(matrix.i[k]);
    matrix.x.push_back(matrix.x[k]);
  }
  matrix.nz = matrix.nzmax = static_cast<std::int64_t>(matrix.x.size());
}

void reverse_lines(StoredMatrix& matrix) {
  for (std::size_t line = 0; line + 1 < matrix.p.size(); ++line) {
    std::reverse(matrix.i.begin() + matrix.p[line], matrix.i.begin() + matrix.p[line + 1]);
    std::reverse(matrix.x.begin() + matrix.p[line], matrix.x.begin() + matrix.p[line + 1]);
  }
}

void add_tail(StoredMatrix& matrix, std::int64_t index, double value) {
  matrix.i.resize(200, index);
  matrix.x.resize(200, value);
  matrix.nzmax = 200;
}

void odd_members(FileMaker& maker) {
  maker.hard_link("/fclib_local", "/fclib_local/self");
  maker.hard_link("/", "/fclib_local/W/root");
  maker.external_link("other.hdf5", "/", "/elsewhere");
  maker.reals("/fclib_local/W/conditioning", {std::numeric_limits<double>::quiet_NaN()});
  maker.text("/fclib_local/W/comment", "none", 5);
  maker.group("/fclib_local/unknown/deep");
  maker.text("/unknown", "text", 3, true);
}

std::vector<Variant> variants() {
  using testing::changed_w;
  using testing::local;
  constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
  return {
      {"triplet", local(changed_w(0, [](StoredMatrix&) {}))},
      {"compressed_columns", local(changed_w(-1, [](StoredMatrix&) {}))},
      {"triplet_with_slack_in_nzmax", local(changed_w(0, [](StoredMatrix& s) { s.nzmax = 300; }))},
      {"triplet_with_absurd_slack_in_nzmax", local(changed_w(0, [](StoredMatrix& s) { s.nzmax = 2'000'000'000; }))},
      {"triplet_with_duplicates", local(changed_w(0, split_entries))},
      {"unsorted_rows", local(changed_w(-2, reverse_lines))},
      {"unsorted_columns", local(changed_w(-1, reverse_lines))},
      {"slack_behind_the_last_pointer", local(changed_w(-2, [](StoredMatrix& s) { add_tail(s, 0, 7.0); }))},
      {"rubbish_behind_the_last_pointer", local(changed_w(-2, [](StoredMatrix& s) { add_tail(s, 999, nan_value); }))},
      {"rubbish_behind_the_last_column",
       local(changed_w(-1, [](StoredMatrix& s) { add_tail(s, -5, std::numeric_limits<double>::infinity()); }))},
      {"explicit_zeros", local(changed_w(0,
                                         [](StoredMatrix& s) {
                                           s.p.push_back(3);
                                           s.i.push_back(7);
                                           s.x.push_back(0.0);
                                           s.nz = s.nzmax = 145;
                                         }))},
      {"scalar_fields", local(scalar_fields)},
      {"fields_of_shape_1_1", local([](FileMaker& m) {
         FileMaker::Storage square;
         square.shape = {1, 1};
         m.integers("/fclib_local/spacedim", {3}, square);
       })},
      {"gzip_and_shuffle", local(stored_as(packed(true, true, false)))},
      {"gzip_shuffle_and_checksum", local(stored_as(packed(true, true, true)))},
      {"chunks_alone", local(stored_as(packed(false, false, false)))},
      {"big_endian", local([](FileMaker& m) {
         FileMaker::Storage big;
         big.big_endian = true;
         stored_as(big, true)(m);
       })},
      {"integers_of_64_bits", local([](FileMaker& m) { integers_of_type(m, H5T_STD_I64LE); })},
      {"integers_of_16_bits", local([](FileMaker& m) { integers_of_type(m, H5T_STD_I16LE); })},
      {"q_as_a_column", local([](FileMaker& m) {
         FileMaker::Storage column;
         column.shape = {12, 1};
         m.reals(q, m.read_reals(q), column);
       })},
      {"variable_length_info", local([](FileMaker& m) {
         m.group("/fclib_local/info");
         m.text("/fclib_local/info/title", "Grüße", 0, true);
       })},
      {"info_that_is_not_utf8", local([](FileMaker& m) {
         m.group("/fclib_local/info");
         m.text("/fclib_local/info/description", "caf\xe9", 4);
       })},
      {"info_of_another_kind", local([](FileMaker& m) {
         m.group("/fclib_local/info/title");
         m.external_link("other.hdf5", "/", "/fclib_local/info/description");
       })},
      {"odd_members", local(odd_members)},
      {"soft_links_inside", local([](FileMaker& m) {
         m.group("/data");
         m.hard_link(q, "/data/q");
         m.soft_link("../data", "/fclib_local/alias");
         m.soft_link("/data", "/alias");
         m.soft_link("/alias/q", q);
       })},
      {"user_block",
       [](const fs::path& file) {
         FileMaker maker(file, 512);
         testing::make_local(maker);
       }},
      {"a_malformed_guess_is_left_out", local([](FileMaker& m) {
         m.group("/guesses/1");
         m.reals("/guesses/1/r", {1, 2, 3});
         m.integers("/guesses/number_of_guesses", {1});
       })},
      {"absurd_number_of_guesses", local([](FileMaker& m) {
         m.group("/guesses");
         m.integers("/guesses/number_of_guesses", {2'000'000'000});
       })},
      {"solution_outside_the_file", local([](FileMaker& m) { m.external_link("other.hdf5", "/", "/solution"); })},
  };
}

class SameProblem : public ::testing::TestWithParam<Variant> {};

TEST_P(SameProblem, LoadsWhateverTheStorage) {
  const Result<ContactProblem> problem = loaded(GetParam().make);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->content_hash(), base_hash());
}

const auto name_of = [](const auto& row) { return row.param.name; };
INSTANTIATE_TEST_SUITE_P(Variants, SameProblem, ::testing::ValuesIn(variants()), name_of);

TEST(AcceptedFiles, FloatsOfSingleWidthAndIntegersBecomeDoubles) {
  FileMaker::Storage narrow;
  narrow.type = H5T_IEEE_F32LE;
  FileMaker::Storage whole;
  whole.type = H5T_STD_I32LE;
  const auto content = read(testing::local([&](FileMaker& maker) {
    maker.reals(w + "/x", testing::local_w(), narrow);
    maker.reals(q, std::vector<double>(12, -2.0), whole);
  }));
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_DOUBLE_EQ(content->w_matrix.coeff(0, 2), static_cast<double>(static_cast<float>(1.0 / 3.0)));
  EXPECT_EQ(content->q, Vector::Constant(12, -2.0));
}

TEST(AcceptedFiles, ZeroContactsIsAProblem) {
  const auto problem = loaded([](const fs::path& file) {
    FileMaker maker(file);
    maker.group("/fclib_local/vectors");
    maker.integers("/fclib_local/spacedim", {3});
    testing::write_matrix(maker, w, testing::stored({}, 0, 0, -2));
    maker.reals(q, {});
    maker.reals(mu, {});
  });
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->rows(), 0);
}

TEST(AcceptedFiles, ZeroContactsOfAGlobalProblemKeepTheFreeVelocity) {
  const auto problem = loaded(testing::global([](FileMaker& maker) {
    maker.remove("/fclib_global/H");
    testing::write_matrix(maker, "/fclib_global/H", testing::stored({}, 9, 0, -1));
    maker.reals("/fclib_global/vectors/w", {});
    maker.reals("/fclib_global/vectors/mu", {});
  }));
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->rows(), 0);
  ASSERT_TRUE(problem->primal().has_value());
  EXPECT_DOUBLE_EQ(problem->primal()->free_velocity[1], -1.0);
}

TEST(AcceptedFiles, OddMatricesLoadAndAreReported) {
  const auto with = [](const std::vector<double>& values) {
    return testing::local([=](FileMaker& maker) {
      maker.remove(w);
      testing::write_matrix(maker, w, testing::stored(values, 12, 12, 0));
    });
  };
  std::vector<double> unsymmetric = testing::local_w();
  for (std::size_t k = 0; k < 144; k += 7) unsymmetric[k] += 3.0;
  std::vector<double> negative(144);
  for (std::size_t k = 0; k < 12; ++k) negative[13 * k] = -1.0;
  std::vector<double> hole = testing::local_w();
  for (std::size_t k = 0; k < 12; ++k) {
    for (std::size_t j = 3; j < 6; ++j) hole[12 * j + k] = hole[12 * k + j] = 0.0;
  }
  for (const auto& values : {unsymmetric, negative, hole, std::vector<double>(144)}) {
    const auto problem = loaded(with(values));
    ASSERT_TRUE(problem.ok()) << problem.error().message;
  }
  const auto content = read(with(unsymmetric));
  EXPECT_GT(summarise(*content).symmetry_error, 0.1);
}

TEST(AcceptedFiles, FrictionlessContactsLoad) {
  const auto problem = loaded(testing::local([](FileMaker& maker) { maker.reals(mu, std::vector<double>(4)); }));
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->cones().friction()[0], 0.0);
}

TEST(AcceptedFiles, LocalWinsOverGlobalAndSaysSo) {
  const auto content = read(testing::local([](FileMaker& maker) { testing::make_global(maker); }));
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(content->kind, FclibKind::local);
  EXPECT_TRUE(content->also_other_kind);
  EXPECT_FALSE(read(testing::local([](FileMaker&) {}))->also_other_kind);
}

TEST(AcceptedFiles, RollingFrictionLoadsWithItsNormalBehindTheTangents) {
  const auto make = [](const fs::path& file) {
    FileMaker maker(file);
    testing::make_rolling(maker);
  };
  const auto content = read(make);
  ASSERT_TRUE(content.ok()) << content.error().message;
  const FclibSummary summary = summarise(*content);
  EXPECT_EQ(summary.kind, "global_rolling");
  EXPECT_EQ(summary.space_dimension, 5);
  EXPECT_EQ(summary.contacts, 2);
  EXPECT_EQ(summary.rows, 10);
  EXPECT_EQ(summary.mu_r_min, 0.1);
  const auto problem = loaded(make);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->cones().contact_dimension(), 5);
  EXPECT_EQ(problem->cones().rolling_friction()[1], 0.1);
  EXPECT_EQ(problem->provenance().form, "global_rolling");
}

TEST(AcceptedFiles, TextsComeOutAsOneLineOfUtf8) {
  const auto content = read(testing::local([](FileMaker& maker) {
    maker.group("/fclib_local/info");
    maker.text("/fclib_local/info/title", "Grüße", 0, true);
    maker.text("/fclib_local/info/description", "caf\xe9\nbar", 8);
    maker.text("/fclib_local/info/math_info", "", 1);
  }));
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(content->title, "Grüße");
  EXPECT_EQ(content->description, "caf\xEF\xBF\xBD bar");
  EXPECT_EQ(content->math_info, "");
}

TEST(AcceptedFiles, WhatIsLeftOutIsNoted) {
  const auto content = read(testing::local([](FileMaker& maker) {
    testing::make_answers(maker, 12);
    maker.reals("/guesses/2/u", {std::numeric_limits<double>::quiet_NaN()});
    maker.reals("/solution/r", {1.0});
  }));
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(content->guesses.size(), 1U);
  EXPECT_FALSE(content->solution.has_value());
  ASSERT_EQ(content->notes.size(), 2U);
  EXPECT_NE(content->notes[0].find("/solution/r: has 1 entries, expected 12; left out"), std::string::npos);
}

TEST(AcceptedFiles, NonzerosCountDuplicatesOnceAndKeepStoredZeros) {
  const auto content = read(testing::local(testing::changed_w(0, [](StoredMatrix& matrix) {
    matrix.m = matrix.n = 12;
    matrix.i = {0, 0, 5};
    matrix.p = {1, 1, 5};
    matrix.x = {1.0, 2.0, 0.0};
    matrix.nz = matrix.nzmax = 3;
  })));
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(summarise(*content).nonzeros, 2);
  EXPECT_EQ(content->w_matrix.coeff(0, 1), 3.0);
}

}  // namespace
}  // namespace conebench
