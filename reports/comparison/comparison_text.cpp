#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/comparison/comparison.hpp"
#include "reports/comparison/words.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

std::string paint(Outlook outlook, const std::string& text, bool colour) {
  if (!colour) return text;
  const char* code = outlook == Outlook::worse ? "31" : outlook == Outlook::better ? "32" : "2";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string side_line(const char* what, const Side& side) {
  return fmt::format("{:<5}{}  {}\n", what, one_line(side.name), one_line(side_words(side)));
}

/// Rows in columns that line up; the first row is the heading, `left` columns are text.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string pad(widths[c] - display_width(row[c]), ' ');
      line += "  " + (c < left || c + 1 == row.size() ? row[c] + pad : pad + row[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

constexpr std::size_t most_terminal_cells = 12;
constexpr std::size_t most_quiet_rows = 12;

/// "NSGS, SSN and 3 more".
std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t few = 5;
  const std::size_t named = names.size() > few + 1 ? few : names.size();  // "and 1 more" is as long as a name
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named < names.size()) text += fmt::format(" and {} more", names.size() - named);
  return text;
}

/// "9 settings undecided, 3 of them not above: NSGS, SSN, IPM (could have seen 4.5 to 15.6 %), 5 settings the same
/// within 3 %". `above`: undecided settings with a row of their own.
std::string folded_words(const Comparison& comparison, const std::vector<const SettingChange*>& folded, long above,
                         const std::vector<std::string>& labels) {
  std::vector<std::string> undecided;
  long same = 0, nothing = 0;
  std::vector<double> could_have_seen;
  for (const SettingChange* change : folded) {
    if (change->outlook == Outlook::undecided) undecided.push_back(labels[change->setting]);
    if (change->outlook == Outlook::same) ++(change->solved > 0 ? same : nothing);
    if (change->times.verdict == ChangeState::undecided) could_have_seen.push_back(change->times.could_have_seen);
  }
  std::string text;
  if (!undecided.empty()) {
    const long rest = std::ssize(undecided);
    text = plural(above + rest, "setting") + " undecided";
    if (above > 0) text += fmt::format(", {} of them not above", rest);
    text += ": " + few_of(undecided);
  }
  if (!could_have_seen.empty()) {
    const auto [least, most] = std::minmax_element(could_have_seen.begin(), could_have_seen.end());
    text += fmt::format(" (could have seen {:.1f} to {:.1f} %)", 100.0 * std::expm1(*least), 100.0 * std::expm1(*most));
  }
  if (nothing > 0) {
    text += fmt::format("{}{} as before, without a solved cell", text.empty() ? "" : ", ", plural(nothing, "setting"));
  }
  if (same > 0) {
    text += fmt::format("{}{} the same within {:.0f} %", text.empty() ? "" : ", ", plural(same, "setting"),
                        100.0 * same_bound(comparison.minimum_effect));
  }
  return text;
}

/// `text` after `indent` columns, its words broken over lines of `width`.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    if (text.compare(end, 2, " %") == 0) end = std::min(text.find(' ', end + 1), text.size());  // a number and its unit
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (column > indent && column + 1 + display_width(word) > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += display_width(word);
  }
  return out;
}

/// Nothing stands in its row but that it is undecided or the same.
bool says_no_more(const Comparison& comparison, const SettingChange& change) {
  const std::size_t of_problem = change.missed_with_problem > 0 ? 1 : 0;  // told once for all settings
  return change.reasons.size() == of_problem && change.work.changed == 0 && change.count(CellChange::other_bits) == 0 &&
         change.times.reason.empty() && comparison.times_compared;
}

std::vector<std::string> setting_labels(const Comparison& comparison, std::size_t width) {
  std::vector<std::string> labels;
  for (const ComparedSetting& setting : comparison.settings) labels.push_back(one_line(setting.label));
  return short_labels(labels, width);
}

