#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "reports/report.hpp"
#include "store/records.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What must not be found: a name with a blank and a letter beyond ASCII, a folder of Windows, one of Unix.
const std::string marker = "Ada L\xC3\xB6velace C:\\Users\\ada /home/ada bench01 ";

/// Puts it in front of every text of a record.
struct Plant {
  template <class Value>
  void operator()(const Field&, Value& value) {
    if constexpr (std::is_same_v<Value, std::string>) {
      if (!value.empty()) value.insert(0, marker);
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
      value.push_back("");
      for (std::string& one : value) one.insert(0, marker);
    } else if constexpr (std::is_same_v<Value, std::vector<NoiseRecord>>) {
      for (const NoiseKind kind : {NoiseKind::governor, NoiseKind::joined}) {
        value.push_back({kind, 0.0, marker});
      }
    } else if constexpr (std::is_same_v<Value, std::map<std::string, double>>) {
      value[marker] = 1.0;
    } else if constexpr (std::is_same_v<Value, std::map<std::string, std::string>>) {
      value[marker] = marker;
      value["Eigen"] = marker;
    }
  }
  template <class Visit>
  void group(const char*, Visit visit) {
    visit(*this);
  }
  void json_text(const Field&, std::string& text) { text = R"({"model":")" + std::string("/home/ada/m.xml") + R"("})"; }
};

/// Keys are changed alike wherever they stand, so that records still refer to each other.
StoreContents planted() {
  StoreContents store = testing::small_store();
  Plant plant;
  for (RunRecord& run : store.runs) {
    run.suite_folder = run.data_folder = run.scope_json = "x";
    RunRecord::fields(plant, run);
  }
  for (ProblemRecord& problem : store.problems) ProblemRecord::fields(plant, problem);
  for (ConfigurationRecord& configuration : store.configurations) {
    configuration.origin = configuration.peer_build = configuration.peer_version = configuration.peer_released = "x";
    ConfigurationRecord::fields(plant, configuration);
  }
  for (CellRecord& cell : store.cells) {
    cell.reason = cell.stage = "x";
    CellRecord::fields(plant, cell);
    ResidualList residuals;
    for (auto [name, residual] : cell.residuals) {
      residual.missing = marker;
      residuals.set(marker + name, residual);
      residuals.set(name, residual);
    }
    cell.residuals = std::move(residuals);
  }
  store.acceptances.push_back({marker, marker, marker, marker, marker});
  store.filter = marker;
  store.own_left_out.push_back({marker, marker});
  SuiteState suite;
  suite.name = suite.filter = marker;
  suite.missing.insert({marker + "p", marker + "s", 1e-6, marker});
  suite.sources[marker + "p"] = {marker, marker, marker};
  suite.configurations[marker + "s"] = {marker, marker};
  suite.known_by_name.insert(marker + "p");
  store.suites.push_back(std::move(suite));
  return store;
}

std::string report_of(const StoreContents& store) {
  std::string all;
  for (const ReportFile& file : render_report(store, {})) all += file.content;
  return all;
}

std::set<std::string> known() { return {"NSGS", "ADMM-NCP-SA", "shuffled"}; }

TEST(Anonymous, NoTextOfAnyFieldIsPublished) {
  const StoreContents store = planted();
  const std::string named = report_of(store);
  Pseudonyms names(known());
  const StoreContents left = anonymous(store, names);
  for (const ReportFile& file : render_report(left, {})) {
    // Of the page its data: the charting library behind it is no field.
    const std::size_t begin = file.path == "index.html" ? file.content.find("id=\"data\"") : 0;
    const std::size_t end = file.path == "index.html" ? file.content.find("</script>", begin) : file.content.size();
    for (const char* word : {"Ada", "velace", "Users", "ada", "bench01", "/home"}) {
      EXPECT_THAT(file.content.substr(begin, end - begin), Not(HasSubstr(word))) << file.path << " has " << word;
    }
  }
  EXPECT_THAT(named, HasSubstr("velace"));
  EXPECT_THAT(changes_since(left, left), Not(HasSubstr("velace")));
  EXPECT_TRUE(left.acceptances.empty());
  EXPECT_EQ(left.cells.size(), store.cells.size());
}

TEST(Anonymous, TwoMachinesAreStillNoted) {
  StoreContents store = testing::small_store();
  RunRecord other = store.runs.front();
  other.id = store.runs.back().id + 1;
  other.machine.host = "bench02";
  store.runs.push_back(other);
  store.cells.back().run_id = other.id;
  Pseudonyms names(known());
  const std::string all = report_of(anonymous(store, names));
  EXPECT_THAT(all, HasSubstr("Mixed machines: cells come from machine 1"));
  EXPECT_THAT(all, Not(HasSubstr("bench0")));
}

TEST(Anonymous, OneNameHasOneNumberInSeveralStores) {
  StoreContents other = testing::small_store();
  other.runs.front().machine.host = "bench02";
  Pseudonyms names(known());
  EXPECT_EQ(anonymous(testing::small_store(), names).runs.front().machine.host, "machine 1");
  EXPECT_EQ(anonymous(other, names).runs.front().machine.host, "machine 2");
  EXPECT_EQ(anonymous(testing::small_store(), names).runs.front().machine.host, "machine 1");
}

TEST(Anonymous, NumbersStatusesAndKnownSolversAreKept) {
  StoreContents store = testing::small_store();
  store.configurations[0].solver = "NSGS";
  store.configurations[0].changed_options = {"model", "order"};
  store.configurations[0].options_json = R"({"order":"shuffled","model":"/home/ada/m.xml","relaxation":1.0})";
  store.configurations[1].solver = "of-my-own";
  store.runs[0].machine.cpu = "AMD EPYC 7763 64-Core Processor of Ada";
  store.runs[0].build.flags = "-O3 -march=native -I/home/ada/include";
  Pseudonyms names(known());
  const StoreContents left = anonymous(store, names);
  EXPECT_EQ(left.configurations[0].label, "NSGS order=shuffled");
  EXPECT_EQ(left.configurations[0].options_json, R"({"order":"shuffled","relaxation":1.0})");
  EXPECT_EQ(left.configurations[1].solver, "solver 1");
  EXPECT_EQ(left.runs[0].machine.cpu, "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(left.runs[0].build.flags, "-O3 -march=native");
  EXPECT_EQ(left.runs[0].build.commit, "");
  ASSERT_EQ(left.cells.size(), store.cells.size());
  for (std::size_t i = 0; i < store.cells.size(); ++i) {
    EXPECT_EQ(left.cells[i].status, store.cells[i].status);
    EXPECT_EQ(left.cells[i].solved, store.cells[i].solved);
    EXPECT_EQ(left.cells[i].iterations, store.cells[i].iterations);
    EXPECT_EQ(left.cells[i].total.median, store.cells[i].total.median);
  }
}

}  // namespace
}  // namespace conebench
