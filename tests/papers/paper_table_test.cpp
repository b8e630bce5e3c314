#include "papers/paper_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace conebench::papers {
namespace {

Entry entry(const std::string& id, const std::string& paper, const std::string& variant_of = "") {
  Entry made;
  made.id = id;
  made.paper = paper;
  made.variant_of = variant_of;
  return made;
}

const std::vector<Entry>& some_entries() {
  static const std::vector<Entry> entries = {
      entry("Carpentier24-fig-1", "Carpentier24"), entry("LeLidec24-fig-1", "LeLidec24"),
      entry("LeLidec24-fig-13", "LeLidec24"),      entry("LeLidec24-fig-13-code", "LeLidec24", "LeLidec24-fig-13"),
      entry("Yamane-table-1", "Yamane"),           entry("mine-1", "mine")};
  return entries;
}

std::vector<std::string> ids_of(const Result<std::vector<const Entry*>>& found) {
  std::vector<std::string> ids;
  if (!found) return {found.error().message};
  for (const Entry* const one : *found) ids.push_back(one->id);
  return ids;
}
std::vector<std::string> named(const std::string& word) { return ids_of(entries_named(word, some_entries())); }
std::vector<std::string> written_by(const std::string& author) {
  return ids_of(entries_of_author(author, some_entries()));
}

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PaperTable, FormerIdsStandForThoseOfToday) {
  EXPECT_EQ(current_id("002"), "LeLidec24");
  EXPECT_EQ(current_id("002-fig-13"), "LeLidec24-fig-13");
  EXPECT_EQ(current_id("0021"), "0021");
  EXPECT_EQ(current_id("mine-002"), "mine-002");
  EXPECT_THAT(named("001"), ElementsAre("Yamane-table-1"));
  EXPECT_THAT(named("000-fig-1"), ElementsAre("Carpentier24-fig-1"));
}

TEST(PaperTable, AWordNamesAPaperAnEntryOrTheBeginningOfEither) {
  EXPECT_EQ(named("all").size(), 6U);
  EXPECT_THAT(named("lelidec24-FIG-1"), ElementsAre("LeLidec24-fig-1"));
  EXPECT_THAT(named("LeLidec24-fig-13"), ElementsAre("LeLidec24-fig-13", "LeLidec24-fig-13-code"));
  EXPECT_THAT(named("yam"), ElementsAre("Yamane-table-1"));
  EXPECT_EQ(named("lelidec").size(), 3U);
  EXPECT_THAT(named("mine"), ElementsAre("mine-1"));
}

TEST(PaperTable, AWordNamesThePapersOfAnAuthor) {
  EXPECT_THAT(named("nakamura"), ElementsAre("Yamane-table-1"));
  EXPECT_EQ(named("jallet").size(), 3U);
  EXPECT_THAT(named("montaut"),
              ElementsAre("Carpentier24-fig-1", "LeLidec24-fig-1", "LeLidec24-fig-13", "LeLidec24-fig-13-code"))
      << "an author of two papers";
  EXPECT_EQ(written_by("le lidec"), named("montaut"));
  EXPECT_EQ(written_by("Carpentier"), named("montaut"));
  EXPECT_THAT(written_by("nobody"), Contains(HasSubstr("no paper here has an author 'nobody'")));
}

TEST(PaperTable, CasePunctuationAndTheYearDoNotMatter) {
  for (const char* const word :
       {"lelidec-fig-1", "LE LIDEC, fig. 1", "lelidec24_fig_1", "lelidec2024 fig 1", "lelidec23-fig-1"}) {
    EXPECT_THAT(named(word), ElementsAre("LeLidec24-fig-1")) << word;
  }
  EXPECT_THAT(named("yamane08"), ElementsAre("Yamane-table-1"));
  EXPECT_THAT(named("yamane2008-table-1"), ElementsAre("Yamane-table-1"));
}

TEST(PaperTable, AnUnknownWordGetsTheNearest) {
  EXPECT_THAT(named("yamanee"), Contains(HasSubstr("did you mean 'Yamane'?")));
  EXPECT_THAT(named("ya"), Contains(HasSubstr("no entry")));
}

TEST(PaperTable, TitlesHaveTheAuthorsInFront) {
  EXPECT_THAT(paper_title("LeLidec24"), ::testing::StartsWith("Le Lidec, Jallet, "));
  EXPECT_EQ(paper_title("own"), "tables of our own");
  EXPECT_EQ(paper_title("mine"), "");
}

}  // namespace
}  // namespace conebench::papers
