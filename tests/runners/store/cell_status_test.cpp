#include "runners/store/cell_status.hpp"

#include <gtest/gtest.h>

#include <set>

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

TEST(CellStatuses, WhatEndedBadlyIsToldFromWhatRanOutOfTime) {
  EXPECT_EQ(class_of(CellStatus::crashed), StatusClass::broke);
  EXPECT_EQ(class_of(CellStatus::out_of_memory), StatusClass::broke);
  EXPECT_EQ(class_of(CellStatus::timeout), StatusClass::clock);
  EXPECT_EQ(class_of(CellStatus::time_limit), StatusClass::clock);
  EXPECT_EQ(class_of(CellStatus::bad_problem), StatusClass::unreadable);
}

}  // namespace
}  // namespace conebench
