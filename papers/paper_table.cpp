#include "papers/paper_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/suggestion.hpp"
#include "base/utf8.hpp"

namespace conebench::papers {

namespace {

/// Its letters and digits, without case, accents and punctuation: "Le Lidec, fig. 13" → "lelidecfig13".
std::string folded(std::string_view text) {
  std::string out;
  each_code_point(std::string(text), [&](const CodePoint& point) {
    // Latin-1's accented letters: À to ö and their small ones, by the letter without.
    constexpr std::string_view plain = "aaaaaaaceeeeiiiidnooooo ouuuuy saaaaaaaceeeeiiiidnooooo ouuuuy y";
    if (point.value >= 0xC0 && point.value < 0x100) {
      const char letter = plain[point.value - 0xC0];
      if (letter != ' ') out += letter;
    } else if (point.value >= 0x80) {
      out += point.bytes;
    } else if (std::isalnum(static_cast<int>(point.value)) != 0) {
      out += static_cast<char>(std::tolower(static_cast<int>(point.value)));
    }
  });
  return out;
}

const PaperInfo* find_paper(std::string_view id) {
  const auto found = std::ranges::find_if(paper_table(), [&](const PaperInfo& paper) { return paper.id == id; });
  return found == paper_table().end() ? nullptr : &*found;
}

/// Family names, folded: "J. Lee, M. Lee" → "lee", "lee".
std::vector<std::string> families_of(const PaperInfo& paper) {
  std::vector<std::string> families;
  const std::string authors = paper.authors;
  for (std::size_t begin = 0; begin < authors.size();) {
    const std::size_t end = std::min(authors.find(',', begin), authors.size());
    const std::size_t initials = authors.substr(begin, end - begin).rfind(". ");
    if (initials != std::string::npos) begin += initials + 2;
    families.push_back(folded(authors.substr(begin, end - begin)));
    begin = end + 1;
  }
  return families;
}

bool has_author(const PaperInfo& paper, const std::string& wanted) {
  return std::ranges::any_of(families_of(paper), [&](const std::string& family) { return family.starts_with(wanted); });
}

/// The years that its id ("LeLidec24") and its title ("… (RSS 2008)") end with, of two digits and of four.
std::vector<std::string> years_of(const PaperInfo& paper) {
  const auto digits_at_end = [](std::string_view text, std::size_t count) {
    const std::string_view end = text.substr(text.size() - std::min(count, text.size()));
    const bool all = end.size() == count && end.find_first_not_of("0123456789") == std::string_view::npos;
    return all ? std::string(end) : std::string();
  };
  std::vector<std::string> years;
  if (const std::string two = digits_at_end(paper.id, 2); !two.empty()) {
    years.push_back(two);
    years.push_back("20" + two);
  }
  std::string_view title = paper.title;
  if (title.ends_with(')')) title.remove_suffix(1);
  if (const std::string four = digits_at_end(title, 4); !four.empty()) {
    years.push_back(four);
    years.push_back(four.substr(2));
  }
  return years;
}

/// What a paper can be called, folded: its id, and its first author with and without the year.
std::vector<std::string> names_of(std::string_view id) {
  std::vector<std::string> names = {folded(id)};
  const PaperInfo* const paper = find_paper(id);
  if (paper == nullptr || *paper->authors == '\0') return names;
  const std::string first = families_of(*paper).front();
  names.push_back(first);
  for (const std::string& year : years_of(*paper)) names.push_back(first + year);
  return names;
}

/// What the entry `id` of a paper can be called: the id, with each of the paper's names in front where it begins with
/// the paper's id.
std::vector<std::string> names_of(const std::string& id, const std::string& paper) {
  std::vector<std::string> names = {folded(id)};
  if (!id.starts_with(paper)) return names;
  const std::string rest = folded(std::string_view(id).substr(paper.size()));
  for (const std::string& name : names_of(paper)) names.push_back(name + rest);
  return names;
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
  const std::string wanted = folded(current_id(word));
  const bool is_long = wanted.size() >= min_beginning;
  const auto is_one_of = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, wanted) != names.end();
  };
  const auto begins_one_of = [&](const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [&](const std::string& name) { return name.starts_with(wanted); });
  };
  std::vector<const Entry*> exact, begun, of_author;
  for (const Entry& entry : entries) {
    const PaperInfo* const paper = find_paper(entry.paper);
    const bool is_variant = !entry.variant_of.empty() && is_one_of(names_of(entry.variant_of, entry.paper));
    if (word == "all" || word == entry.id || is_variant || (is_long && is_one_of(names_of(entry.id, entry.paper))) ||
        (is_long && is_one_of(names_of(entry.paper)))) {
      exact.push_back(&entry);
    } else if (is_long && (begins_one_of(names_of(entry.id, entry.paper)) || begins_one_of(names_of(entry.paper)))) {
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

Result<std::vector<const Entry*>> entries_of_author(const std::string& author, const std::vector<Entry>& entries) {
  const std::string wanted = folded(author);
  std::vector<const Entry*> found;
  for (const Entry& entry : entries) {
    const PaperInfo* const paper = find_paper(entry.paper);
    if (!wanted.empty() && paper != nullptr && has_author(*paper, wanted)) found.push_back(&entry);
  }
  if (!found.empty()) return found;
  std::string authors;
  for (const PaperInfo& paper : paper_table()) {
    if (*paper.authors != '\0') authors += (authors.empty() ? "" : "; ") + std::string(paper.authors);
  }
  return Error{ErrorCode::wrong_usage,
               fmt::format("paper: no paper here has an author '{}'; its authors are {}", one_line(author), authors)};
}

}  // namespace conebench::papers
