#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "papers/command_samples.hpp"
#include "papers/describe.hpp"
#include "papers/render.hpp"
#include "papers/results.hpp"
#include "papers/trajectory_samples.hpp"
#include "papers/verdicts.hpp"
#include "simulation/sampled_scenes.hpp"

namespace conebench::papers {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using Json = nlohmann::json;

Json small() {
  return Json::parse(R"json({
    "id": "mine-1", "paper": "mine", "location": "Table I", "title": "Sweeps <b>", "suites": {
      "quick": {"problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"]},
      "full": {"problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"]}},
    "tables": [{"title": "Sweeps", "corner": "solver", "quantity": "mean(iterations)", "spread": "sd(iterations)",
      "rows": [{"name": "A_1", "where": "configuration=A"}, {"name": "B", "where": "configuration=B"}], "columns": [{"name": "all"}],
      "published": {"A_1": [[3, 0.5]]}}],
    "figures": [{"id": "f", "title": "Sweeps", "x": "max(contacts)", "y": "mean(iterations)", "by": "problem",
      "x_label": "contacts", "y_label": "sweeps", "series": [{"name": "it's", "where": "configuration=A"}]}],
    "checks": [{"id": "a", "claim": "A is faster", "holds": "mean(iterations){configuration=A} < mean(iterations){configuration=B}",
      "measure": "mean(iterations){configuration=A}", "mutated": [{"where": "configuration=A", "field": "iterations", "to": 100}]}]
  })json");
}
Result<Entry> read(const Json& json) {
  auto entries = parse_entries(json.dump(), "mine.json");
  if (!entries) return entries.error();
  return entries->front();
}
std::string complaint(const Json& json) {
  const auto entry = read(json);
  return entry ? "accepted" : entry.error().message;
}

Sample sample(const std::string& configuration, const std::string& problem, double iterations) {
  Sample made;
  made.subject.configuration = configuration;
  made.subject.source = problem;
  made.numbers = {{"cells", 1.0}, {"iterations", iterations}, {"contacts", 4.0}};
  return made;
}
std::vector<Sample> four() {
  return {sample("A", "p", 2), sample("A", "q", 4), sample("B", "p", 8), sample("B", "q", 10)};
}

/// One of the files of entry_latex(); empty where there is none.
std::string latex_file(const EntryResult& result, const std::string& name) {
  for (const ReportFile& file : entry_latex(result)) {
    if (file.path == name) return file.content;
  }
  return {};
}

TEST(PaperEntry, LaysOutTheTableWithThePublishedValueBeneath) {
  const auto entry = read(small());
  ASSERT_TRUE(entry) << entry.error().message;
  const EntryResult result = evaluate_entry(*entry, four());
  EXPECT_EQ(table_texts(entry->tables[0], result.tables[0]),
            (std::vector<std::vector<std::string>>{{"solver", "", "all"},
                                                   {"A_1", "measured", "3.00 ± 1.41"},
                                                   {"", "published", "3.00 ± 0.500"},
                                                   {"B", "measured", "9.00 ± 1.41"}}));
  EXPECT_THAT(entry_csv(result), HasSubstr("table,Sweeps,A_1,all,3,1.4142135623730951,3,0.5,,\n"));
  EXPECT_THAT(entry_csv(result), HasSubstr("check,a,A is faster,\"The mean number of iterations of A is 3, of B 9 "
                                           "(claimed: below)\",3,,,,holds,\n"));
  EXPECT_THAT(entry_markdown(result), HasSubstr("| a | A is faster. The mean number of iterations of A is 3, of B 9 "
                                                "(claimed: below). | holds |"));
  EXPECT_THAT(latex_file(result, "mine-1-table.tex"), HasSubstr("A\\_1 & measured & 3.00 & $\\pm$ & 1.41 \\\\"));
  EXPECT_THAT(latex_file(result, "mine-1-numbers.tex"), HasSubstr("\\newcommand{\\cb"));
  EXPECT_THAT(latex_file(result, "mine-1.tex"), HasSubstr("\\input{mine-1-table}"));
  EXPECT_THAT(paper_page("P", {result}), HasSubstr("\"verdict\":\"holds\""));
}

TEST(PaperEntry, WhatASolverDoesNotTakeIsNoZero) {
  Json json = small();
  json["tables"][0].erase("published");
  json["tables"][0].erase("spread");
  json["tables"][0]["quantity"] = "count(solved)";
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  std::vector<Sample> samples = four();
  for (Sample& one : samples) {
    one.numbers["solved"] = 0.0;
    one.subject.status = one.subject.configuration == "B" ? "unsupported" : "stalled";
  }
  const EntryResult result = evaluate_entry(*entry, samples);
  EXPECT_EQ(table_texts(entry->tables[0], result.tables[0]),
            (std::vector<std::vector<std::string>>{{"solver", "all"}, {"A_1", "0"}, {"B", "–"}}));
  EXPECT_THAT(entry_markdown(result), HasSubstr("B, all: the solver does not take these problems (unsupported)"));
  samples.back().subject.status = "stalled";
  EXPECT_EQ(table_texts(entry->tables[0], evaluate_entry(*entry, samples).tables[0]).back().back(), "0");
}

