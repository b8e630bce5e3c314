#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>

#include "tests/cli/run_command_fixture.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// Every file below a folder, by its path there.
std::map<std::string, std::string> files_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).generic_string()] = text_of(entry.path());
  }
  return files;
}

/// Paths that only one has, or whose bytes differ.
std::vector<std::string> differing(const std::map<std::string, std::string>& a,
                                   const std::map<std::string, std::string>& b) {
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : a) {
    if (!b.contains(path) || b.at(path) != bytes) paths.push_back(path);
  }
  for (const auto& [path, bytes] : b) {
    if (!a.contains(path)) paths.push_back(path);
  }
  return paths;
}

void write_npy(const fs::path& file, const std::vector<double>& values) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
  header.resize(117, ' ');
  header += '\n';
  std::ofstream stream(file, std::ios::binary);
  stream << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header;
  stream.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(8 * values.size()));
}

std::vector<double> values_of_npy(const std::string& bytes) {
  const std::size_t begin = 10 + static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  std::vector<double> values((bytes.size() - begin) / 8);
  std::memcpy(values.data(), bytes.data() + begin, 8 * values.size());
  return values;
}

/// The small suite's store, its site, and the answers of NSGS at 1e-6 as a submission.
class Publish : public RunCommand {
 protected:
  void SetUp() override {
    RunCommand::SetUp();
    ASSERT_EQ(run({}).code, 0);
  }

  Outcome publish(std::vector<std::string> arguments, const std::string& out = "site") {
    arguments.insert(arguments.begin(), "publish");
    arguments.insert(arguments.end(), {"--out", folder / out});
    return conebench(arguments);
  }
  nlohmann::json list(const std::string& out = "site") {
    return nlohmann::json::parse(text_of(folder / (out + "/site.json")), nullptr, false);
  }
  std::string address(const std::string& out = "site") { return list(out)["entries"][0]["address"]; }

  /// The archive unpacked by tar; its folder.
  fs::path unpack(const std::string& name) {
    const std::string archive = folder / ("site/" + address() + "/answers/" + name + ".tar");
    const auto tar = run_program({"tar", "-xf", archive, "-C", folder.path().string()});
    EXPECT_EQ(tar.code, 0) << tar.err;
    return folder.path() / name;
  }

