#include "store/cell_status.hpp"

#include <gtest/gtest.h>

#include <set>

#include "store/late_answer.hpp"

namespace conebench {
namespace {

TEST(CellStatuses, EveryNameIsReadBackAsItsStatus) {
  std::set<std::string_view> names;
  int number = 0;
  for (const CellStatusRow& row : cell_status_table()) {
    EXPECT_EQ(static_cast<int>(row.status), ++number) << "the table's order is the enumeration's";
    EXPECT_EQ(name(row.status), row.name);
    EXPECT_EQ(cell_status(row.name), row.status);
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), cell_status_table().size());
}

TEST(CellStatuses, ANameOfNoStatusIsUnknownAndNotRun) {
  EXPECT_EQ(cell_status("exploded"), CellStatus::unknown);
  EXPECT_EQ(cell_status(""), CellStatus::unknown);
  EXPECT_EQ(class_of(CellStatus::unknown), StatusClass::not_run);
}

TEST(CellStatuses, WhatEndedBadlyIsReportedFromWhatRanOutOfTime) {
  EXPECT_EQ(class_of(CellStatus::crashed), StatusClass::broke);
  EXPECT_EQ(class_of(CellStatus::out_of_memory), StatusClass::broke);
  EXPECT_EQ(class_of(CellStatus::timeout), StatusClass::clock);
  EXPECT_EQ(class_of(CellStatus::time_limit), StatusClass::clock);
  EXPECT_EQ(class_of(CellStatus::bad_problem), StatusClass::unreadable);
}

TEST(LateAnswers, PassAndDoNotCount) {
  CellRecord late;
  late.status = CellStatus::time_limit;
  late.tolerance = 1e-8;
  late.verdict_value = 6.62e-9;
  late.limit_s = 0.1;
  EXPECT_TRUE(passes_too_late(late));
  EXPECT_EQ(whole_reason(late), "passes, but came too late");
  late.reason = "came back after 0.2 s, 0.1 s allowed";
  EXPECT_EQ(whole_reason(late), "passes, but came too late; came back after 0.2 s, 0.1 s allowed");

  const auto with = [&](auto change) {
    CellRecord cell = late;
    change(cell);
    return whole_reason(cell) != cell.reason;
  };
  EXPECT_FALSE(with([](CellRecord& cell) { cell.verdict_value = 1.1e-8; }));
  EXPECT_FALSE(with([](CellRecord& cell) { cell.verdict_value.reset(); }));
  EXPECT_FALSE(with([](CellRecord& cell) { cell.solved = true; }));
  EXPECT_FALSE(with([](CellRecord& cell) { cell.status = CellStatus::flaky; })) << "another run's answer did not pass";
}

}  // namespace
}  // namespace conebench