TEST(PaperEntry, FiguresAreWrittenForGnuplotAndPgfplots) {
  const auto entry = read(small());
  ASSERT_TRUE(entry);
  const auto files = figure_files(evaluate_entry(*entry, four()));
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].content, "series,x,y\nit's,4,2\nit's,4,4\n");
  EXPECT_THAT(files[1].content, HasSubstr("title 'it''s'"));
  EXPECT_THAT(files[1].content, HasSubstr("set output 'mine-1-f.svg'"));
  EXPECT_THAT(files[2].content, HasSubstr("(4,2)\n(4,4)\n"));
  EXPECT_TRUE(figure_files(not_run(*entry, "why")).empty());
}

TEST(PaperEntry, ACheckFailsOnMutatedNumbersAndIsNotRunOnNone) {
  const auto entry = read(small());
  ASSERT_TRUE(entry);
  const Check& check = entry->checks[0];
  const auto verdict = [&](const std::vector<Sample>& samples) {
    return evaluate_check(check, select(samples)).verdict;
  };
  EXPECT_EQ(verdict(four()), Verdict::holds);
  EXPECT_EQ(verdict(mutated(four(), check.mutated)), Verdict::fails);
  EXPECT_EQ(verdict({}), Verdict::undecided);
  auto lacking = four();
  lacking[0].numbers.erase("iterations");
  EXPECT_EQ(verdict(lacking), Verdict::not_comparable);
}

TEST(PaperEntry, ACheckOfTooFewProblemsIsNotRun) {
  Json json = small();
  json["checks"][0]["problems"] = 3;
  const auto entry = read(json);
  ASSERT_TRUE(entry);
  const CheckResult result = evaluate_check(entry->checks[0], select(four()));
  EXPECT_EQ(result.verdict, Verdict::undecided);
  EXPECT_EQ(result.reason, "measured on 2 problems; a verdict takes 3");
  EXPECT_TRUE(result.measured.at(0).comparison.holds);
  const CheckResult against = evaluate_check(entry->checks[0], select(mutated(four(), entry->checks[0].mutated)));
  EXPECT_EQ(against.verdict, Verdict::undecided);
  EXPECT_FALSE(against.measured.at(0).comparison.holds);
}

TEST(PaperEntry, ACheckOfTooFewStepsIsNotRun) {
  Json json = small();
  json["checks"][0]["cells"] = 3;  // of A and of B there are two each
  const auto entry = read(json);
  ASSERT_TRUE(entry);
  EXPECT_EQ(evaluate_check(entry->checks[0], select(four())).reason, "measured on 2 cells; a verdict takes 3");
}

TEST(PaperEntry, LinesWithoutCellsAreLeftOutAndNamed) {
  Json json = small();
  json["tables"][0] = Json::parse(R"json({"title": "Sweeps", "corner": "configuration", "quantity": "mean(iterations)",
    "rows": [{"name": "A", "where": "configuration=A"}, {"name": "C", "where": "configuration=C"}],
    "columns": [{"name": "p", "where": "source=p"}, {"name": "large", "where": "source=large"}]})json");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const EntryResult result = evaluate_entry(*entry, four());
  EXPECT_EQ(table_texts(result.layouts[0], result.tables[0]),
            (std::vector<std::vector<std::string>>{{"configuration", "p"}, {"A", "2"}}));
  EXPECT_THAT(entry_markdown(result), HasSubstr("- left out, as no cell was run: C, large\n"));
  const EntryResult nothing = evaluate_entry(*entry, {});
  EXPECT_EQ(nothing.layouts[0].rows.size(), 2U);
}

TEST(PaperEntry, MarksTheSolversOfConebenchsAuthors) {
  Json json = small();
  json["tables"][0] = Json::parse(R"json({"title": "Sweeps", "corner": "configuration", "quantity": "mean(iterations)",
    "rows": [{"each": "configuration"}, {"name": "A and B"}], "columns": [{"name": "all"}]})json");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  auto samples = four();
  EXPECT_EQ(own_legend(evaluate_entry(*entry, samples).layouts[0]), "");
  samples[0].own = samples[1].own = true;
  const EntryResult result = evaluate_entry(*entry, samples);
  EXPECT_EQ(
      table_texts(result.layouts[0], result.tables[0]),
      (std::vector<std::vector<std::string>>{{"configuration", "all"}, {"A *", "3"}, {"B", "9"}, {"A and B", "6"}}));
  EXPECT_THAT(entry_markdown(result), HasSubstr("\n\n\\* by Conebench's authors\n\n"));
  EXPECT_THAT(latex_file(result, "mine-1-table.tex"),
              AllOf(HasSubstr("\nA$^{*}$ & 3 "), HasSubstr("$^{*}$ by Conebench's authors")));
  EXPECT_THAT(entry_csv(result), HasSubstr("table,Sweeps,A,all,3,")) << "names as they are";
}

