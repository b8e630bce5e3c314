#include "papers/paper_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/suggestion.hpp"

namespace conebench::papers {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

const PaperInfo* find_paper(std::string_view id) {
  const auto found = std::ranges::find_if(paper_table(), [&](const PaperInfo& paper) { return paper.id == id; });
  return found == paper_table().end() ? nullptr : &*found;
}

/// Whether the family name of one of the authors begins with `word`: "lelidec" or "le lidec" of "Le Lidec".
bool has_author(const PaperInfo& paper, std::string word) {
  std::erase(word, ' ');
  std::string authors = lower(paper.authors) + ",";
  std::erase(authors, ' ');
  for (std::size_t begin = 0; begin < authors.size(); begin = authors.find(',', begin) + 1) {
    if (authors.compare(begin, word.size(), word) == 0) return true;
  }
  return false;
}

}  // namespace

const std::vector<PaperInfo>& paper_table() {
  static const std::vector<PaperInfo> table = {
      {"Carpentier24", "000", "Carpentier, Le Lidec, Montaut",
       "From Compliant to Rigid Contact Simulation: a Unified and Efficient Approach (RSS 2024)"},
      {"Yamane", "001", "Yamane, Nakamura",
       "A Numerically Robust LCP Solver for Simulating Articulated Rigid Bodies in Contact (RSS 2008)"},
      {"LeLidec24", "002", "Le Lidec, Jallet, Montaut, Laptev, Schmid, Carpentier",
       "Contact Models in Robotics: a Comparative Analysis (2023)"},
      {"Lee23", "003", "J. Lee, M. Lee, D. Lee",
       "Large-Dimensional Multibody Dynamics Simulation Using Contact Nodalization and Diagonalization"},
      {"Tsounis", "004", "Tsounis, Grandia, Bächer",
       "On Solving the Dynamics of Constrained Rigid Multi-Body Systems with Kinematic Loops (2025)"},
      {"acary-2018", "", "Acary, Brémond, Huber",
       "On solving contact problems with Coulomb friction: formulations and numerical comparisons (2018)"},
      {own_tables, "", "", "tables of our own"}};
  return table;
}

std::string paper_title(std::string_view id) {
  const PaperInfo* const paper = find_paper(id);
  if (paper == nullptr) return {};
  return *paper->authors == '\0' ? paper->title : fmt::format("{}: {}", paper->authors, paper->title);
}

std::string current_id(const std::string& id) {
  for (const PaperInfo& paper : paper_table()) {
    const std::string_view former = paper.former_id;
    const bool begins = !former.empty() && id.starts_with(former);
    if (begins && (id.size() == former.size() || id[former.size()] == '-')) return paper.id + id.substr(former.size());
  }
  return id;
}

Result<std::vector<const Entry*>> entries_named(const std::string& word, const std::vector<Entry>& entries) {
  constexpr std::size_t min_beginning = 3;
  const std::string wanted = lower(current_id(word));
  const bool is_long = wanted.size() >= min_beginning;
  std::vector<const Entry*> exact, begun, of_author;
  for (const Entry& entry : entries) {
    const std::string id = lower(entry.id);
    const PaperInfo* const paper = find_paper(entry.paper);
    if (wanted == "all" || wanted == lower(entry.paper) || wanted == id || wanted == lower(entry.variant_of) ||
        word == entry.id) {
      exact.push_back(&entry);
    } else if (is_long && (id.starts_with(wanted) || lower(entry.paper).starts_with(wanted))) {
      begun.push_back(&entry);
    } else if (is_long && paper != nullptr && has_author(*paper, wanted)) {
      of_author.push_back(&entry);
    }
  }
  if (!exact.empty()) return exact;
  if (!begun.empty()) return begun;
  if (!of_author.empty()) return of_author;
  std::vector<std::string> ids;
  for (const PaperInfo& paper : paper_table()) ids.emplace_back(paper.id);
  for (const Entry& entry : entries) ids.push_back(entry.id);
  return Error{ErrorCode::wrong_usage,
               fmt::format("paper: no entry, paper or file is called '{}'; {}`conebench paper list` has them", word,
                           did_you_mean(current_id(word), ids))};
}

}  // namespace conebench::papers
