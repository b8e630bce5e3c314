#include "reports/table_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reports/latex_table.hpp"

namespace conebench::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Table times_of_two() {
  return {{{"solver"}, {"time", Format::time, Best::lowest}, {"solved", Format::share, Best::highest}},
          {{"A_1|", 1.5e-3, 1.0}, {{"B", Tone::strong}, std::optional<double>(), 0.5}}};
}

TEST(Table, LinesUpOnATerminal) {
  EXPECT_EQ(terminal_text(times_of_two(), {.indent = 1}),
            " solver     time  solved\n"
            " A_1|    1.50 ms   100 %\n"
            " B             –  50.0 %\n");
}

TEST(Table, IsColouredOnlyWhereATerminalHasColours) {
  const std::string text = terminal_text(times_of_two(), {.paint = {true}, .headings = Tone::dim});
  EXPECT_THAT(text, HasSubstr("\x1b[2msolver\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[1mB\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[2m–\x1b[0m")) << "nothing is dim";
}

TEST(Table, EveryFormatEscapesNames) {
  const Table table{{{"name|"}}, {{"a|b_\n\x1b[31m"}}};
  EXPECT_EQ(terminal_text(table), "name|\na|b_ \xEF\xBF\xBD[31m\n");
  EXPECT_EQ(markdown_text(table), "| name\\| |\n| --- |\n| a\\|b\\_ \xEF\xBF\xBD\\[31m |\n");
  EXPECT_THAT(latex_table(table, {}), HasSubstr("a\\textbar{}b\\_ [U+FFFD][31m \\\\\n"));
  EXPECT_EQ(csv_text(table), "name|\n\"a|b_\n\x1b[31m\"\n");
}

TEST(Table, MarkupStaysButForThePipe) {
  const Table table{{{.heading = "`a|b`", .markup = true}}, {{"**x**|"}}};
  EXPECT_EQ(markdown_text(table), "| `a\\|b` |\n| --- |\n| **x**\\| |\n");
  EXPECT_THAT(latex_table(table, {}), HasSubstr("**x**|"));
}

TEST(Table, OfMarkdownHasNumbersToTheRight) {
  EXPECT_EQ(markdown_text(times_of_two()),
            "| solver | time | solved |\n| --- | ---: | ---: |\n"
            "| A\\_1\\| | 1.50 ms | 100 % |\n| **B** | – | 50.0 % |\n");
  EXPECT_THAT(markdown_text(times_of_two(), MarkdownRules::aligned), HasSubstr("| :-- | --: | --: |\n"));
}

TEST(Table, OfLatexIsAFloatThatFitsItsPage) {
  const std::string text = latex_table(
      times_of_two(), {.short_caption = "T", .caption = "Times in @time-unit@", .label = "tab:t", .note = "N."});
  EXPECT_THAT(text, HasSubstr("\\begin{tabular}{lS[table-format=1.2]S[table-format=3.1]}\n\\toprule\n"
                              "solver & {time} & {solved} \\\\\n\\midrule\n"
                              "A\\_1\\textbar{} & \\bfseries 1.50 & \\bfseries 100.0 \\\\\nB & {--} & 50.0 \\\\\n"
                              "\\bottomrule\n\\end{tabular}"));
  EXPECT_THAT(text, HasSubstr("\\caption[T]{Times in ms.}\n\\label{tab:t}\n"));
  EXPECT_THAT(text, HasSubstr("\\resizebox{\\linewidth}{!}"));
  EXPECT_THAT(text, HasSubstr("\\raggedright N.\\par"));
}

