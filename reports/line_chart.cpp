#include "reports/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/table_layout.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

using Line = LineChart::Line;

/// Lines differ in grey, in dashes and in marks, so that they can be distinguished without colour.
struct LineStyle {
  const char *rgb, *gnuplot_dash, *pgf_dash, *mark;
  int point;
};
constexpr std::array<LineStyle, 8> styles = {{{"0072B2", "1", "solid", "*", 7},
                                              {"D55E00", "'-'", "dashed", "square*", 5},
                                              {"009E73", "'.'", "dotted", "triangle*", 9},
                                              {"CC79A7", "'-.'", "dashdotted", "diamond*", 13},
                                              {"333333", "1", "solid", "o", 6},
                                              {"E69F00", "'-'", "dashed", "square", 4},
                                              {"56B4E9", "'.'", "dotted", "triangle", 8},
                                              {"7B4FA3", "'-.'", "dashdotted", "diamond", 12}}};

/// From the ninth line on colours come again, with the next dash.
LineStyle style_of(std::size_t line) {
  LineStyle style = styles[line % styles.size()];
  const LineStyle& other = styles[(line + line / styles.size()) % styles.size()];
  style.gnuplot_dash = other.gnuplot_dash;
  style.pgf_dash = other.pgf_dash;
  return style;
}

std::string numbers(const std::vector<Line>& lines) {
  Table csv = text_columns("series", "x", "y");
  for (const Line& line : lines) {
    for (std::size_t k = 0; k < line.x.size(); ++k) csv.rows.push_back({line.name, line.x[k], line.y[k]});
  }
  return csv_text(csv);
}

/// What a drawing can show: on a logarithmic axis only what is positive; of steps the last one in each of some hundred
/// parts of the axis, and the height at the right end.
std::vector<Line> visible(const LineChart& chart) {
  std::vector<Line> lines;
  double first = HUGE_VAL, last = -HUGE_VAL;
  for (const Line& line : chart.lines) {
    Line& kept = lines.emplace_back(Line{line.name, {}, {}});
    for (std::size_t k = 0; k < line.x.size(); ++k) {
      const double x = line.x[k], y = line.y[k];
      if (!std::isfinite(x) || !std::isfinite(y) || (chart.x_log && x <= 0.0) || (chart.y_log && y <= 0.0)) continue;
      kept.x.push_back(x);
      kept.y.push_back(y);
      first = std::min(first, x);
      last = std::max(last, x);
    }
  }
  if (chart.form != LineChart::Lines::steps) return lines;
  constexpr double parts = 400.0;
  const auto along = [&](double x) {
    const double whole = chart.x_log ? std::log(last / first) : last - first;
    return whole > 0.0 ? std::floor(parts * (chart.x_log ? std::log(x / first) : x - first) / whole) : 0.0;
  };
  for (Line& line : lines) {
    Line kept{line.name, {}, {}};
    for (std::size_t k = 0; k < line.x.size(); ++k) {
      if (!kept.x.empty() && kept.x.size() > 1 && along(kept.x.back()) == along(line.x[k])) {
        kept.y.back() = line.y[k];
        continue;
      }
      kept.x.push_back(line.x[k]);
      kept.y.push_back(line.y[k]);
    }
    if (!kept.x.empty() && kept.x.back() < last) {
      kept.x.push_back(last);
      kept.y.push_back(kept.y.back());
    }
    line = std::move(kept);
  }
  return lines;
}

/// In single quotes, where gnuplot takes everything but a quote as it is.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : one_line(text)) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string gnuplot(const LineChart& chart, const std::vector<Line>& lines) {
  const bool steps = chart.form == LineChart::Lines::steps;
  const bool path = chart.form == LineChart::Lines::path;
  std::string text = fmt::format("# gnuplot {0}.gp writes {0}.svg and {0}.pdf\nset encoding utf8\n", chart.stem);
  std::string plot;
  for (std::size_t s = 0; s < lines.size(); ++s) {
    if (lines[s].x.empty()) continue;
    text += fmt::format("$curve{} << EOD\n", s);
    for (std::size_t k = 0; k < lines[s].x.size(); ++k)
      text += exact(lines[s].x[k]) + " " + exact(lines[s].y[k]) + "\n";
    text += "EOD\n";
    const LineStyle style = style_of(s);
    plot +=
        fmt::format("{}$curve{} with {} lc rgb '#{}' dt {}{} title {}", plot.empty() ? "plot " : ", \\\n     ", s,
                    steps  ? "steps lw 2"
                    : path ? "lines lw 2"
                           : "linespoints lw 2",
                    style.rgb, style.gnuplot_dash,
                    steps || path ? std::string() : fmt::format(" pt {} ps 0.7", style.point), quoted(lines[s].name));
  }
  text +=
      fmt::format("set xlabel {} noenhanced\nset ylabel {} noenhanced\n", quoted(chart.x_label), quoted(chart.y_label));
  if (chart.x_log) text += "set logscale x\nset format x '10^{%T}'\n";
  if (chart.y_log) text += "set logscale y\nset format y '10^{%T}'\n";
  if (steps) text += "set yrange [0:1.02]\n";
  text += "set grid lc rgb '#DDDDDD' lt 1\nset border 3\nset tics nomirror\nset key outside right noenhanced\n";
  text +=
      fmt::format("set terminal svg size 640,400 font 'Helvetica,13' background rgb 'white'\nset output '{}.svg'\n{}\n",
                  chart.stem, plot);
  text += fmt::format("set terminal pdfcairo size 16cm,10cm font 'Helvetica,11'\nset output '{}.pdf'\n{}\n", chart.stem,
                      plot);
  return text;
}

