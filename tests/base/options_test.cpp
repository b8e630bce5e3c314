#include "base/options.hpp"
#include "base/option_parsing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Sample {
  double relaxation = 1.0;
  long sweeps = 10;
  bool warm = false;
  std::string rule = "linear";

  static void declare(OptionBinder& bind, Sample& o) {
    bind.real("relaxation", o.relaxation, {.minimum = 0, .maximum = 2, .doc = "weight of the new value"});
    bind.integer("sweeps", o.sweeps, {.minimum = 1, .maximum = 100, .unit = "1", .doc = "a check"});
    bind.flag("warm", o.warm, "start from the guess");
    bind.choice("rule", o.rule, {"linear", "spectral"}, "of the penalty");
  }
};

struct Bound {
  Sample sample;
  OptionBinder binder;
  Bound() { Sample::declare(binder, sample); }
  std::string failure(const OptionValues& values) {
    const auto assigned = binder.assign(values);
    EXPECT_FALSE(assigned.ok());
    if (assigned) return "";
    EXPECT_EQ(assigned.error().code, ErrorCode::wrong_usage);
    return assigned.error().message;
  }
};

TEST(Options, AreListedAsDeclared) {
  Bound bound;
  const auto specs = bound.binder.specs();
  ASSERT_EQ(specs.size(), 4U);
  EXPECT_EQ(specs[0].name, "relaxation");
  EXPECT_EQ(specs[0].default_value, OptionValue{1.0});
  EXPECT_EQ(specs[0].maximum, 2.0);
  EXPECT_EQ(specs[1].unit, "1");
  EXPECT_THAT(specs[3].choices, ElementsAre("linear", "spectral"));
}

TEST(Options, AreAssignedAndKeepDefaults) {
  Bound bound;
  ASSERT_TRUE(bound.binder.assign({{"relaxation", 0.5}, {"warm", true}, {"rule", std::string("spectral")}}).ok());
  EXPECT_EQ(bound.sample.relaxation, 0.5);
  EXPECT_TRUE(bound.sample.warm);
  EXPECT_EQ(bound.sample.rule, "spectral");
  EXPECT_EQ(bound.sample.sweeps, 10);
  EXPECT_EQ(bound.binder.effective().at("sweeps"), OptionValue{10L});
}

TEST(Options, TakeAnIntegerForAReal) {
  Bound bound;
  ASSERT_TRUE(bound.binder.assign({{"relaxation", 2L}}).ok());
  EXPECT_EQ(bound.sample.relaxation, 2.0);
}

TEST(Options, SayWhichValueBreaksWhichBound) {
  Bound bound;
  EXPECT_THAT(bound.failure({{"relaxation", 2.5}}), HasSubstr("option 'relaxation' = 2.5 is outside [0, 2]"));
  EXPECT_THAT(bound.failure({{"relaxation", std::nan("")}}), HasSubstr("outside [0, 2]"));
  EXPECT_THAT(bound.failure({{"sweeps", 0L}}), HasSubstr("option 'sweeps' = 0 is outside [1, 100]"));
  EXPECT_THAT(bound.failure({{"rule", std::string("cubic")}}),
              HasSubstr("option 'rule' = cubic must be one of: linear, spectral"));
}

TEST(Options, SayWhichTypeIsWanted) {
  Bound bound;
  EXPECT_THAT(bound.failure({{"relaxation", true}}), HasSubstr("option 'relaxation' = true must be a number"));
  EXPECT_THAT(bound.failure({{"sweeps", 2.5}}), HasSubstr("option 'sweeps' = 2.5 must be an integer"));
  EXPECT_THAT(bound.failure({{"warm", 1L}}), HasSubstr("option 'warm' = 1 must be true or false"));
  EXPECT_THAT(bound.failure({{"rule", 1.0}}), HasSubstr("must be a word"));
}

