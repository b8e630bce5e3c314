#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/plural.hpp"
#include "reports/page_shell.hpp"
#include "reports/site/site.hpp"
#include "reports/table_layout.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> scripts{"format.js", "widgets.js", "theme.js", "site.js"};

enum class Kind { measured, submitted, held_out };
Kind kind_of(const SiteEntry& entry) {
  if (entry.held_out) return Kind::held_out;
  return entry.submission ? Kind::submitted : Kind::measured;
}
constexpr std::array<std::pair<Kind, PageSection>, 3> kinds{{{Kind::measured, {"results", "Results"}},
                                                             {Kind::submitted, {"submitted", "Submitted answers"}},
                                                             {Kind::held_out, {"held-out", "Held out"}}}};

Json submission_json(const SiteSubmission& submission) {
  return {
      {"solver", submission.solver},   {"version", submission.version},
      {"by", submission.by},           {"url", submission.url},
      {"machine", submission.machine}, {"answers", submission.answers},
      {"timed", submission.timed},     {"claimed_median_s", submission.median_s ? Json(*submission.median_s) : Json()}};
}

Json entry_json(const SiteEntry& entry) {
  Json slices = Json::array(), files = Json::array();
  for (const SiteSlice& slice : entry.slices) {
    Json rows = Json::array();
    for (const SiteRow& row : slice.rows) {
      rows.push_back({{"label", row.label}, {"origin", row.origin}, {"solved", row.solved}, {"share", row.share}});
    }
    slices.push_back({{"label", slice.label}, {"problems", slice.problems}, {"rows", std::move(rows)}});
  }
  for (const SiteFile& file : entry.files) {
    files.push_back({{"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  return {{"address", entry.address},
          {"suite", entry.suite},
          {"started_utc", entry.started_utc},
          {"mode", entry.mode},
          {"cpu", entry.cpu},
          {"cores", entry.cores},
          {"version", entry.version},
          {"commit", entry.commit},
          {"problems", entry.problems},
          {"configurations", entry.configurations},
          {"cells", entry.cells},
          {"held_out", entry.held_out},
          {"families", entry.families},
          {"submission", entry.submission ? submission_json(*entry.submission) : Json(nullptr)},
          {"slices", std::move(slices)},
          {"files", std::move(files)}};
}

/// "1e-8: CASCADE * 46, NSN-AC 44 of 46".
std::string best_of(const SiteEntry& entry) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (const SiteSlice& slice : entry.slices) {
    std::string names;
    for (std::size_t i = 0; i < std::min(shown, slice.rows.size()); ++i) {
      const SiteRow& row = slice.rows[i];
      const std::string mark = row.origin == "own" ? std::string(" ") + own_mark : std::string();
      names += fmt::format("{}{}{} {}", i > 0 ? ", " : "", row.label, mark, row.solved);
    }
    text += fmt::format("{}{}: {} of {}", text.empty() ? "" : "; ", slice.label, names, slice.problems);
  }
  return text;
}

std::string machine_of(const SiteEntry& entry) {
  if (!entry.submission) return entry.cpu;
  return entry.submission->machine.empty() ? "not stated" : entry.submission->machine + " (claimed)";
}

}  // namespace

std::string site_json(const Site& site) {
  Json out = {
      {"schema", "conebench.site/1"}, {"title", site.title}, {"entries", Json::array()}, {"histories", Json::array()}};
  for (const SiteEntry& entry : site.entries) out["entries"].push_back(entry_json(entry));
  for (const SiteHistory& history : site.histories) {
    out["histories"].push_back({{"suite", history.suite}, {"address", history.address}, {"nights", history.nights}});
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string site_markdown(const Site& site) {
  std::string text = fmt::format("# {}\n", markdown(site.title));
  bool own = false;
  for (const auto& [kind, section] : kinds) {
    Table table = text_columns("Report", "Suite", "Date", "Machine", "Build", "Problems", "Solved");
    table.columns.front().markup = true;
    for (const SiteEntry& entry : site.entries) {
      if (kind_of(entry) != kind) continue;
      for (const SiteSlice& slice : entry.slices) {
        for (const SiteRow& row : slice.rows) own = own || row.origin == "own";
      }
      table.rows.push_back({fmt::format("[{0}]({0}/index.html)", entry.address), entry.suite,
                            entry.started_utc.substr(0, 10), machine_of(entry),
                            fmt::format("{} ({})", entry.version, entry.commit.substr(0, 10)),
                            std::to_string(entry.problems), best_of(entry)});
    }
    if (!table.rows.empty()) text += fmt::format("\n## {}\n\n{}", section.label, markdown_text(table));
  }
  if (own) text += "\n" + markdown(own_legend_text) + "\n";
  for (const SiteHistory& history : site.histories) {
    text += fmt::format("\n[History of {}]({}/index.html): {} runs\n", markdown(history.suite), history.address,
                        history.nights);
  }
  return text;
}

std::string site_page(const Site& site) {
  std::vector<PageSection> sections = {{"overview", "Overview"}};
  for (const auto& [kind, section] : kinds) {
    const bool any =
        std::ranges::any_of(site.entries, [kind = kind](const SiteEntry& e) { return kind_of(e) == kind; });
    if (any || kind == Kind::measured) sections.push_back(section);
  }
  return html_shell({.title = site.title,
                     .sections = sections,
                     .text_files = "results.md and site.json",
                     .data = site_json(site),
                     .pictures = {},
                     .scripts = scripts});
}

}  // namespace conebench::reports
