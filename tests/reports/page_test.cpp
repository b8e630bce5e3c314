#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

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

std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

/// The page without its charting library, which is not ours to check.
std::string own_part(std::string page) {
  const std::string_view library = page_asset("plotly.js");
  if (!library.empty()) page.erase(page.find(library), library.size());
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
  const std::string page = own_part(page_of(testing::small_store()));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr(R"(\u003c/script\u003e\u003cimg)"));
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

TEST(Page, TwoThousandCellsStayUnderThreeMegabytes) {
  const StoreContents store = testing::large_store(56, 12);
  ASSERT_GE(store.cells.size(), 2000U);
  EXPECT_LT(page_of(store).size(), 3'000'000U);
}

}  // namespace
}  // namespace conebench::reports