TEST(PaperEntry, ALineForEachGroupIsWrittenOutAndRowsAreSorted) {
  Json json = small();
  json["tables"][0] = Json::parse(R"json({"title": "Sweeps", "corner": "configuration", "quantity": "mean(iterations)",
    "rows": [{"name": "all"}, {"each": "configuration", "where": "configuration!=C"}], "sort": "q",
    "columns": [{"each": "problem"}, {"name": "q", "where": "source=q"}]})json");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  auto samples = four();
  samples.push_back(sample("C", "p", 100));
  const EntryResult result = evaluate_entry(*entry, samples);
  EXPECT_EQ(
      table_texts(result.layouts[0], result.tables[0]),
      (std::vector<std::vector<std::string>>{
          {"configuration", "p", "q", "q"}, {"B", "8", "10", "10"}, {"all", "36.7", "7", "7"}, {"A", "2", "4", "4"}}));
  EXPECT_THAT(entry_csv(result), HasSubstr("table,Sweeps,B,p,8,,,,,\n"));
  json["tables"][0]["sort"] = "r";
  EXPECT_THAT(complaint(json), HasSubstr("tables[0].sort: no column is called 'r'"));
  json["tables"][0].erase("sort");
  json["tables"][0]["published"] = {{"all", {1, 2}}};
  EXPECT_THAT(complaint(json), HasSubstr("tables[0].published: is for rows and columns with names"));
  json["tables"][0]["rows"][1]["name"] = "x";
  json["tables"][0].erase("published");
  EXPECT_THAT(complaint(json), HasSubstr("tables[0].rows[1]: has either a name or \"each\""));
}

TEST(PaperEntry, OnlySomeCellsCount) {
  Json json = small();
  json["only"] = "iterations < 9";
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const EntryResult result = evaluate_entry(*entry, four());
  EXPECT_EQ(*result.tables[0][1][0].value.number, 8.0);  // of B the cell with 10 is left out
  EXPECT_EQ(measured_text(entry->checks[0], result.checks[0]),
            "The mean number of iterations of A is 3, of B 8 (claimed: below)");
  EXPECT_EQ(counted(*entry, four()).size(), 3U);
  json["only"] = "mean(iterations) < 9";
  EXPECT_THAT(complaint(json), HasSubstr("only: "));
}

TEST(PaperEntry, ASuiteCanBeLikeABuiltInOne) {
  Json json = small();
  json["suites"]["quick"] =
      Json::parse(R"({"like": "ill-conditioned-stacks", "solvers": ["NSGS"], "limits": {"seconds": 1}})");
  const auto like = [&] {
    const auto entry = read(json);
    return entry ? suites_of(*entry, Size::quick, false, {}) : entry.error();
  };
  const auto suites = like();
  ASSERT_TRUE(suites) << suites.error().message;
  EXPECT_EQ(suites->front().name, "mine-1-quick");
  EXPECT_EQ(suites->front().problems.size(), 7U);
  EXPECT_EQ(suites->front().solvers.size(), 1U);
  EXPECT_EQ(suites->front().limits.seconds, 1.0);
  EXPECT_EQ(suites->front().limits.iterations, 10000) << "as the built-in suite has it";
  json["suites"]["quick"]["like"] = "ill-conditioned-stack";
  EXPECT_THAT(like().error().message, HasSubstr("did you mean 'ill-conditioned-stacks'"));
}

TEST(PaperEntry, ATableOfOurOwnNamesNoPaper) {
  Json json = small();
  json["paper"] = own_tables;
  json.erase("location");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const EntryResult result = evaluate_entry(*entry, four());
  EXPECT_THAT(entry_markdown(result), ::testing::Not(HasSubstr("paper")));
  EXPECT_THAT(latex_file(result, "mine-1-table.tex"), HasSubstr("\\caption[Sweeps]{Sweeps, measured and published.}"));
}

