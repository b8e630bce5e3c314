#include "runners/plan/peer_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/temporary_folder.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "simulation/sampled_scenes.hpp"
#include "solvers/registry.hpp"
#include "tests/support/paths.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PeerPrograms : public ::testing::Test {
 protected:
  /// A program that says this of itself, whatever it is asked.
  std::vector<std::string> says(const std::string& description) {
    const fs::path script = folder_.path() / ("says" + std::to_string(++scripts_) + ".sh");
    std::ofstream(script) << "for last; do :; done\n"
                             "reply=$(sed 's/.*\"reply\":\"\\([^\"]*\\)\".*/\\1/' \"$last\")\n"
                             "cat >\"$reply\" <<'EOF'\n"
                          << description << "\nEOF\n";
    return {"/bin/sh", script.string()};
  }
  fs::path code(const std::string& text) {
    const fs::path file = folder_.path() / std::to_string(++scripts_) / "module.py";
    fs::create_directory(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  const TemporaryFolder folder_;
  int scripts_ = 0;
};

std::string of_version(const std::string& id, const std::string& version) {
  return R"({"id": ")" + id + R"(", "name": "a peer", "peer": {"version": ")" + version +
         R"(", "released": "2026-11-28"}})";
}

TEST_F(PeerPrograms, TheTableHasAModuleForEach) {
  ASSERT_FALSE(peer_programs().empty());
  std::set<std::string> ids;
  for (const PeerProgram& peer : peer_programs()) {
    EXPECT_TRUE(ids.insert(peer.id).second) << peer.id;
    EXPECT_FALSE(peer.packages.empty()) << peer.id;
    EXPECT_FALSE(peer.extra.empty()) << peer.id;
    EXPECT_TRUE(fs::exists(fs::path(CONEBENCH_SOURCE_DIR) / "python/conebench/peers" / (peer.module + ".py")))
        << peer.id;
  }
  EXPECT_EQ(find_peer_program("NSGS"), nullptr);
}

TEST_F(PeerPrograms, OneWithoutItsPackagesSaysWhatBringsThem) {
  const PeerProgram peer{"ABSENT", "module", "cone", {"clarabel"}};
  const auto added = add_peer(peer, says(R"({"id": "ABSENT", "missing": ["clarabel"]})"), {});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::unsupported);
  EXPECT_EQ(added.error().message, "ABSENT: needs clarabel: pip install 'conebench[cone]'");
  const auto without = add_peer(peer, {"/no/such/python"}, {});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::unsupported);
  EXPECT_THAT(without.error().message, HasSubstr("CONEBENCH_PYTHON"));
}

TEST_F(PeerPrograms, ItsCodeAndItsVersionButNoPathArePartOfItsKey) {
  const PeerProgram peer{"KEYED", "module", "cone", {"clarabel"}};
  ASSERT_TRUE(add_peer(peer, says(of_version("KEYED", "1.0")), {code("pass")}));
  const SolverRow* const row = find_solver("KEYED");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->info.origin, Origin::peer);
  EXPECT_EQ(row->info.peer.version, "1.0");
  EXPECT_EQ(row->info.peer.released, "2026-11-28");
  EXPECT_FALSE(row->content_hash.empty());
  EXPECT_TRUE(add_peer(peer, says(of_version("KEYED", "1.0")), {code("pass")})) << "the same from elsewhere";
  EXPECT_FALSE(add_peer(peer, says(of_version("KEYED", "1.1")), {code("pass")}));
  EXPECT_FALSE(add_peer(peer, says(of_version("KEYED", "1.0")), {code("pass  # edited")}));
}

TEST_F(PeerPrograms, AProgramOfAnotherSolverIsRefused) {
  const auto added = add_peer({"ASKED", "module", "cone", {"clarabel"}}, says(of_version("OTHER", "1")), {});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "ASKED: its program is of OTHER");
}

TEST_F(PeerPrograms, ASuiteAsksForAnOfferedSolverOnceAndNeedsNoLeave) {
  int asked = 0;
  const PeerProgram peer{"OFFERED", "module", "cone", {"clarabel"}};
  offer_solvers({{"OFFERED", "LACKING"}, [&](const std::string& id) -> Result<void> {
                   ++asked;
                   if (id == "LACKING") return Error{ErrorCode::unsupported, "LACKING: needs nothing"};
                   return add_peer(peer, says(of_version("OFFERED", "1")), {});
                 }});
  const auto suite = [](const std::string& solvers) {
    return parse_suite(R"({"problems": [{"scene": "box-stack"}], "solvers": )" + solvers + "}", "x.json",
                       simulation::sampled_scenes());
  };
  const auto made = suite(R"(["NSGS", "OFFERED", {"id": "LACKING", "optional": true}])");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->solvers.size(), 2U);
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(suite(R"(["OFFERED"])"));
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(suite(R"(["LACKING"])").error().message, HasSubstr("LACKING: needs nothing"));
  EXPECT_THAT(suite(R"(["OFERED"])").error().message, HasSubstr("did you mean 'OFFERED'?"));
  offer_solvers({});
}

}  // namespace
}  // namespace conebench
