#include "base/archive.hpp"

#include <gtest/gtest.h>

namespace conebench {

struct Pair {
  int number = 0;
  std::vector<std::string> words;
};

template <class Archive, class Value>
requires std::is_same_v<std::remove_const_t<Value>, Pair>
static void transfer(Archive& archive, Value& pair) { archive(pair.number, pair.words); }

namespace {

enum class Colour : std::uint8_t { red, green };

struct All {
  double real = 0.0;
  bool flag = false;
  Colour colour = Colour::red;
  std::string text;
  std::vector<double> reals;
  std::map<std::string, double> named;
  std::optional<std::string> maybe, never;
  std::vector<Pair> pairs;

  template <class Archive, class Self>
  static void pass(Archive& archive, Self& self) {
    archive(self.real, self.flag, self.colour, self.text, self.reals, self.named, self.maybe, self.never, self.pairs);
  }
};

std::string packed() {
  const All all{.real = -0.5,
                .flag = true,
                .colour = Colour::green,
                .text = std::string("a\0b", 3),
                .reals = {1.0, 2.0},
                .named = {{"x", 3.0}},
                .maybe = "yes",
                .never = {},
                .pairs = {{7, {"seven", ""}}, {8, {}}}};
  Packer packer;
  All::pass(packer, all);
  return packer.take();
}

TEST(Archive, GivesBackWhatWasPutIn) {
  const std::string bytes = packed();
  Unpacker unpacker(bytes);
  All all;
  all.never = "something";
  All::pass(unpacker, all);
  EXPECT_TRUE(unpacker.done());
  EXPECT_EQ(all.real, -0.5);
  EXPECT_TRUE(all.flag);
  EXPECT_EQ(all.colour, Colour::green);
  EXPECT_EQ(all.text, std::string("a\0b", 3));
  EXPECT_EQ(all.reals, (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(all.named, (std::map<std::string, double>{{"x", 3.0}}));
  EXPECT_EQ(all.maybe, "yes");
  EXPECT_EQ(all.never, std::nullopt);
  ASSERT_EQ(all.pairs.size(), 2U);
  EXPECT_EQ(all.pairs[0].number, 7);
  EXPECT_EQ(all.pairs[0].words, (std::vector<std::string>{"seven", ""}));
}

TEST(Archive, BytesThatEndEarlyOrGoOnAreNotBelieved) {
  const std::string bytes = packed();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Unpacker unpacker(std::string_view(bytes).substr(0, size));
    All all;
    All::pass(unpacker, all);
    EXPECT_FALSE(unpacker.done()) << size;
  }
  const std::string longer = bytes + "x";
  Unpacker unpacker(longer);
  All all;
  All::pass(unpacker, all);
  EXPECT_TRUE(unpacker.ok());
  EXPECT_FALSE(unpacker.done());
}

TEST(Archive, ASizeThatCannotBeTrueAllocatesNothing) {
  const std::string bytes(64, '\xff');
  Unpacker unpacker(bytes);
  std::vector<double> reals;
  std::vector<std::string> texts;
  unpacker(reals, texts);
  EXPECT_FALSE(unpacker.ok());
  EXPECT_TRUE(reals.empty() && texts.empty());
}

}  // namespace
}  // namespace conebench
