#include "runners/execute/build_protocol.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace conebench {
namespace {

BuildOrder order() {
  BuildOrder order;
  order.source.scene = "box-stack";
  order.source.options = {{"boxes", 3L}, {"mass_ratio", 30.0}, {"mode", std::string("x")}, {"flag", true}};
  order.source.seed = 7;
  order.source.position = SequencePosition{"sequence", 4};
  order.problem_hash = "abc";
  order.request.solver = "NSGS";
  order.request.options = {{"relaxation", 1.0}};
  order.request.tolerance = 1e-7;
  order.request.stop_by = StopBy::judge_timed;
  order.request.start = Start::guess;
  order.request.repeats = {2, 3.5, 17};
  order.pinned_processor = 1;
  return order;
}

TEST(BuildProtocol, AnOrderComesBackWithItsTypes) {
  const auto back = decode_build_order(encode(order()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->source.options, order().source.options);
  EXPECT_EQ(back->request.options, order().request.options);
  EXPECT_EQ(back->source.seed, 7U);
  EXPECT_EQ(back->source.position->step, order().source.position->step);
  EXPECT_EQ(back->request.tolerance, 1e-7);
  EXPECT_EQ(back->request.stop_by, StopBy::judge_timed);
  EXPECT_EQ(back->request.start, Start::guess);
  EXPECT_EQ(back->request.repeats.maximum, 17);
  EXPECT_EQ(back->pinned_processor, 1);
  EXPECT_FALSE(back->answered);
}

std::string bytes_of(const nlohmann::json& object) {
  std::string bytes;
  nlohmann::json::to_cbor(object, bytes);
  return bytes;
}

TEST(BuildProtocol, RecordsOfOtherBuildsMayHaveOtherFields) {
  auto object = nlohmann::json::from_cbor(encode(BuildReply{}));
  object["cell"]["invented_later"] = {1, 2, 3};
  object["cell"].erase("judge_s");
  object["cell"]["total"].erase("cold_s");
  object["cell"]["iterations"] = 7;
  const auto back = decode_build_reply(bytes_of(object));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->record.iterations, 7);
  EXPECT_EQ(back->record.judge_s, CellRecord{}.judge_s);
}

TEST(BuildProtocol, AnOrderIsWhole) {
  const auto whole = nlohmann::json::from_cbor(encode(order()));
  for (const auto& [key, unused] : whole.items()) {
    auto object = whole;
    object.erase(key);
    EXPECT_FALSE(decode_build_order(bytes_of(object))) << key;
  }
}

TEST(BuildProtocol, AGreetingIsReadWhateverItsProtocolAndBuildAre) {
  const auto back = decode_build_greeting(bytes_of({{"protocol", 1}, {"build", {{"commit", "abc"}}}, {"more", true}}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->protocol, 1);
  EXPECT_EQ(back->build.commit, "abc");
}

TEST(BuildProtocol, AReplyKeepsEveryBitOfAnAnswerThatIsFinite) {
  BuildReply reply;
  reply.record.status = CellStatus::converged;
  reply.record.reaction = {1.0 / 3.0, -0.0, 1e-310, std::numeric_limits<double>::infinity()};
  reply.record.timed_rounds.emplace_back().switches = 3;
  reply.record.residuals.set("natural_map", {1e-9, "", -1});
  reply.record.residuals.set("energy", {2.0, "", -1});
  reply.record.verdict_value = 0.1;
  reply.error = Error{ErrorCode::wrong_usage, "unknown solver"};
  const auto back = decode_build_reply(encode(reply));
  ASSERT_TRUE(back);
  ASSERT_TRUE(back->error);
  EXPECT_EQ(back->error->code, ErrorCode::wrong_usage);
  EXPECT_EQ(back->record.status, CellStatus::converged);
  ASSERT_EQ(back->record.reaction.size(), 4U);
  EXPECT_EQ(back->record.reaction[0], 1.0 / 3.0);
  EXPECT_TRUE(std::signbit(back->record.reaction[1]));
  EXPECT_EQ(back->record.reaction[2], 1e-310);
  EXPECT_FALSE(std::isfinite(back->record.reaction[3]));
  ASSERT_EQ(back->record.timed_rounds.size(), 1U);
  EXPECT_EQ(back->record.timed_rounds[0].switches, 3);
  ASSERT_EQ(back->record.residuals.size(), 2U);
  EXPECT_EQ(back->record.residuals.at("natural_map").value, 1e-9);
  EXPECT_EQ(back->record.residuals.at("energy").value, 2.0);
  EXPECT_EQ(back->record.verdict_value, 0.1);
  EXPECT_FALSE(back->configuration);
}

TEST(BuildProtocol, AReplyHasTheConfigurationOfTheBuildThatReplies) {
  BuildReply reply;
  reply.configuration = ConfigurationRecord{"hash", "NSGS", 3, "NCP", "NSGS omega=1.2", R"({"omega":1.2})"};
  const auto back = decode_build_reply(encode(reply));
  ASSERT_TRUE(back && back->configuration);
  EXPECT_EQ(back->configuration->hash, "hash");
  EXPECT_EQ(back->configuration->solver_version, 3);
  EXPECT_EQ(back->configuration->options_json, R"({"omega":1.2})");
}

TEST(BuildProtocol, NonsenseIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("nonsense"), encode(order()).substr(1)}) {
    EXPECT_FALSE(decode_build_order(bytes));
    EXPECT_FALSE(decode_build_reply(bytes));
    EXPECT_FALSE(decode_build_greeting(bytes));
  }
  auto object = nlohmann::json::from_cbor(encode(order()));
  object["request"]["stop_by"] = "invented_later";
  EXPECT_FALSE(decode_build_order(bytes_of(object)));
}

}  // namespace
}  // namespace conebench
