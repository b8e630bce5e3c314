#include "reports/report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "base/utf8.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class WriteReport : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("conebench-report-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(WriteReport, MakesTheFolderAndNamesThePageFirst) {
  const auto written = write_report(testing::small_store(), folder_ / "new" / "folder", {});
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(written->paths.front(), folder_ / "new" / "folder" / "index.html");
  for (const auto& path : written->paths) EXPECT_GT(fs::file_size(path), 0U) << path;
}

TEST_F(WriteReport, WritesOnlyTheFormatsAskedFor) {
  ReportOptions options;
  options.formats = {ReportFormat::md};
  const auto written = write_report(testing::small_store(), folder_, options);
  ASSERT_TRUE(written.ok());
  ASSERT_EQ(written->paths.size(), 1U);
  EXPECT_EQ(written->paths[0].filename(), "report.md");
}

TEST_F(WriteReport, APictureBesideAProblemsFileIsOnThePage) {
  fs::create_directories(folder_ / "samples");
  fs::create_directories(folder_ / "no_png");
  const std::string png("\x89PNG\r\n\x1a\n picture", 16);
  std::ofstream(folder_ / "samples/picture.png", std::ios::binary) << png;
  std::ofstream(folder_ / "no_png/picture.png") << "<script>";
  StoreContents store = testing::small_store();
  store.problems[0].source = (folder_ / "samples/a.hdf5").string();
  store.problems[1].source = (folder_ / "samples/b.hdf5").string();
  store.problems[2].source = (folder_ / "no_png/c.hdf5").string();
  ReportOptions options;
  options.formats = {ReportFormat::html};
  ASSERT_TRUE(write_report(store, folder_ / "out", options).ok());
  std::ifstream stream(folder_ / "out/index.html", std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  EXPECT_THAT(page, HasSubstr(R"({"images":["iVBORw0KGgogcGljdHVyZQ=="],"of":{)"));
  EXPECT_THAT(page, HasSubstr('"' + store.problems[0].hash + "\":0"));
  EXPECT_THAT(page, HasSubstr('"' + store.problems[1].hash + "\":0"));
  EXPECT_THAT(page, ::testing::Not(HasSubstr('"' + store.problems[2].hash + "\":0")));
}

TEST_F(WriteReport, AFileInTheFoldersPlaceIsAnErrorThatNamesIt) {
  std::ofstream(folder_) << "in the way";
  const auto written = write_report(testing::small_store(), folder_ / "report", {});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::bad_input);
  EXPECT_THAT(written.error().message, HasSubstr((folder_ / "report").string()));
}

TEST_F(WriteReport, WhatAnEarlierReportLeftIsNamedAndStays) {
  const StoreContents store = testing::small_store();
  const auto names = [&](const StoreContents& contents, ReportFormat format) {
    ReportOptions options;
    options.formats = {format};
    const auto written = write_report(contents, folder_, options);
    EXPECT_TRUE(written.ok());
    std::string notes;
    for (const std::string& note : written->notes) notes += note + "\n";
    return notes;
  };
  EXPECT_EQ(names(store, ReportFormat::md), "");
  std::ofstream(folder_ / "mine.csv") << "mine";
  EXPECT_EQ(names(store, ReportFormat::json), "") << "report.md is of the same records";
  StoreContents later = store;
  later.cells.pop_back();
  EXPECT_THAT(names(later, ReportFormat::json), HasSubstr("not of this report, and left as it was: report.md\n"));
  EXPECT_THAT(names(later, ReportFormat::csv), HasSubstr("not of this report, and left as it was: report.md\n"));
  EXPECT_THAT(names(store, ReportFormat::latex),
              AllOf(HasSubstr("left as they were:"), HasSubstr("cells.csv"), HasSubstr("report.json"),
                    Not(HasSubstr("mine.csv")), Not(HasSubstr("report.md"))));
  EXPECT_EQ(fs::file_size(folder_ / "mine.csv"), 4U);
  EXPECT_TRUE(fs::exists(folder_ / "report.md"));

  // No file of a report goes unnamed.
  fs::remove_all(folder_);
  const auto all = write_report(store, folder_, {});
  const auto none = names({}, ReportFormat::md);
  for (const auto& path : all->paths) {
    // Without traces these are the same of every store.
    if (path.filename() == "budgets.csv" || path.filename() == "traces.csv") continue;
    if (path.filename() == "report.md" || path.filename() == "preamble.tex" || path.extension() == ".gp") continue;
    EXPECT_THAT(none, HasSubstr(path.filename().string()));
  }
}

