#include "reports/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace conebench::reports {
namespace {

TEST(HumanNumbers, TimesHaveThreeSignificantDigitsInTheirUnit) {
  EXPECT_EQ(human_time(79e-6), "79.0 µs");
  EXPECT_EQ(human_time(1.2345e-3), "1.23 ms");
  EXPECT_EQ(human_time(0.99949e-3), "999 µs");
  EXPECT_EQ(human_time(0.9996e-3), "1.00 ms");
  EXPECT_EQ(human_time(3.4), "3.40 s");
  EXPECT_EQ(human_time(50e-9), "50.0 ns");
  EXPECT_EQ(human_time(0.0), "0");
  EXPECT_EQ(human_time(std::nullopt), "–");
}

TEST(HumanNumbers, TolerancesAreShort) {
  EXPECT_EQ(human_tolerance(1e-6), "1e-6");
  EXPECT_EQ(human_tolerance(2.5e-4), "2.5e-4");
  EXPECT_EQ(human_tolerance(1.0), "1e0");
}

TEST(HumanNumbers, SharesNeverRoundUpToAllNorDownToNothing) {
  EXPECT_EQ(human_share(1.0), "100 %");
  EXPECT_EQ(human_share(0.9996), "99.9 %");
  EXPECT_EQ(human_share(0.995), "99.5 %");
  EXPECT_EQ(human_share(0.0004), "0.1 %");
  EXPECT_EQ(human_share(0.0), "0 %");
  EXPECT_EQ(human_share(0.567), "56.7 %");
}

TEST(HumanNumbers, ExactTextReadsBackAsTheSameDouble) {
  for (const double value : {0.1, 1.0 / 3.0, 6.02e23, 2.5e-308}) EXPECT_EQ(std::stod(exact(value)), value);
  EXPECT_EQ(exact(std::numeric_limits<double>::infinity()), "inf");
}

TEST(HumanNumbers, PluralsFollowTheCount) {
  EXPECT_EQ(plural(1, "family"), "1 family");
  EXPECT_EQ(plural(0, "family"), "0 families");
  EXPECT_EQ(plural(2, "problem"), "2 problems");
}

TEST(OneLine, ControlsBidirectionalMarksAndBadBytesAreReplaced) {
  EXPECT_EQ(one_line("a\x1b[31mb\nc"), "a\xEF\xBF\xBD[31mb c");
  EXPECT_EQ(one_line("x\xE2\x80\xAEy"), "x\xEF\xBF\xBDy");  // right-to-left override
  EXPECT_EQ(one_line("\xFF\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(one_line("μ 中 😀"), "μ 中 😀");
}

TEST(Shorten, KeepsBothEndsAndCountsCodePoints) {
  EXPECT_EQ(shorten("BoxesStack-i100", 9), "Boxe…i100");
  EXPECT_EQ(shorten("μμμμμμ", 5), "μμ…μμ");
  EXPECT_EQ(shorten("short", 5), "short");
}

TEST(Csv, FieldsAreQuotedOnlyWhereNeeded) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
}

TEST(Csv, NoTextIsAFormula) {
  EXPECT_EQ(csv_field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
  EXPECT_EQ(csv_field("+1"), "'+1");
  EXPECT_EQ(csv_field("-stack.hdf5"), "'-stack.hdf5");
  EXPECT_EQ(csv_field("@SUM"), "'@SUM");
  EXPECT_EQ(csv_field("\t=1"), "\"'\t=1\"");
  EXPECT_EQ(csv_field("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(csv_field("'=1"), "''=1") << "or the text could not be had again";
  EXPECT_EQ(csv_field("a=b-c"), "a=b-c");
  EXPECT_EQ(csv_field("a;=1"), "\"a;=1\"") << "the separator of some countries' spreadsheets";
}

TEST(Csv, IsValidUtf8WhateverANameHolds) {
  EXPECT_EQ(csv_field("caf\xE9"), "caf\xEF\xBF\xBD");
  EXPECT_EQ(csv_field("μ=0.5"), "μ=0.5");
  EXPECT_EQ(csv_field("\xC3,"), "\"\xEF\xBF\xBD,\"");
}

TEST(Markdown, NothingLeavesItsCell) {
  EXPECT_EQ(markdown("a|b<img>\n*_`[x](y)"), "a\\|b&lt;img&gt; \\*\\_\\`\\[x\\](y)");
}

TEST(Markdown, NothingIsAMentionAnIssueOrAFormulaOnAForge) {
  EXPECT_EQ(markdown("@team #12 $x$"), "@&#8203;team \\#&#8203;12 <span>$</span>x<span>$</span>");
  EXPECT_EQ(markdown("CPU @ 3 GHz"), "CPU @ 3 GHz");
}

TEST(Latex, SpecialsAreEscapedAndForeignLettersSpelled) {
  EXPECT_EQ(latex("50% & $x_1$ #{}~^\\"),
            "50\\% \\& \\$x\\_1\\$ \\#\\{\\}\\textasciitilde{}\\textasciicircum{}\\textbackslash{}");
  EXPECT_EQ(latex("μ ± 中"), "\\textmu{} \\ensuremath{\\pm} [U+4E2D]");
  EXPECT_EQ(latex("a--b"), "a-{}-b");
}

TEST(Html, MarkupIsText) { EXPECT_EQ(html("<b a='x\"'>&"), "&lt;b a=&#39;x&quot;&#39;&gt;&amp;"); }

TEST(ShortLabels, KeepWhatDistinguishesConfigurations) {
  const std::string one = "ADMM-NCP-SA proximal=1e-06 relaxation=1.5 increment=2",
                    two = one.substr(0, 41) + " increment=3";
  EXPECT_THAT(short_labels({one, "NSGS", two}, 20),
              ::testing::ElementsAre("ADMM-NCP-SA … increment=2", "NSGS", "ADMM-NCP-SA … increment=3"));
  EXPECT_THAT(short_labels({one, two}, 60), ::testing::ElementsAre(one, two)) << "there is room";
  EXPECT_THAT(short_labels({one, "NSGS"}, 20), ::testing::ElementsAre(one, "NSGS")) << "nothing shares its values";
  const std::string name(200, 'x');
  EXPECT_EQ(display_width(short_labels({name}, 20)[0]), 100U);
  EXPECT_THAT(short_labels({name + "a" + name, name + "b" + name}, 20),
              ::testing::ElementsAre(name + "a" + name, name + "b" + name));
}

TEST(Shell, WordsAreQuotedOnlyWhereNeeded) {
  EXPECT_EQ(shell("a/b-c_1.hdf5"), "a/b-c_1.hdf5");
  EXPECT_EQ(shell("it's; rm -rf ~ $HOME"), "'it'\\''s; rm -rf ~ $HOME'");
  EXPECT_EQ(shell(""), "''");
  EXPECT_EQ(shell("a\n'b\\"), "$'a\\x0a\\'b\\\\'");
}

TEST(ScriptJson, CannotCloseItsElement) {
  EXPECT_EQ(script_json(R"({"a":"</script><!--&"})"), R"({"a":"\u003c/script\u003e\u003c!--\u0026"})");
}

}  // namespace
}  // namespace conebench::reports
