#include "cli/paper_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text_file.hpp"
#include "cli/drawings.hpp"
#include "cli/output.hpp"
#include "papers/paper_table.hpp"
#include "papers/render.hpp"
#include "reports/latex_table.hpp"

namespace conebench::cli {

namespace {

using papers::Entry;
using papers::EntryResult;

constexpr std::uintmax_t largest_record = 16 << 20;
constexpr const char* record_name = "verdicts.json";

std::filesystem::path page_of(const std::string& paper) { return "paper-" + paper + ".html"; }

/// A page of entries none of which ran does not replace an earlier page.
std::vector<ReportFile> files_of(const std::filesystem::path& out, const std::vector<EntryResult>& results) {
  std::vector<ReportFile> files;
  std::map<std::string, std::vector<EntryResult>> papers;
  for (const EntryResult& result : results) {
    papers[result.entry->paper].push_back(result);
    if (!result.not_run.empty()) continue;
    const std::string& id = result.entry->id;
    files.push_back({id + ".md", entry_markdown(result)});
    files.push_back({id + ".csv", entry_csv(result)});
    auto latex = entry_latex(result);
    std::move(latex.begin(), latex.end(), std::back_inserter(files));
  }
  const auto is_latex = [](const ReportFile& file) { return file.path.extension() == ".tex"; };
  if (std::ranges::any_of(files, is_latex)) files.push_back({"preamble.tex", std::string(reports::latex_preamble)});
  std::error_code ignored;
  for (const auto& [paper, of_paper] : papers) {
    const bool any = std::any_of(of_paper.begin(), of_paper.end(), [](const auto& one) { return one.not_run.empty(); });
    if (!any && std::filesystem::exists(out / page_of(paper), ignored)) continue;
    files.push_back({page_of(paper), papers::paper_page("Paper " + paper, of_paper)});
  }
  return files;
}

/// "Claim a holds: …" with what was measured, and why it fails or is not decided.
std::string claim_text(const papers::Check& check, const papers::CheckResult& found) {
  const bool decided = found.verdict == papers::Verdict::holds || found.verdict == papers::Verdict::fails;
  return paragraph(fmt::format("Claim {} {}{}: {}", check.id, decided ? "" : "is ", verdict_text(found),
                               claim_sentences(check, found)));
}

}  // namespace

std::string result_text(const EntryResult& result) {
  const Entry& entry = *result.entry;
  const std::string source = source_text(entry);
  const std::string claims = claims_text(result);
  std::string text =
      paragraph(fmt::format("{}: {}{}", entry.id, entry.title, source.empty() ? "" : " (" + source + ")")) +
      paragraph(fmt::format("{}measured on {}{}", claims.empty() ? "" : claims + "; ", result.problems,
                            result.made.empty() ? "" : ", " + result.made));
  for (std::size_t t = 0; t < result.layouts.size(); ++t) {
    const papers::Table& table = result.layouts[t];
    text += fmt::format("\n{}{}\n", table.title, table.unit.empty() ? "" : ", " + table.unit);
    text += align_columns(table_texts(table, result.tables[t]), output_columns());
    if (const std::string own = own_legend(table); !own.empty()) text += paragraph(own, 2);
    for (const std::string& gap : gaps_of(table, result.tables[t])) text += paragraph("– " + gap, 2);
  }
  if (!entry.checks.empty()) text += "\n";
  bool any_known = false;
  for (std::size_t i = 0; i < entry.checks.size(); ++i) {
    text += claim_text(entry.checks[i], result.checks[i]);
    any_known = any_known || entry.checks[i].known_failure;
  }
  const bool has_authors = entry.paper != papers::own_tables && !papers::paper_title(entry.paper).empty();
  if (any_known && has_authors) {
    text += paragraph("docs/experiments/disputed.md has more on why claims fail here.");
  }
  return text + "\n";
}

papers::VerdictRecord verdicts_in(const std::filesystem::path& out) {
  const auto text = read_text_file(out / record_name, largest_record);
  if (!text) return {};
  const auto record = papers::parse_verdicts(*text);
  return record ? *record : papers::VerdictRecord{};
}

Result<std::optional<std::string>> write_results(const std::filesystem::path& out,
                                                 const std::vector<EntryResult>& results,
                                                 const papers::VerdictRecord& verdicts) {
  std::vector<ReportFile> files = files_of(out, results);
  files.push_back({record_name, to_json_text(verdicts)});
  CONEBENCH_CHECK(write_files(out, files));
  std::vector<std::filesystem::path> paths;
  for (const ReportFile& file : files) paths.push_back(out / file.path);
  return draw_figures(paths);
}

}  // namespace conebench::cli
