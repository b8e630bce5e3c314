#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/content_address.hpp"
#include "tests/cli/run_command_fixture.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* pointer_text =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\nsize 8992\n";

/// Everything with data sets of its own, below the scratch folder.
class DataCommand : public RunCommand {
 protected:
  void SetUp() override {
    RunCommand::SetUp();
    fs::create_directories(folder / "own/stacks");
    for (const char* boxes : {"boxes=1", "boxes=2"}) {
      ASSERT_EQ(conebench({"generate", "box-stack", "--set", boxes, "--out", folder / "own/stacks"}).code, 0);
    }
  }

  Outcome call(const std::vector<std::string>& words) {
    return conebench(words, {{}, {"CONEBENCH_DATA_HOME=" + (folder / "home")}, {}});
  }
  Outcome add_own() { return call({"data", "add", "mine", folder / "own", "--json"}); }

  /// A suite of the set, or of what --data is.
  std::string suite(const std::string& problems) {
    write("set.json", R"({"name": "set", "problems": [)" + problems +
                          R"(], "solvers": ["NSGS"], "tolerances": [1e-4],
                          "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
    return folder / "set.json";
  }

  void git(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"git", "-C", folder / "origin", "-c", "user.name=A", "-c", "user.email=a@b.c"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run_program(all);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  /// A repository with the own files in Local/stacks, and something in Other.
  void make_origin(const std::string& other) {
    fs::create_directories(folder / "origin/Local");
    fs::create_directories(folder / "origin/Other");
    fs::copy(folder / "own/stacks", folder / "origin/Local/stacks", fs::copy_options::recursive);
    std::ofstream(folder / "origin/Other/one.hdf5") << other;
    std::ofstream(folder / "origin/LICENSE") << "\n  Some Licence 1.0\nmore\n";
    git({"init", "-q"});
    git({"add", "."});
    git({"commit", "-q", "-m", "data"});
  }
  std::string url() { return "file://" + (folder / "origin"); }
};

TEST_F(DataCommand, AnOwnFolderHasAVersionMadeOfItsFilesAlone) {
  const Outcome added = add_own();
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(added.json()["schema"], "conebench.data_add/2");
  EXPECT_EQ(added.json()["files"], 2);
  const std::string version = added.json()["version"];
  EXPECT_EQ(add_own().json()["version"], version);
  EXPECT_EQ(call({"data", "add", "mine", "--json"}).json()["version"], version) << "its source is known";

  const auto manifest = nlohmann::json::parse(std::ifstream(folder / "home/mine.json"));
  EXPECT_EQ(manifest["schema"], "conebench.data_set/1");
  ASSERT_EQ(manifest["files"].size(), 2U);
  const fs::path first = fs::path(folder / "own") / manifest["files"][0]["path"].get<std::string>();
  EXPECT_EQ(manifest["files"][0]["bytes"], fs::file_size(first));
  EXPECT_EQ(manifest["files"][0]["xxh128"], file_xxh128(first));

  write("abc", "abc");
  EXPECT_EQ(file_xxh128(folder / "abc"), "06b05ab6733a618578af5f94892f3950");  // as xxhsum -H2 0.8.1 prints it

  fs::rename(folder / "own", folder / "elsewhere");
  const Outcome moved = call({"data", "add", "other", folder / "elsewhere", "--licence", "CC0", "--json"});
  EXPECT_EQ(moved.json()["version"], version) << moved.err;
  EXPECT_EQ(moved.json()["licence"], "CC0");
  const Outcome listed = call({"data", "list", "--json"});
  EXPECT_EQ(listed.json()["schema"], "conebench.data_list/2");
  EXPECT_EQ(listed.json()["sets"].size(), 2U);
  EXPECT_EQ(listed.json()["known"][0]["name"], "fclib-library");
  EXPECT_THAT(call({"data", "list"}).out, HasSubstr(version));
}

TEST_F(DataCommand, VerifyNamesWhatIsGoneAlteredOrNew) {
  ASSERT_EQ(add_own().code, 0);
  const Outcome sound = call({"data", "verify", "--json"});
  EXPECT_EQ(sound.code, 0) << sound.err;
  EXPECT_EQ(sound.json()["schema"], "conebench.data_verify/2");
  EXPECT_THAT(sound.json()["sets"][0]["faults"], IsEmpty());

  fs::rename(folder / "own/stacks/box-stack_boxes=1.hdf5", folder / "own/renamed.hdf5");
  {
    // One bit, the size as it was.
    std::fstream file(folder / "own/stacks/box-stack_boxes=2.hdf5", std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const char last = static_cast<char>(file.get() ^ 1);
    file.seekp(-1, std::ios::end);
    file.put(last);
  }
  const Outcome faulty = call({"data", "verify", "mine"});
  EXPECT_EQ(faulty.code, 3);
  EXPECT_THAT(faulty.out, HasSubstr("stacks/box-stack_boxes=1.hdf5 is gone"));
  EXPECT_THAT(faulty.out, HasSubstr("stacks/box-stack_boxes=2.hdf5 holds other data"));
  EXPECT_THAT(faulty.out, HasSubstr("renamed.hdf5 is new"));
  EXPECT_THAT(faulty.err, HasSubstr("mine: 3 files not as added"));
  expect_failure(call({"run", suite(R"({"data": "mine"})"), "--db", folder / "set.sqlite"}), 3,
                 {"data set mine", "is gone", "conebench data verify mine"});
  expect_failure(call({"run", suite(R"({"fclib": "*.hdf5"})"), "--data", "mine", "--db", folder / "set.sqlite"}), 3,
                 {"renamed.hdf5", "not in its manifest"});
  expect_failure(
      call({"run", suite(R"({"fclib": "stacks/*=2.hdf5"})"), "--data", "mine", "--db", folder / "set.sqlite"}), 3,
      {"boxes=2.hdf5", "holds other data"});
}

TEST_F(DataCommand, ARunTakesASetByNameAndKeepsItsVersionAndCompareShowsWhereDataDiffer) {
  const std::string before = add_own().json()["version"];
  const Outcome base =
      call({"run", suite(R"({"data": "mine", "fclib": "stacks/*.hdf5"})"), "--db", folder / "base.sqlite"});
  ASSERT_EQ(base.code, 0) << base.err;
  EXPECT_EQ(query("base.sqlite", "SELECT data_sets FROM runs").at(0), R"({"mine":")" + before + R"("})");
  EXPECT_EQ(query("base.sqlite", "SELECT source FROM problems ORDER BY source").at(0),
            "mine/stacks/box-stack_boxes=1.hdf5");
  const Outcome solved = call({"solve", "mine/stacks/box-stack_boxes=1.hdf5", "--solver", "NSGS"});
  EXPECT_EQ(solved.code, 0) << solved.err;

  fs::copy_file(generate(folder, {"box-stack", "--set", "boxes=3"}), folder / "own/stacks/box-stack_boxes=2.hdf5",
                fs::copy_options::overwrite_existing);
  const Outcome again = add_own();
  EXPECT_EQ(again.json()["version_before"], before);
  const std::string after = again.json()["version"];
  EXPECT_NE(after, before);
  ASSERT_EQ(call({"run", folder / "set.json", "--db", folder / "new.sqlite"}).code, 0);
  const Outcome compared = call({"compare", folder / "base.sqlite", folder / "new.sqlite", "--fail-on", "none"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  std::string text = compared.out;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    text.replace(
        at, text.find_first_not_of("\n ", at) == std::string::npos ? 1 : text.find_first_not_of("\n ", at) - at, " ");
  }
  EXPECT_THAT(
      text, HasSubstr("data set mine: version " + before + " in the baseline, version " + after + " in the candidate"));
  EXPECT_THAT(text, HasSubstr("of the problems 1 read other data, 0 are gone and 0 are new"));
  EXPECT_THAT(text, HasSubstr("box-stack_boxes=2"));
  const Outcome json = call({"compare", folder / "base.sqlite", folder / "new.sqlite", "--fail-on", "none", "--json"});
  EXPECT_EQ(json.json()["candidate"]["runs"][0]["data_sets"]["mine"], after);

  const Outcome merged =
      call({"merge", folder / "base.sqlite", folder / "new.sqlite", "--out", folder / "both.sqlite"});
  EXPECT_THAT(merged.out + merged.err, HasSubstr("different versions of the data set mine")) << merged.code;

  const Outcome by_data =
      call({"run", suite(R"({"fclib": "stacks/*.hdf5"})"), "--data", "mine", "--db", folder / "d.sqlite"});
  ASSERT_EQ(by_data.code, 0) << by_data.err;
  EXPECT_EQ(query("d.sqlite", "SELECT data_sets FROM runs").at(0), R"({"mine":")" + after + R"("})");
  EXPECT_EQ(query("d.sqlite", "SELECT data_folder FROM runs").at(0), fs::canonical(folder / "own").string());
  EXPECT_EQ(call({"run", suite(R"({"data": "mine@)" + after.substr(0, 6) + R"("})"), "--db", folder / "v.sqlite"}).code,
            0);
  expect_failure(call({"run", suite(R"({"data": "mine@)" + before + R"("})"), "--db", folder / "w.sqlite"}), 3,
                 {"problems[0]", "mine: version " + before + " is wanted, and here is " + after});
  ASSERT_EQ(run({}).code, 0);
  EXPECT_EQ(query("small.sqlite", "SELECT data_sets FROM runs").at(0), "{}");
}

TEST_F(DataCommand, ACloneBringsTheFoldersAskedForAndTheirLicence) {
  make_origin("whatever");
  const Outcome added = call({"data", "add", "fclib-library", url(), "--only", "Local/stacks/", "--json"});
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(added.json()["files"], 2);
  EXPECT_EQ(added.json()["licence"], "Some Licence 1.0 (LICENSE)");
  EXPECT_EQ(added.json()["only"], nlohmann::json({"Local/stacks"}));
  EXPECT_EQ(added.json()["revision"].get<std::string>().size(), 40U);
  EXPECT_EQ(added.json()["folder"], folder / "home/fclib-library");
  EXPECT_FALSE(fs::exists(folder / "home/fclib-library/Other"));
  EXPECT_EQ(
      call({"run", suite(R"({"fclib": "**/*.hdf5"})"), "--data", "fclib-library", "--db", folder / "c.sqlite"}).code,
      0);

  // A damaged clone is mended, a folder is added to the first, and what the repository has now is taken.
  std::ofstream(folder / "home/fclib-library/Local/stacks/box-stack_boxes=1.hdf5") << "damaged";
  EXPECT_EQ(call({"data", "verify"}).code, 3);
  const Outcome mended = call({"data", "add", "fclib-library", url(), "--json"});
  EXPECT_EQ(mended.json()["files"], 3) << mended.err;
  EXPECT_EQ(call({"data", "verify"}).code, 0);
  std::ofstream(folder / "origin/Other/two.hdf5") << "more";
  git({"add", "."});
  git({"commit", "-q", "-m", "more"});
  EXPECT_EQ(call({"data", "add", "fclib-library", url(), "--json"}).json()["files"], 4);
}

TEST_F(DataCommand, APointerInPlaceOfDataIsReportedWithTheCommandThatFetchesIt) {
  make_origin(pointer_text);
  const Outcome pointer = call({"data", "add", "library", url(), "--only", "Other"});
  EXPECT_EQ(pointer.code, 3);
  EXPECT_THAT(pointer.err,
              ::testing::AllOf(HasSubstr("library: "), HasSubstr("Git LFS pointers"), HasSubstr("(Other/one.hdf5)")));
  EXPECT_THAT(pointer.err, HasSubstr("git -C '" + (folder / "home/library") + "' lfs pull --include 'Other'"));
  EXPECT_FALSE(fs::exists(folder / "home/library.json"));

  ASSERT_EQ(add_own().code, 0);
  std::ofstream(folder / "own/stacks/box-stack_boxes=1.hdf5") << pointer_text;
  EXPECT_THAT(call({"data", "verify"}).out, HasSubstr("boxes=1.hdf5 is a Git LFS pointer"));
}

TEST_F(DataCommand, GitLfsObjectsComeAsDataAndWithoutThemPointersAreReported) {
  if (run_program({"git", "lfs", "version"}).code != 0) GTEST_SKIP() << "no Git LFS";
  fs::create_directories(folder / "origin/Local");
  fs::copy(folder / "own/stacks", folder / "origin/Local/stacks", fs::copy_options::recursive);
  git({"init", "-q"});
  git({"lfs", "install", "--local"});
  git({"lfs", "track", "*.hdf5"});
  git({"add", "."});
  git({"commit", "-q", "-m", "data"});
  const Outcome stored =
      run_program({"git", "-C", folder / "origin", "show", "HEAD:Local/stacks/box-stack_boxes=1.hdf5"});
  ASSERT_THAT(stored.out, HasSubstr("version https://git-lfs.github.com/spec/v1")) << "the repository holds pointers";

  const std::string version = add_own().json()["version"];
  const Outcome added = call({"data", "add", "library", url(), "--only", "Local", "--json"});
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(added.json()["files"], 2);
  const std::string file = folder / "home/library/Local/stacks/box-stack_boxes=1.hdf5";
  EXPECT_EQ(file_xxh128(file), file_xxh128(folder / "own/stacks/box-stack_boxes=1.hdf5"));
  EXPECT_EQ(call({"data", "verify", "library"}).code, 0);
  const Outcome ran = call({"run", suite(R"({"data": "library"})"), "--db", folder / "l.sqlite"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(query("l.sqlite", "SELECT count(*) FROM cells WHERE solved").at(0), "2");

  // An object that the remote has lost stays a pointer, which is reported with the command that fetches it once it is
  // back.
  fs::rename(folder / "origin/.git/lfs/objects", folder / "objects");
  const Outcome pointers = call({"data", "add", "lost", url()});
  EXPECT_EQ(pointers.code, 3);
  EXPECT_THAT(pointers.err,
              ::testing::AllOf(HasSubstr("lost: "), HasSubstr("Git LFS pointers"), HasSubstr("2 of 2 files")));
  EXPECT_THAT(pointers.err, HasSubstr("`git lfs pull` failed"));
  const std::string command = "git -C '" + (folder / "home/lost") + "' lfs pull";
  EXPECT_THAT(pointers.err, HasSubstr(command));
  fs::rename(folder / "objects", folder / "origin/.git/lfs/objects");
  const Outcome fetched = run_program({"sh", "-c", command});
  EXPECT_EQ(fetched.code, 0) << fetched.err;
  const Outcome mended = call({"data", "add", "lost", url(), "--json"});
  EXPECT_EQ(mended.json()["files"], 2) << mended.err;
}

TEST_F(DataCommand, ScenesAreASetThatIsTheSameEverywhere) {
  const std::vector<std::string> words = {
      "data", "add", "stacks", "--scene", "box-stack boxes=2", "--scene", "known-solution seed=7", "--json"};
  const Outcome here = call(words);
  ASSERT_EQ(here.code, 0) << here.err;
  EXPECT_EQ(here.json()["files"], 2);
  const Outcome there = conebench(words, {{}, {"CONEBENCH_DATA_HOME=", "XDG_DATA_HOME=" + (folder / "xdg")}, {}});
  EXPECT_EQ(there.json()["version"], here.json()["version"]) << there.err;
  EXPECT_TRUE(fs::exists(folder / "xdg/conebench/stacks.json"));
  EXPECT_EQ(call({"run", suite(R"({"data": "stacks"})"), "--db", folder / "s.sqlite"}).code, 0);
}

TEST_F(DataCommand, MistakesAreReportedInOneLine) {
  expect_failure(call({"data"}), 2, {});
  expect_failure(call({"data", "add", "../x", folder / "own"}), 2, {"a name has"});
  expect_failure(call({"data", "add", "mine"}), 2, {"from where?"});
  expect_failure(call({"data", "add", "mine", folder / "absent"}), 3, {"no such folder"});
  expect_failure(call({"data", "add", "mine", folder / "own", "--only", "../home"}), 2, {"--only ../home"});
  expect_failure(call({"data", "add", "mine", folder / "own", "--only", "absent"}), 3, {"holds no .hdf5"});
  expect_failure(call({"data", "add", "mine", "--scene", "box-stak boxes=2"}), 3, {"box-stak"});
  const Outcome away = call({"data", "add", "mine", "file://" + (folder / "absent")});
  EXPECT_EQ(away.code, 3);
  EXPECT_THAT(away.err, HasSubstr("`git fetch` from file://"));
  expect_failure(call({"data", "verify"}), 3, {"no data set", "`conebench data add NAME FOLDER`"});
  expect_failure(call({"data", "verify", "absent"}), 3,
                 {"absent: no such data set", "`conebench data add absent FOLDER`"});
  expect_failure(call({"data", "verify", "fclib-library"}), 3, {"`conebench data add fclib-library --only FOLDER`"});
  expect_failure(call({"run", suite(R"({"data": "absent"})"), "--db", folder / "a.sqlite"}), 3,
                 {"problems[0]", "absent"});
  expect_failure(call({"run", suite(R"({"fclib": "*.hdf5"})"), "--data", "absent", "--db", folder / "a.sqlite"}), 3,
                 {"--data absent: no such folder, and no data set"});
  expect_failure(call({"run", suite(R"({"data": "a", "scene": "sliding-box"})"), "--db", folder / "a.sqlite"}), 2,
                 {"problems[0]"});
  ASSERT_EQ(add_own().code, 0);
  expect_failure(call({"data", "add", "mine", folder / "own/stacks"}), 2,
                 {"it is there already, from " + (folder / "own")});
  {
    auto manifest = nlohmann::json::parse(std::ifstream(folder / "home/mine.json"));
    manifest["files"][0]["path"] = "../../etc/passwd";
    std::ofstream(folder / "home/mine.json") << manifest;
  }
  expect_failure(call({"data", "verify"}), 3,
                 {"home/mine.json: files[0].path: must be below", "`conebench data add mine FOLDER`"});
  std::ofstream(folder / "home/mine.json") << "{";
  expect_failure(call({"run", suite(R"({"fclib": "*.hdf5"})"), "--data", "mine", "--db", folder / "a.sqlite"}), 3,
                 {"home/mine.json"});
  EXPECT_THAT(call({"data", "list"}).out, HasSubstr("home/mine.json"));
}

TEST_F(DataCommand, RefusesALinkThatLeadsOutOfTheFolder) {
  fs::create_directories(folder / "elsewhere");
  fs::rename(folder / "own/stacks/box-stack_boxes=2.hdf5", folder / "elsewhere/secret.hdf5");
  fs::create_symlink(folder / "elsewhere/secret.hdf5", folder / "own/stacks/linked.hdf5");
  const Outcome added = add_own();
  EXPECT_EQ(added.code, 3);
  EXPECT_THAT(added.err, HasSubstr("linked.hdf5: is a link that leads out of the folder"));
  fs::remove(folder / "own/stacks/linked.hdf5");
  fs::create_symlink("box-stack_boxes=1.hdf5", folder / "own/stacks/inside.hdf5");
  EXPECT_EQ(add_own().code, 0);
}

}  // namespace
}  // namespace conebench::testing