TEST_F(WriteReport, AnEmptyStoreStillGivesEveryFile) {
  const auto written = write_report({}, folder_, {});
  ASSERT_TRUE(written.ok());
  const auto full = write_report(testing::small_store(), folder_, {});
  const auto outside_latex = [](const std::vector<fs::path>& paths) {
    return std::ranges::count_if(paths, [](const fs::path& path) { return path.parent_path().filename() != "latex"; });
  };
  EXPECT_EQ(outside_latex(written->paths), outside_latex(full->paths));
  EXPECT_TRUE(fs::exists(folder_ / "latex/report.tex"));
}

TEST(RenderReport, CsvNamesAreNoFormulasAndNumbersStayNumbers) {
  StoreContents store = testing::small_store();
  for (ProblemRecord& problem : store.problems) {
    problem.name = "=cmd|' /C calc'!A0";
    problem.family = "caf\xE9";
    problem.symmetry_error = -0.25;
  }
  ReportOptions options;
  options.formats = {ReportFormat::csv};
  for (const ReportFile& file : render_report(store, options)) {
    EXPECT_THAT(file.content, Not(HasSubstr(",=cmd"))) << file.path;
    EXPECT_THAT(file.content, Not(HasSubstr("\xE9"))) << file.path;
    if (file.path == "problems.csv") {
      EXPECT_THAT(file.content, AllOf(HasSubstr(",'=cmd|"), HasSubstr(",-0.25,")));
    }
  }
}

TEST(RenderReport, TheSameRecordsGiveTheSameBytes) {
  const StoreContents store = testing::small_store();
  const auto first = render_report(store, {});
  const auto second = render_report(store, {});
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].content, second[i].content) << first[i].path;
}

TEST(RenderReport, ATitleReplacesTheSuitesName) {
  ReportOptions options;
  options.formats = {ReportFormat::md};
  options.title = "Nightly *7*";
  EXPECT_THAT(render_report(testing::small_store(), options)[0].content, HasSubstr("# Nightly \\*7\\*\n"));
}

TEST(ReportGroups, PutCategoryOrConditioningInTheFamiliesPlace) {
  StoreContents store = testing::small_store();
  ASSERT_GE(store.problems.size(), 3U);
  for (ProblemRecord& problem : store.problems) {
    problem.category = "sparse contacts";
    problem.rank = 3;
    problem.conditioning = 1e3;
  }
  store.problems[0].category = "dense contacts";
  store.problems[1].conditioning = 1e9;
  store.problems[2].rank.reset();
  const StoreContents by_category = grouped(store, ReportGroups::category);
  EXPECT_EQ(by_category.problems[0].family, "dense contacts");
  EXPECT_EQ(by_category.problems[1].family, "sparse contacts");
  EXPECT_EQ(by_category.runs.at(0).suite_name, store.runs.at(0).suite_name);
  const StoreContents by_conditioning = grouped(store, ReportGroups::conditioning);
  EXPECT_EQ(by_conditioning.problems[0].family, "conditioning 1e2 to 1e4");
  EXPECT_EQ(by_conditioning.problems[1].family, "conditioning from 1e8 on");
  EXPECT_EQ(by_conditioning.problems[2].family, "conditioning unknown");
  EXPECT_EQ(grouped(store, ReportGroups::family).problems[0].family, store.problems[0].family);

  ReportOptions options;
  options.formats = {ReportFormat::md};
  const std::string text = render_report(by_category, options)[0].content;
  EXPECT_THAT(text, AllOf(HasSubstr("dense contacts"), HasSubstr("per category"), HasSubstr("| problem | category |"),
                          HasSubstr("Categories weigh the same")));
  EXPECT_THAT(text, Not(HasSubstr("amil"))) << "neither family nor families";
  EXPECT_THAT(terminal_ranking(by_conditioning, false),
              AllOf(HasSubstr("in 3 bands of conditioning"), HasSubstr("bands of conditioning weigh the same"),
                    Not(HasSubstr("amil"))));
  options.formats = {ReportFormat::latex};
  for (const ReportFile& file : render_report(by_category, options)) {
    EXPECT_THAT(file.content, Not(HasSubstr("amil"))) << file.path;
    const std::string name = file.path.filename().string();
    if (name.starts_with("ranking-")) EXPECT_THAT(file.content, HasSubstr("in 2 categories of equal weight"));
    if (name.starts_with("times-")) EXPECT_THAT(file.content, HasSubstr("problems of a category ("));
  }
  EXPECT_THAT(parse_report_groups("size").error().message, HasSubstr("known: family, category, conditioning"));
}

