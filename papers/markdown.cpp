#include <fmt/format.h>

#include "papers/render.hpp"
#include "reports/table_layout.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

using reports::markdown;

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + markdown(text) + ")"; }

std::string table_markdown(const Table& table, const std::vector<std::vector<TableCell>>& cells) {
  std::string text = fmt::format("## {}{}{}\n\n", markdown(table.title),
                                 table.unit.empty() ? "" : ", " + markdown(table.unit), in_brackets(table.location));
  text += reports::markdown_text(reports::text_table(table_texts(table, cells), 1)) + "\n";
  if (const std::string own = own_legend(table); !own.empty()) text += markdown(own) + "\n\n";
  for (const std::string& gap : gaps_of(table, cells)) text += "- " + markdown(gap) + "\n";
  return text;
}

std::string checks_markdown(const EntryResult& result) {
  reports::Table table = reports::text_columns("claim", "", "verdict");
  for (std::size_t i = 0; i < result.checks.size(); ++i) {
    const Check& check = result.entry->checks[i];
    const CheckResult& found = result.checks[i];
    table.rows.push_back({check.id, claim_sentences(check, found), verdict_text(found)});
  }
  return "## Claims\n\n" + reports::markdown_text(table);
}

}  // namespace

std::string entry_markdown(const EntryResult& result) {
  const Entry& entry = *result.entry;
  const std::string source = source_text(entry);
  std::string text = fmt::format("# {}: {}\n\n", markdown(entry.id), markdown(entry.title));
  if (!source.empty()) text += fmt::format("From {}. ", markdown(source));
  if (!entry.shows.empty()) text += markdown(entry.shows) + " ";
  if (!result.problems.empty()) {
    text += fmt::format("Measured on {}{}.", markdown(result.problems),
                        result.made.empty() ? "" : ", " + markdown(result.made));
  }
  text += "\n\n";
  if (const std::string claims = claims_text(result); !claims.empty()) text += "**" + claims + "**\n\n";
  if (!result.not_run.empty()) text += "**Not run**: " + markdown(result.not_run) + "\n\n";
  for (const std::string& note : entry.notes) text += "- " + markdown(note) + "\n";
  if (!entry.notes.empty()) text += "\n";
  for (std::size_t t = 0; t < result.layouts.size(); ++t)
    text += table_markdown(result.layouts[t], result.tables[t]) + "\n";
  for (std::size_t f = 0; f < result.figures.size(); ++f) {
    const Figure& figure = entry.figures[f];
    const std::string title = markdown(figure.title) + in_brackets(figure.location);
    text += drawn(result.figures[f]) ? fmt::format("![{}]({}-{}.svg)\n\n", title, entry.id, figure.id)
                                     : fmt::format("Figure without a point: {}\n\n", title);
  }
  if (!entry.checks.empty()) text += checks_markdown(result) + "\n";
  return text;
}

}  // namespace conebench::papers