TEST(PaperEntry, ACheckOfPartsHoldsWhereEachDoes) {
  Json json = small();
  json["checks"][0]["holds"] = "mean(iterations) < 5";
  json["checks"][0]["each"] =
      Json::parse(R"([{"name": "A", "where": "configuration=A"}, {"name": "B", "where": "configuration=B"}])");
  const auto entry = read(json);
  ASSERT_TRUE(entry);
  const CheckResult result = evaluate_check(entry->checks[0], select(four()));
  EXPECT_EQ(result.verdict, Verdict::fails);
  EXPECT_EQ(measured_text(entry->checks[0], result),
            "A: The mean number of iterations is 3 (claimed: below 5). B: The mean number of iterations is 9 (claimed: "
            "below 5)");
  json["checks"][0]["finding"] = "{1} sweeps";
  const auto told = read(json);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(measured_text(told->checks[0], result), "A: 3 sweeps. B: 9 sweeps");
  EXPECT_EQ(fingerprint(*told, {}), fingerprint(*entry, {})) << "words change no number";
}

TEST(PaperEntry, TellsQuantitiesInWords) {
  const std::map<std::string, std::string> phrases = {
      {"share(solved){solver=CASCADE}", "the share solved by CASCADE"},
      {"mean(iterations){configuration=PGS-NCP && tolerance=1e-4}", "the mean number of iterations of PGS-NCP at 1e-4"},
      {"count(converged where scene.mass_ratio >= 1000){solver~^(RAISIM|NSGS)$}",
       "the number converged of RAISIM and NSGS where mass ratio ≥ 1000"},
      {"slope(max(log10(contacts)), min(log10(total_ms)) by problem where solved){configuration=A && family=Chain}",
       "the exponent with which the time grows with the number of contacts of A on Chain where solved"},
      {"max(step.kinetic_J){family=reference}", "the largest kinetic energy of reference"},
      {"mean(total_ms){solver~^SICONOS-} / mean(total_ms){solver=NSGS}",
       "the ratio of the mean time of SICONOS-* to the mean time of NSGS"},
      {"0.5 * median(iterations)", "0.500 times the median number of iterations"}};
  for (const auto& [text, phrase] : phrases) {
    const auto expression = parse_expression(text, Kind::number);
    ASSERT_TRUE(expression) << expression.error().message;
    EXPECT_EQ(describe(*expression), phrase);
  }
  const auto time = parse_expression("mean(total_ms)", Kind::number),
             share = parse_expression("share(solved)", Kind::number);
  EXPECT_EQ(quantity_text(*time, 12.34), "12.3 ms");
  EXPECT_EQ(quantity_text(*share, 0.634), "63.4 %");
}

/// The comparisons outside reductions, in the order of their evaluation.
void collect_comparisons(const Expression& expression, std::vector<Comparison>& comparisons) {
  if (expression.operation == Operation::reduction) return;
  for (const Expression& part : expression.parts) collect_comparisons(part, comparisons);
  if (expression.operation != Operation::comparison) return;
  const auto side = [](const Expression& part) -> Comparison::Side {
    return {part.text, 0.5, part.operation == Operation::literal, part};
  };
  comparisons.push_back({side(expression.parts[0]), side(expression.parts[1]), expression.name, true});
}

TEST(PaperEntry, EveryClaimOfTheBuiltInOnesIsToldWithItsNumbers) {
  const auto entries = embedded_entries();
  ASSERT_TRUE(entries) << entries.error().message;
  for (const Entry& entry : *entries) {
    for (const Check& check : entry.checks) {
      std::vector<Comparison> comparisons;
      collect_comparisons(check.holds, comparisons);
      ASSERT_FALSE(comparisons.empty()) << entry.id << " " << check.id;
      if (!check.finding.empty()) {
        EXPECT_THAT(finding_text(check.finding, comparisons), HasSubstr("50")) << entry.id << " " << check.id;
        continue;
      }
      for (const Comparison& comparison : comparisons) {
        const std::string text = comparison_text(comparison);
        EXPECT_THAT(text, AllOf(HasSubstr("50"), HasSubstr("claimed: "))) << entry.id << " " << check.id;
        EXPECT_EQ(text.find_first_of("{}_"), std::string::npos) << entry.id << " " << check.id << ": " << text;
      }
    }
  }
}