TEST(ReportFormats, AreParsedOnceEachAndUnknownOnesRefused) {
  const auto formats = parse_report_formats("csv,html,csv");
  ASSERT_TRUE(formats.ok());
  EXPECT_EQ(*formats, (std::vector{ReportFormat::csv, ReportFormat::html}));
  for (const char* bad : {"pdf", "", "md,", "md,,csv"}) {
    const auto refused = parse_report_formats(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().code, ErrorCode::wrong_usage);
    EXPECT_THAT(refused.error().message, HasSubstr("html, md, latex, csv, json"));
  }
}

TEST(JoinContents, TwoRunsOfOneSuiteAreNotJoined) {
  StoreContents monday = testing::small_store(), tuesday = monday;
  const std::vector<std::string> names = {"mon.sqlite", "tue.sqlite"};
  // The newer run lost a file, and has another build's keys.
  const std::string lost = tuesday.cells.front().problem;
  std::erase_if(tuesday.cells, [&](const CellRecord& cell) { return cell.problem == lost; });
  for (CellRecord& cell : tuesday.cells) cell.key += "-newer";
  const auto refused = check_disjoint({monday, tuesday}, names);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_THAT(refused.error().message, HasSubstr("`conebench compare mon.sqlite tue.sqlite`"));
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(tuesday.cells.size()) + " cells of the suite"));
}

TEST(JoinContents, ShardsAndDifferentSuitesAreJoined) {
  const StoreContents whole = testing::small_store();
  StoreContents first = whole, second = whole;
  first.cells.resize(5);
  second.cells.erase(second.cells.begin(), second.cells.begin() + 5);
  EXPECT_TRUE(check_disjoint({first, second}, {"1.sqlite", "2.sqlite"}));
  StoreContents other = whole;
  for (RunRecord& run : other.runs) run.suite_name = "other";
  EXPECT_TRUE(check_disjoint({whole, other}, {"1.sqlite", "2.sqlite"}));
}

TEST(JoinContents, RenumbersRunsAndKeepsTheLastOfEqualCells) {
  StoreContents first = testing::small_store();
  StoreContents second = testing::small_store();
  second.cells.resize(3);
  for (auto& cell : second.cells) cell.iterations = 777;
  second.cells[2].key = "new";
  const std::size_t cells = first.cells.size();
  const StoreContents joined = join_contents({std::move(first), std::move(second)});
  ASSERT_EQ(joined.runs.size(), 2U);
  EXPECT_NE(joined.runs[0].id, joined.runs[1].id);
  EXPECT_EQ(joined.cells.size(), cells + 1);
  EXPECT_EQ(joined.problems.size(), 10U);
  EXPECT_EQ(joined.cells[0].iterations, 777);
  EXPECT_EQ(joined.cells[0].run_id, joined.runs[1].id);
  EXPECT_EQ(joined.cells[5].run_id, joined.runs[0].id);
}

TEST(TerminalRanking, ColoursOnlyWhereAsked) {
  const StoreContents store = testing::small_store();
  EXPECT_EQ(terminal_ranking(store, false).find('\x1b'), std::string::npos);
  EXPECT_NE(terminal_ranking(store, true).find("\x1b[32m"), std::string::npos);
}

TEST(TerminalRanking, FitsTheTerminalByFewerColumns) {
  const StoreContents store = testing::small_store();
  const auto rows = [&](std::size_t columns) {
    const UnsolvedList list{.columns = columns};
    std::vector<std::string> found;
    std::istringstream lines(terminal_ranking(store, false, false, &list));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(" #  ") || line.starts_with(" 1  ")) found.push_back(line);
    }
    return found;
  };
  const auto narrow = rows(80), wider = rows(90);
  ASSERT_EQ(narrow.size(), 4U);
  for (const std::string& line : narrow) EXPECT_LE(display_width(line), 80U) << line;
  EXPECT_THAT(narrow[0], AllOf(HasSubstr("  time"), HasSubstr("  false"), Not(HasSubstr("cold"))));
  for (const std::string& line : wider) EXPECT_LE(display_width(line), 90U) << line;
  EXPECT_THAT(wider[0], AllOf(HasSubstr("  cold"), Not(HasSubstr("×best"))));
  EXPECT_THAT(rows(0)[0], AllOf(HasSubstr("  cold"), HasSubstr("ρ(∞)")));
}