TEST(Options, NameTheKnownOnesForAnUnknownOne) {
  Bound bound;
  EXPECT_THAT(
      bound.failure({{"relaxtion", 0.5}}),
      HasSubstr("unknown option 'relaxtion'; did you mean 'relaxation'? known: relaxation, sweeps, warm, rule"));
  OptionBinder none;
  const auto assigned = none.assign({{"x", 1L}});
  ASSERT_FALSE(assigned.ok());
  EXPECT_THAT(assigned.error().message, HasSubstr("known: none"));
}

TEST(Options, ChangeNothingWhereOneValueIsWrong) {
  Bound bound;
  EXPECT_FALSE(bound.binder.assign({{"relaxation", 0.5}, {"sweeps", 0L}}).ok());
  EXPECT_EQ(bound.sample.relaxation, 1.0);
}

TEST(Options, AreDeclaredOnce) {
  Bound bound;
  bool again = false;
  EXPECT_THROW(bound.binder.flag("warm", again, "twice"), std::logic_error);
}

TEST(ParseOption, ReadsTheTypeOfTheDefault) {
  Bound bound;
  const auto specs = bound.binder.specs();
  EXPECT_EQ(parse_option(specs[0], "1e-3").value(), OptionValue{1e-3});
  EXPECT_EQ(parse_option(specs[0], "2").value(), OptionValue{2.0});
  EXPECT_EQ(parse_option(specs[1], "42").value(), OptionValue{42L});
  EXPECT_EQ(parse_option(specs[2], "true").value(), OptionValue{true});
  EXPECT_EQ(parse_option(specs[3], "spectral").value(), OptionValue{std::string("spectral")});
}

TEST(ParseOption, RefusesWhatIsNoSuchValue) {
  Bound bound;
  const auto specs = bound.binder.specs();
  for (const auto& [spec, text] : std::vector<std::pair<std::size_t, std::string>>{
           {0, "fast"}, {0, ""}, {0, "1.0x"}, {1, "1.5"}, {1, "99999999999999999999"}, {2, "yes"}}) {
    const auto parsed = parse_option(specs[spec], text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("option '" + specs[spec].name + "' = " + text + " must be"));
  }
}

TEST(ParseOptions, ReadsWordsAndNamesTheWrongOne) {
  Bound bound;
  const auto specs = bound.binder.specs();
  const auto parse = [&](const std::vector<std::string>& words) {
    return parse_options(words, specs, "PGS", "--set ");
  };
  EXPECT_EQ(parse({"relaxation=2", "rule=spectral"}).value(),
            (OptionValues{{"relaxation", 2.0}, {"rule", std::string("spectral")}}));
  EXPECT_EQ(parse({}).value(), OptionValues{});
  const auto expect_wrong = [&](const std::vector<std::string>& words, const std::string& named) {
    const auto parsed = parse(words);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::wrong_usage);
    EXPECT_THAT(parsed.error().message, AllOf(StartsWith("--set " + words.back() + ": "), HasSubstr(named)));
  };
  expect_wrong({"relaxation"}, "key=value");
  expect_wrong({"relaxtion=1"}, "did you mean 'relaxation'?");
  expect_wrong({"sweeps=x"}, "integer");
  expect_wrong({"sweeps=1", "sweeps=2"}, "twice");
}

TEST(SplitList, TakesBlanksAndEmptyWordsOut) {
  EXPECT_EQ(split_list(" a=1, b c ,,d, "), (std::vector<std::string>{"a=1", "b c", "d"}));
  EXPECT_TRUE(split_list(" ").empty());
}

RC_GTEST_PROP(ParseOptionProperty, RealsRoundTripThroughText, ()) {
  const auto value = *rc::gen::suchThat<double>([](double x) { return std::isfinite(x); });
  Bound bound;
  RC_ASSERT(parse_option(bound.binder.specs()[0], to_text(value)).value() == OptionValue{value});
}

}  // namespace
}  // namespace conebench
