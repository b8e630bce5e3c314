#include "cli/paper_output.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/child_process.hpp"
#include "base/text_file.hpp"
#include "cli/output.hpp"
#include "papers/paper_table.hpp"
#include "papers/render.hpp"

namespace conebench::cli {

namespace {

using papers::Entry;
using papers::EntryResult;

constexpr std::uintmax_t largest_record = 16 << 20;
constexpr int no_program = 127;
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
    if (!result.tables.empty()) files.push_back({id + ".tex", entry_latex(result)});
    auto figures = figure_files(result);
    std::move(figures.begin(), figures.end(), std::back_inserter(files));
  }
  std::error_code ignored;
  for (const auto& [paper, of_paper] : papers) {
    const bool any = std::any_of(of_paper.begin(), of_paper.end(), [](const auto& one) { return one.not_run.empty(); });
    if (!any && std::filesystem::exists(out / page_of(paper), ignored)) continue;
    files.push_back({page_of(paper), papers::paper_page("Paper " + paper, of_paper)});
  }
  return files;
}

/// gnuplot on `script` in `folder`. Nothing where it went well; else why there is no picture.
std::optional<std::string> run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  OutputCatcher output;
  const pid_t child = fork_process({.channel = -1, .output = output.descriptor()}, [&] {
    if (chdir(folder.c_str()) != 0) return 1;
    execlp("gnuplot", "gnuplot", script.c_str(), nullptr);
    return no_program;
  });
  if (child < 0) return "the system refused a new process";
  const int status = wait_for_end(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_program) {
    return "gnuplot is not installed (Debian: gnuplot-nox), so figures are left as .gp, .tex and .csv";
  }
  return fmt::format("gnuplot {}: {}", script, output.last_output());
}

/// "Claim a holds: …", what was measured, and why it fails or is not decided.
std::string claim_text(const papers::Check& check, const papers::CheckResult& found) {
  constexpr std::size_t indent = 2;
  const bool decided = found.verdict == papers::Verdict::holds || found.verdict == papers::Verdict::fails;
  const char* const verb = decided ? "" : "is ";
  std::string text =
      paragraph(fmt::format("Claim {} {}{}: {}", check.id, verb, verdict_text(check, found), check.claim));
  if (!found.measured.empty()) text += paragraph("Measured: " + measured_text(found), indent);
  if (!found.reason.empty()) text += paragraph("Reason: " + found.reason, indent);
  return text;
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
    text += paragraph("docs/experiments/disputed.md says what would explain known failures.");
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
  for (const ReportFile& file : files) {
    if (file.path.extension() != ".gp") continue;
    if (auto why = run_gnuplot(out, file.path.string())) return why;
  }
  return std::optional<std::string>();
}

}  // namespace conebench::cli