/// "xmin=1, xmax=10," where pgfplots would find no range of its own: all values equal, or steps, which end at the
/// frame.
std::string axis_range(const std::vector<Line>& lines, std::vector<double> Line::*values, const char* axis, bool log,
                       bool steps) {
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const Line& line : lines) {
    for (const double value : line.*values) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  if (!(least <= most) || (least < most && !steps)) return {};
  const double margin = std::max(1.0, std::abs(most));
  if (least == most) most = log ? 10.0 * most : most + margin;
  if (!steps) least = log ? least / 10.0 : least - margin;
  return fmt::format("  {0}min={1}, {0}max={2},\n", axis, exact(least), exact(most));
}

/// On a short logarithmic axis ticks at 1, 2 and 5 of each power of ten, instead of broken powers.
std::string short_log_ticks(const std::vector<Line>& lines) {
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const Line& line : lines) {
    for (const double x : line.x) {
      least = std::min(least, x);
      most = std::max(most, x);
    }
  }
  if (!(least > 1e-3 && most < 1e6 && least < most && most < 100.0 * least)) return {};
  std::string ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(least))); power <= most; power *= 10.0) {
    for (const double step : {1.0, 2.0, 5.0}) {
      if (step * power >= 0.999 * least && step * power <= 1.001 * most)
        ticks += (ticks.empty() ? "" : ",") + fmt::format("{:g}", step * power);
    }
  }
  return ticks.empty() ? ticks : fmt::format("  xtick={{{}}}, log ticks with fixed point,\n", ticks);
}

/// As wide as a column of the page, the legend below.
std::string pgfplots(const LineChart& chart, const std::vector<Line>& lines) {
  constexpr std::size_t short_name = 20;
  const bool steps = chart.form == LineChart::Lines::steps;
  const bool all_short =
      std::ranges::all_of(lines, [](const Line& line) { return display_width(line.name) <= short_name; });
  std::string text =
      "\\begin{tikzpicture}\n\\begin{axis}[\n  width=\\columnwidth, height=0.66\\columnwidth, grid=major,\n"
      "  grid style={gray!25}, tick label style={font=\\scriptsize}, label style={font=\\small},\n";
  text += fmt::format("  xlabel={{{}}}, ylabel={{{}}},\n", latex(chart.x_label), latex(chart.y_label));
  if (chart.x_log) text += "  xmode=log,\n";
  if (chart.y_log) text += "  ymode=log,\n";
  text += axis_range(lines, &Line::x, "x", chart.x_log, steps);
  if (chart.x_log && !chart.y_log) text += short_log_ticks(lines);
  text += steps ? "  ymin=0, ymax=1.02,\n" : axis_range(lines, &Line::y, "y", chart.y_log, false);
  text += fmt::format(
      "  legend columns={}, legend cell align=left,\n"
      "  legend style={{draw=none, font=\\scriptsize, at={{(0.5,-0.28)}}, anchor=north}}]\n",
      all_short ? 2 : 1);
  for (std::size_t s = 0; s < lines.size(); ++s) {
    if (lines[s].x.empty()) continue;
    const LineStyle style = style_of(s);
    text += fmt::format("\\definecolor{{curve{}}}{{HTML}}{{{}}}\n\\addplot[curve{}, thick, {}{}] coordinates {{\n", s,
                        style.rgb, s, style.pgf_dash,
                        steps ? ", const plot, no marks"
                        : chart.form == LineChart::Lines::path
                            ? ", no marks"
                            : fmt::format(", mark={}, mark options={{solid}}", style.mark));
    for (std::size_t k = 0; k < lines[s].x.size(); ++k) {
      text += fmt::format("({},{})\n", exact(lines[s].x[k]), exact(lines[s].y[k]));
    }
    text += fmt::format("}};\n\\addlegendentry{{{}}}\n", latex(lines[s].name));
  }
  return text + "\\end{axis}\n\\end{tikzpicture}";
}

}  // namespace

bool drawn(const LineChart& chart) {
  return std::ranges::any_of(chart.lines, [](const Line& line) { return !line.x.empty(); });
}

std::vector<ReportFile> chart_files(const LineChart& chart) {
  const std::vector<Line> lines = visible(chart);
  if (std::ranges::all_of(lines, [](const Line& line) { return line.x.empty(); })) return {};
  return {{chart.stem + ".csv", numbers(chart.lines)},
          {chart.stem + ".gp", gnuplot(chart, lines)},
          {chart.stem + ".tex", latex_figure(pgfplots(chart, lines), chart.around)}};
}

}  // namespace conebench::reports
