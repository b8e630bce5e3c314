#include "runners/plan/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace conebench {
namespace {

using ::testing::HasSubstr;

FilterSubject subject() {
  FilterSubject s;
  s.family = "Capsules";
  s.problem = "Capsules-i100-889";
  s.solver = "PGS-NCP";
  s.configuration = "PGS-NCP relaxation=0.8";
  s.tolerance = 1e-6;
  s.contacts = 216.0;
  return s;
}

bool holds(const std::string& expression) {
  const auto filter = CellFilter::parse(expression);
  EXPECT_TRUE(filter) << filter.error().message;
  return filter->holds(subject());
}

std::string error_of(const std::string& expression) {
  const auto filter = CellFilter::parse(expression);
  return filter ? "no error" : filter.error().message;
}

TEST(Filter, TheEmptyOneHolds) {
  EXPECT_TRUE(holds(""));
  EXPECT_TRUE(holds("  "));
}

TEST(Filter, ComparesTexts) {
  EXPECT_TRUE(holds("family=Capsules"));
  EXPECT_FALSE(holds("family=Chain"));
  EXPECT_TRUE(holds("family!=Chain"));
  EXPECT_TRUE(holds("solver=PGS-*"));
  EXPECT_FALSE(holds("solver!=PGS-*"));
  EXPECT_TRUE(holds("problem~i1\\d\\d-"));
  EXPECT_FALSE(holds("problem!~^Caps"));
  EXPECT_TRUE(holds("configuration=\"PGS-NCP relaxation=0.8\""));
}

TEST(Filter, ComparesNumbers) {
  EXPECT_TRUE(holds("tolerance<=1e-6"));
  EXPECT_FALSE(holds("tolerance<1e-6"));
  EXPECT_TRUE(holds("contacts > 200"));
  EXPECT_TRUE(holds("contacts=216"));
  EXPECT_FALSE(holds("contacts!=216"));
}

TEST(Filter, AllTermsMustHold) {
  EXPECT_TRUE(holds("family=Capsules && tolerance>=1e-8 && solver~NCP"));
  EXPECT_FALSE(holds("family=Capsules&&tolerance>1e-4"));
  EXPECT_TRUE(holds("configuration!=\"a && b\" && family=Capsules"));
}

TEST(Filter, ATermOverWhatIsNotKnownYetHolds) {
  EXPECT_TRUE(holds("kind=local"));
  EXPECT_TRUE(holds("rows<0"));
  EXPECT_TRUE(holds("category=dense-contacts"));
}

TEST(Filter, LooksAtCategoryAndConditioningOnlyWhereAsked) {
  FilterSubject sparse = subject();
  sparse.category = "sparse contacts";
  sparse.conditioning = 1e5;
  const auto filter = CellFilter::parse("category=\"sparse contacts\" && conditioning>=1e4");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->needs_features());
  EXPECT_TRUE(filter->holds(sparse));
  sparse.conditioning = 1e3;
  EXPECT_FALSE(filter->holds(sparse));
  sparse.conditioning = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(filter->holds(sparse)) << "known to have none";
  EXPECT_FALSE(CellFilter::parse("contacts>1 && limits>0 && joints>0")->needs_features());
}

TEST(Filter, ACategoryIsTakenWithHyphensToo) {
  FilterSubject dense = subject();
  dense.category = "dense contacts";
  for (const char* const text :
       {"category=dense-contacts", "category=\"dense contacts\"", "category=dense*", "category!=sparse-contacts"}) {
    EXPECT_TRUE(CellFilter::parse(text)->holds(dense)) << text;
  }
  EXPECT_FALSE(CellFilter::parse("category=sparse-contacts")->holds(dense));
}

TEST(Filter, AValueThatThereIsNoneOfIsNamed) {
  EXPECT_THAT(error_of("category=dense-contcts"), HasSubstr("did you mean 'dense contacts'?"));
  EXPECT_THAT(error_of("category!=heavy"),
              HasSubstr("no category is called 'heavy'; known, with blanks or hyphens: unknown, no constraint"));
  EXPECT_THAT(error_of("kind=locl"), HasSubstr("did you mean 'local'?"));
  EXPECT_EQ(error_of("kind=mixed*"), "no error");
  EXPECT_THAT(error_of("kind=fixed*"), HasSubstr("no kind is called 'fixed*'"));
}

TEST(Filter, HowACellEndedIsAFieldOfStoredCellsAlone) {
  FilterSubject cell = subject();
  cell.status = "timeout";
  cell.reason = "killed after 10 s";
  cell.solved = "no";
  const auto stored = [](const std::string& text) { return CellFilter::parse(text, {.of_stored_cells = true}); };
  for (const char* const text : {"status=timeout", "status!=converged", "status~^(timeout|crashed)$", "solved=no",
                                 "solved!=yes", "solved=false", "reason~killed"}) {
    ASSERT_TRUE(stored(text)) << stored(text).error().message;
    EXPECT_TRUE(stored(text)->holds(cell)) << text;
    EXPECT_TRUE(stored(text)->needs_outcome());
  }
  EXPECT_FALSE(stored("solved=true")->holds(cell));
  EXPECT_FALSE(stored("solver=PGS-NCP")->needs_outcome());
  EXPECT_THAT(stored("status=timout").error().message, HasSubstr("did you mean 'timeout'?"));
  EXPECT_THAT(stored("solved=maybe").error().message, HasSubstr("known: yes, no"));
  EXPECT_THAT(error_of("solved=no"), HasSubstr("'solved' is of cells that have run"));
}

TEST(Filter, AMistakeIsNamed) {
  EXPECT_THAT(error_of("famly=x"), HasSubstr("unknown field 'famly'; known: category, configuration, family"));
  EXPECT_THAT(error_of("family"), HasSubstr("no operator"));
  EXPECT_THAT(error_of("solver==NSGS"), HasSubstr("'==' is no operator; write ="));
  EXPECT_THAT(error_of("family<3"), HasSubstr("a text takes"));
  EXPECT_THAT(error_of("contacts~3"), HasSubstr("a number takes"));
  EXPECT_THAT(error_of("contacts=many"), HasSubstr("no number"));
  EXPECT_THAT(error_of("problem~("), HasSubstr("no regular expression"));
  EXPECT_THAT(error_of("family=a && "), HasSubstr("no operator"));
  EXPECT_THAT(error_of("family!a"), HasSubstr("write != or !~"));
}

TEST(Filter, TwentyThousandParenthesesAreRefusedInAFewWords) {
  const std::string error = error_of("problem~" + std::string(20'000, '('));
  EXPECT_THAT(error, HasSubstr("is no regular expression"));
}

TEST(Filter, ARegularExpressionTakesLongTextsInLinearTime) {
  FilterSubject long_name = subject();
  long_name.problem = std::string(300'000, 'a') + "b";
  const auto filter = CellFilter::parse("problem~^(a|aa)+$");
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_FALSE(filter->holds(long_name));
}

TEST(Filter, WhatNobodyWritesByHandIsTooLong) {
  EXPECT_THAT(error_of("problem=" + std::string(70'000, 'a')), HasSubstr("longer than 65536 bytes"));
}

}  // namespace
}  // namespace conebench
