#include "reports/site/site.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/content_address.hpp"
#include "base/folder.hpp"
#include "base/plural.hpp"
#include "base/sha256.hpp"
#include "metrics/statistics.hpp"
#include "reports/analysis.hpp"
#include "reports/history/history.hpp"
#include "reports/report.hpp"
#include "reports/site/answers_archive.hpp"
#include "reports/text.hpp"
#include "store/json.hpp"
#include "store/merge.hpp"
#include "store/night_summary.hpp"
#include "store/run_mode.hpp"
#include "store/store.hpp"
#include "store/suite_scope.hpp"

namespace conebench::reports {

namespace {

namespace fs = std::filesystem;

constexpr const char* store_file = "store.sqlite";
constexpr const char* answers_folder = "answers";
constexpr const char* held_out_folder = "held-out";
constexpr const char* sums_file = "SHA256SUMS";

/// Of all that a store holds: each record and the checksum of each answer.
std::string identity_of(const StoreContents& contents) {
  std::string hash;
  const auto add = [&](const nlohmann::json& record, const std::string& more = {}) {
    hash = content_address({hash, record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), more});
  };
  for (const RunRecord& run : contents.runs) add(to_json(run));
  for (const ProblemRecord& problem : contents.problems) add(to_json(problem));
  for (const ConfigurationRecord& configuration : contents.configurations) add(to_json(configuration));
  for (const CellRecord& cell : contents.cells) {
    add(to_json(cell), cell.answer_crc ? std::to_string(*cell.answer_crc) : "");
  }
  return hash;
}

std::string suites_of(const StoreContents& contents) {
  std::set<std::string> names;
  for (const RunRecord& run : contents.runs) names.insert(run.suite_name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Of the run that began last.
const RunRecord* latest(const StoreContents& contents) {
  const auto found = std::ranges::max_element(contents.runs, {}, &RunRecord::started_utc);
  return found == contents.runs.end() ? nullptr : &*found;
}

std::string address_of(const StoreContents& contents, const std::string& identity) {
  constexpr std::size_t day = 10, digits = 12;
  std::string date = "undated";
  if (!contents.runs.empty()) {
    date = std::ranges::min_element(contents.runs, {}, &RunRecord::started_utc)->started_utc.substr(0, day);
  }
  return fmt::format("results/{}-{}-{}", address_part(suites_of(contents)), address_part(date),
                     identity.substr(0, digits));
}

/// All hashes that the problem has here, in other stores or, in another order or frame, as another problem.
std::vector<std::string> identities_of(const ProblemRecord& problem) {
  std::vector<std::string> known = {problem.hash, problem.alias, problem.duplicate_of};
  std::erase(known, std::string());
  return known;
}

/// What is held out, named as in the contents at hand, which may be anonymous.
struct HeldOut {
  std::set<std::string> problems;  ///< hashes
  std::set<std::string> families;  ///< of problems that no run has looked at
};

/// "family!=Kapla", where families are held out as a whole.
std::string expression_for(const StoreContents& contents, const HeldOut& held_out, bool inside) {
  std::set<std::string> held, open;
  for (const ProblemRecord& problem : contents.problems) {
    (held_out.problems.contains(problem.hash) ? held : open).insert(problem.family);
  }
  const char* const is = inside ? "=" : "!=";
  std::vector<std::string> words;
  for (const std::string& family : held) {
    if (open.contains(family)) return fmt::format("problem{}held-out", is);
    words.push_back(fmt::format("family{}{}", is, family));
  }
  return fmt::format("{}", fmt::join(words, inside ? " || " : " && "));
}

/// The contents without what is held out, or with it alone.
StoreContents part_of(StoreContents contents, const HeldOut& held_out, bool inside) {
  const std::string expression = expression_for(contents, held_out, inside);
  const auto is_out = [&](const std::string& problem) { return held_out.problems.contains(problem) != inside; };
  std::erase_if(contents.cells, [&](const CellRecord& cell) { return is_out(cell.problem); });
  std::erase_if(contents.problems, [&](const ProblemRecord& problem) { return is_out(problem.hash); });
  for (SuiteState& suite : contents.suites) {
    const auto is_unwanted = [&](const WantedCell& cell) {
      const auto named = suite.sources.find(cell.problem);
      const bool by_family = named != suite.sources.end() && held_out.families.contains(named->second.family);
      return by_family ? !inside : is_out(cell.problem);
    };
    std::erase_if(suite.present, is_unwanted);
    std::erase_if(suite.missing, is_unwanted);
    suite.filter = expression;
  }
  contents.filter += (contents.filter.empty() ? "" : ", ") + expression;
  return contents;
}

bool submitted(const StoreContents& contents) { return any_in_mode(contents.runs, submitted_mode); }

bool mixes_submitted_and_measured(const StoreContents& contents) {
  const auto measured = [](const RunRecord& run) { return run.mode != submitted_mode; };
  return submitted(contents) && std::ranges::any_of(contents.runs, measured);
}

std::optional<SiteSubmission> submission_of(const StoreContents& contents) {
  const auto sent = std::ranges::find(contents.configurations, submitted_origin, &ConfigurationRecord::origin);
  if (!submitted(contents) || sent == contents.configurations.end()) return std::nullopt;
  const ConfigurationRecord& configuration = *sent;
  SiteSubmission result;
  result.solver = configuration.solver;
  result.version = configuration.peer_version;
  const auto stated = nlohmann::json::parse(configuration.options_json, nullptr, false);
  const auto text = [&](const char* key) {
    const bool known = stated.is_object() && stated.contains(key) && stated[key].is_string();
    return known ? stated[key].get<std::string>() : std::string();
  };
  result.by = text("by");
  result.url = text("url");
  result.machine = text("machine");
  std::map<std::string, std::optional<double>> claimed;  // by problem: a cell a tolerance
  for (const CellRecord& cell : contents.cells) {
    if (cell.answer_crc) claimed[cell.problem] = cell.own_solve_s;
  }
  std::vector<double> seconds;
  for (const auto& [problem, time] : claimed) {
    if (time) seconds.push_back(*time);
  }
  result.answers = std::ssize(claimed);
  result.timed = std::ssize(seconds);
  result.median_s = median(seconds);
  return result;
}

SiteEntry describe(const StoreContents& contents, const std::string& address) {
  SiteEntry entry;
  entry.address = address;
  entry.suite = suites_of(contents);
  if (const RunRecord* run = latest(contents)) {
    entry.started_utc = run->started_utc;
    entry.mode = run->mode;
    entry.cpu = run->machine.cpu;
    entry.cores = run->machine.cores;
    entry.version = run->build.version;
    entry.commit = run->build.commit;
  }
  entry.submission = submission_of(contents);
  entry.cells = std::ssize(contents.cells);
  const Analysis analysis = analyse(contents, false);
  entry.problems = std::ssize(analysis.problems);
  entry.configurations = std::ssize(analysis.columns);
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const Ranking& ranking = analysis.ranking(s);
    SiteSlice slice{analysis.slices[s].label, ranking.problems, {}};
    for (const RankingRow& row : ranking.rows) {
      const Column& column = analysis.columns[row.column];
      slice.rows.push_back({column.label, column.configuration->origin, row.tally.solved, row.solved_share});
    }
    entry.slices.push_back(std::move(slice));
  }
  return entry;
}

/// Writes one store after the other, then what is made of all.
class SiteWriter {
 public:
  SiteWriter(const fs::path& out, const SiteOptions& options) : out_(out), options_(options) {
    site_.title = options.title;
  }

  /// Before the first add(): what is held out in one store is so in all, whatever its family is called there.
  Result<void> find_held_out(const std::vector<fs::path>& stores) {
    if (options_.held_out_stores.empty() && options_.held_out_families.empty()) return {};
    std::set<std::string> families;
    std::vector<std::vector<std::string>> problems;
    for (const fs::path& file : stores) {
      CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
      CONEBENCH_TRY(const auto contents, store.read_outcomes());
      const bool whole = options_.held_out_stores.contains(file);
      for (const ProblemRecord& problem : contents.problems) {
        families.insert(problem.family);
        problems.push_back(identities_of(problem));
        if (whole || is_held_out(problem)) held_out_.insert(problems.back().begin(), problems.back().end());
      }
      // A copy may be of another family than the problem that is stored.
      for (const auto& [suite, scope] : present_scopes(contents.runs)) {
        for (const auto& [source, hash] : scope.problems) {
          const auto named = scope.names.find(source);
          if (hash.empty() || named == scope.names.end()) continue;
          families.insert(named->second.family);
          if (options_.held_out_families.contains(named->second.family)) held_out_.insert(hash);
        }
      }
    }
    for (const std::string& family : options_.held_out_families) {
      if (families.contains(family)) continue;
      return Error{ErrorCode::wrong_usage,
                   fmt::format("--held-out {}: neither a store of the command nor a family of one", family)};
    }
    const auto is_known = [this](const std::string& hash) { return held_out_.contains(hash); };
    for (std::size_t before = 0; before != held_out_.size();) {
      before = held_out_.size();
      for (const auto& hashes : problems) {
        if (std::ranges::any_of(hashes, is_known)) held_out_.insert(hashes.begin(), hashes.end());
      }
    }
    return {};
  }

  Result<void> add(const fs::path& file) {
    CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
    CONEBENCH_TRY(auto all, store.read());
    if (mixes_submitted_and_measured(all)) {
      return Error{ErrorCode::bad_input,
                   file.string() +
                       ": mixes answers that were sent in with measured runs; publish the stores that it "
                       "was merged from"};
    }
    const auto held = [this](const ProblemRecord& problem) { return is_held_out(problem); };
    const bool any_held_out = std::ranges::any_of(all.problems, held);
    const bool whole =
        options_.held_out_stores.contains(file) || (any_held_out && std::ranges::all_of(all.problems, held));
    HeldOut held_out = {held_out_, options_.held_out_families};
    for (const ProblemRecord& problem : all.problems) {
      if (is_held_out(problem)) held_out.problems.insert(problem.hash);
    }
    StoreContents contents = present_contents(all);
    if (options_.anonymous_but) {
      // Of this store alone, so that its pages do not depend on the others.
      Pseudonyms names(*options_.anonymous_but);
      contents = anonymous(std::move(contents), names);
      held_out = renamed(held_out, names);
    }
    const std::string identity = identity_of(all);
    const std::string address = address_of(contents, identity);
    if (const auto known = stores_.find(address); known != stores_.end()) {
      site_.notes.push_back(fmt::format("{}: holds the same as {}", file.string(), known->second.string()));
      return {};
    }
    stores_.emplace(address, file);
    const bool parted = any_held_out && !whole;
    const bool downloads = !any_held_out && !whole && !options_.anonymous_but;
    std::set<std::string> families;
    if (parted) {
      for (const ProblemRecord& problem : contents.problems) {
        if (held_out.problems.contains(problem.hash)) families.insert(problem.family);
      }
      CONEBENCH_CHECK(put(part_of(contents, held_out, true), address + "/" + held_out_folder, true, families, file));
      contents = part_of(std::move(contents), held_out, false);
    }
    if (downloads) CONEBENCH_CHECK(put_downloads(file, store, all, identity, address));
    remove_earlier(address, downloads, parted);
    CONEBENCH_CHECK(put(contents, address, whole, families, file));
    const bool measured = !whole && !submitted(contents) && !contents.cells.empty();
    if (measured) remember(contents, address);
    return {};
  }

  Result<Site> finish() {
    std::ranges::sort(site_.entries, [](const SiteEntry& a, const SiteEntry& b) {
      if (a.suite != b.suite) return a.suite < b.suite;
      return std::tie(b.started_utc, b.address) < std::tie(a.started_utc, a.address);
    });
    CONEBENCH_CHECK(put_histories());
    CONEBENCH_CHECK(take_back_earlier());
    note_others();
    std::vector<ReportFile> files = {
        {"index.html", site_page(site_)}, {"results.md", site_markdown(site_)}, {"site.json", site_json(site_)}};
    for (const ReportFile& file : files) sums_[file.path.string()] = hash_of(file.content);
    std::string sums;
    for (const auto& [path, sum] : sums_) sums += sum + "  " + path + "\n";
    files.push_back({sums_file, sums});
    CONEBENCH_CHECK(write_files(out_, files));
    return std::move(site_);
  }

 private:
  static std::string hash_of(std::string_view bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.hex();
  }

  /// Of a family or with a hash that is held out.
  bool is_held_out(const ProblemRecord& problem) const {
    if (options_.held_out_families.contains(problem.family)) return true;
    return std::ranges::any_of(identities_of(problem),
                               [this](const std::string& hash) { return held_out_.contains(hash); });
  }

  static HeldOut renamed(const HeldOut& held_out, Pseudonyms& names) {
    HeldOut result;
    for (const std::string& problem : held_out.problems) result.problems.insert(names.key("problem", problem));
    for (const std::string& family : held_out.families) result.families.insert(names.number("family", family));
    return result;
  }

  /// The report, and what the list says of it.
  Result<void> put(const StoreContents& contents, const std::string& address, bool held_out,
                   const std::set<std::string>& families, const fs::path& file) {
    ReportOptions options;
    options.formats = {ReportFormat::html, ReportFormat::md, ReportFormat::csv, ReportFormat::json};
    options.home = address.ends_with(held_out_folder) ? "../../../index.html" : "../../index.html";
    options.folders = options_.folders;
    options.folders.push_back(fs::path(file).replace_extension(".problems"));
    if (options_.anonymous_but) options.folders.clear();
    if (held_out) {
      options.remarks.push_back(
          "Held out: these problems are reported apart from all others, in no ranking with them, and no answer to them "
          "is published.");
    } else if (!families.empty()) {
      options.remarks.push_back(fmt::format("Held out of this report: problems of {}, reported apart.",
                                            plural(std::ssize(families), "family")));
    }
    CONEBENCH_TRY(const auto written, write_report(contents, out_ / address, options));
    SiteEntry entry = describe(contents, address);
    entry.held_out = held_out;
    entry.families.assign(families.begin(), families.end());
    for (const fs::path& path : written.paths) CONEBENCH_CHECK(list(entry, path));
    for (const fs::path& path : downloads_) CONEBENCH_CHECK(list(entry, path));
    downloads_.clear();
    std::ranges::sort(entry.files, {}, &SiteFile::path);
    site_.entries.push_back(std::move(entry));
    return {};
  }

  Result<void> list(SiteEntry& entry, const fs::path& path) {
    std::error_code failure;
    const auto bytes = fs::file_size(path, failure);
    const auto sum = file_sha256(path);
    if (failure || !sum) return Error{ErrorCode::bad_input, path.string() + ": cannot be read"};
    const std::string below = path.lexically_relative(out_).generic_string();
    entry.files.push_back({below, bytes, *sum});
    sums_[below] = *sum;
    return {};
  }

  /// The store with all its rows, as one file without a log, and its answers.
  Result<void> put_downloads(const fs::path& file, const Store& store, const StoreContents& all,
                             const std::string& identity, const std::string& address) {
    const fs::path folder = out_ / address;
    CONEBENCH_CHECK(make_folder(folder));
    const fs::path copy = folder / store_file;
    const fs::path fresh = folder / "store.new";
    std::error_code failure;
    fs::remove(fresh, failure);
    const std::vector<fs::path> source = {file};
    CONEBENCH_CHECK(merge_stores(source, fresh, {.allow_mixed = true, .state = identity}));
    fs::rename(fresh, copy, failure);
    if (failure) return Error{ErrorCode::bad_input, copy.string() + ": cannot be written: " + failure.message()};
    CONEBENCH_TRY(const auto archives, answer_archives(store, all));
    CONEBENCH_CHECK(make_folder(folder / answers_folder));
    CONEBENCH_CHECK(write_files(folder, archives));
    downloads_ = {copy};
    for (const ReportFile& archive : archives) downloads_.push_back(folder / archive.path);
    return {};
  }

  /// What an earlier site published of the store and this one does not: it was held out since, or made anonymous.
  void remove_earlier(const std::string& address, bool downloads, bool has_part) {
    std::error_code ignored;
    if (!downloads) {
      fs::remove(out_ / address / store_file, ignored);
      fs::remove_all(out_ / address / answers_folder, ignored);
    }
    if (!has_part) fs::remove_all(out_ / address / held_out_folder, ignored);
  }

  void remember(const StoreContents& contents, const std::string& address) {
    NightSummary night = summarise(contents);
    if (night.started_utc.empty() || night.side_by_side) return;
    night.store = fs::path(address).filename();
    nights_[night.suite].push_back(std::move(night));
  }

  Result<void> put_histories() {
    for (auto& [suite, nights] : nights_) {
      if (nights.size() < 2) continue;
      const std::string address = "history/" + address_part(suite);
      const SiteHistory here{suite, address, std::ssize(nights)};
      History history = make_history(std::move(nights));
      for (SuiteHistory& one : history.suites) {
        for (HistoryNight& night : one.nights) {
          night.page = fs::path("../../results") / night.summary.store / "index.html";
        }
      }
      const std::vector<ReportFile> files = {{"index.html", history_page(history, {}, "../../index.html")},
                                             {"history.md", history_markdown(history)},
                                             {"history.json", history_json(history)}};
      CONEBENCH_CHECK(write_files(out_ / address, files));
      for (const ReportFile& file : files) sums_[address + "/" + file.path.string()] = hash_of(file.content);
      site_.histories.push_back(here);
    }
    return {};
  }

  /// Stores and answers at other addresses of `out` that hold what is held out now. Their pages stay.
  Result<void> take_back_earlier() {
    if (held_out_.empty()) return {};
    std::set<std::string> taken, unknown;
    std::error_code failure, ignored;
    for (fs::directory_iterator at(out_ / "results", failure), end; !failure && at != end; at.increment(failure)) {
      const std::string address = "results/" + at->path().filename().string();
      const fs::path file = at->path() / store_file;
      if (stores_.contains(address) || !fs::exists(file, ignored)) continue;
      const auto holds = holds_held_out(file);
      if (!holds) unknown.insert(one_line(address));
      if (!holds || !*holds) continue;
      std::error_code kept;
      fs::remove_all(at->path() / answers_folder, kept);
      if (!kept) fs::remove(file, kept);
      if (kept) return Error{ErrorCode::bad_input, file.string() + ": cannot be removed: " + kept.message()};
      taken.insert(one_line(address));
    }
    if (!taken.empty()) {
      site_.notes.push_back(
          fmt::format("{}: stores and answers removed, since they have problems that are held out: {}", out_.string(),
                      fmt::join(taken, ", ")));
    }
    if (!unknown.empty()) {
      site_.notes.push_back(fmt::format("{}: stores that cannot be read, and may have problems that are held out: {}",
                                        out_.string(), fmt::join(unknown, ", ")));
    }
    return {};
  }

  /// Errors as Store::open.
  Result<bool> holds_held_out(const fs::path& file) const {
    CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
    CONEBENCH_TRY(const auto contents, store.read_outcomes());
    return std::ranges::any_of(contents.problems,
                               [this](const ProblemRecord& problem) { return is_held_out(problem); });
  }

  /// Reports that an earlier site has left: their addresses stay, but the list does not name them.
  void note_others() {
    std::set<std::string> others;
    std::error_code failure;
    for (fs::directory_iterator at(out_ / "results", failure), end; !failure && at != end; at.increment(failure)) {
      const std::string address = "results/" + at->path().filename().string();
      if (!stores_.contains(address)) others.insert(one_line(address));
    }
    if (others.empty()) return;
    site_.notes.push_back(fmt::format("{}: left as {}, and not in the list: {}", out_.string(),
                                      others.size() == 1 ? "it was" : "they were", fmt::join(others, ", ")));
  }

  const fs::path out_;
  const SiteOptions& options_;
  Site site_;
  std::map<std::string, fs::path> stores_;   ///< by address
  std::set<std::string> held_out_;           ///< hashes of problems, in any store
  std::map<std::string, std::string> sums_;  ///< SHA-256 by path
  std::vector<fs::path> downloads_;          ///< of the store at hand
  std::map<std::string, std::vector<NightSummary>> nights_;
};

}  // namespace

Result<Site> write_site(const std::vector<fs::path>& stores, const fs::path& out, const SiteOptions& options) {
  CONEBENCH_CHECK(check_named_once(stores));
  SiteWriter writer(out, options);
  CONEBENCH_CHECK(writer.find_held_out(stores));
  for (const fs::path& store : stores) CONEBENCH_CHECK(writer.add(store));
  return writer.finish();
}

}  // namespace conebench::reports