  Outcome judge(const fs::path& submission, std::vector<std::string> more = {}, const std::string& store = "sent") {
    std::vector<std::string> arguments = {
        "judge", submission.string(),         "--submission", "--suite", folder / "small.json",
        "--db",  folder / (store + ".sqlite")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return conebench(arguments);
  }

  static nlohmann::json manifest_of(const fs::path& submission) {
    return nlohmann::json::parse(text_of(submission / "manifest.json"));
  }
  static void write_manifest(const fs::path& submission, const nlohmann::json& manifest) {
    std::ofstream(submission / "manifest.json") << manifest.dump();
  }
};

TEST_F(Publish, WritesTheReportItsStoreItsAnswersAndChecksums) {
  const auto outcome = publish({folder / "small.sqlite"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string at = address();
  EXPECT_THAT(at, ::testing::MatchesRegex("results/small-[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9a-f]{12}"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(at + "/index.html"), HasSubstr("site/index.html")));
  const auto files = files_below(folder / "site");
  for (const char* name : {"index.html", "report.md", "report.json", "cells.csv", "problems.csv", "store.sqlite",
                           "answers/NSGS-1e-6.tar", "answers/PGS-CCP-1e-4.tar"}) {
    EXPECT_TRUE(files.contains(at + "/" + name)) << name;
  }
  const auto entry = list()["entries"][0];
  EXPECT_EQ(entry["cells"], 8);
  EXPECT_EQ(entry["slices"][1]["rows"][0]["label"], "NSGS");
  EXPECT_EQ(entry["slices"][1]["rows"][0]["origin"], "own");
  EXPECT_EQ(entry["files"].size() + 4, files.size());  // the list's own
  EXPECT_THAT(files.at(at + "/index.html"), HasSubstr("href=\"../../index.html\""));
  const auto sums = run_program({"sha256sum", "--check", "--strict", "SHA256SUMS"}, {.folder = folder / "site"});
  EXPECT_EQ(sums.code, 0) << sums.out << sums.err;
  EXPECT_EQ(std::count(sums.out.begin(), sums.out.end(), '\n') + 1, std::ssize(files));

  // What is downloaded is the store: every record, and every bit of λ.
  const std::string there = "site/" + at + "/store.sqlite";
  EXPECT_EQ(query(there, answers), query("small.sqlite", answers));
  ASSERT_EQ(publish({folder / there}, "again").code, 0);
  EXPECT_EQ(address("again"), at);
}

TEST_F(Publish, TheSameStoresGiveTheSameSiteAndOneMoreLeavesAddressesAndPages) {
  ASSERT_EQ(publish({folder / "small.sqlite"}).code, 0);
  ASSERT_EQ(publish({folder / "small.sqlite"}, "twin").code, 0);
  const auto first = files_below(folder / "site");
  EXPECT_THAT(differing(first, files_below(folder / "twin")), IsEmpty());
  ASSERT_EQ(publish({folder / "small.sqlite"}).code, 0);
  EXPECT_THAT(differing(first, files_below(folder / "site")), IsEmpty());

  ASSERT_EQ(run({}, "tuesday.sqlite").code, 0);
  ASSERT_EQ(publish({folder / "tuesday.sqlite", folder / "small.sqlite"}).code, 0);
  const auto more = files_below(folder / "site");
  for (const auto& [path, bytes] : first) {
    if (!path.starts_with("results/")) continue;
    ASSERT_TRUE(more.contains(path)) << path;
    EXPECT_TRUE(more.at(path) == bytes) << path;
  }
  EXPECT_THAT(list()["entries"], SizeIs(2));
  EXPECT_TRUE(more.contains("history/small/index.html"));
  EXPECT_THAT(more.at("history/small/history.json"),
              HasSubstr("../../" + list()["entries"][0]["address"].get<std::string>()));

  const auto fewer = publish({folder / "tuesday.sqlite"});
  EXPECT_THAT(fewer.err, AllOf(HasSubstr("not in the list"), HasSubstr("results/small-")));
  EXPECT_TRUE(files_below(folder / "site").contains(first.begin()->first));
  fs::copy_file(folder / "small.sqlite", folder / "copy.sqlite");
  EXPECT_THAT(publish({folder / "small.sqlite", folder / "copy.sqlite"}).err, HasSubstr("holds the same as"));
}

TEST_F(Publish, HeldOutSetsAreApartAndTheirAnswersStayAtHome) {
  ASSERT_EQ(publish({folder / "small.sqlite"}).code, 0);
  const std::string at = address();
  const auto outcome = publish({folder / "small.sqlite", "--held-out", "sliding-box"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto entries = list()["entries"];
  ASSERT_THAT(entries, SizeIs(2));
  std::map<std::string, nlohmann::json> by_address;
  for (const auto& entry : entries) by_address[entry["address"]] = entry;
  EXPECT_EQ(by_address[at]["held_out"], false);
  EXPECT_EQ(by_address[at]["cells"], 4);
  EXPECT_EQ(by_address[at + "/held-out"]["held_out"], true);
  EXPECT_EQ(by_address[at + "/held-out"]["families"], nlohmann::json({"sliding-box"}));
  const auto files = files_below(folder / "site");
  EXPECT_THAT(files.at(at + "/problems.csv"), Not(HasSubstr("sliding-box")));
  EXPECT_THAT(files.at(at + "/held-out/problems.csv"), Not(HasSubstr("box-stack")));
  EXPECT_THAT(files.at(at + "/held-out/report.md"), HasSubstr("Held out: these problems"));
  // Published before it was held out.
  for (const auto& [path, bytes] : files) {
    EXPECT_THAT(path, AllOf(Not(HasSubstr("store.sqlite")), Not(HasSubstr("answers/"))));
  }
  ASSERT_EQ(publish({folder / "small.sqlite", "--held-out", folder / "small.sqlite"}, "whole").code, 0);
  EXPECT_EQ(list("whole")["entries"][0]["held_out"], true);
  EXPECT_EQ(address("whole"), at);
  expect_failure(publish({folder / "small.sqlite", "--held-out", "none"}, "x"), 2, {"--held-out none"});
}

TEST_F(Publish, AProblemThatOneStoreHoldsOutIsHeldOutInAll) {
  ASSERT_EQ(run({"--filter", "family=sliding-box"}, "secret.sqlite").code, 0);
  const auto outcome =
      publish({folder / "small.sqlite", folder / "secret.sqlite", "--held-out", folder / "secret.sqlite"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  long open = 0, held_out = 0;
  const auto listed = list();
  for (const auto& entry : listed["entries"])
    (entry["held_out"].get<bool>() ? held_out : open) += entry["cells"].get<long>();
  EXPECT_EQ(open, 4);
  EXPECT_EQ(held_out, 8);  // of both stores
  for (const auto& [path, bytes] : files_below(folder / "site")) {
    EXPECT_THAT(path, AllOf(Not(HasSubstr("store.sqlite")), Not(HasSubstr("answers/"))));
  }
}

TEST_F(Publish, WhatIsHeldOutGoesFromEarlierAddresses) {
  ASSERT_EQ(publish({folder / "small.sqlite"}).code, 0);
  const fs::path earlier = fs::path(folder / "site") / address();
  ASSERT_TRUE(fs::exists(earlier / "store.sqlite"));
  ASSERT_EQ(run({}, "tuesday.sqlite").code, 0);
  const auto kept = publish({folder / "tuesday.sqlite"});
  EXPECT_TRUE(fs::exists(earlier / "store.sqlite")) << kept.err;
  const auto taken = publish({folder / "tuesday.sqlite", "--held-out", "sliding-box"});
  ASSERT_EQ(taken.code, 0) << taken.err;
  EXPECT_THAT(taken.err, HasSubstr("stores and answers removed"));
  EXPECT_FALSE(fs::exists(earlier / "store.sqlite"));
  EXPECT_FALSE(fs::exists(earlier / "answers"));
  EXPECT_TRUE(fs::exists(earlier / "index.html"));
}

TEST_F(Publish, AStoreThatMixesSubmittedAndMeasuredRunsIsRefused) {
  ASSERT_EQ(publish({folder / "small.sqlite"}).code, 0);
  ASSERT_EQ(judge(unpack("NSGS-1e-6")).code, 0);
  const auto merged = conebench(
      {"merge", folder / "small.sqlite", folder / "sent.sqlite", "--allow-mixed", "--out", folder / "mixed.sqlite"});
  ASSERT_EQ(merged.code, 0) << merged.err;
  expect_failure(publish({folder / "mixed.sqlite"}, "mixed"), 3, {"mixed.sqlite: mixes answers"});
}

TEST_F(Publish, AnonymousSitesNameNoHostFolderOrStore) {
  ASSERT_EQ(publish({folder / "small.sqlite", "--anonymous"}).code, 0);
  for (const auto& [path, bytes] : files_below(folder / "site")) {
    EXPECT_THAT(path, AllOf(Not(HasSubstr("store.sqlite")), Not(HasSubstr("answers/")), Not(HasSubstr("small"))));
    EXPECT_THAT(bytes, AllOf(Not(HasSubstr(folder.path().string())), Not(HasSubstr("sliding-box")))) << path;
  }
}

TEST_F(Publish, WhatCannotBeReadIsOneLine) {
  write("bad.sqlite", "no store");
  expect_failure(publish({folder / "bad.sqlite"}), 3, {"bad.sqlite"});
  expect_failure(publish({folder / "none.sqlite"}), 3, {"none.sqlite"});
  expect_failure(publish({folder / "small.sqlite", folder / "small.sqlite"}), 3, {"given twice"});
  fs::create_directory(folder / "empty");
  expect_failure(publish({folder / "empty"}), 3, {"empty", "no store"});
}

TEST_F(Publish, AnswersOfASiteAreASubmissionWithTheSameVerdicts) {
  ASSERT_EQ(publish({folder / "small.sqlite"}).code, 0);
  const fs::path submission = unpack("NSGS-1e-6");
  auto manifest = manifest_of(submission);
  manifest["by"] = "Jane <b>Doe</b>";
  manifest["machine"] = "a <script>alert(1)</script> machine";
  manifest["solver"] = "CASCADE";  // it may call itself what it likes
  for (auto& answer : manifest["answers"]) answer["seconds"] = 1e-9;
  write_manifest(submission, manifest);
  const auto judged = judge(submission, {"--json"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_EQ(judged.json()["schema"], "conebench.judge_submission/2");
  EXPECT_EQ(judged.json()["answers"], 2);
  EXPECT_EQ(judged.json()["solved"], 4);  // at both tolerances
  const std::string verdicts =
      "SELECT problem, verdict_value, solved FROM cells JOIN configurations ON configuration = configurations.hash "
      "WHERE tolerance = 1e-6 AND label LIKE ";
  EXPECT_EQ(query("sent.sqlite", verdicts + "'CASCADE (submitted)' ORDER BY problem"),
            query("small.sqlite", verdicts + "'NSGS' ORDER BY problem"));

  // Judged again from the store alone.
  const std::string stored = "SELECT key, solved, verdict_value FROM cells ORDER BY key";
  const auto before = query("sent.sqlite", stored);
  const auto again = conebench({"rejudge", folder / "sent.sqlite"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("4 of 4 cells judged anew; 0 became solved, 0 unsolved"));
  EXPECT_EQ(query("sent.sqlite", stored), before);

  // Claimed times are nowhere but in the list and in the store.
  ASSERT_EQ(publish({folder / "small.sqlite", folder / "sent.sqlite"}).code, 0);
  std::map<std::string, nlohmann::json> by_mode;
  const auto both = list();
  for (const auto& entry : both["entries"]) by_mode[entry["mode"]] = entry;
  EXPECT_EQ(by_mode["submitted"]["submission"]["claimed_median_s"], 1e-9);
  EXPECT_EQ(by_mode["submitted"]["slices"][0]["rows"][0]["origin"], "submitted");
  EXPECT_EQ(by_mode["timed"]["slices"][0]["rows"].size(), 2U);
  EXPECT_THAT(both["histories"], SizeIs(0));
  const fs::path site = folder / "site";
  const auto report = nlohmann::json::parse(text_of(site / by_mode["submitted"]["address"] / "report.json"));
  EXPECT_EQ(report["times_shown"], false);
  EXPECT_THAT(text_of(site / by_mode["submitted"]["address"] / "report.md"), HasSubstr("Answers were sent in"));
  for (const auto& [path, bytes] : files_below(site)) {
    if (!path.ends_with(".html")) continue;
    EXPECT_THAT(bytes, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<b>Doe")))) << path;
  }
  const auto joined = conebench(
      {"report", folder / "small.sqlite", folder / "sent.sqlite", "--force-time-profiles", "--out", folder / "joined"});
  ASSERT_EQ(joined.code, 0) << joined.err;
  const auto together = nlohmann::json::parse(text_of(folder / "joined/report.json"));
  EXPECT_EQ(together["times_shown"], false);
  EXPECT_THAT(together["slices"], SizeIs(2)) << "solved shares are compared in the same slices";
}

TEST_F(Publish, AnswersInTheFilesOrderAndAWrongOneAreToldApart) {
  const std::string problem = generate(folder, {"sliding-box"});
  ASSERT_EQ(conebench({"solve", problem, "--solver", "NSGS", "--tolerance", "1e-9", "--write-solution",
                       folder / "answer.hdf5"})
                .code,
            0);
  const fs::path submission = folder / "jane";
  fs::create_directory(submission);
  fs::copy_file(folder / "answer.hdf5", submission / "box.hdf5");
  const std::vector<std::string> names = query("small.sqlite", "SELECT source FROM problems ORDER BY name");
  ASSERT_THAT(names, SizeIs(2));
  const std::vector<std::string> rows = query("small.sqlite", "SELECT rows FROM problems ORDER BY name");
  write_npy(submission / "stack.npy", std::vector<double>(std::stoul(rows[0]), 1.0));
  std::ofstream(submission / "readme.txt") << "not asked for";
  write_manifest(
      submission,
      {{"schema", "conebench.submission/1"},
       {"solver", "MINE"},
       {"version", "1"},
       {"answers", {{{"problem", names[1]}, {"file", "box.hdf5"}}, {{"problem", names[0]}, {"file", "stack.npy"}}}}});
  const auto judged = judge(submission);
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("MINE 1 on small: 2 answers judged, 2 of 4 cells solved; 0 problems without"));
  EXPECT_THAT(judged.err, HasSubstr("1 file that the manifest does not name: readme.txt"));
  expect_failure(judge(submission), 3, {"sent.sqlite: exists"});
}

/// A submission in which everything is wrong, and one answer right.
TEST_F(Publish, AHostileFolderCostsItsOwnAnswersAlone) {
  ASSERT_EQ(publish({folder / "small.sqlite"}).code, 0);
  const fs::path submission = unpack("NSGS-1e-6");
  const auto good = manifest_of(submission);
  const auto try_answer = [&](const std::string& file, const std::string& store) {
    auto manifest = good;
    manifest["answers"][0]["file"] = file;
    write_manifest(submission, manifest);
    return judge(submission, {}, store);
  };
  const std::string right = good["answers"][0]["file"];
  const auto values = values_of_npy(text_of(submission / right));
  auto changed = values;
  changed[1] = std::numeric_limits<double>::quiet_NaN();
  write_npy(submission / "nan.npy", changed);
  changed.push_back(0.0);
  write_npy(submission / "long.npy", changed);
  write_npy(submission / "none.npy", {});
  std::ofstream(submission / "text.npy") << "<img src=x onerror=alert(1)>";
  std::ofstream(submission / "huge.npy");
  fs::resize_file(submission / "huge.npy", std::uintmax_t{1} << 40U);
  fs::create_symlink("/etc/passwd", submission / "link.npy");
  fs::create_symlink(".", submission / "loop");
  fs::copy_file(submission / right, folder / "outside.npy");
  ASSERT_EQ(mkfifo((submission / "pipe.npy").c_str(), 0600), 0);
  const std::vector<std::pair<std::string, std::string>> cases = {{"nan.npy", "nan"},
                                                                  {"long.npy", "entries, expected"},
                                                                  {"none.npy", "has 0 entries"},
                                                                  {"text.npy", "NumPy"},
                                                                  {"huge.npy", "1099511627776"},
                                                                  {"link.npy", "is a link"},
                                                                  {"loop/" + right, "is a link"},
                                                                  {"../outside.npy", "leads out"},
                                                                  {folder / "outside.npy", "leads out"},
                                                                  {"pipe.npy", "no regular file"},
                                                                  {"missing.npy", "is not in the folder"},
                                                                  {".", "no regular file"}};
  int count = 0;
  for (const auto& [file, why] : cases) {
    const std::string store = "hostile-" + std::to_string(count++);
    const auto judged = try_answer(file, store);
    EXPECT_EQ(judged.code, 4) << file << judged.err;
    EXPECT_THAT(judged.out, HasSubstr("1 answer judged, 2 of 2 cells solved")) << file;
    EXPECT_THAT(judged.err, AllOf(HasSubstr("answers[0] ("), HasSubstr(why))) << file;
    EXPECT_THAT(query(store + ".sqlite", "SELECT status, count(*) FROM cells GROUP BY status"),
                Contains("breakdown|2"));
  }

  auto twice = good;
  twice["answers"].push_back({{"problem", good["answers"][0]["problem"]}, {"file", right}});
  twice["answers"].push_back({{"problem", "no such <b>problem</b>"}, {"file", right}});
  write_manifest(submission, twice);
  const auto judged = judge(submission, {}, "twice");
  EXPECT_EQ(judged.code, 4);
  EXPECT_THAT(judged.err, AllOf(HasSubstr("2 answers for the problem"), HasSubstr("no problem of the suite small")));
  EXPECT_EQ(query("twice.sqlite", "SELECT count(*) FROM cells WHERE solved"), std::vector<std::string>{"2"});

  // Manifests that are none: nothing is judged, no store is made.
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    fs::remove(submission / "manifest.json");
    std::ofstream(submission / "manifest.json") << text;
    expect_failure(judge(submission, {}, "none"), 3, parts);
    EXPECT_FALSE(fs::exists(folder / "none.sqlite"));
  };
  refused("", {"manifest.json"});
  refused(std::string(100000, '['), {"manifest.json"});
  refused("{\"schema\": \"conebench.submission/1\"}", {"solver: is missing"});
  refused(R"({"schema": "conebench.submission/9", "solver": "A", "version": "1", "answers": [{}]})", {"schema"});
  refused(R"({"schema": "conebench.submission/1", "solver": "A\nB", "version": "1", "answers": [{}]})", {"solver"});
  refused(R"({"schema": "conebench.submission/1", "solver": "A", "version": "1", "answers": []})", {"answers"});
  refused(R"({"schema": "conebench.submission/1", "solver": "A", "version": "1", "run": "rm -rf", "answers": [{}]})",
          {"run: unknown key"});
  refused(R"({"schema": "conebench.submission/1", "solver": "A", "version": "1",
              "answers": [{"problem": "p", "file": "f", "seconds": 1}]})",
          {"machine: is missing"});
  refused(R"({"schema": "conebench.submission/1", "solver": "A", "version": "1",
              "answers": [{"problem": "p", "file": "f", "seconds": -1}]})",
          {"answers[0].seconds"});
  fs::remove(submission / "manifest.json");
  fs::create_symlink("/etc/passwd", submission / "manifest.json");
  expect_failure(judge(submission, {}, "none"), 3, {"manifest.json: is a link"});
  expect_failure(judge(folder / "small.json", {}, "none"), 3, {"is no folder"});
  expect_failure(conebench({"judge", submission.string(), "--submission"}), 2, {"--suite"});

  // Nothing that can be used.
  write_npy(submission / "r.npy", changed);
  fs::remove(submission / "manifest.json");
  write_manifest(submission, {{"schema", "conebench.submission/1"},
                              {"solver", "A"},
                              {"version", "1"},
                              {"answers", {{{"problem", "p"}, {"file", "r.npy"}}}}});
  EXPECT_EQ(judge(submission, {}, "nothing").code, 5);
}

}  // namespace
}  // namespace conebench::testing