TEST(Table, OfMoreRowsThanAPageHasIsSeveralFloatsInLatex) {
  Table table{{{"name"}, {"n", Format::count}}};
  for (int row = 0; row < 120; ++row) table.rows.push_back({"a", row});
  const std::string text = latex_table(table, {.caption = "C", .label = "tab:t"});
  for (const char* const part : {"C (part 1 of 3)", "C (part 3 of 3)", "\\label{tab:t}", "\\label{tab:t-3}"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  table.rows.resize(50);
  EXPECT_THAT(latex_table(table, {.caption = "C"}), ::testing::Not(HasSubstr("part 1")));
}

TEST(Table, NoneIsBestWhereAllTieNorOneThatDoesNotCompete) {
  Table table{{{"claims", Format::count, Best::lowest}}, {{0}, {0}}};
  EXPECT_THAT(latex_table(table, {}), HasSubstr("\n0 \\\\\n0 \\\\\n"));
  table.rows[1][0] = 3;
  EXPECT_THAT(latex_table(table, {}), HasSubstr("\\bfseries 0 \\\\\n3 \\\\\n"));
  table.rows[0][0].competes = false;
  EXPECT_THAT(latex_table(table, {}), HasSubstr("0 \\\\\n\\bfseries 3 \\\\\n"));
}

TEST(Table, AMeanHasItsDeviationInTheSameUnit) {
  const Table table{{{"time", Format::time}},
                    {{Cell::mean(2e-3, 5e-4)}, {Cell::mean(1e4, 2e3)}, {Cell::mean(1.0, {})}}};
  EXPECT_THAT(markdown_text(table), HasSubstr("| 2.00 ms ± 500 µs |\n"));
  EXPECT_THAT(latex_table(table, {.caption = "@time-unit@"}),
              AllOf(HasSubstr("2.00e0 & $\\pm$ & 5.00e-1 \\\\\n1.00e7 & $\\pm$ & 2.00e6 \\\\\n1.00e3 & & "),
                    HasSubstr("]{ms.}")));
}

TEST(Table, NumbersOfAColumnHaveOneFormInLatex) {
  const auto fields = [](Format format, std::vector<double> values) {
    Table table{{{"x", format}}};
    for (const double value : values) table.rows.push_back({value});
    const std::string text = latex_table(table, {.caption = "@time-unit@"});
    const std::size_t begin = text.find("\\midrule\n") + 9;
    return text.substr(begin, text.find("\\bottomrule") - begin);
  };
  EXPECT_EQ(fields(Format::number, {1, 20}), "1 \\\\\n20 \\\\\n");
  EXPECT_EQ(fields(Format::number, {1, 2.5}), "1.00 \\\\\n2.50 \\\\\n");
  EXPECT_EQ(fields(Format::number, {1, 2e-5}), "1.00e0 \\\\\n2.00e-5 \\\\\n");
  EXPECT_EQ(fields(Format::time, {2e-6, 5e-6}), "0.00200 \\\\\n0.00500 \\\\\n") << "in ms";
  EXPECT_EQ(fields(Format::time, {2e-8, 5e-6}), "0.0200 \\\\\n5.00 \\\\\n") << "in µs";
  EXPECT_EQ(fields(Format::share, {0.9999, 1.0, 0.0001}), "99.9 \\\\\n100.0 \\\\\n0.1 \\\\\n");
}

TEST(Table, TextsInAColumnOfNumbersStandInTheMiddleInLatex) {
  const Table table{{{"x", Format::count}}, {{"6/7"}, {"–"}, {std::optional<long>()}, {12}}};
  EXPECT_THAT(latex_table(table, {}), HasSubstr("{6/7} \\\\\n{--} \\\\\n{--} \\\\\n12 \\\\\n"));
}

TEST(LatexMacros, HaveNamesOfLettersThatNoOtherHas) {
  LatexMacros macros;
  macros.add({"solved", "ADMM-NCP-SA increment=0.01", "at", "1e-8"}, "7", "seven");
  macros.add({"solved", "ADMM NCP SA increment=0.01", "at", "1e-8"}, "8", "eight");
  EXPECT_EQ(macros.text(),
            "\\newcommand{\\cbSolvedADMMNCPSAIncrementZeroPointZeroOneAtOneEMinusEight}{7}% seven\n"
            "\\newcommand{\\cbSolvedADMMNCPSAIncrementZeroPointZeroOneAtOneEMinusEightNoTwo}{8}% eight\n");
}

TEST(Table, OfCsvHasAllDigitsAndNothingForNothing) {
  const Table table{
      {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}},
      {{0.1, 3L, true, std::optional<long>(), "=1"}, {std::numeric_limits<double>::infinity(), -3, false, "", "x,y"}}};
  EXPECT_EQ(csv_text(table), "a,b,c,d,e\n0.1,3,1,,'=1\ninf,-3,0,,\"x,y\"\n");
}

TEST(Table, TheLastColumnKeepsToTheTerminalsWidth) {
  const Table table = text_table({{"id", "what it is"}, {"a", "boxes that slide by 5 % of their size"}});
  EXPECT_EQ(terminal_text(table, {.columns = 24}), "id  what it is\na   boxes that slide by\n    5 % of their size\n");
  EXPECT_EQ(terminal_text(table, {.columns = 10}), terminal_text(table)) << "too little is left";
}

TEST(Table, TextsBreakInTheirColumnOrBelowTheirRow) {
  using Breaks = TableColumn::Breaks;
  const Table labels{{{.heading = "solver", .breaks = Breaks::in_column}, {"n", Format::count}},
                     {{"ADMM rule=spectral increment=0.01", 3}}};
  EXPECT_EQ(terminal_text(labels, {.columns = 24}),
            "solver                 n\nADMM rule=spectral     3\nincrement=0.01\n");
  EXPECT_EQ(terminal_text(labels, {.columns = 36}), terminal_text(labels));
  const Table reasons{{{"id"}, {.heading = "why", .breaks = Breaks::below}, {"n", Format::count}},
                      {{"a", "it ends after a while", 3}}};
  EXPECT_EQ(terminal_text(reasons, {.columns = 18}), "id  n\na   3\n    it ends after\n    a while\n");
  EXPECT_EQ(terminal_text(reasons), "id  why                    n\na   it ends after a while  3\n");
}

TEST(Table, ColumnsLeaveATerminalThatIsTooNarrowInTheirOrder) {
  const Table table{{{"id"}, {.heading = "first", .leaves = 2}, {"b"}, {.heading = "next", .leaves = 1}},
                    {{"x", 1, 2, 3}}};
  EXPECT_EQ(terminal_text(table), "id  first  b  next\nx   1      2  3\n");
  EXPECT_EQ(terminal_text(table, {.columns = 18}), terminal_text(table));
  EXPECT_EQ(terminal_text(table, {.columns = 17}), "id  b  next\nx   2  3\n");
  EXPECT_EQ(terminal_text(table, {.columns = 10}), "id  b\nx   2\n");
  EXPECT_EQ(terminal_text(table, {.columns = 2}), "id  b\nx   2\n") << "the others stay";
  EXPECT_EQ(shown_headings(table, {.columns = 17}), (std::set<std::string>{"id", "b", "next"}));
}

TEST(Table, OfTextsTakesRowsOfAnyLength) {
  EXPECT_EQ(terminal_text(text_table({{"processor", "x"}, {"a"}, {"b", "", "z"}})),
            "processor  x\na\nb             z\n");
  EXPECT_EQ(terminal_text(text_table({})), "");
  EXPECT_EQ(csv_text(text_table({{"x", "y", "z"}, {"1", "2"}})), "x,y,z\n1,2,\n");
}

TEST(TableOf, ShowsWhatItsColumnsTakeFromARow) {
  struct Row {
    std::string name;
    std::optional<double> share;
  };
  TableOf<Row> table;
  table.add({"name"}, &Row::name);
  table.add({"share", Format::share}, &Row::share);
  table.add({"letters", Format::count}, [](const Row& row) { return row.name.size(); });
  EXPECT_EQ(terminal_text(table.of(std::vector<Row>{{"one", 0.25}, {"three", {}}})),
            "name    share  letters\none    25.0 %        3\nthree       –        5\n");
}

}  // namespace
}  // namespace conebench::reports
