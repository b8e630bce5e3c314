#include "base/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace conebench {
namespace {

using ::testing::ElementsAre;

Error odd(int number) { return {ErrorCode::bad_input, std::to_string(number) + " is odd"}; }

Result<int> half(int number) {
  if (number % 2 != 0) return odd(number);
  return number / 2;
}

Result<void> check_even(int number) {
  if (number % 2 != 0) return odd(number);
  return {};
}

Result<int> quarter(int number) {
  CONEBENCH_TRY(const int once, half(number));
  CONEBENCH_TRY(const int twice, half(once));
  return twice;
}

Result<void> halve(int& number) {
  CONEBENCH_TRY(number, half(number));
  return {};
}

TEST(Try, DeclaresTheValue) { EXPECT_EQ(*quarter(12), 3); }

TEST(Try, ReturnsTheFirstError) {
  EXPECT_EQ(quarter(3).error().message, "3 is odd");
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_EQ(quarter(6).error().code, ErrorCode::bad_input);
}

TEST(Try, AssignsWhatIsDeclaredAlreadyAndLeavesItAloneAfterAnError) {
  int number = 6;
  EXPECT_TRUE(halve(number));
  EXPECT_EQ(number, 3);
  EXPECT_FALSE(halve(number));
  EXPECT_EQ(number, 3);
}

TEST(Try, MovesTheValue) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto use = [&]() -> Result<int> {
    CONEBENCH_TRY(const auto pointer, make());
    return *pointer;
  };
  EXPECT_EQ(*use(), 7);
}

TEST(Try, TakesAnExpressionWithCommas) {
  const auto sizes = []() -> Result<std::size_t> {
    CONEBENCH_TRY(const auto list, Result<std::vector<int>>(std::vector<int>{1, 2, 3}));
    return list.size();
  };
  EXPECT_EQ(*sizes(), 3U);
}

TEST(Check, ReturnsTheErrorAndDoesNotAskForTheRest) {
  std::vector<int> asked;
  const auto run = [&](const std::vector<int>& numbers) -> Result<void> {
    for (const int number : numbers) {
      asked.push_back(number);
      CONEBENCH_CHECK(check_even(number));
    }
    return {};
  };
  EXPECT_TRUE(run({2, 4}));
  asked.clear();
  EXPECT_EQ(run({2, 5, 6}).error().message, "5 is odd");
  EXPECT_THAT(asked, ElementsAre(2, 5));
}

TEST(Check, IsOneStatement) {
  const auto branch = [](bool checks) -> Result<std::string> {
    if (checks)
      CONEBENCH_CHECK(check_even(1));
    else
      return std::string("not checked");
    return std::string("passed");
  };
  EXPECT_FALSE(branch(true));
  EXPECT_EQ(*branch(false), "not checked");
}

TEST(Check, TakesAResultThatIsNotCopyable) {
  const auto pass_on = [](const Result<std::unique_ptr<int>>& given) -> Result<int> {
    CONEBENCH_CHECK(given);
    return **given;
  };
  EXPECT_EQ(*pass_on(std::make_unique<int>(7)), 7);
  EXPECT_EQ(pass_on(odd(1)).error().message, "1 is odd");
}

TEST(ResultOfNothing, StartsAsSuccess) {
  EXPECT_TRUE(Result<void>());
  EXPECT_FALSE(Result<void>(odd(1)));
}

TEST(Within, PutsTheLocationInFrontAndKeepsTheCode) {
  EXPECT_EQ(half(1).within("a.json").error().message, "a.json: 1 is odd");
  EXPECT_EQ(half(1).within("a.json").error().code, ErrorCode::bad_input);
  EXPECT_EQ(check_even(1).within("a.json").error().message, "a.json: 1 is odd");
  EXPECT_EQ(*half(4).within("a.json"), 2);
  EXPECT_TRUE(check_even(4).within("a.json"));
}

}  // namespace
}  // namespace conebench