TEST(TerminalRanking, ANarrowTerminalHasNoLongerLineAndALegendOfItsColumns) {
  StoreContents store = testing::small_store();
  for (ConfigurationRecord& configuration : store.configurations) {
    configuration.label += " rule=spectral initial_penalty=0.001 factorization=cholesky";
  }
  const UnsolvedList list{.columns = 80};
  const std::string text = terminal_ranking(store, false, false, &list);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
  EXPECT_THAT(text, AllOf(HasSubstr("false: claims"), Not(HasSubstr("cold:")), Not(HasSubstr("common:"))));
  EXPECT_THAT(terminal_ranking(store, false), AllOf(HasSubstr("cold:"), HasSubstr("common:"), HasSubstr("×best:")));
}

/// Label → fields behind it, of the first ranking in `text` of Markdown.
std::map<std::string, std::string> ranking_rows(const std::string& text) {
  std::map<std::string, std::string> rows;
  std::istringstream lines(text.substr(text.find("| # |")));
  std::string line;
  for (int k = 0; k < 2; ++k) std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("| ")) {
    const std::size_t name = line.find("| ", 2) + 2, end = line.find(" |", name);
    rows[line.substr(name, end - name)] = line.substr(0, name) + line.substr(end);
  }
  return rows;
}

TEST(ReportView, ShowsLessAndChangesNoNumber) {
  const StoreContents store = testing::large_store(24, 8);
  ReportOptions options;
  options.formats = {ReportFormat::md, ReportFormat::latex};
  const auto rendered_with = [&](const ViewText& text) {
    const auto view = parse_view(text);
    EXPECT_TRUE(view.ok());
    EXPECT_TRUE(check_view(*view, store).ok());
    options.view = *view;
    std::map<std::string, std::string> files;
    for (const ReportFile& file : render_report(store, options)) files[file.path.filename().string()] = file.content;
    return files;
  };
  const auto all = ranking_rows(rendered_with({})["report.md"]);
  ASSERT_GT(all.size(), 4U);
  auto some = rendered_with({.solvers = "nsgs,PGS*"});
  const auto rows = ranking_rows(some["report.md"]);
  ASSERT_FALSE(rows.empty());
  EXPECT_LT(rows.size(), all.size());
  for (const auto& [name, fields] : rows) EXPECT_EQ(fields, all.at(name)) << "rank and ratios of all";
  EXPECT_THAT(some["report.md"], HasSubstr(fmt::format("of {} configurations are shown", all.size())));
  EXPECT_THAT(some["ranking-1e-6.tex"], HasSubstr(fmt::format("of {} configurations are shown", all.size())));

  auto first = rendered_with({.columns = "times_best,solved", .rows = "2", .families = "chain"});
  EXPECT_EQ(ranking_rows(first["report.md"]).size(), 2U);
  EXPECT_THAT(first["report.md"], HasSubstr("| # | solver | × best | problems solved |\n"));
  EXPECT_THAT(first["ranking-1e-6.tex"], HasSubstr("Solver & {$\\times$ best} & {Solved} \\\\\n"));
  EXPECT_TRUE(first.contains("ranking-1e-6-Chain.tex") && first.contains("performance-1e-6-Chain.tex"));
  EXPECT_THAT(first["solved-1e-6.tex"], AllOf(HasSubstr("{Chain ("), Not(HasSubstr("{Capsules ("))));
}

TEST(ReportView, NamesThatFitNothingAreRefused) {
  const StoreContents store = testing::small_store();
  const auto refused = [&](const ViewText& text) {
    const auto view = parse_view(text);
    const auto checked = view ? check_view(*view, store) : Result<void>(view.error());
    EXPECT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, ErrorCode::wrong_usage);
    return checked.error().message;
  };
  EXPECT_THAT(refused({.columns = "times_bst"}), HasSubstr("--columns: no column is called 'times_bst'; did you mean"));
  EXPECT_THAT(refused({.rows = "0"}), HasSubstr("--rows"));
  EXPECT_THAT(refused({.rows = "NSGX"}), HasSubstr("--rows: no configuration of the store is called 'NSGX'"));
  EXPECT_THAT(refused({.solvers = "NSG"}), HasSubstr("--solvers: no solver of the store is called 'NSG'"));
  EXPECT_THAT(refused({.families = "Chains"}), HasSubstr("--families: no family of the store is called 'Chains'"));
}

