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
  order.source.place = SequencePlace{"a sequence", 4};
  order.problem_hash = "abc";
  order.request.solver = "NSGS";
  order.request.options = {{"relaxation", 1.0}};
  order.request.tolerance = 1e-7;
  order.request.criterion = Criterion::verdict_paid;
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
  EXPECT_EQ(back->source.place->step, order().source.place->step);
  EXPECT_EQ(back->request.tolerance, 1e-7);
  EXPECT_EQ(back->request.criterion, Criterion::verdict_paid);
  EXPECT_EQ(back->request.start, Start::guess);
  EXPECT_EQ(back->request.repeats.maximum, 17);
  EXPECT_EQ(back->pinned_processor, 1);
  EXPECT_FALSE(back->answered);
}

TEST(BuildProtocol, FieldsOfANewerBuildAreLeftOutAndMissingOnesKeepTheirDefaults) {
  auto object = nlohmann::json::from_cbor(encode(order()));
  object["invented_later"] = {1, 2, 3};
  object.erase("memory_mb");
  std::string bytes;
  nlohmann::json::to_cbor(object, bytes);
  const auto back = decode_build_order(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->memory_mb, BuildOrder{}.memory_mb);
}

TEST(BuildProtocol, NonsenseIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("nonsense"), encode(order()).substr(1)}) {
    EXPECT_FALSE(decode_build_order(bytes));
    EXPECT_FALSE(decode_build_reply(bytes));
    EXPECT_FALSE(decode_build_greeting(bytes));
  }
  auto object = nlohmann::json::from_cbor(encode(order()));
  object["request"]["criterion"] = "a criterion of tomorrow";
  std::string bytes;
  nlohmann::json::to_cbor(object, bytes);
  EXPECT_FALSE(decode_build_order(bytes));
}

}  // namespace
}  // namespace conebench
