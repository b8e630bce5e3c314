#include "runners/execute/wire.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace conebench {
namespace {

CellReport report() {
  CellReport made;
  made.cell = 7;
  made.busy_s = 0.25;
  made.record.key = "k";
  made.record.status = CellStatus::converged;
  made.record.verdict_value = 1e-9;
  made.record.reaction = {1.0, -0.0, std::numeric_limits<double>::quiet_NaN()};
  made.record.residuals.set("penetration", {std::nullopt, "no gaps", -1});
  made.record.residuals.set("natural_map", {3.0, "", -1});
  made.record.total.median = 0.5;
  made.record.timed_rounds = {{1, 4, 0.4, 0.5, 0.75, 2}};
  return made;
}

TEST(Wire, ARecordComesThroughUnchanged) {
  const std::string bytes = encode(report());
  const auto decoded = decode_cell_report(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(encode(*decoded), bytes);
  EXPECT_EQ(decoded->record.residuals.at("penetration").missing, "no gaps");
  EXPECT_EQ(decoded->record.timed_rounds.at(0).cpu_share, 0.75);
}

TEST(Wire, FramesAreCutOutOfAnyPieces) {
  const std::string stream = encode_frame(FrameKind::loaded, "first") + encode_frame(FrameKind::cell_done, "");
  FrameBuffer buffer;
  std::vector<Frame> frames;
  for (const char byte : stream) {
    buffer.append(&byte, 1);
    while (auto frame = buffer.next()) frames.push_back(*frame);
  }
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].kind, FrameKind::loaded);
  EXPECT_EQ(frames[0].payload, "first");
  EXPECT_TRUE(buffer.empty());
}

TEST(Wire, EveryFlippedByteIsNoticed) {
  const std::string good = encode_frame(FrameKind::cell_done, encode(report()));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    FrameBuffer buffer;
    buffer.append(bad.data(), bad.size());
    EXPECT_FALSE(buffer.next()) << "byte " << i;
  }
}

TEST(Wire, CutOrLengthenedRecordsAreRefused) {
  const std::string good = encode(report());
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(decode_cell_report(std::string_view(good).substr(0, length))) << length;
  }
  EXPECT_FALSE(decode_cell_report(good + "x"));
  EXPECT_FALSE(decode_surveyed(good));
  EXPECT_FALSE(decode_cell_report(std::string(good.size(), '\xff')));
}

}  // namespace
}  // namespace conebench