TEST(PaperEntry, AKnownFailureIsExpectedInItsRangeAlone) {
  Json json = small();
  json["checks"][0]["holds"] = "mean(iterations){configuration=A} > mean(iterations){configuration=B}";
  json["checks"][0]["known_failure"] = Json::parse(R"({"reason": "it is not", "range": [1, 4]})");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const auto result = [&](std::vector<Sample> samples) { return evaluate_entry(*entry, samples); };
  EXPECT_FALSE(unexpected({result(four())}));
  const auto reason = [&](const EntryResult& found) { return reason_text(entry->checks[0], found.checks[0]); };
  EXPECT_EQ(reason(result(four())), "it is not");
  EXPECT_EQ(verdict_text(result(four()).checks[0]), "fails");
  EXPECT_EQ(claims_text(result(four())), "0 of 1 claim holds, 1 fails");
  EXPECT_EQ(claim_sentences(entry->checks[0], result(four()).checks[0]),
            "A is faster. The mean number of iterations of A is 3, of B 9 (claimed: above). It is not.");
  auto outside = four();
  outside[0].numbers["iterations"] = 7;  // a mean of 5.5: still fails, and has left the range
  EXPECT_TRUE(unexpected({result(outside)}));
  EXPECT_EQ(reason(result(outside)), "it is not. That explains a value of 1 to 4, not 5.50");
  EXPECT_EQ(verdict_text(result(outside).checks[0]), "fails without a known reason");
  auto again = four();
  again[0].numbers["iterations"] = 100;
  EXPECT_EQ(result(again).checks[0].verdict, Verdict::holds);
  EXPECT_TRUE(unexpected({result(again)}));
}

TEST(PaperEntry, AProfileCountsWhatConverged) {
  Json json = small();
  json["figures"][0] = Json::parse(R"({"id": "p", "form": "profile", "title": "P", "cost": "iterations",
    "counts": "iterations < 9", "x_label": "x", "y_label": "y",
    "series": [{"name": "A", "where": "configuration=A"}, {"name": "B", "where": "configuration=B"}]})");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const auto curves = evaluate_entry(*entry, four()).figures[0];
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].points.back().y, 1.0);  // A is the cheapest on both
  ASSERT_EQ(curves[1].points.size(), 1U);     // B: at 8 / 2, on one of two
  EXPECT_EQ(curves[1].points[0].x, 4.0);
  EXPECT_EQ(curves[1].points[0].y, 0.5);
}

TEST(PaperEntry, AVariantIsTheEntryWithAPatch) {
  Json json = small();
  json["variants"] =
      Json::parse(R"({"code": {"title": "Other sweeps", "suites": {"quick": {"limits": {"iterations": 7}}}}})");
  const auto entries = parse_entries(json.dump(), "mine.json");
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 2U);
  const Entry& variant = entries->back();
  EXPECT_EQ(variant.id, "mine-1-code");
  EXPECT_EQ(variant.variant, "code");
  EXPECT_EQ(variant.variant_of, "mine-1");
  EXPECT_EQ(variant.title, "Other sweeps");
  EXPECT_EQ(suites_of(variant, Size::quick, false, *entries)->front().limits.iterations, 7);
  EXPECT_EQ(suites_of(entries->front(), Size::quick, false, *entries)->front().limits.iterations, 20000);
  json["variants"]["code"]["suites"]["quick"]["solvers"] = 3;
  EXPECT_THAT(complaint(json), HasSubstr("accepted"));  // suites are read when they are run
  json["variants"]["code"]["colour"] = 1;
  EXPECT_THAT(complaint(json), HasSubstr("mine.json: variants.code: colour: unknown key"));
}

TEST(PaperEntry, ItsFingerprintFollowsWhatItRuns) {
  const auto plain = parse_entries(small().dump(), "mine.json");
  Json json = small();
  json["suites"]["quick"]["tolerances"] = {1e-4};
  const auto changed = parse_entries(json.dump(), "mine.json");
  ASSERT_TRUE(plain && changed);
  EXPECT_NE(fingerprint(plain->front(), *plain), fingerprint(changed->front(), *changed));
  Json sharing = small();
  sharing["id"] = "mine-2";
  sharing["suites"] = "mine-1";
  auto with_plain = *plain, with_changed = *changed;
  const auto second = parse_entries(sharing.dump(), "mine.json");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(fingerprint(second->front(), with_plain), fingerprint(second->front(), with_changed));
}

