#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "papers/render.hpp"
#include "reports/table_layout.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

/// Curves differ in grey, in dashes and in marks, so that they can be distinguished without colour.
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
const LineStyle& style_of(std::size_t series) { return styles[series % styles.size()]; }

std::string figure_csv(const std::vector<Curve>& curves) {
  reports::Table csv = reports::text_columns("series", "x", "y");
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points) csv.rows.push_back({curve.name, point.x, point.y});
  }
  return reports::csv_text(csv);
}

/// In single quotes, where gnuplot takes everything but a quote as it is.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : reports::one_line(text)) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string gnuplot(const Figure& figure, const std::vector<Curve>& curves, const std::string& stem) {
  const bool steps = figure.form == Figure::Form::profile;
  const bool path = figure.form == Figure::Form::path;
  std::string text = "# gnuplot " + stem + ".gp writes " + stem + ".svg and " + stem + ".pdf\nset encoding utf8\n";
  std::string plot;
  for (std::size_t s = 0; s < curves.size(); ++s) {
    if (curves[s].points.empty()) continue;
    text += fmt::format("$curve{} << EOD\n", s);
    for (const Point& point : curves[s].points) text += reports::exact(point.x) + " " + reports::exact(point.y) + "\n";
    text += "EOD\n";
    plot += fmt::format("{}$curve{} with {} lc rgb '#{}' dt {}{} title {}", plot.empty() ? "plot " : ", \\\n     ", s,
                        steps  ? "steps lw 2"
                        : path ? "lines lw 2"
                               : "linespoints lw 2",
                        style_of(s).rgb, style_of(s).gnuplot_dash,
                        steps || path ? std::string() : fmt::format(" pt {} ps 0.7", style_of(s).point),
                        quoted(curves[s].name));
  }
  text += fmt::format("set xlabel {} noenhanced\nset ylabel {} noenhanced\n", quoted(figure.x_label),
                      quoted(figure.y_label));
  if (figure.x_log) text += "set logscale x\nset format x '10^{%T}'\n";
  if (figure.y_log) text += "set logscale y\nset format y '10^{%T}'\n";
  if (steps) text += "set yrange [0:1.02]\n";
  text += "set grid lc rgb '#DDDDDD' lt 1\nset border 3\nset tics nomirror\nset key outside right noenhanced\n";
  text +=
      fmt::format("set terminal svg size 640,400 font 'Helvetica,13' background rgb 'white'\nset output '{}.svg'\n{}\n",
                  stem, plot);
  text +=
      fmt::format("set terminal pdfcairo size 16cm,10cm font 'Helvetica,11'\nset output '{}.pdf'\n{}\n", stem, plot);
  return text;
}

std::string pgfplots(const Figure& figure, const std::vector<Curve>& curves) {
  std::string text =
      "\\documentclass[landscape]{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage[T1]{fontenc}\n"
      "\\usepackage[margin=1cm]{geometry}\n\\usepackage{textcomp}\n\\usepackage{pgfplots}\n"
      "\\pgfplotsset{compat=1.16}\n\\pagestyle{empty}\n\\begin{document}\n"
      "\\begin{tikzpicture}\n\\begin{axis}[\n  width=12cm, height=8cm, grid=major, grid style={gray!25},\n";
  text +=
      fmt::format("  xlabel={{{}}}, ylabel={{{}}},\n", reports::latex(figure.x_label), reports::latex(figure.y_label));
  if (figure.x_log) text += "  xmode=log,\n";
  if (figure.y_log) text += "  ymode=log,\n";
  text += "  legend pos=outer north east, legend style={draw=none, font=\\small}]\n";
  for (std::size_t s = 0; s < curves.size(); ++s) {
    if (curves[s].points.empty()) continue;
    const LineStyle& style = style_of(s);
    const bool steps = figure.form == Figure::Form::profile;
    text +=
        fmt::format("\\definecolor{{curve{}}}{{HTML}}{{{}}}\n\\addplot[curve{}, thick, {}{}] coordinates {{\n", s,
                    style.rgb, s, style.pgf_dash,
                    steps                               ? ", const plot, no marks"
                    : figure.form == Figure::Form::path ? ", no marks"
                                                        : fmt::format(", mark={}, mark options={{solid}}", style.mark));
    for (const Point& point : curves[s].points)
      text += fmt::format("({},{})\n", reports::exact(point.x), reports::exact(point.y));
    text += fmt::format("}};\n\\addlegendentry{{{}}}\n", reports::latex(curves[s].name));
  }
  return text + "\\end{axis}\n\\end{tikzpicture}\n\\end{document}\n";
}

}  // namespace

bool drawn(const std::vector<Curve>& curves) {
  return std::any_of(curves.begin(), curves.end(), [](const Curve& curve) { return !curve.points.empty(); });
}

std::vector<ReportFile> figure_files(const EntryResult& result) {
  std::vector<ReportFile> files;
  for (std::size_t f = 0; f < result.figures.size(); ++f) {
    const std::vector<Curve>& curves = result.figures[f];
    if (!drawn(curves)) continue;
    const Figure& figure = result.entry->figures[f];
    const std::string stem = result.entry->id + "-" + figure.id;
    files.push_back({stem + ".csv", figure_csv(curves)});
    files.push_back({stem + ".gp", gnuplot(figure, curves, stem)});
    files.push_back({stem + ".tex", pgfplots(figure, curves)});
  }
  return files;
}

}  // namespace conebench::papers
