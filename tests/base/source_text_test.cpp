#include "base/source_text.hpp"

#include <gtest/gtest.h>

namespace conebench {
namespace {

using Words = std::vector<std::string>;

TEST(SourceText, ComeBackWhateverTheirValues) {
  for (const std::string value : {"5", "1e-3", "a b", "robots/my \"best\" one.xml", "back\\slash", "", "x=y z"}) {
    const auto words = split_source_text("file " + source_word("path", value) + " seed=1");
    ASSERT_TRUE(words) << value;
    EXPECT_EQ(*words, (Words{"file", "path=" + value, "seed=1"}));
  }
  EXPECT_EQ(source_word("boxes", "5"), "boxes=5") << "plain values stay plain";
}

TEST(SourceText, AQuoteWithinAFilesNameIsALetter) {
  EXPECT_EQ(split_source_text(R"(a"b c)"), (Words{R"(a"b)", "c"}));
  EXPECT_EQ(split_source_text("  "), Words{});
  EXPECT_FALSE(split_source_text(R"(file path="a b)")) << "not closed";
}

}  // namespace
}  // namespace conebench