TEST(PaperEntry, StepsOfASimulationAreSamples) {
  Json json = small();
  json.erase("suites");
  json["trajectories"] =
      Json::parse(R"([{"name": "fine", "scene": "cube-sliding", "options": {"time_step": 0.001}, "seconds": 2},
    {"name": "A", "scene": "cube-sliding", "options": {"solver": "NSGS"}, "grid": {"time_step": [0.01, 0.02]}, "seconds": 2,
     "every": 2, "reference": "fine"}])");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const auto& sources = entry->quick_trajectories;
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[0].steps, 2000);
  EXPECT_EQ(sources[2].steps, 100);
  EXPECT_EQ(sources[2].text(), "cube-sliding solver=NSGS time_step=0.02");
  Trajectory trajectory;
  trajectory.columns = {"state_time_s", "status", "kinetic_J"};
  trajectory.values = Matrix::Zero(3, 3);
  trajectory.values << 0, std::nan(""), 8, 0.02, std::nan(""), 7, 0.04, std::nan(""), 6;
  RunFacts facts{.error = TrajectoryError{}, .finished = true, .numbers = {{"blew_up", 1.0}}};
  facts.error->positions.integral = 0.5;
  const auto samples = samples_of(sources[2], trajectory, "", facts);
  ASSERT_TRUE(samples);
  ASSERT_EQ(samples->size(), 2U);  // every second step
  const auto value = [&](const std::string& text) {
    const auto parsed = parse_expression(text, Kind::number);
    EXPECT_TRUE(parsed) << parsed.error().message;
    return evaluate(*parsed, select(*samples)).value.number.value_or(-1.0);
  };
  EXPECT_EQ(value("min(step.kinetic_J){family=A && solver=NSGS}"), 6);
  EXPECT_EQ(value("max(run.error where scene.time_step = 0.02)"), 0.5);
  EXPECT_EQ(value("max(run.blew_up)"), 1.0);
  facts.finished = false;
  const auto no_step = samples_of(sources[2], Trajectory{}, "", facts);
  ASSERT_TRUE(no_step && no_step->size() == 1U) << "of a run whose first step failed the run is known";
  EXPECT_EQ(no_step->front().numbers.at("run.blew_up"), 1.0);
  json["trajectories"][1]["reference"] = "other";
  EXPECT_THAT(complaint(json), HasSubstr("trajectories: the reference 'other' of 'A'"));
  json["trajectories"][1].erase("seconds");
  EXPECT_THAT(complaint(json), HasSubstr("trajectories[1]: must have either"));
}

TEST(PaperEntry, ASimulationForEachSeedIsAProblem) {
  Json json = small();
  json.erase("suites");
  json["trajectories"] =
      Json::parse(R"([{"name": "A", "scene": "quadruped", "grid": {"speed": [1, 2]}, "seeds": [1, 3], "steps": 5}])");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const auto& sources = entry->quick_trajectories;
  ASSERT_EQ(sources.size(), 4U);
  EXPECT_EQ(sources[0].text(), "quadruped speed=1");
  EXPECT_EQ(sources[3].text(), "quadruped speed=2 seed=3");
  json["trajectories"] = Json::parse(R"([{"name": "A", "scene": "quadruped", "seeds": [1, 3], "steps": 5},
    {"name": "B", "scene": "quadruped", "seeds": [3, 1], "steps": 5, "reference": "A"}])");
  const auto compared = read(json)->quick_trajectories;
  EXPECT_EQ(reference_of(compared[2], compared), &compared[1]) << "of several that with its seed";
  EXPECT_EQ(reference_of(compared[0], compared), nullptr);
  json["trajectories"][1]["seeds"] = {2};
  EXPECT_THAT(complaint(json), HasSubstr("the reference 'A' of 'B'"));
  json["trajectories"][0]["seeds"] = 3;
  EXPECT_THAT(complaint(json), HasSubstr("trajectories[0].seeds: must be a list"));
}

TEST(PaperEntry, StepsThatABlownUpSimulationDidNotReachAreMissing) {
  TrajectorySource source;
  source.name = "A";
  Trajectory trajectory;
  trajectory.columns = {"state_time_s", "rows"};
  trajectory.values = Matrix::Constant(2, 2, 4.0);
  auto samples = samples_of(source, trajectory, "", {.finished = false});
  ASSERT_TRUE(samples);
  ASSERT_EQ(samples->size(), 3U);
  source.name = "B";
  auto others = samples_of(source, trajectory, "", {});
  samples->insert(samples->end(), others->begin(), others->end());
  const auto value = [&](const std::string& text) {
    return evaluate(*parse_expression(text, Kind::number), select(*samples)).value;
  };
  EXPECT_EQ(value("sum(step.rows){family=A}").gap, Gap::not_comparable);
  EXPECT_EQ(value("sum(step.rows)").gap, Gap::not_comparable);
  EXPECT_EQ(value("sum(step.rows){family=B}").number, 8.0);
  EXPECT_EQ(value("sum(step.rows where run.finished = 1)").number, 8.0);
}

