#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "papers/evaluate.hpp"

namespace conebench::papers {
namespace {

using ::testing::HasSubstr;

/// A cell of `configuration` on `problem` that took `iterations`.
Sample stored_sample(const std::string& configuration, const std::string& problem, double iterations,
                     bool converged = true) {
  Sample made;
  made.subject.configuration = configuration;
  made.subject.solver = configuration.substr(0, configuration.find(' '));
  made.subject.source = problem;
  made.subject.family = problem.substr(0, 1);
  made.subject.tolerance = 1e-6;
  made.subject.status = converged ? "converged" : "max_iterations";
  made.subject.start = "cold";
  made.numbers = {
      {"cells", 1.0}, {"iterations", iterations}, {"converged", converged ? 1.0 : 0.0}, {"scene.size", iterations / 2}};
  return made;
}

/// Iterations 1, 2, 4 of A and 10, 20, 60 of B on the problems a1, a2, b1; B misses the last one.
std::vector<Sample> six() {
  return {stored_sample("A", "a1", 1),      stored_sample("A", "a2", 2),      stored_sample("A", "b1", 4),
          stored_sample("B x=1", "a1", 10), stored_sample("B x=1", "a2", 20), stored_sample("B x=1", "b1", 60, false)};
}

Evaluation run(const std::string& text, const std::vector<Sample>& samples, Kind kind = Kind::number) {
  const auto parsed = parse_expression(text, kind);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message;
    return {};
  }
  return evaluate(*parsed, select(samples));
}
double value(const std::string& text) {
  const auto samples = six();
  const Value found = run(text, samples).value;
  EXPECT_TRUE(found.known()) << text << ": " << found.reason;
  return found.number.value_or(-12345.0);
}
std::string refusal_of(const std::string& text, Kind kind = Kind::number) {
  const auto parsed = parse_expression(text, kind);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(PaperLanguage, EveryReductionGivesTheNumberWorkedOutByHand) {
  EXPECT_EQ(value("count(converged)"), 5);
  EXPECT_DOUBLE_EQ(value("share(converged)"), 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(value("mean(iterations){configuration=A}"), 7.0 / 3.0);
  EXPECT_DOUBLE_EQ(value("geometric_mean(iterations){configuration=A}"), 2.0);
  EXPECT_DOUBLE_EQ(value("median(iterations)"), 7.0);
  EXPECT_DOUBLE_EQ(value("sd(iterations){solver=B}"), std::sqrt(700.0));  // (400 + 100 + 900) / 2
  EXPECT_EQ(value("min(iterations)"), 1);
  EXPECT_EQ(value("max(iterations)"), 60);
  EXPECT_EQ(value("sum(iterations)"), 97);
  EXPECT_DOUBLE_EQ(value("quantile(iterations, 0.25){configuration=A}"), 1.5);
  EXPECT_DOUBLE_EQ(value("slope(scene.size, iterations)"), 2.0);
  EXPECT_DOUBLE_EQ(value("rank_correlation(iterations, 0 - scene.size)"), -1.0);
  EXPECT_EQ(reduction_names().size(), 12U);
}

TEST(PaperLanguage, TiesShareTheirMeanRank) {
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
  const Value found = reduce("rank_correlation", {1, 2, 2, 3}, {1, 2, 3, 4});
  ASSERT_TRUE(found.known());
  EXPECT_NEAR(*found.number, 4.5 / std::sqrt(22.5), 1e-15);
}

TEST(PaperLanguage, ArithmeticBindsAsUsual) {
  EXPECT_EQ(value("1 + 2 * 3 - 8 / 4"), 5);
  EXPECT_EQ(value("-(1 + 2) * 3"), -9);
  EXPECT_EQ(value("abs(-2) + sqrt(9) + log10(100)"), 7);
  EXPECT_DOUBLE_EQ(value("mean(iterations - 1){configuration=A} / max(iterations)"), (4.0 / 3.0) / 60.0);
}

TEST(PaperLanguage, GroupsAreReducedBeforeTheWhole) {
  EXPECT_DOUBLE_EQ(value("max(mean(iterations) by configuration)"), 30.0);
  EXPECT_EQ(value("count(count(not converged) = 0 by problem)"), 2);
  EXPECT_DOUBLE_EQ(value("min(iterations where iterations > 3)"), 4.0);
}

TEST(PaperLanguage, GroupsOfGroupsWeighTheSame) {
  EXPECT_DOUBLE_EQ(value("mean(mean(iterations){configuration=A} by problem in family)"), (1.5 + 4.0) / 2.0);
  const std::string ratio =
      "geometric_mean(min(iterations){solver=B} / min(iterations){configuration=A} by problem in family";
  EXPECT_DOUBLE_EQ(value(ratio + ")"), std::sqrt(10.0 * 15.0));
  EXPECT_DOUBLE_EQ(value(ratio + " having count(converged){solver=B} > 0)"), 10.0);
  EXPECT_DOUBLE_EQ(value("share(min(iterations) > 1 by problem in family)"), 0.75);
}

TEST(PaperLanguage, GroupsThatDoNotHoldAreLeftOut) {
  const auto samples = six();
  EXPECT_EQ(value("count(cells){configuration=A} + count(count(cells) = 2 by problem having min(iterations) > 1)"), 5);
  EXPECT_EQ(value("sum(max(iterations) by problem having count(converged) = 2)"), 30);
  EXPECT_EQ(run("sum(max(iterations) by problem having count(converged) = 2)", samples).min_problems, 2);
  EXPECT_EQ(value("sum(max(iterations) by problem where iterations < 60 having count(cells) = 1)"), 4);
  EXPECT_EQ(run("sum(max(iterations) by problem having max(iterations) > 100)", samples).value.gap, Gap::not_run);
  // A group without the cells that its truth is of is none that holds.
  EXPECT_EQ(value("count(cells) - count(count(cells) > 0 by problem having max(iterations){source=a1} > 0)"), 5);
}

TEST(PaperLanguage, ComparisonsAndLogicGiveTruths) {
  const auto samples = six();
  const auto truth = [&](const std::string& text) { return run(text, samples, Kind::truth).value.holds(); };
  EXPECT_TRUE(truth("1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2 and 2 = 2 and 1 != 2"));
  EXPECT_FALSE(truth("1 < 2 and not 2 = 2"));
  EXPECT_TRUE(truth("1 > 2 or (2 > 1 and not 1 > 2)"));
  const auto compared = run("max(iterations) > 50 and min(iterations) > 2", samples, Kind::truth).comparisons;
  ASSERT_EQ(compared.size(), 2U);
  EXPECT_EQ(comparison_text(compared[0]), "The largest number of iterations is 60 (claimed: above 50)");
  EXPECT_EQ(comparison_text(compared[1]), "The least number of iterations is 1 (claimed: above 2)");
}

TEST(PaperLanguage, NothingIsNoZero) {
  const auto samples = six();
  for (const std::string& name : reduction_names()) {
    std::string arguments = name == "count" || name == "share" ? "converged" : "iterations";
    if (name == "quantile") arguments += ", 0.5";
    if (name == "slope" || name == "rank_correlation") arguments += ", iterations";
    const Value none = run(name + "(" + arguments + "){configuration=C}", samples).value;
    EXPECT_FALSE(none.known()) << name;
    EXPECT_EQ(none.gap, Gap::not_run) << name;
    EXPECT_THAT(none.reason, HasSubstr("no cell fits {configuration=C}")) << name;
  }
}

TEST(PaperLanguage, WhatOneCellLacksIsNotComparable) {
  auto samples = six();
  samples[3].numbers.erase("iterations");
  const Value found = run("mean(iterations)", samples).value;
  EXPECT_EQ(found.gap, Gap::not_comparable);
  EXPECT_EQ(found.reason, "1 of 6 cells lack a value: iterations");
  EXPECT_DOUBLE_EQ(*run("mean(iterations){configuration=A}", samples).value.number, 7.0 / 3.0);
}

TEST(PaperLanguage, WhatHasNoNumberSaysWhy) {
  const auto samples = six();
  const auto why = [&](const std::string& text) {
    const Value found = run(text, samples).value;
    EXPECT_EQ(found.gap, Gap::not_comparable) << text;
    return found.reason;
  };
  EXPECT_EQ(why("1 / (max(iterations) - 60)"), "a division by zero");
  EXPECT_EQ(why("sd(iterations){configuration=A && problem=a1 && source=a1}"), "a standard deviation of one value");
  EXPECT_EQ(why("slope(tolerance - tolerance + 1, iterations)").substr(0, 6), "6 of 6");
  EXPECT_EQ(why("rank_correlation(iterations - iterations, iterations)"), "a rank correlation with a constant");
  EXPECT_EQ(reduce("slope", {1, 1, 2, 2}, {3, 4, 5, 6}).reason, "a slope over fewer than three values");
  EXPECT_DOUBLE_EQ(reduce("slope", {1, 2, 3}, {3, 5, 7}).number.value_or(0), 2.0);
  EXPECT_EQ(why("geometric_mean(iterations - 1)"), "a geometric mean of what is not positive");
  EXPECT_EQ(why("log10(0)"), "the logarithm of what is not positive");
}

TEST(PaperLanguage, WhatOneSideDecidesNeedsNoOther) {
  const auto samples = six();
  EXPECT_TRUE(run("1 > 2 and mean(iterations){configuration=C} > 1", samples, Kind::truth).value.known());
  EXPECT_TRUE(run("mean(iterations){configuration=C} > 1 or 2 > 1", samples, Kind::truth).value.holds());
  EXPECT_FALSE(run("2 > 1 and mean(iterations){configuration=C} > 1", samples, Kind::truth).value.known());
}

TEST(PaperLanguage, CountsTheProblemsOfTheSmallestSelection) {
  const auto samples = six();
  EXPECT_EQ(run("max(iterations) + max(iterations){source=a1}", samples).min_problems, 1);
  EXPECT_EQ(run("max(mean(iterations) by problem)", samples).min_problems, 3);
  EXPECT_EQ(run("max(iterations) + max(iterations){configuration=A}", samples).min_cells, 3);
}

TEST(PaperLanguage, ErrorsAreOneLineWithTheColumn) {
  EXPECT_THAT(refusal_of("meen(iterations)"),
              HasSubstr("column 1: no reduction or function is called 'meen'; did you mean 'mean'"));
  EXPECT_THAT(refusal_of("mean(iteration)"), HasSubstr("'iteration' is no field; did you mean 'iterations'"));
  EXPECT_THAT(refusal_of("iterations"), HasSubstr("needs a reduction around it"));
  EXPECT_THAT(refusal_of("mean(max(iterations))"), HasSubstr("inside a reduction that has no 'by'"));
  EXPECT_THAT(refusal_of("mean(iterations by solver)"), HasSubstr("needs a reduction around it"));
  EXPECT_THAT(refusal_of("mean(iterations"), HasSubstr("')' is missing"));
  EXPECT_THAT(refusal_of("mean(iterations){configuration=A"), HasSubstr("'}' is missing"));
  EXPECT_THAT(refusal_of("mean(iterations){nothing=A}"), HasSubstr("unknown field 'nothing'"));
  EXPECT_THAT(refusal_of("mean(max(iterations) by colour)"), HasSubstr("no groups are called 'colour'"));
  EXPECT_THAT(refusal_of("mean(max(iterations) by problem in colour)"), HasSubstr("no groups are called 'colour'"));
  EXPECT_THAT(refusal_of("median(max(iterations) by problem in family)"), HasSubstr("median has no 'in'"));
  EXPECT_THAT(refusal_of("mean(max(iterations) by problem having 1)"), HasSubstr("what stands after 'having'"));
  EXPECT_THAT(refusal_of("mean(max(iterations) by problem having converged)"),
              HasSubstr("needs a reduction around it"));
  EXPECT_THAT(refusal_of("mean(iterations having converged)"), HasSubstr("')' is missing"));
  EXPECT_THAT(refusal_of("mean(converged)"), HasSubstr("must be a number, not a comparison"));
  EXPECT_THAT(refusal_of("share(iterations)"), HasSubstr("must be a comparison, not a number"));
  EXPECT_THAT(refusal_of("1 < 2"), HasSubstr("the whole must be a number"));
  EXPECT_THAT(refusal_of("1 + 2", Kind::truth), HasSubstr("the whole must be a comparison"));
  EXPECT_THAT(refusal_of("1 and 2 > 1", Kind::truth), HasSubstr("what stands before 'and'"));
  EXPECT_THAT(refusal_of("slope(iterations)"), HasSubstr("takes two values"));
  EXPECT_THAT(refusal_of("quantile(iterations, 2)"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal_of("1 2"), HasSubstr("column 3: '2' was not expected"));
  EXPECT_THAT(refusal_of(""), HasSubstr("ends where a value was expected"));
  EXPECT_THAT(refusal_of(std::string(200, '(')), HasSubstr("more than 50 brackets deep"));
  EXPECT_THAT(refusal_of(std::string(200, '-') + "1"), HasSubstr("more than 50 brackets deep"));
  EXPECT_THAT(refusal_of(std::string(20'000, ' ')), HasSubstr("longer than 10000 bytes"));
  for (const char* const text : {"meen(1)", "1 +", "mean(iterations){a\nb}"}) {
    EXPECT_EQ(refusal_of(text).find('\n'), std::string::npos);
  }
}

TEST(PaperLanguage, SelectionsKnowHowACellEnded) {
  EXPECT_EQ(value("count(cells){status=max_iterations}"), 1);
  EXPECT_EQ(value("count(cells){start=cold && status!=max_iterations}"), 5);
}

}  // namespace
}  // namespace conebench::papers