std::string slice_table(const Comparison& comparison, const TimeSlice& slice, bool colour, std::size_t width) {
  constexpr std::size_t label_width = 28;
  std::vector<std::vector<std::string>> rows{{"", "setting", "cells", "raw", "corrected", ""}};
  std::vector<const SettingChange*> shown, folded;
  const bool fold = slice.settings.size() > most_quiet_rows;
  for (const SettingChange& change : slice.settings) {
    const bool quiet = change.outlook == Outlook::same || change.outlook == Outlook::undecided;
    (quiet && (fold || says_no_more(comparison, change)) ? folded : shown).push_back(&change);
  }
  const auto labels = setting_labels(comparison, label_width);
  long undecided_above = 0;
  for (const SettingChange* change : shown) {
    undecided_above += change->outlook == Outlook::undecided ? 1 : 0;
    const bool timed = times_shown(comparison, *change);
    rows.push_back({to_string(change->outlook), labels[change->setting], std::to_string(change->times.cells),
                    timed ? per_cent(change->times.raw) : "–", timed ? per_cent(change->times.corrected) : "–", "|"});
  }
  std::string out;
  const std::string text = shown.empty() ? std::string() : columns(rows, 2);
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    std::string one = text.substr(begin, end - begin);
    if (line > 0) {
      const SettingChange& change = *shown[line - 1];
      one.pop_back();  // the place of the reasons
      one += wrapped(one_line(why(comparison, change)), display_width(one), width);
      one.erase(one.find_last_not_of(' ') + 1);
      const std::string word = to_string(change.outlook);
      one.replace(one.find(word), word.size(), paint(change.outlook, word, colour));
    } else {
      one += "  why";
    }
    out += one + "\n";
    begin = end + 1;
  }
  if (!folded.empty())
    out += "  " + wrapped(folded_words(comparison, folded, undecided_above, labels), 2, width) + "\n";
  return out;
}

/// A line of what and where, and one of both ends, or of each where they are long.
std::string changed_cell_lines(const ChangedCell& cell, const std::string& setting, std::size_t width) {
  constexpr std::size_t indent = 8;
  const std::size_t line = std::max<std::size_t>(width, 40) - indent;
  const std::size_t names = (std::max<std::size_t>(width, 60) - 30) / 2;
  std::string before = shorten(one_line(cell.base), line);
  const std::string after = "→ " + shorten(one_line(cell.fresh), line - 2);
  const bool long_ends = display_width(before) + 1 + display_width(after) > line;
  before += long_ends ? "\n" + std::string(indent - 2, ' ') : " ";
  return fmt::format("  {:<13}  {}  {}  {}\n{:{}}{}{}\n", cell.change, shorten(one_line(cell.problem), names), setting,
                     cell.tolerance, "", indent, before, after);
}

}  // namespace

std::string comparison_terminal(const Comparison& comparison, bool colour, std::size_t width) {
  std::string out = side_line("base", comparison.base) + side_line("new", comparison.fresh);
  const auto add_line = [&](const std::string& line) { out += wrapped(one_line(line), 0, width) + "\n"; };
  for (const std::string& line : comparison.differences) add_line("note: " + line);
  for (const std::string& note : comparison.notes) add_line("note: " + note);
  for (const TimeSlice& slice : comparison.slices) {
    out += fmt::format("\n{}: {}\n", one_line(slice_words(slice.request)), plural(slice.cells, "cell"));
    out += slice_table(comparison, slice, colour, width);
  }
  const auto flips = changed_cells(comparison);
  if (!flips.empty()) {
    out += "\nchanged cells:\n";
    constexpr std::size_t usual = 28;
    const auto labels = setting_labels(comparison, usual);
    for (std::size_t i = 0; i < std::min(flips.size(), most_terminal_cells); ++i) {
      out += changed_cell_lines(words_of(comparison, *flips[i]), labels[flips[i]->setting], width);
    }
    if (flips.size() > most_terminal_cells) {
      out += fmt::format("  and {} more: --out DIR writes all\n", flips.size() - most_terminal_cells);
    }
  }
  const auto lists = problem_and_setting_lines(comparison);
  if (!lists.empty()) out += "\n";
  for (std::size_t i = 0; i < std::min(lists.size(), most_terminal_cells); ++i) add_line(lists[i]);
  if (lists.size() > most_terminal_cells) out += fmt::format("and {} more\n", lists.size() - most_terminal_cells);
  out += "\n";
  add_line(headline(comparison));
  return out;
}

