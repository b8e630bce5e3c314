#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "reports/comparison/comparison.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/table_layout.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

Tone tone_of(Assessment assessment) {
  return assessment == Assessment::worse ? Tone::bad : assessment == Assessment::better ? Tone::good : Tone::dim;
}

bool is_quiet(const ConfigurationChange& change) {
  return change.assessment == Assessment::same || change.assessment == Assessment::undecided;
}

std::string side_line(const char* what, const Side& side) {
  return fmt::format("{:<11}{}  {}\n", what, one_line(side.name), one_line(describe_side(side)));
}

/// `cells`: the heading of how many were timed.
Table configurations_table(const Comparison& comparison, const std::vector<const ConfigurationChange*>& changes,
                           const std::vector<std::string>& labels, const char* cells) {
  Table table{{{.heading = "", .markup = true},
               {.heading = "configuration", .breaks = TableColumn::Breaks::in_column},
               {cells, Format::count},
               {"raw", Format::text_right},
               {"corrected", Format::text_right},
               {"why"}}};
  for (const ConfigurationChange* change : changes) {
    const bool timed = times_shown(comparison, *change);
    table.rows.push_back({{to_string(change->assessment), tone_of(change->assessment)},
                          labels[change->configuration],
                          change->times.cells,
                          timed ? per_cent(change->times.raw) : "–",
                          timed ? per_cent(change->times.corrected) : "–",
                          why(comparison, *change)});
  }
  return table;
}

constexpr std::size_t max_terminal_cells = 12;
constexpr std::size_t max_quiet_rows = 12;

/// "NSGS, SSN and 3 more".
std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t few = 5;
  const std::size_t named = names.size() > few + 1 ? few : names.size();  // "and 1 more" is as long as a name
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named < names.size()) text += fmt::format(" and {} more", names.size() - named);
  return text;
}

/// "9 configurations undecided, 3 of them not listed above: NSGS, SSN, IPM (a change of 4.5 to 15.6 % would have been
/// found), 5 configurations the same within 3 %". `above`: undecided configurations with a row of their own.
std::string describe_folded(const Comparison& comparison, const std::vector<const ConfigurationChange*>& folded,
                            long above, const std::vector<std::string>& labels) {
  std::vector<std::string> undecided;
  long same = 0, nothing = 0;
  std::vector<double> could_have_seen;
  for (const ConfigurationChange* change : folded) {
    if (change->assessment == Assessment::undecided) undecided.push_back(labels[change->configuration]);
    if (change->assessment == Assessment::same) ++(change->solved > 0 ? same : nothing);
    if (change->times.verdict == ChangeState::undecided) could_have_seen.push_back(change->times.could_have_seen);
  }
  std::string text;
  if (!undecided.empty()) {
    const long rest = std::ssize(undecided);
    text = plural(above + rest, "configuration") + " undecided";
    if (above > 0) text += fmt::format(", {} of them not listed above", rest);
    text += ": " + few_of(undecided);
  }
  if (!could_have_seen.empty()) {
    const auto [minimum, maximum] = std::minmax_element(could_have_seen.begin(), could_have_seen.end());
    text += fmt::format(" (a change of {:.1f} to {:.1f} % would have been found)", 100.0 * std::expm1(*minimum),
                        100.0 * std::expm1(*maximum));
  }
  if (nothing > 0) {
    text += fmt::format("{}{} without a solved cell, as before", text.empty() ? "" : ", ",
                        plural(nothing, "configuration"));
  }
  if (same > 0) {
    text += fmt::format("{}{} the same within {:.0f} %", text.empty() ? "" : ", ", plural(same, "configuration"),
                        100.0 * same_bound(comparison.minimum_effect));
  }
  return text;
}

/// Its row would say only that it is undecided or the same.
bool says_no_more(const Comparison& comparison, const ConfigurationChange& change) {
  const std::size_t of_problem = change.missed_with_problem > 0 ? 1 : 0;  // reported once for all configurations
  return change.reasons.size() == of_problem && change.work.changed == 0 && change.count(CellChange::other_bits) == 0 &&
         change.times.reason.empty() && comparison.times_compared;
}

