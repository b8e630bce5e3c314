#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reports/formats.hpp"
#include "reports/page_assets.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace conebench::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string page_of(const StoreContents& store) {
  return collected([&](const ByteSink& sink) { html_page(analyse(store, false), {}, {}, sink); });
}

/// What base64() has made.
std::string bytes_of_base64(const std::string& text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    const std::size_t digit = digits.find(letter);
    if (digit == std::string_view::npos) break;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    if ((count += 6) < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  return bytes;
}

std::string unpacked(const std::string& text) {
  const std::string bytes = bytes_of_base64(text);
  std::string out(1 << 24, '\0');
  uLongf length = out.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &length, reinterpret_cast<const Bytef*>(bytes.data()),
                       bytes.size()),
            Z_OK);
  out.resize(length);
  return out;
}

std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" data-packed id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return unpacked(page.substr(begin, page.find("</script>", begin) - begin));
}

/// The page without its packed texts: its data, and the charting library, which is not ours to check.
std::string own_part(std::string page) {
  for (const std::string open : {"data-packed id=\"data\">", "data-packed id=\"plotly\">"}) {
    const std::size_t begin = page.find(open) + open.size();
    page.erase(begin, page.find("</script>", begin) - begin);
  }
  return page;
}

TEST(Page, ItsDataAreTheReportsJsonWithoutCurves) {
  const StoreContents store = testing::small_store();
  const auto data = nlohmann::json::parse(data_of(page_of(store)));
  auto json = nlohmann::json::parse(
      collected([&](const ByteSink& sink) { json_report(analyse(store, false), {.digits = 6}, sink); }));
  EXPECT_EQ(json.erase("profiles") + json.erase("pairs"), 2U);
  EXPECT_EQ(data, json);
  EXPECT_EQ(data["cells"]["rows"].size(), store.cells.size());
}

TEST(Page, HostileNamesStayData) {
  const std::string page = page_of(testing::small_store());
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(data_of(page), HasSubstr("</script><img"));
  StoreContents store = testing::small_store();
  store.runs[0].suite_name = "</title><script>alert(1)</script>{{data}}";
  EXPECT_THAT(own_part(page_of(store)), Not(HasSubstr("<script>alert")));
}

TEST(Page, BytesThatAreNoUtf8DoNotBreakIt) {
  StoreContents store = testing::small_store();
  store.problems[0].name = "bad\xFF\xFEname";
  EXPECT_TRUE(nlohmann::json::accept(data_of(page_of(store))));
}

TEST(Page, FetchesNothing) {
  const std::string page = own_part(page_of(testing::small_store()));
  for (const char* word : {"src=\"http", "href=\"http", "url(http", "@import", "fetch(", "XMLHttpRequest"}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(Page, HasEveryPartAndNoEmptyPlace) {
  for (const char* part : {"page.html", "page.css", "main.js", "cells.js", "profiles.js"}) {
    EXPECT_FALSE(page_asset(part).empty()) << part;
  }
  EXPECT_TRUE(page_asset("nothing").empty());
  EXPECT_THAT(own_part(page_of(testing::small_store())), Not(HasSubstr("{{")));
}

TEST(Page, TwoThousandCellsStayUnderOneAndAHalfMegabytes) {
  const StoreContents store = testing::large_store(56, 12);
  ASSERT_GE(store.cells.size(), 2000U);
  EXPECT_LT(page_of(store).size(), 1'500'000U);
}

}  // namespace
}  // namespace conebench::reports
