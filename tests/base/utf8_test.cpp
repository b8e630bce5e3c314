#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace conebench {
namespace {

TEST(Utf8, BytesThatAreNoneBecomeTheReplacementCharacter) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("caf\xE9"), "caf" + mark);
  EXPECT_EQ(valid_utf8("\xC3\xA9 \xF0\x9F\x98\x80\n"), "\xC3\xA9 \xF0\x9F\x98\x80\n");
  EXPECT_EQ(valid_utf8("\xE2\x82"), mark + mark);             // cut off
  EXPECT_EQ(valid_utf8("\xC0\xAF"), mark + mark);             // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), mark + mark + mark);  // surrogate
  EXPECT_EQ(valid_utf8(std::string(1, '\xFF')), mark);
}

TEST(Utf8, ALineHasNothingThatXmlOrATerminalCannotShow) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(one_line("a\nb\tc"), "a b c");
  EXPECT_EQ(one_line("\x1B[31m\xEF\xBF\xBF\xEF\xBF\xBE"), mark + "[31m" + mark + mark);
}

TEST(Utf8, ALongTextKeepsItsBeginningAndItsEnd) {
  EXPECT_EQ(shorten("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(shorten("äöüß", 4), "äöüß");
}

TEST(Utf8, SeveralLinesKeepTheirBreaksAndNothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\n\tb \xC3\xA9"), "a\n\tb \xC3\xA9");
  EXPECT_EQ(printable("\x1B]0;x\x07\r\xC2\x9B"), "\xEF\xBF\xBD]0;x\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace conebench