namespace {

std::string details(const std::string& summary, const std::string& body) {
  return body.empty() ? std::string()
                      : fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", summary, body);
}

constexpr std::size_t longest_comment = 65536;

std::string heading_of(const Comparison& comparison, const std::string& title) {
  return fmt::format("### {}: {}\n", title, markdown(headline(comparison)));
}

std::string markdown_with(const Comparison& comparison, const std::string& title, std::size_t most_settings,
                          std::size_t most_cells) {
  std::string out = heading_of(comparison, title) + "\n";
  out += fmt::format("base {} ({}) · new {} ({})\n\n", markdown(comparison.base.name),
                     markdown(side_words(comparison.base)), markdown(comparison.fresh.name),
                     markdown(side_words(comparison.fresh)));
  for (const std::string& note : comparison.differences) out += "- " + markdown(note) + "\n";
  for (const std::string& note : comparison.notes) out += "- " + markdown(note) + "\n";
  if (!comparison.notes.empty() || !comparison.differences.empty()) out += "\n";
  for (const TimeSlice& slice : comparison.slices) {
    std::string shown, folded;
    std::size_t rows = 0;
    const std::string heading =
        "| | setting | cells timed | raw | corrected | why |\n| --- | --- | ---: | ---: | ---: | --- |\n";
    for (const SettingChange& change : slice.settings) {
      const bool quiet = change.outlook == Outlook::same || change.outlook == Outlook::undecided;
      if (++rows > most_settings) break;
      (quiet ? folded : shown) += fmt::format("| {} | {} | {} | {} | {} | {} |\n", to_string(change.outlook),
                                              markdown(comparison.settings[change.setting].label), change.times.cells,
                                              times_shown(comparison, change) ? per_cent(change.times.raw) : "–",
                                              times_shown(comparison, change) ? per_cent(change.times.corrected) : "–",
                                              markdown(why(comparison, change)));
    }
    out += fmt::format("**{}**, {}\n\n", markdown(slice_words(slice.request)), plural(slice.cells, "cell"));
    if (!shown.empty()) out += heading + shown + "\n";
    out += details("settings that are the same or undecided", folded.empty() ? folded : heading + folded);
    if (rows > most_settings) out += fmt::format("and {} more settings\n\n", slice.settings.size() - most_settings);
  }
  const auto flips = changed_cells(comparison);
  std::string cells;
  for (std::size_t i = 0; i < std::min(flips.size(), most_cells); ++i) {
    const ChangedCell cell = words_of(comparison, *flips[i]);
    cells += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell.change, markdown(cell.problem),
                         markdown(cell.setting), cell.tolerance, markdown(cell.base), markdown(cell.fresh));
  }
  if (!cells.empty()) {
    cells = "| | problem | setting | tolerance | base | new |\n| --- | --- | --- | --- | --- | --- |\n" + cells;
    if (flips.size() > most_cells) cells += fmt::format("\nand {} more\n", flips.size() - most_cells);
  }
  out += details(plural(static_cast<long>(flips.size()), "changed cell"), cells);
  std::string lists;
  const auto lines = problem_and_setting_lines(comparison);
  for (std::size_t i = 0; i < std::min(lines.size(), most_cells); ++i) lists += "- " + markdown(lines[i]) + "\n";
  if (lines.size() > most_cells) lists += fmt::format("- and {} more\n", lines.size() - most_cells);
  return out + details("problems and settings of one side alone", lists);
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison, const std::string& title) {
  for (std::size_t rows = 200; rows > 0; rows /= 2) {
    std::string text = markdown_with(comparison, title, rows, rows);
    if (text.size() <= longest_comment) return text;
  }
  return heading_of(comparison, title);
}

}  // namespace conebench::reports
