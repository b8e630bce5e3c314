#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/records.hpp"

/// A static site of many stores: a list, a report of each, histories, and what can be downloaded. docs/publish.md has
/// its layout.
namespace conebench::reports {

struct SiteOptions {
  std::string title = "Conebench results";
  /// Stores and families whose problems no method was made on. They are shown apart, and no store or answer that holds
  /// theirs is published. A problem is known by its hash: it is held out in every store, whatever its family there.
  std::set<std::filesystem::path> held_out_stores;
  std::set<std::string> held_out_families;
  /// Names that may stay where all others are replaced, as of anonymous(); nullopt: all names stay.
  std::optional<std::set<std::string>> anonymous_but;
  std::vector<std::filesystem::path> folders;  ///< ReportOptions::folders
};

struct SiteFile {
  std::string path;  ///< below the site
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// What one configuration solves.
struct SiteRow {
  std::string label, origin;
  long solved = 0;
  double share = 0.0;
};
struct SiteSlice {
  std::string label;  ///< "1e-6"
  long problems = 0;
  std::vector<SiteRow> rows;  ///< best first
};

/// What a submitter claims.
struct SiteSubmission {
  std::string solver, version, by, url, machine;
  long answers = 0;
  long timed = 0;                  ///< answers with a time
  std::optional<double> median_s;  ///< of those
};

/// A report of the site.
struct SiteEntry {
  std::string address;  ///< folder below the site: "results/fclib-2026-11-28-0123456789ab"
  std::string suite, started_utc, mode;
  std::string cpu, version, commit;
  int cores = 0;
  long problems = 0, configurations = 0, cells = 0;
  bool held_out = false;
  std::vector<std::string> families;  ///< held out of it, or the only ones in it
  std::optional<SiteSubmission> submission;
  std::vector<SiteSlice> slices;
  std::vector<SiteFile> files;
};

/// Where several measured runs of a suite are one after the other.
struct SiteHistory {
  std::string suite, address;
  long nights = 0;
};

struct Site {
  std::string title;
  std::vector<SiteEntry> entries;  ///< by suite, the newest first
  std::vector<SiteHistory> histories;
  std::vector<std::string> notes;  ///< what was left out or is left of an earlier site, a line each
};

/// Writes the site into `out`, made where it is missing. The same stores give the same bytes, and another store more
/// leaves every report where and as it is: addresses come from what a store holds. Pages of other stores in `out` stay.
/// Stores and answers at other addresses of `out` go if they have a problem that is held out.
/// Errors (bad_input): a store that can't be read, is given twice, is damaged or mixes answers that were sent in with
/// measured runs; no such family (wrong_usage); a full disk.
Result<Site> write_site(const std::vector<std::filesystem::path>& stores, const std::filesystem::path& out,
                        const SiteOptions& options);

/// index.html, results.md and site.json.
std::string site_page(const Site& site);
std::string site_markdown(const Site& site);
std::string site_json(const Site& site);

}  // namespace conebench::reports
