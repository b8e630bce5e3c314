#include "reports/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/badge.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/formats.hpp"

namespace conebench {

namespace {

constexpr std::array<std::pair<const char*, ReportFormat>, 6> format_names{{{"html", ReportFormat::html},
                                                                            {"md", ReportFormat::md},
                                                                            {"latex", ReportFormat::latex},
                                                                            {"csv", ReportFormat::csv},
                                                                            {"json", ReportFormat::json},
                                                                            {"badge", ReportFormat::badge}}};

/// Every name that a report's file can have, except in the folder of LaTeX.
constexpr std::array file_names = {"index.html",   "report.md",         "cells.csv",         "ranking.csv",
                                   "pairs.csv",    "problems.csv",      "report.json",       "performance_profiles.csv",
                                   "statuses.csv", "data_profiles.csv", "pair_profiles.csv", "badge.svg",
                                   "budgets.csv",  "traces.csv"};

/// What an earlier report may have left in the folder.
std::vector<std::filesystem::path> possible_files(const std::filesystem::path& out) {
  std::vector<std::filesystem::path> files(file_names.begin(), file_names.end());
  std::error_code ignored;
  std::vector<std::filesystem::path> tex;
  for (const auto& entry : std::filesystem::directory_iterator(out / reports::latex_folder_name, ignored)) {
    if (entry.path().extension() == ".tex") tex.push_back(reports::latex_folder_name / entry.path().filename());
  }
  std::sort(tex.begin(), tex.end());
  files.insert(files.end(), tex.begin(), tex.end());
  return files;
}

bool holds(const std::filesystem::path& file, const ByteSource& content) {
  std::ifstream stream(file, std::ios::binary);
  bool same = stream.is_open();
  std::string there;
  content([&](std::string_view piece) {
    if (!same) return;
    there.resize(piece.size());
    stream.read(there.data(), static_cast<std::streamsize>(there.size()));
    same = stream.gcount() == static_cast<std::streamsize>(piece.size()) && there == piece;
  });
  return same && stream.peek() == std::ifstream::traits_type::eof();
}

reports::Analysis analysed(const StoreContents& contents, const ReportOptions& options) {
  reports::Analysis analysis = reports::analyse(contents, options.force_time_profiles, options.title);
  std::vector<reports::Note> first;
  for (const std::string& remark : options.remarks) first.push_back({reports::Note::Level::warning, remark});
  analysis.notes.insert(analysis.notes.begin(), first.begin(), first.end());
  analysis.view = options.view;
  return analysis;
}

/// They refer to all that they are made of.
std::vector<StreamedFile> streamed_report(const reports::Analysis& analysis, const std::vector<ReportFormat>& formats,
                                          const ReportOptions& options) {
  std::vector<StreamedFile> files;
  const auto whole = [&](ReportFile file) {
    files.push_back({file.path, [content = std::move(file.content)](const ByteSink& sink) { sink(content); }});
  };
  for (const ReportFormat format : formats) {
    switch (format) {
      case ReportFormat::html:
        files.push_back({"index.html", [&](const ByteSink& sink) {
                           reports::html_page(analysis, options.pictures, options.since, sink, options.home);
                         }});
        break;
      case ReportFormat::md: whole({"report.md", reports::markdown_report(analysis)}); break;
      case ReportFormat::latex:
        for (ReportFile& file : reports::latex_files(analysis)) whole(std::move(file));
        break;
      case ReportFormat::csv:
        for (reports::CsvFile& table : reports::csv_files(analysis)) files.push_back(std::move(table.file));
        break;
      case ReportFormat::json:
        files.push_back({"report.json", [&](const ByteSink& sink) { reports::json_report(analysis, {}, sink); }});
        break;
      case ReportFormat::badge: whole({"badge.svg", reports::badge_svg(analysis)}); break;
    }
  }
  return files;
}

/// Files in the folder that are named as a report's, were not written now and are not what this report would have in
/// their place.
std::vector<std::string> other_reports_files(const reports::Analysis& analysis, const std::filesystem::path& out,
                                             const ReportOptions& options,
                                             const std::vector<std::filesystem::path>& written) {
  std::vector<std::string> others;
  for (const std::filesystem::path& name : possible_files(out)) {
    std::error_code ignored;
    const bool is_ours = std::find(written.begin(), written.end(), out / name) != written.end();
    if (!is_ours && std::filesystem::is_regular_file(out / name, ignored)) others.push_back(name.string());
  }
  if (others.empty()) return others;
  std::vector<ReportFormat> left = all_report_formats();
  std::erase_if(left, [&](ReportFormat format) {
    return std::find(options.formats.begin(), options.formats.end(), format) != options.formats.end();
  });
  for (const StreamedFile& file : streamed_report(analysis, left, options)) {
    const auto same_name = std::find(others.begin(), others.end(), file.path.string());
    if (same_name != others.end() && holds(out / file.path, file.content)) others.erase(same_name);
  }
  return others;
}

}  // namespace

std::vector<ReportFormat> all_report_formats() {
  std::vector<ReportFormat> formats;
  formats.reserve(format_names.size());
  for (const auto& [name, format] : format_names) formats.push_back(format);
  return formats;
}

Result<std::vector<ReportFormat>> parse_report_formats(const std::string& comma_separated) {
  std::vector<ReportFormat> formats;
  std::size_t begin = 0;
  while (begin <= comma_separated.size()) {
    const std::size_t end = std::min(comma_separated.find(',', begin), comma_separated.size());
    const std::string name = comma_separated.substr(begin, end - begin);
    const auto* found =
        std::find_if(format_names.begin(), format_names.end(), [&](const auto& row) { return name == row.first; });
    if (found == format_names.end()) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("unknown report format '{}'; known: html, md, latex, csv, json, badge", name)};
    }
    if (std::find(formats.begin(), formats.end(), found->second) == formats.end()) formats.push_back(found->second);
    begin = end + 1;
  }
  return formats;
}