std::vector<std::string> configuration_labels(const Comparison& comparison, std::size_t width) {
  std::vector<std::string> labels;
  for (const ComparedConfiguration& configuration : comparison.configurations)
    labels.push_back(one_line(configuration.label));
  return short_labels(labels, width);
}

std::string slice_table(const Comparison& comparison, const TimeSlice& slice, bool colour, std::size_t width) {
  constexpr std::size_t label_width = 28;
  std::vector<const ConfigurationChange*> shown, folded;
  const bool fold = slice.configurations.size() > max_quiet_rows;
  for (const ConfigurationChange& change : slice.configurations) {
    (is_quiet(change) && (fold || says_no_more(comparison, change)) ? folded : shown).push_back(&change);
  }
  auto labels = configuration_labels(comparison, label_width);
  for (std::size_t s = 0; s < labels.size(); ++s) {
    if (comparison.configurations[s].origin == "own") labels[s] += std::string(" ") + own_mark;
  }
  const auto undecided_above = std::count_if(shown.begin(), shown.end(), [](const ConfigurationChange* change) {
    return change->assessment == Assessment::undecided;
  });
  std::string out;
  if (!shown.empty()) {
    out = terminal_text(configurations_table(comparison, shown, labels, "cells"),
                        {.indent = 2, .paint = {colour}, .columns = width});
  }
  if (!folded.empty())
    out += "  " + wrapped(describe_folded(comparison, folded, undecided_above, labels), 2, width) + "\n";
  return out;
}

/// A line with the change and the cell, then one with both outcomes, or one for each where they are long.
std::string changed_cell_lines(const ChangedCell& cell, const std::string& configuration, std::size_t width) {
  constexpr std::size_t indent = 8;
  const std::size_t line = std::max<std::size_t>(width, 40) - indent;
  const std::size_t names = (std::max<std::size_t>(width, 60) - 30) / 2;
  std::string before = shorten(one_line(cell.baseline), line);
  const std::string after = "→ " + shorten(one_line(cell.candidate), line - 2);
  const bool long_ends = display_width(before) + 1 + display_width(after) > line;
  before += long_ends ? "\n" + std::string(indent - 2, ' ') : " ";
  return fmt::format("  {:<13}  {}  {}  {}\n{:{}}{}{}\n", cell.change, shorten(one_line(cell.problem), names),
                     configuration, cell.tolerance, "", indent, before, after);
}

}  // namespace

std::string comparison_terminal(const Comparison& comparison, bool colour, std::size_t width) {
  std::string out = side_line("baseline", comparison.baseline) + side_line("candidate", comparison.candidate);
  const auto add_line = [&](const std::string& line) { out += wrapped(one_line(line), 0, width) + "\n"; };
  for (const std::string& line : comparison.differences) add_line("note: " + line);
  for (const std::string& note : comparison.notes) add_line("note: " + note);
  for (const TimeSlice& slice : comparison.slices) {
    const std::string head = fmt::format("{}: {}", describe_slice(comparison, slice), plural(slice.cells, "cell"));
    out += "\n" + wrapped(one_line(head), 0, width) + "\n";
    out += slice_table(comparison, slice, colour, width);
  }
  if (const std::string mark = legend(comparison); !mark.empty()) out += "\n" + mark + "\n";
  const auto flips = changed_cells(comparison);
  if (!flips.empty()) {
    out += "\nchanged cells:\n";
    constexpr std::size_t usual = 28;
    const auto labels = configuration_labels(comparison, usual);
    for (std::size_t i = 0; i < std::min(flips.size(), max_terminal_cells); ++i) {
      out += changed_cell_lines(describe_cell(comparison, *flips[i]), labels[flips[i]->configuration], width);
    }
    if (flips.size() > max_terminal_cells) {
      out += fmt::format("  and {} more: --out DIR writes all\n", flips.size() - max_terminal_cells);
    }
  }
  const auto lists = problem_and_configuration_lines(comparison);
  if (!lists.empty()) out += "\n";
  for (std::size_t i = 0; i < std::min(lists.size(), max_terminal_cells); ++i) add_line(lists[i]);
  if (lists.size() > max_terminal_cells) out += fmt::format("and {} more\n", lists.size() - max_terminal_cells);
  out += "\n";
  add_line(headline(comparison));
  return out;
}