TEST(PaperEntry, WhatACommandPrintsIsASample) {
  Json json = small();
  json.erase("suites");
  json["commands"] = Json::parse(R"([{"name": "A", "command": "inverse-dynamics", "scene": "sliding-box",
    "options": {"friction": 0.5, "--ccp": true}, "grid": {"--max-iterations": [1, 5]}, "seeds": [1, 2]}])");
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const auto& sources = entry->quick_commands;
  ASSERT_EQ(sources.size(), 4U);
  EXPECT_EQ(sources[3].arguments(),
            (std::vector<std::string>{"inverse-dynamics", "sliding-box", "--json", "--ccp", "--set", "friction=0.5",
                                      "--max-iterations", "5", "--seed", "2"}));
  const auto printed =
      sample_of(sources[3], R"({"converged": false, "impulse": [1, 2.5], "forward": {"agrees": true}})");
  ASSERT_TRUE(printed);
  const std::vector<Sample> samples = {*printed};
  const auto value = [&](const std::string& text) {
    return evaluate(*parse_expression(text, Kind::number), select(samples)).value.number.value_or(-1.0);
  };
  EXPECT_EQ(value("max(run.impulse.1){family=A}"), 2.5);
  EXPECT_EQ(value("max(run.forward.agrees)"), 1.0);
  EXPECT_EQ(value("max(run.converged)"), 0.0);
  EXPECT_EQ(value("max(option.max_iterations)"), 5.0);
  EXPECT_EQ(value("max(option.ccp)"), 1.0);
  EXPECT_EQ(value("max(scene.friction)"), 0.5);
  EXPECT_FALSE(sample_of(sources[0], "no JSON"));
  // An entry is data: no way to code of its own.
  for (const Json& options : {Json{{"--program", "./x"}}, Json{{"--plugin", "x.so"}}, Json{{"--program=./x", true}},
                              Json{{"--ccp", "--program=./x"}}}) {
    Json harmful = json;
    harmful["commands"][0]["options"] = options;
    EXPECT_THAT(complaint(harmful), HasSubstr("no option that an entry may give")) << options;
  }
  Json harmful = json;
  harmful["commands"][0]["scene"] = "--program=./x";
  EXPECT_THAT(complaint(harmful), HasSubstr("commands[0].scene: must be a scene"));
  json["commands"][0]["command"] = "run";
  EXPECT_THAT(complaint(json), HasSubstr("commands[0].command: 'run'"));
}

TEST(PaperEntry, AListOfLimitsOfIterationsIsASuiteEach) {
  Json json = small();
  json["suites"]["quick"]["limits"] = {{"iterations", {10, 100}}};
  json["figures"][0]["by"] = "max_iterations";
  json["figures"][0]["x"] = "max(max_iterations)";
  const auto entry = read(json);
  ASSERT_TRUE(entry) << entry.error().message;
  const auto suites = suites_of(*entry, Size::quick, false, {});
  ASSERT_TRUE(suites) << suites.error().message;
  ASSERT_EQ(suites->size(), 2U);
  EXPECT_EQ((*suites)[0].limits.iterations, 10);
  EXPECT_EQ((*suites)[1].limits.iterations, 100);
  EXPECT_NE((*suites)[0].name, (*suites)[1].name) << "a store each";
  auto samples = four();
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].numbers["max_iterations"] = i % 2 == 0 ? 10 : 100;
  EXPECT_EQ(figure_files(evaluate_entry(*entry, samples))[0].content, "series,x,y\nit's,10,2\nit's,100,4\n");
  json["suites"]["quick"]["limits"] = {{"iterations", Json::array()}};
  EXPECT_THAT(complaint(json), HasSubstr("suites.quick.limits.iterations: must have at least one"));
}

TEST(PaperEntry, LastVerdictsAreThoseOfTheEntryAsItIs) {
  auto entries = *parse_entries(small().dump(), "mine.json");
  VerdictRecord record;
  put(record, {evaluate_entry(entries[0], four())}, entries, "quick", "abc");
  EXPECT_EQ(verdicts_text(record, entries[0], entries), "a holds");
  const auto read_back = parse_verdicts(to_json_text(record));
  ASSERT_TRUE(read_back);
  EXPECT_EQ(verdicts_text(*read_back, entries[0], entries), "a holds");
  entries[0].text += " ";
  EXPECT_EQ(verdicts_text(record, entries[0], entries), "changed since");
  EXPECT_FALSE(parse_verdicts("[1]"));
}

TEST(PaperEntry, ErrorsNameFileAndKey) {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = small();
    json[Json::json_pointer(pointer)] = value;
    return complaint(json);
  };
  const auto without = [](const char* key) {
    Json json = small();
    json.erase(key);
    return complaint(json);
  };
  EXPECT_EQ(with("/checks/0/holds", "mean(iteration) > 1").substr(0, 42), "mine.json: checks[0].holds: 'mean(iteratio");
  EXPECT_THAT(with("/colour", 1), HasSubstr("mine.json: colour: unknown key"));
  EXPECT_THAT(with("/id", "a/b"), HasSubstr("id: 'a/b' must be of letters"));
  EXPECT_THAT(with("/tables/0/published/C", Json::array({1})),
              HasSubstr("tables[0].published.C: no row has this name"));
  EXPECT_THAT(with("/tables/0/published/B", Json::array({1, 2})), HasSubstr("must be a list of 1, one a column"));
  EXPECT_THAT(with("/tables/0/rows/0/where", "nothing=1"),
              HasSubstr("tables[0].rows[0].where: selection: 'nothing=1'"));
  EXPECT_THAT(with("/figures/0/by", "colour"), HasSubstr("figures[0].by: 'colour' is unknown"));
  EXPECT_THAT(with("/checks/0/mutated", Json::array()), HasSubstr("checks[0].mutated: must be a list"));
  EXPECT_THAT(with("/checks/0/mutated/0/field", "colour"), HasSubstr("mutated[0].field: 'colour' is no field"));
  EXPECT_THAT(with("/suites/quick/name", "x"), HasSubstr("suites.quick.name"));
  EXPECT_THAT(with("/state", "static"), HasSubstr("state: "));
  EXPECT_THAT(without("suites"), HasSubstr("suites: is missing"));
  EXPECT_THAT(without("title"), HasSubstr("title: is missing"));
  EXPECT_THAT(complaint(Json::array({small(), Json::object()})), HasSubstr("mine.json: [1]: id: is missing"));
}

