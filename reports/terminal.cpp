#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/formats.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// Grids of a few options stand in full; names from outside can have any length.
constexpr int longest_label = 100;

enum class Style { plain, bold, dim, good, warning, bad };

class Paint {
 public:
  explicit Paint(bool colour) : colour_(colour) {}
  std::string operator()(Style style, const std::string& text) const {
    constexpr std::array<const char*, 6> codes{"", "1", "2", "32", "33", "31"};
    if (!colour_ || style == Style::plain || text.empty()) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(style)], text);
  }

 private:
  bool colour_;
};

struct Field {
  std::string text;
  Style style = Style::plain;
};

struct Heading {
  std::string text;
  bool left = false;
};

/// Rows under headings, every column as wide as its widest field.
std::string lay_out(const std::vector<Heading>& headings, const std::vector<std::vector<Field>>& rows,
                    const Paint& paint) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < headings.size(); ++c) {
    std::size_t width = display_width(headings[c].text);
    for (const auto& row : rows) width = std::max(width, display_width(row[c].text));
    widths.push_back(width);
  }
  const auto line = [&](const auto& field_of) {
    std::string out;
    for (std::size_t c = 0; c < headings.size(); ++c) {
      const Field field = field_of(c);
      const std::string pad(widths[c] - display_width(field.text), ' ');
      const std::string shown = paint(field.style, field.text);
      out += (c == 0 ? " " : "  ") + (headings[c].left ? shown + pad : pad + shown);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out = line([&](std::size_t c) { return Field{headings[c].text, Style::dim}; });
  for (const auto& row : rows) out += line([&](std::size_t c) { return row[c]; });
  return out;
}

/// `share` of ten columns in eighths.
std::string bar(double share) {
  constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int filled = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 80.0));
  std::string out;
  for (int i = 0; i < filled / 8; ++i) out += "█";
  out += eighths[static_cast<std::size_t>(filled % 8)];
  while (display_width(out) < 10) out += ' ';
  return out;
}

Field count(long n, Style style) { return n == 0 ? Field{"·", Style::dim} : Field{std::to_string(n), style}; }

Field optional_number(const std::optional<double>& value) {
  return value ? Field{human_number(*value)} : Field{"–", Style::dim};
}

Field time_field(const std::optional<double>& value) {
  return value ? Field{human_time(*value)} : Field{"–", Style::dim};
}

std::string ranking_table(const Analysis& analysis, const Ranking& ranking, const Paint& paint) {
  std::vector<Heading> headings{{"#"}, {"solver", true}, {"solved", true}, {""}, {""}};
  if (analysis.times_shown) {
    headings.insert(headings.end(), {{"time"}, {"common"}, {"×best"}});
  } else {
    headings.push_back({"iterations"});
  }
  headings.insert(headings.end(), {{"ρ(1)"}, {"ρ(∞)"}, {"false"}, {"unsup."}});
  std::vector<std::vector<Field>> rows;
  for (const auto& row : ranking.rows) {
    const Style share_style = row.solved_share > 0.9   ? Style::good
                              : row.solved_share > 0.5 ? Style::warning
                                                       : Style::bad;
    std::vector<Field> fields{{std::to_string(rows.size() + 1), Style::dim},
                              {shorten(one_line(analysis.columns[row.column].label), longest_label), Style::bold},
                              {bar(row.solved_share), share_style},
                              {human_share(row.solved_share)},
                              {fmt::format("{}/{}", row.tally.solved, row.tally.total()), Style::dim}};
    if (analysis.times_shown) {
      fields.push_back(time_field(row.means.at_limit));
      fields.push_back(time_field(row.means.common));
      fields.push_back(row.times_best ? Field{human_number(*row.times_best)} : Field{"–", Style::dim});
    } else {
      fields.push_back(optional_number(row.median_iterations));
    }
    fields.push_back({row.rho_one ? human_share(*row.rho_one) : "–"});
    fields.push_back({row.rho_infinity ? human_share(*row.rho_infinity) : "–"});
    fields.push_back(count(row.tally.false_claim, Style::bad));
    fields.push_back(count(row.tally.unsupported, Style::plain));
    rows.push_back(std::move(fields));
  }
  return lay_out(headings, rows, paint);
}

std::string footer(const Analysis& analysis, const Ranking& ranking) {
  std::string text = fmt::format(" {} of {} solved by at least one solver", ranking.solved_by_any,
                                 plural(ranking.problems, "problem"));
  if (ranking.best_of_all) {
    text += fmt::format("; the fastest for each problem: time {}", human_time(*ranking.best_of_all));
  }
  if (analysis.times_shown && ranking.common_columns > 0) {
    text += fmt::format(
        " · common: {} that {}", plural(ranking.common_problems, "problem"),
        ranking.common_columns == 1 ? "1 solver solves" : fmt::format("{} solvers all solve", ranking.common_columns));
  }
  return text + "\n";
}

std::string legend(const Analysis& analysis) {
  std::string text =
      fmt::format(" false: claims that the judge refutes; unsup.: problems a solver can't run on. {} weigh the same.\n",
                  capital(many_groups(analysis.contents->group)));
  if (!analysis.times_shown) return text;
  return text +
         fmt::format(
             " {}, geometric means shifted by {}. time: unsolved problems count with their limit; "
             "common: problems that\n all solvers with at least half solved solve; ×best: ratio to the best, over "
             "what a solver solves (not shifted).\n",
             analysis.condensation_shown ? "Set-up + solve, with and without condensation" : "Set-up + solve",
             human_time(analysis.shift_s));
}

}  // namespace

std::string terminal(const Analysis& analysis, bool colour) {
  const Paint paint(colour);
  std::string out;
  for (const auto& note : analysis.notes) {
    const bool warning = note.level == Note::Level::warning;
    out += paint(warning ? Style::warning : Style::dim, warning ? " ! " : " · ") + one_line(note.text) + "\n";
  }
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const Ranking& ranking = analysis.ranking(s);
    const Slice& slice = analysis.slices[s];
    out += "\n " + paint(Style::bold, fmt::format("{} at {}", one_line(analysis.title), slice.label));
    out += paint(Style::dim, fmt::format("  {}, {} start · {} in {}", slice.verdict, slice.start,
                                         plural(ranking.problems, "problem"),
                                         count_groups(ranking.families, analysis.contents->group)));
    out += "\n" + ranking_table(analysis, ranking, paint) + paint(Style::dim, footer(analysis, ranking));
    for (const Ranking* const other : analysis.rankings_of(s)) {
      if (other == &ranking) continue;
      out += paint(Style::dim, fmt::format(" the same by {} (above: {})\n", title(other->cost), title(ranking.cost)));
      out += ranking_table(analysis, *other, paint);
    }
    for (const auto& remark : ranking.remarks) out += paint(Style::dim, " " + one_line(remark)) + "\n";
  }
  if (!analysis.slices.empty()) out += "\n" + paint(Style::dim, legend(analysis));
  return out;
}

}  // namespace conebench::reports
