#include <cmath>
#include <limits>

#include "tests/fclib_loader/malformed_files.hpp"

namespace conebench::testing {

namespace {

namespace fs = std::filesystem;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The numbers at `path` with entry `index` replaced.
Edit entry_of(const std::string& path, std::size_t index, double value) {
  return [=](FileMaker& maker) {
    std::vector<double> values = maker.read_reals(path);
    values[index] = value;
    maker.reals(path, values);
  };
}

Edit integer_entry_of(const std::string& path, std::size_t index, std::int64_t value) {
  return [=](FileMaker& maker) {
    std::vector<std::int64_t> values = maker.read_integers(path);
    values[index] = value;
    FileMaker::Storage wide;
    wide.type = H5T_STD_I64LE;
    maker.integers(path, values, wide);
  };
}

std::vector<Malformed> missing_parts() {
  std::vector<Malformed> cases = {
      {"no_fclib_group", [](const fs::path& file) { FileMaker(file).group("/other"); }, {"not an FCLIB file"}},
      {"fclib_group_is_dataset",
       [](const fs::path& file) { FileMaker(file).reals("/fclib_local", {1.0}); },
       {"/fclib_local", "expected a group"}},
      {"v_without_r",
       mixed(both(removed("/fclib_local/R"), removed("/fclib_local/vectors/s"))),
       {"/fclib_local/R", "missing"}},
      {"r_without_v", mixed(removed("/fclib_local/V")), {"/fclib_local/V", "missing"}},
      {"v_and_r_without_s", mixed(removed("/fclib_local/vectors/s")), {"/fclib_local/vectors/s", "missing"}},
      {"s_without_v_and_r",
       local([](FileMaker& m) { m.reals("/fclib_local/vectors/s", {1.0}); }),
       {"/fclib_local/V", "missing"}},
      {"g_without_b",
       from(make_mixed_global, removed("/fclib_global/vectors/b")),
       {"/fclib_global/vectors/b", "missing"}},
      {"b_without_g", from(make_mixed_global, removed("/fclib_global/G")), {"/fclib_global/G", "missing"}},
      {"rolling_without_mu_r",
       from(make_rolling, removed("/fclib_global_rolling/vectors/mu_r")),
       {"/fclib_global_rolling/vectors/mu_r", "missing"}},
      {"local_of_dimension_5_without_mu_r",
       local([](FileMaker& m) {
         m.remove(w);
         write_matrix(m, w, stored(std::vector<double>(225), 15, 15, 0));
         m.integers("/fclib_local/spacedim", {5});
         m.reals(q, std::vector<double>(15));
         m.reals(mu, {0.1, 0.2, 0.3});
       }),
       {"mu_r", "missing"}},
      {"mu_r_in_dimension_3",
       local([](FileMaker& m) {
         m.reals("/fclib_local/vectors/mu_r", {0, 0, 0, 0});
       }),
       {"mu_r", "spacedim is 3"}},
      {"global_of_dimension_5", global(integer_at("/fclib_global/spacedim", 5)), {"spacedim", "5"}},
  };
  for (const std::string path :
       {"spacedim", "W", "vectors", "vectors/mu", "vectors/q", "W/m", "W/n", "W/nz", "W/nzmax", "W/p", "W/i", "W/x"}) {
    std::string name = "no_" + path;
    for (char& c : name) c = c == '/' ? '_' : c;
    cases.push_back({name, local(removed("/fclib_local/" + path)), {"/fclib_local/" + path, "missing"}});
  }
  for (const std::string path : {"M", "H", "vectors/f", "vectors/w", "vectors/mu"}) {
    std::string name = "no_global_" + path;
    for (char& c : name) c = c == '/' ? '_' : c;
    cases.push_back({name, global(removed("/fclib_global/" + path)), {"/fclib_global/" + path, "missing"}});
  }
  return cases;
}

std::vector<Malformed> wrong_sizes() {
  std::vector<Malformed> cases = {
      {"spacedim_of_two_numbers",
       local([](FileMaker& m) {
         m.integers("/fclib_local/spacedim", {3, 3});
       }),
       {"spacedim", "2 entries, expected 1"}},
      {"spacedim_of_none",
       local([](FileMaker& m) { m.integers("/fclib_local/spacedim", {}); }),
       {"spacedim", "0 entries"}},
      {"rows_not_a_multiple_of_spacedim",
       local([](FileMaker& m) {
         m.remove(w);
         write_matrix(m, w, stored(std::vector<double>(169), 13, 13, -2));
         m.reals(q, std::vector<double>(13));
       }),
       {"W/m", "13", "multiple"}},
      {"nz_beyond_the_arrays",
       local(changed_w(0, [](StoredMatrix& s) { s.nz = s.nzmax = 10000; })),
       {"W/p", "144 entries, expected 10000"}},
      {"nz_below_the_arrays", local(changed_w(0, [](StoredMatrix& s) { s.nz = 100; })), {"W/p", "expected 100"}},
      {"nz_above_nzmax", local(changed_w(0, [](StoredMatrix& s) { s.nzmax = 100; })), {"W/nz", "nzmax"}},
      {"nz_of_minus_3", local(integer_at(w + "/nz", -3)), {"W/nz", "-3"}},
      {"rows_compressed_with_column_pointers",
       local(changed_w(-2, [](StoredMatrix& s) { s.p.pop_back(); })),
       {"W/p", "12 entries, expected 13"}},
      {"negative_m", local(integer_at(w + "/m", -12)), {"W/m", "-12"}},
      {"negative_n", local(integer_at(w + "/n", -12)), {"W/n", "-12"}},
      {"negative_nzmax", local(integer_at(w + "/nzmax", -1)), {"W/nzmax", "-1"}},
      {"q_short", local([](FileMaker& m) { m.reals(q, std::vector<double>(9)); }), {q, "9 entries, expected 12"}},
      {"q_long", local([](FileMaker& m) { m.reals(q, std::vector<double>(15)); }), {q, "15 entries, expected 12"}},
      {"q_empty", local([](FileMaker& m) { m.reals(q, {}); }), {q, "0 entries, expected 12"}},
      {"q_of_three_by_four",
       local([](FileMaker& m) {
         m.reals(q, std::vector<double>(12), shaped({3, 4}));
       }),
       {q, "2 dimensions"}},
      {"q_of_rank_3",
       local([](FileMaker& m) {
         m.reals(q, std::vector<double>(12), shaped({12, 1, 1}));
       }),
       {q, "3 dimensions"}},
      {"mu_short",
       local([](FileMaker& m) {
         m.reals(mu, {0.1, 0.2, 0.3});
       }),
       {mu, "3 entries, expected 4"}},
      {"mu_of_two_by_two",
       local([](FileMaker& m) {
         m.reals(mu, std::vector<double>(4), shaped({2, 2}));
       }),
       {mu, "2 dimensions"}},
      {"x_shorter_than_i", local(changed_w(-2, [](StoredMatrix& s) { s.x.resize(100); })), {"W/x", "100 entries"}},
      {"i_shorter_than_x", local(changed_w(-1, [](StoredMatrix& s) { s.i.resize(100); })), {"W/i", "100 entries"}},
      {"w_not_square",
       local([](FileMaker& m) {
         m.remove(w);
         write_matrix(m, w, stored(std::vector<double>(108), 12, 9, -2));
       }),
       {"W/n", "9, expected 12"}},
      {"v_with_wrong_rows",
       mixed([](FileMaker& m) {
         m.remove("/fclib_local/V");
         write_matrix(m, "/fclib_local/V", stored(std::vector<double>(18), 9, 2, 0));
       }),
       {"/fclib_local/V/m", "9, expected 12"}},
      {"r_of_wrong_size",
       mixed([](FileMaker& m) {
         m.remove("/fclib_local/R");
         write_matrix(m, "/fclib_local/R", stored(std::vector<double>(9), 3, 3, 0));
       }),
       {"/fclib_local/R/m", "3, expected 2"}},
      {"s_short", mixed([](FileMaker& m) { m.reals("/fclib_local/vectors/s", {1.0}); }), {"vectors/s", "1 entries"}},
      {"h_with_wrong_rows",
       global([](FileMaker& m) {
         m.remove("/fclib_global/H");
         write_matrix(m, "/fclib_global/H", stored(std::vector<double>(36), 6, 6, 0));
       }),
       {"/fclib_global/H/m", "6, expected 9"}},
      {"m_not_square",
       global([](FileMaker& m) {
         m.remove("/fclib_global/M");
         write_matrix(m, "/fclib_global/M", stored(std::vector<double>(54), 9, 6, 0));
       }),
       {"/fclib_global/M/n", "6, expected 9"}},
      {"w_short",
       global([](FileMaker& m) {
         m.reals("/fclib_global/vectors/w", {1, 2, 3});
       }),
       {"vectors/w", "3 entries, expected 6"}},
      {"f_short",
       global([](FileMaker& m) {
         m.reals("/fclib_global/vectors/f", {1, 2, 3});
       }),
       {"vectors/f", "3 entries, expected 9"}},
      {"columns_of_h_not_a_multiple",
       global([](FileMaker& m) {
         m.remove("/fclib_global/H");
         write_matrix(m, "/fclib_global/H", stored(std::vector<double>(45), 9, 5, 0));
       }),
       {"/fclib_global/H/n", "5, not a multiple"}},
      {"g_with_wrong_rows",
       from(make_mixed_global,
            [](FileMaker& m) {
              m.remove("/fclib_global/G");
              write_matrix(m, "/fclib_global/G", stored({1, 1, 1}, 3, 1, 0));
            }),
       {"/fclib_global/G/m", "3, expected 9"}},
      {"b_long",
       from(make_mixed_global,
            [](FileMaker& m) {
              m.reals("/fclib_global/vectors/b", {1.0, 2.0});
            }),
       {"vectors/b", "2 entries, expected 1"}},
  };
  for (const int dimension : {0, 1, 4, 6, -3}) {
    cases.push_back({"spacedim_" + std::string(dimension < 0 ? "minus_3" : std::to_string(dimension)),
                     local(integer_at("/fclib_local/spacedim", dimension)),
                     {"/fclib_local/spacedim", std::to_string(dimension)}});
  }
  return cases;
}

std::vector<Malformed> wrong_values() {
  return {
      {"row_index_negative", local(changed_w(-2, [](StoredMatrix& s) { s.i[20] = -1; })), {"W/i", "entry 20 is -1"}},
      {"row_index_beyond", local(changed_w(-1, [](StoredMatrix& s) { s.i[20] = 12; })), {"W/i", "entry 20 is 12"}},
      {"triplet_row_beyond", local(changed_w(0, [](StoredMatrix& s) { s.i[7] = 12; })), {"W/i", "entry 7 is 12"}},
      {"triplet_column_negative", local(changed_w(0, [](StoredMatrix& s) { s.p[7] = -2; })), {"W/p", "entry 7 is -2"}},
      {"triplet_as_the_header_documents_it",
       global([](FileMaker& m) {
         const std::string h = "/fclib_global/H";
         const std::vector<std::int64_t> rows = m.read_integers(h + "/i");
         m.integers(h + "/i", m.read_integers(h + "/p"));
         m.integers(h + "/p", rows);
       }),
       {"/fclib_global/H/p", "columns"}},
      {"pointer_not_monotone",
       local(changed_w(-2, [](StoredMatrix& s) { std::swap(s.p[5], s.p[6]); })),
       {"W/p", "goes down at entry 6"}},
      {"pointer_first_not_zero", local(changed_w(-2, [](StoredMatrix& s) { s.p[0] = 3; })), {"W/p", "begins with 3"}},
      {"pointer_negative", local(changed_w(-2, [](StoredMatrix& s) { s.p[4] = -50; })), {"W/p", "-50"}},
      {"pointer_beyond_nzmax", local(changed_w(-2, [](StoredMatrix& s) { s.p[12] = 145; })), {"W/p", "145", "nzmax"}},
      {"pointer_beyond_int", local(integer_entry_of(w + "/p", 12, std::int64_t{1} << 33)), {"W/p", "8589934592"}},
      {"index_beyond_int32", local(integer_entry_of(w + "/i", 1, (std::int64_t{1} << 32) + 1)), {"W/i", "4294967297"}},
      {"nan_in_q", local(entry_of(q, 4, nan_value)), {q, "entry 4 is nan"}},
      {"infinity_in_q", local(entry_of(q, 5, -infinity)), {q, "entry 5 is -inf"}},
      {"nan_in_mu", local(entry_of(mu, 1, nan_value)), {mu, "entry 1 is nan"}},
      {"infinity_in_mu", local(entry_of(mu, 1, infinity)), {mu, "entry 1 is inf"}},
      {"negative_mu", local(entry_of(mu, 3, -0.5)), {mu, "entry 3 is negative"}},
      {"nan_in_w", local(entry_of(w + "/x", 143, nan_value)), {"W/x", "entry 143 is nan"}},
      {"infinity_in_w", local(entry_of(w + "/x", 0, infinity)), {"W/x", "entry 0 is inf"}},
      {"nan_in_v", mixed(entry_of("/fclib_local/V/x", 0, nan_value)), {"/fclib_local/V/x", "nan"}},
      {"nan_in_s", mixed(entry_of("/fclib_local/vectors/s", 0, nan_value)), {"vectors/s", "nan"}},
      {"nan_in_m", global(entry_of("/fclib_global/M/x", 0, nan_value)), {"/fclib_global/M/x", "nan"}},
      {"nan_in_f", global(entry_of("/fclib_global/vectors/f", 0, nan_value)), {"vectors/f", "nan"}},
      {"negative_mu_r",
       from(make_rolling, entry_of("/fclib_global_rolling/vectors/mu_r", 0, -1.0)),
       {"mu_r", "negative"}},
      {"duplicates_that_overflow",
       local(changed_w(0,
                       [](StoredMatrix& s) {
                         s.p[1] = s.p[0];
                         s.i[1] = s.i[0];
                         s.x[0] = s.x[1] = std::numeric_limits<double>::max();
                       })),
       {"W", "overflows"}},
  };
}

}  // namespace

std::vector<Malformed> malformed_content() {
  std::vector<Malformed> all;
  for (const auto& kinds : {missing_parts(), wrong_sizes(), wrong_values()})
    all.insert(all.end(), kinds.begin(), kinds.end());
  return all;
}

}  // namespace conebench::testing
