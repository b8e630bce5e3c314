#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "papers/entry.hpp"

namespace conebench::papers {

/// A paper with entries.
struct PaperInfo {
  const char* id;         ///< "LeLidec24", as its entries' ids begin
  const char* former_id;  ///< "002", which ids may begin with as well; empty: none
  const char* authors;    ///< family names, initials in front where it takes them
  const char* title;      ///< with its year at the end, in brackets, where the id has none
};
const std::vector<PaperInfo>& paper_table();

/// "Le Lidec, Jallet, …: Contact Models in Robotics (2023)"; empty for a paper that the table does not have.
std::string paper_title(std::string_view id);

/// The id with the paper's id of today: "LeLidec24-fig-13" for "002-fig-13".
std::string current_id(const std::string& id);

/// The entries that a word of the command line names, whatever its case and punctuation: `all`, a paper, or an entry
/// with its variants; else those whose id or paper begins with it; else those of an author's papers (three letters at
/// least). A paper may be called by its id or by its first author, with or without the year: "LeLidec24-fig-13",
/// "lelidec fig 13", "tsounis2025-table-1". Errors (wrong_usage): none, with the nearest.
Result<std::vector<const Entry*>> entries_named(const std::string& word, const std::vector<Entry>& entries);

/// The entries of all papers that one of the authors has written, whose family name begins with `author`. Errors
/// (wrong_usage): none, with all authors.
Result<std::vector<const Entry*>> entries_of_author(const std::string& author, const std::vector<Entry>& entries);

}  // namespace conebench::papers
