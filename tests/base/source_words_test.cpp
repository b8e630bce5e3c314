#include "base/source_words.hpp"

#include <gtest/gtest.h>

namespace conebench {
namespace {

using Words = std::vector<std::string>;

TEST(SourceWords, ComeBackWhateverTheirValues) {
  for (const std::string value : {"5", "1e-3", "a b", "robots/my \"best\" one.xml", "back\\slash", "", "x=y z"}) {
    const auto words = source_words("file " + source_word("path", value) + " seed=1");
    ASSERT_TRUE(words) << value;
    EXPECT_EQ(*words, (Words{"file", "path=" + value, "seed=1"}));
  }
  EXPECT_EQ(source_word("boxes", "5"), "boxes=5") << "plain values stay plain";
}

TEST(SourceWords, AQuoteWithinAFilesNameIsALetter) {
  EXPECT_EQ(source_words(R"(a"b c)"), (Words{R"(a"b)", "c"}));
  EXPECT_EQ(source_words("  "), Words{});
  EXPECT_FALSE(source_words(R"(file path="a b)")) << "not closed";
}

}  // namespace
}  // namespace conebench