std::string changes_since(const StoreContents& earlier, const StoreContents& now) {
  constexpr std::size_t max_cells = 200;
  const auto comparison = reports::compare(reports::make_side("before", earlier), reports::make_side("now", now),
                                           reports::CompareOptions{});
  return reports::comparison_object(comparison, max_cells)
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<ReportFile> render_report(const StoreContents& contents, const ReportOptions& options) {
  const reports::Analysis analysis = analysed(contents, options);
  std::vector<ReportFile> files;
  for (const StreamedFile& file : streamed_report(analysis, options.formats, options)) {
    files.push_back({file.path, collected(file.content)});
  }
  return files;
}

Result<ReportFiles> write_report(const StoreContents& contents, const std::filesystem::path& out,
                                 const ReportOptions& options) {
  ReportFiles written;
  const reports::Analysis analysis = analysed(contents, options);
  ReportOptions with_pictures = options;
  with_pictures.pictures = reports::find_pictures(contents.problems, options.folders);
  const auto files = streamed_report(analysis, options.formats, with_pictures);
  if (const auto put = write_files(out, files); !put) {
    return Error{put.error().code,
                 put.error().message + "; nothing was replaced; free space or give another folder with --out"};
  }
  for (const StreamedFile& file : files) written.paths.push_back(out / file.path);
  const auto others = other_reports_files(analysis, out, with_pictures, written.paths);
  if (!others.empty()) {
    written.notes.push_back(fmt::format("{}: not of this report, and left as {}: {}", out.string(),
                                        others.size() == 1 ? "it was" : "they were", fmt::join(others, ", ")));
  }
  const bool html =
      std::find(options.formats.begin(), options.formats.end(), ReportFormat::html) != options.formats.end();
  if (html && !reports::page_has_charts()) {
    written.notes.emplace_back(
        "The page has no charts: this build lacks plotly (scripts/fetch_plotly.sh, then build).");
  }
  written.ranking = reports::terminal(analysis, options.colour, options.unsolved.columns);
  written.unsolved = reports::unsolved_cells(analysis, options.unsolved);
  return written;
}

std::string terminal_unsolved(const StoreContents& contents, const UnsolvedList& list) {
  return reports::unsolved_cells(reports::analyse(contents, false), list);
}

std::string terminal_ranking(const StoreContents& contents, bool colour, bool force_time_profiles,
                             const UnsolvedList* unsolved, const ReportView& view) {
  reports::Analysis analysis = reports::analyse(contents, force_time_profiles);
  analysis.view = view;
  return reports::terminal(analysis, colour, unsolved != nullptr ? unsolved->columns : 0) +
         (unsolved != nullptr ? reports::unsolved_cells(analysis, *unsolved) : std::string());
}

}  // namespace conebench