namespace {

std::string details(const std::string& summary, const std::string& body) {
  return body.empty() ? std::string()
                      : fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", summary, body);
}

std::string heading_of(const Comparison& comparison, const std::string& title) {
  return fmt::format("### {}: {}\n", title, markdown(headline(comparison)));
}

std::string markdown_with(const Comparison& comparison, const std::string& title, std::size_t max_configurations,
                          std::size_t max_cells) {
  std::string out = heading_of(comparison, title) + "\n";
  out += fmt::format("baseline {} ({}) · candidate {} ({})\n\n", markdown(comparison.baseline.name),
                     markdown(describe_side(comparison.baseline)), markdown(comparison.candidate.name),
                     markdown(describe_side(comparison.candidate)));
  for (const std::string& note : comparison.differences) out += "- " + markdown(note) + "\n";
  for (const std::string& note : comparison.notes) out += "- " + markdown(note) + "\n";
  if (!comparison.notes.empty() || !comparison.differences.empty()) out += "\n";
  std::vector<std::string> labels;
  for (const ComparedConfiguration& configuration : comparison.configurations)
    labels.push_back(marked_label(configuration));
  if (const std::string mark = legend(comparison); !mark.empty()) out += markdown(mark) + "\n\n";
  for (const TimeSlice& slice : comparison.slices) {
    std::vector<const ConfigurationChange*> shown, folded;
    for (const ConfigurationChange& change :
         std::span(slice.configurations).first(std::min(slice.configurations.size(), max_configurations))) {
      (is_quiet(change) ? folded : shown).push_back(&change);
    }
    const auto table = [&](const std::vector<const ConfigurationChange*>& changes) {
      return changes.empty() ? std::string()
                             : markdown_text(configurations_table(comparison, changes, labels, "cells timed"));
    };
    out += fmt::format("**{}**, {}\n\n", markdown(describe_slice(comparison, slice)), plural(slice.cells, "cell"));
    if (!shown.empty()) out += table(shown) + "\n";
    out += details("configurations that are the same or undecided", table(folded));
    if (slice.configurations.size() > max_configurations) {
      out += fmt::format("and {} more configurations\n\n", slice.configurations.size() - max_configurations);
    }
  }
  const auto flips = changed_cells(comparison);
  Table cells{
      {{.heading = "", .markup = true}, {"problem"}, {"configuration"}, {"tolerance"}, {"baseline"}, {"candidate"}}};
  for (std::size_t i = 0; i < std::min(flips.size(), max_cells); ++i) {
    const ChangedCell cell = describe_cell(comparison, *flips[i]);
    cells.rows.push_back(
        {cell.change, cell.problem, cell.configuration, cell.tolerance, cell.baseline, cell.candidate});
  }
  std::string flipped = cells.rows.empty() ? "" : markdown_text(cells);
  if (flips.size() > max_cells) flipped += fmt::format("\nand {} more\n", flips.size() - max_cells);
  out += details(plural(static_cast<long>(flips.size()), "changed cell"), flipped);
  std::string lists;
  const auto lines = problem_and_configuration_lines(comparison);
  for (std::size_t i = 0; i < std::min(lines.size(), max_cells); ++i) lists += "- " + markdown(lines[i]) + "\n";
  if (lines.size() > max_cells) lists += fmt::format("- and {} more\n", lines.size() - max_cells);
  return out + details("problems and configurations of one side alone", lists);
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison, const std::string& title, std::size_t max_size) {
  for (std::size_t rows = 200; rows > 0; rows /= 2) {
    std::string text = markdown_with(comparison, title, rows, rows);
    if (text.size() <= max_size) return text;
  }
  return heading_of(comparison, title);
}

}  // namespace conebench::reports