TEST(PaperEntries, BuiltInOnesAndTheirSuitesAreSound) {
  const auto entries = embedded_entries();
  ASSERT_TRUE(entries) << entries.error().message;
  std::set<std::string> ids;
  for (const Entry& entry : *entries) {
    EXPECT_TRUE(ids.insert(entry.id).second) << entry.id << " is there twice";
    EXPECT_TRUE(entry.id.starts_with(entry.paper + "-")) << entry.id;
    if (entry.state != State::runs) continue;
    EXPECT_GT(entry.quick_s, 0.0) << entry.id;
    EXPECT_TRUE(!entry.checks.empty() || entry.paper == "Tsounis") << entry.id;  // Tsounis publishes no result to claim
    if (!entry.quick_trajectories.empty() || !entry.quick_commands.empty()) continue;
    for (const Size size : {Size::quick, Size::full}) {
      for (const bool with_data : {false, true}) {
        const auto suites = suites_of(entry, size, with_data, *entries, simulation::sampled_scenes());
        EXPECT_TRUE(suites) << entry.id << ": " << (suites ? "" : suites.error().message);
      }
    }
  }
}

TEST(PaperEntries, EachCheckSaysHowManyProblemsItTakes) {
  const auto entries = embedded_entries();
  ASSERT_TRUE(entries);
  for (const Entry& entry : *entries) {
    const Json document = Json::parse(entry.text);
    for (const Json& check : document.value("checks", Json::array())) {
      EXPECT_TRUE(check.contains("problems")) << entry.id << " " << check["id"];
    }
  }
}

TEST(PaperEntries, NameEveryTableAndFigureOfThePapers) {
  const auto entries = embedded_entries();
  ASSERT_TRUE(entries);
  std::set<std::string> ids;
  for (const Entry& entry : *entries) ids.insert(entry.id);
  const std::map<std::string, std::pair<int, int>> papers = {
      {"Carpentier24", {4, 8}}, {"Yamane", {3, 4}}, {"LeLidec24", {3, 19}}, {"Lee23", {9, 14}}};
  for (const auto& [paper, counts] : papers) {
    for (int i = 1; i <= counts.first; ++i) EXPECT_THAT(ids, Contains(paper + "-table-" + std::to_string(i)));
    for (int i = 1; i <= counts.second; ++i) EXPECT_THAT(ids, Contains(paper + "-fig-" + std::to_string(i)));
  }
}

/// The published numbers of an entry's first table, [row][column].
std::vector<std::vector<double>> published_of(const std::string& id) {
  std::vector<std::vector<double>> rows;
  const auto entries = embedded_entries();
  for (const Entry& entry : entries ? *entries : std::vector<Entry>{}) {
    if (entry.id != id) continue;
    for (const auto& row : entry.tables.front().published) {
      auto& numbers = rows.emplace_back();
      for (const Published& number : row) numbers.push_back(number.value.value_or(0.0));
    }
  }
  return rows;
}

TEST(Lee23, OverEightyTimesHoldsForPgsAloneAndOneMeanStandsTwice) {
  // Rows COND, PGS, APGD; the third column is the solver's time, the fourth its iterations.
  const auto ball = published_of("Lee23-table-3"), mat = published_of("Lee23-table-2"),
             stiffness = published_of("Lee23-table-4");
  ASSERT_EQ(ball.size(), 3U);
  EXPECT_GT(ball[1][2], 80.0 * ball[0][2]);
  EXPECT_LT(ball[2][2], 80.0 * ball[0][2]);
  EXPECT_EQ(stiffness.at(0).at(0), mat.at(0).at(3)) << "the mat's mean in the ball's table";
  EXPECT_NE(stiffness[0][0], ball[0][3]);
}

}  // namespace
}  // namespace conebench::papers