TEST(TerminalRanking, NamesCannotSendEscapeSequences) {
  StoreContents store = testing::small_store();
  store.configurations[0].label = "evil\x1b]0;title\x07";
  store.runs[0].suite_name = "evil\x1b[2J";
  EXPECT_EQ(terminal_ranking(store, false).find('\x1b'), std::string::npos);
}

long unsolved_of(const StoreContents& store) {
  return std::count_if(store.cells.begin(), store.cells.end(), [](const CellRecord& cell) {
    return !cell.solved && cell.status != CellStatus::unsupported && cell.status != CellStatus::skipped;
  });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(UnsolvedCells, WhatBrokeStandsFirstThenWrongClaimsThenWhoGaveUpThenLimits) {
  const StoreContents store = testing::small_store();
  const std::string list = terminal_unsolved(store, {.every_cell = true});
  EXPECT_THAT(list, HasSubstr(std::to_string(unsolved_of(store)) + " cells not solved"));
  std::size_t before = 0;
  for (const std::string word : {"crashed ", "claims it", "diverged ", "timeout "}) {
    const std::size_t at = list.find(word);
    ASSERT_NE(at, std::string::npos) << word << "\n" << list;
    EXPECT_GT(at, before) << word;
    before = at;
  }
  EXPECT_THAT(list, HasSubstr("signal 11 | \"core\", <dumped>"));
  EXPECT_THAT(list, HasSubstr("the first again: conebench solve "));
  EXPECT_THAT(list, ::testing::ContainsRegex("\n unsupported: [0-9]+ cells? of [^\n]+: needs M and J"))
      << "what is not supported is no failure, and not hidden\n"
      << list;
  StoreContents solved = store;
  std::erase_if(solved.cells,
                [](const CellRecord& cell) { return !cell.solved && cell.status != CellStatus::unsupported; });
  const std::string rest = terminal_unsolved(solved, {.every_cell = true});
  EXPECT_THAT(rest, HasSubstr(" all cells that ran are solved\n unsupported: "));
  EXPECT_THAT(rest, Not(HasSubstr("not solved")));
  EXPECT_EQ(terminal_unsolved(solved, {}), "");
}

TEST_F(WriteReport, AnAnswerThatPassesTooLateSaysSo) {
  StoreContents store = testing::small_store();
  const auto cell =
      std::find_if(store.cells.begin(), store.cells.end(), [](const CellRecord& one) { return one.solved; });
  ASSERT_NE(cell, store.cells.end());
  cell->solved = cell->claimed = false;
  cell->status = CellStatus::time_limit;
  EXPECT_THAT(terminal_unsolved(store, {.every_cell = true}),
              ::testing::ContainsRegex("time_limit +NSGS[^\n]* passes, but came too late; [^\n]*natural_map_scaled"));
  ReportOptions options;
  options.formats = {ReportFormat::csv};
  ASSERT_TRUE(write_report(store, folder_, options));
  std::ifstream cells(folder_ / "cells.csv");
  std::stringstream text;
  text << cells.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(",failed,\"passes, but came too late\","));
}

TEST(UnsolvedCells, OfManyTenLinesCountThoseThatEndedAlike) {
  const StoreContents store = testing::large_store(60, 8);
  const std::string list = terminal_unsolved(store, {.columns = 90, .command = "conebench report x --failed"});
  auto lines = lines_of(list);
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 90U) << line;
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("     "); });  // a row's further lines
  ASSERT_EQ(lines.size(), 15U) << "a blank, the count, headings, ten, how many more, and the command\n" << list;
  EXPECT_THAT(lines[13], ::testing::MatchesRegex(" and [0-9]+ more such lines"));
  EXPECT_THAT(lines[14], HasSubstr("conebench report x --failed"));
  const auto each = lines_of(terminal_unsolved(store, {.every_cell = true}));
  const auto unsupported = std::count_if(each.begin(), each.end(),
                                         [](const std::string& line) { return line.starts_with(" unsupported: "); });
  EXPECT_EQ(static_cast<long>(each.size()) - unsupported, 4 + unsolved_of(store));
}

TEST(UnsolvedCells, OfASolvedStoreThereIsNoList) {
  StoreContents store = testing::small_store();
  for (CellRecord& cell : store.cells) cell.solved = true;
  EXPECT_EQ(terminal_unsolved(store, {}), "");
}

}  // namespace
}  // namespace conebench
