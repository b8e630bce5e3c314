#include "runners/execute/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SweepState state() {
  SweepState s;
  s.total = 200;
  s.resumed = 50;
  s.done = 50;
  s.solved = 40;
  s.cells_per_s = 12.3;
  s.left_s = 3725.0;
  return s;
}

TEST(Duration, IsReadable) {
  EXPECT_EQ(duration_text(0.04), "0.0 s");
  EXPECT_EQ(duration_text(4.25), "4.2 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(3725.0), "1 h 02 min");
}

TEST(ProgressPrinter, DrawsABarThatFitsOnATerminal) {
  std::string out;
  ProgressPrinter printer([&](const std::string& text) { out += text; }, true, 80);
  printer.cell_done({}, {}, {}, state());
  EXPECT_THAT(out,
              AllOf(HasSubstr("100/200"), HasSubstr("12 cells/s"), HasSubstr("1 h 02 min left"), HasSubstr("[##")));
  EXPECT_THAT(out, Not(HasSubstr("\n")));
  EXPECT_LE(out.size(), 80U + 4U);
}

TEST(ProgressPrinter, CountsStepsInPlaceAndTakesTheCountAway) {
  std::string out;
  ProgressPrinter printer([&](const std::string& text) { out += text; }, true, 80);
  printer.stepped(3, 40);
  EXPECT_THAT(out, HasSubstr("3 of 40 steps"));
  EXPECT_THAT(out, Not(HasSubstr("\n")));
  printer.clear();
  EXPECT_TRUE(out.ends_with("\r\033[K"));
}

TEST(ProgressPrinter, PrintsPlainLinesElsewhere) {
  std::string out;
  ProgressPrinter printer([&](const std::string& text) { out += text; }, false);
  printer.surveyed(1, 51);
  printer.began(state());
  printer.cell_done({}, {}, {}, state());
  printer.note("careful");
  printer.ended(state());
  EXPECT_THAT(out, Not(HasSubstr("reading")));
  EXPECT_THAT(out, Not(HasSubstr("\r")));
  EXPECT_THAT(out, Not(HasSubstr("\033")));
  EXPECT_THAT(
      out, AllOf(HasSubstr("150 cells to run, 50 stored already\n"), HasSubstr("careful\n"), HasSubstr("40 solved\n")));
}

}  // namespace
}  // namespace conebench
