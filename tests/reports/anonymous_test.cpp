#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/report.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A store as one of a user "ada" on "bench01" has it.
StoreContents of_ada() {
  StoreContents store = testing::small_store();
  RunRecord& run = store.runs.front();
  run.suite_folder = "/home/ada/suites";
  run.data_folder = "/data/ada/fclib";
  run.suite_text = R"({"problems": [{"fclib": "/home/ada/fclib/*.hdf5"}, {"fclib": "~/own/a.hdf5"}], "b": "a/b"})";
  run.build.flags = "-O3 -I/home/ada/include -L/home/ada/lib";
  run.noise = {"a reader of /home/ada/x was slow"};
  store.problems[0].source = "/home/ada/fclib/BoxesStack/stack-2.hdf5";
  store.problems[1].copies = {"/home/ada/other/stack-5.hdf5"};
  store.problems.back().error = "cannot open /home/ada/torn.hdf5: no such file";
  store.settings[2].options_json = R"({"model":"/home/ada/m.xml","increment":0.01})";
  store.settings[2].label = "ADMM-NCP-SA increment=0.01 model=/home/ada/m.xml";
  store.cells[5].reason = "signal 11 in (/home/ada/lib/solver.so)";
  return store;
}

TEST(Anonymous, NoFileOfAReportHasHostUserOrFolder) {
  const StoreContents store = of_ada();
  std::string named;
  for (const ReportFile& file : render_report(store, {})) named += file.content;
  EXPECT_THAT(named, HasSubstr("ada"));
  EXPECT_THAT(named, HasSubstr("bench01"));
  for (const ReportFile& file : render_report(anonymous(store), {})) {
    for (const char* word : {"/ada", "ada/", "bench01", "/home", "/data", "~/"}) {
      EXPECT_THAT(file.content, Not(HasSubstr(word))) << file.path << " has " << word;
    }
  }
}

TEST(Anonymous, FoldersWithSpacesAreLeftOutToo) {
  StoreContents store = of_ada();
  store.runs.front().data_folder = "/home/ada lovelace/my data";
  store.runs.front().suite_text = R"({"solvers": [{"program": ["python3", "/home/ada lovelace/tools/sol.py"]}]})";
  store.problems.back().error = "/home/ada lovelace/my data/torn.hdf5: not HDF5";
  store.cells[5].reason = "/home/ada lovelace/tools/sol.py: no licence in /home/ada lovelace";
  const StoreContents left = anonymous(store);
  EXPECT_EQ(left.problems.back().error, "torn.hdf5: not HDF5");
  EXPECT_EQ(left.cells[5].reason, "sol.py: no licence in ");
  for (const ReportFile& file : render_report(left, {})) {
    EXPECT_THAT(file.content, Not(HasSubstr("lovelace"))) << file.path;
  }
}

TEST(Anonymous, ThatThereWereTwoMachinesIsStillTold) {
  StoreContents store = of_ada();
  RunRecord other = store.runs.front();
  other.id = store.runs.back().id + 1;
  other.machine.host = "bench02";
  store.runs.push_back(other);
  store.cells.back().run_id = other.id;
  std::string all;
  for (const ReportFile& file : render_report(anonymous(store), {})) all += file.content;
  EXPECT_THAT(all, HasSubstr("Mixed machines: cells come from machine 1"));
  EXPECT_THAT(all, Not(HasSubstr("bench0")));
}

TEST(Anonymous, OneMachineHasOneNumberInSeveralStores) {
  StoreContents other = of_ada();
  other.runs.front().machine.host = "bench02";
  HostNumbers numbers;
  EXPECT_EQ(anonymous(of_ada(), &numbers).runs.front().machine.host, "machine 1");
  EXPECT_EQ(anonymous(other, &numbers).runs.front().machine.host, "machine 2");
  EXPECT_EQ(anonymous(of_ada(), &numbers).runs.front().machine.host, "machine 1");
}

TEST(Anonymous, WhatIsLeftStillSaysWhatWasRun) {
  const StoreContents store = anonymous(of_ada());
  EXPECT_EQ(store.problems[0].source, "stack-2.hdf5");
  EXPECT_EQ(store.problems.back().error, "cannot open torn.hdf5: no such file");
  EXPECT_EQ(store.settings[2].label, "ADMM-NCP-SA increment=0.01 model=m.xml");
  EXPECT_EQ(store.cells[5].reason, "signal 11 in (solver.so)");
  EXPECT_THAT(store.runs[0].suite_text, HasSubstr(R"({"fclib": "*.hdf5"}, {"fclib": "a.hdf5"}], "b": "a/b")"));
  EXPECT_EQ(store.problems[2].source, testing::small_store().problems[2].source)
      << "of a data set: no folder of a user";
  EXPECT_EQ(store.runs[0].machine.cpu, of_ada().runs[0].machine.cpu);
}

}  // namespace
}  // namespace conebench
