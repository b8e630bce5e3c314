#include "reports/history/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "metrics/change/nights.hpp"
#include "metrics/statistics.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/history/history_describe.hpp"

namespace conebench::reports {

namespace {

/// Numbers things in order of first appearance.
template <class Key>
class Numbering {
 public:
  std::size_t operator()(const Key& key) {
    const auto [found, is_new] = numbers_.emplace(key, list_.size());
    if (is_new) list_.push_back(key);
    return found->second;
  }
  const std::vector<Key>& list() const { return list_; }

 private:
  std::map<Key, std::size_t> numbers_;
  std::vector<Key> list_;
};

HistorySlice slice_of(const NightRow& row) { return {row.tolerance, row.stop_by, row.verdict, row.start}; }

/// Makes one suite's history from its nights, oldest first.
class Maker {
 public:
  explicit Maker(std::vector<NightSummary> nights) : nights_(std::move(nights)) {}

  SuiteHistory make() {
    history_.suite = nights_.front().suite;
    number_everything();
    index_cells();
    for (std::size_t slice = 0; slice < history_.slices.size(); ++slice) {
      count_solved(slice);
      compare_times_of(slice);
      find_cell_changes(slice);
    }
    std::stable_sort(history_.time_changes.begin(), history_.time_changes.end(),
                     [](const auto& a, const auto& b) { return a.change.seen_at < b.change.seen_at; });
    std::stable_sort(history_.cell_changes.begin(), history_.cell_changes.end(),
                     [](const auto& a, const auto& b) { return a.night < b.night; });
    add_nights();
    return std::move(history_);
  }

 private:
  using Column = std::vector<const NightCell*>;  // by problem; null: no cell
  using Matrix = std::vector<std::vector<double>>;
  using Works =
      std::vector<std::vector<std::optional<std::uint32_t>>>;  // by configuration and problem, NightCell::work
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  void number_everything() {
    Numbering<std::string> configurations;
    Numbering<std::tuple<std::string, std::string, int, std::string, std::string, std::string>> segments;
    std::set<HistorySlice> slices;
    std::set<std::string> families;
    for (const NightSummary& night : nights_) {
      segment_.push_back(segments({night.host, night.cpu, night.cores, night.compiler, night.flags, night.suite_hash}));
      for (const NightRow& row : night.rows) {
        configurations(row.label);
        slices.insert(slice_of(row));
      }
      for (const NightProblem& problem : night.problems) {
        const auto [found, is_new] = problem_numbers_.emplace(problem.hash, problems_.size());
        if (is_new) problems_.emplace_back();
        problems_[found->second] = problem;
        families.insert(problem.family);
      }
    }
    history_.configurations = configurations.list();
    history_.slices.assign(slices.rbegin(), slices.rend());
    history_.origins.resize(history_.configurations.size());
    history_.checks.resize(history_.slices.size());
    history_.families.assign(families.begin(), families.end());
    for (std::size_t i = 0; i < history_.families.size(); ++i) family_numbers_[history_.families[i]] = i;
    segments_ = segments.list().size();
    moved_.resize(nights_.size());
    history_.together.assign(history_.slices.size(), std::vector<std::optional<double>>(nights_.size()));
  }

  void index_cells() {
    const std::size_t configurations = history_.configurations.size();
    columns_.assign(history_.slices.size(), {});
    for (auto& of_slice : columns_) of_slice.assign(nights_.size(), std::vector<Column>(configurations));
    std::map<std::string, std::size_t> configuration_numbers;
    for (std::size_t i = 0; i < configurations; ++i) configuration_numbers[history_.configurations[i]] = i;
    for (std::size_t n = 0; n < nights_.size(); ++n) {
      std::vector<const NightProblem*>& known = known_.emplace_back(problems_.size(), nullptr);
      for (const NightProblem& problem : nights_[n].problems) known[problem_numbers_.at(problem.hash)] = &problem;
      for (const NightRow& row : nights_[n].rows) {
        const auto slice = std::find(history_.slices.begin(), history_.slices.end(), slice_of(row));
        Column& column =
            columns_[static_cast<std::size_t>(slice - history_.slices.begin())][n][configuration_numbers.at(row.label)];
        column.resize(problems_.size(), nullptr);
        history_.origins[configuration_numbers.at(row.label)] = row.origin;
        history_.checks[static_cast<std::size_t>(slice - history_.slices.begin())][row.solver] = row.checks;
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
          if (row.cells[i].status == CellStatus::unknown) continue;
          column[problem_numbers_.at(nights_[n].problems[i].hash)] = &row.cells[i];
        }
      }
    }
  }

  const Column& column(std::size_t slice, std::size_t night, std::size_t configuration) const {
    return columns_[slice][night][configuration];
  }

  /// By night and problem: whether the problem counts in the slice, as that night knows it. A certified problem does
  /// not, unless some night solved it there.
  std::vector<std::vector<bool>> telling(std::size_t slice) const {
    std::vector<bool> solved(problems_.size(), false);
    for (std::size_t n = 0; n < nights_.size(); ++n) {
      if (!nights_[n].exact) continue;
      for (const Column& cells : columns_[slice][n]) {
        for (std::size_t p = 0; p < cells.size(); ++p)
          solved[p] = solved[p] || (cells[p] != nullptr && cells[p]->solved);
      }
    }
    const HistorySlice& asked = history_.slices[slice];
    std::vector<std::vector<bool>> tells;
    for (const auto& known : known_) {
      std::vector<bool>& of_night = tells.emplace_back(problems_.size(), false);
      for (std::size_t p = 0; p < problems_.size(); ++p) {
        of_night[p] = known[p] != nullptr && !known[p]->noise_level &&
                      (solved[p] || !known[p]->infeasible_at(asked.verdict, asked.tolerance));
      }
    }
    return tells;
  }
  /// Whether a cell of the slice at work is part of the night's shares and times.
  bool counts(std::size_t night, std::size_t problem) const {
    return tells_[night][problem] && known_[night][problem]->counts;
  }

  /// The series of the slice: one a configuration, then one a configuration and family.
  void count_solved(std::size_t slice) {
    first_series_ = history_.series.size();
    tells_ = telling(slice);
    const std::size_t configurations = history_.configurations.size();
    const std::size_t families = history_.families.size();
    for (std::size_t f = 0; f <= families; ++f) {
      for (std::size_t s = 0; s < configurations; ++s) {
        history_.series.push_back(
            {s, slice, f == 0 ? std::string() : history_.families[f - 1], std::vector<HistoryPoint>(nights_.size())});
      }
    }
    for (std::size_t n = 0; n < nights_.size(); ++n) {
      for (std::size_t s = 0; s < configurations; ++s) {
        const Column& cells = column(slice, n, s);
        for (std::size_t p = 0; p < cells.size(); ++p) {
          if (cells[p] == nullptr || !counts(n, p)) continue;
          for (HistoryPoint* point : {&point_of(s, 0, n), &point_of(s, 1 + family_of(p), n)}) {
            ++point->problems;
            if (cells[p]->solved) ++point->solved;
            if (cells[p]->doubtful) ++point->doubtful;
          }
        }
      }
    }
  }

  std::size_t family_of(std::size_t problem) const { return family_numbers_.at(problems_[problem].family); }
  /// `group`: 0 for all families, else 1 + the family's number; of the slice whose series were made last.
  HistoryPoint& point_of(std::size_t configuration, std::size_t group, std::size_t night) {
    return history_.series[first_series_ + group * history_.configurations.size() + configuration].points[night];
  }

  bool timed(std::size_t night) const { return nights_[night].mode == "timed"; }
  bool quiet(std::size_t night) const { return timed(night) && !nights_[night].loaded; }

  /// By configuration and problem: median log time of the segment's quiet nights; NaN where there is none. Of all of
  /// them: nights that a reference is made of lie closer to it than others.
  Matrix references(std::size_t slice, std::size_t segment) const {
    Matrix reference(history_.configurations.size(), std::vector<double>(problems_.size(), none));
    const bool any_quiet = [&] {
      for (std::size_t n = 0; n < nights_.size(); ++n) {
        if (segment_[n] == segment && quiet(n)) return true;
      }
      return false;
    }();
    std::vector<double> logs;
    for (std::size_t s = 0; s < reference.size(); ++s) {
      for (std::size_t p = 0; p < problems_.size(); ++p) {
        logs.clear();
        for (std::size_t n = 0; n < nights_.size(); ++n) {
          if (segment_[n] != segment || !(any_quiet ? quiet(n) : timed(n))) continue;
          const Column& cells = column(slice, n, s);
          if (!cells.empty() && cells[p] != nullptr && cells[p]->solved && cells[p]->minimum_s > 0.0) {
            logs.push_back(std::log(cells[p]->minimum_s));
          }
        }
        if (!logs.empty()) reference[s][p] = *median(logs);
      }
    }
    return reference;
  }

  /// By configuration and problem: the work of more than half of the segment's timed nights that solved it.
  Works usual_work(std::size_t slice, std::size_t segment) const {
    Works usual(history_.configurations.size(), Works::value_type(problems_.size()));
    for (std::size_t s = 0; s < usual.size(); ++s) {
      for (std::size_t p = 0; p < problems_.size(); ++p) {
        std::map<std::uint32_t, std::size_t> counts;
        std::size_t all = 0;
        for (std::size_t n = 0; n < nights_.size(); ++n) {
          const Column& cells = column(slice, n, s);
          if (segment_[n] != segment || !timed(n) || cells.empty() || cells[p] == nullptr || !cells[p]->solved)
            continue;
          ++counts[cells[p]->work];
          ++all;
        }
        for (const auto& [work, count] : counts) {
          if (2 * count > all) usual[s][p] = work;
        }
      }
    }
    return usual;
  }

  std::vector<PairedTime> paired(std::size_t slice, std::size_t night, const Matrix& reference,
                                 const Works& usual) const {
    std::vector<PairedTime> times;
    for (std::size_t s = 0; s < history_.configurations.size(); ++s) {
      const Column& cells = column(slice, night, s);
      for (std::size_t p = 0; p < cells.size(); ++p) {
        if (cells[p] == nullptr || !cells[p]->solved || !(cells[p]->minimum_s > 0.0) || !counts(night, p)) continue;
        if (!std::isfinite(reference[s][p])) continue;
        times.push_back({.configuration = s,
                         .problem = p,
                         .family = family_of(p),
                         .log_ratio = std::log(cells[p]->minimum_s) - reference[s][p],
                         .seconds = std::exp(reference[s][p]),
                         .same_work = usual[s][p] == cells[p]->work});
      }
    }
    return times;
  }

  void compare_times_of(std::size_t slice) {
    for (std::size_t segment = 0; segment < segments_; ++segment) {
      const Matrix reference = references(slice, segment);
      const auto usual = usual_work(slice, segment);
      std::vector<NightTimes> nights(nights_.size());
      for (std::size_t n = 0; n < nights_.size(); ++n) {
        if (segment_[n] != segment || !timed(n)) continue;
        nights[n] = {.there = true, .quiet = quiet(n), .times = paired(slice, n, reference, usual)};
      }
      const TimesOfNights followed = follow_times(nights, history_.configurations.size());
      keep(slice, segment, followed.nights);
      for (std::size_t n = 0; n < nights_.size(); ++n) {
        if (!followed.moved[n]) continue;
        moved_[n] += fmt::format("{}all configurations together moved by {} at {}", moved_[n].empty() ? "" : ", ",
                                 per_cent(*followed.moved[n]), describe_slice(history_, slice));
      }
      for (const auto& [configuration, change] : followed.changes)
        history_.time_changes.push_back({configuration, slice, change});
    }
  }

  void keep(std::size_t slice, std::size_t segment, const std::vector<std::optional<TimeComparison>>& nights) {
    for (std::size_t n = 0; n < nights.size(); ++n) {
      if (!nights[n]) continue;
      const TimeComparison& times = *nights[n];
      bool any = false;
      for (std::size_t s = 0; s < times.configurations.size(); ++s) {
        if (times.configurations[s].cells == 0) continue;
        any = true;
        HistoryPoint& point = point_of(s, 0, n);
        point.raw = times.configurations[s].raw;
        if (configurations_with_times(times) > 1) point.corrected = times.configurations[s].corrected;
      }
      for (const FamilyTimes& family : times.families) {
        point_of(family.configuration, 1 + family.family, n).corrected = family.median;
      }
      if (any) history_.together[slice][n] = times.together;
    }
    for (std::size_t i = first_series_; i < history_.series.size(); ++i) {
      auto& points = history_.series[i].points;
      from_first_nights(
          segment, [&](std::size_t n) -> auto& { return points[n].corrected; });
      from_first_nights(
          segment, [&](std::size_t n) -> auto& { return points[n].raw; });
    }
    from_first_nights(
        segment, [&](std::size_t n) -> auto& { return history_.together[slice][n]; });
  }

  /// Subtracts the median of the segment's first quiet nights from all of its nights.
  template <class Value>
  void from_first_nights(std::size_t segment, Value value) const {
    std::vector<double> first;
    for (const bool only_quiet : {true, false}) {
      for (std::size_t n = 0; n < nights_.size() && first.size() < recent_nights; ++n) {
        if (segment_[n] == segment && value(n) && (quiet(n) || !only_quiet)) first.push_back(*value(n));
      }
      if (!first.empty()) break;
    }
    const double zero = median(first).value_or(0.0);
    for (std::size_t n = 0; n < nights_.size(); ++n) {
      if (segment_[n] == segment && value(n)) *value(n) -= zero;
    }
  }

  /// Whether a limit may have decided the cell in one of the two nights.
  static bool near_limit(const NightCell& solved, const NightCell& other, double limit_s) {
    if (other.status == CellStatus::out_of_memory) return solved.near_memory;
    return class_of(other.status) == StatusClass::clock && (limit_s <= 0.0 || solved.minimum_s > limit_s / 3.0);
  }

  double limit_of(std::size_t slice, std::size_t night) const {
    for (const NightRow& row : nights_[night].rows) {
      if (slice_of(row) == history_.slices[slice]) return row.limit_s;
    }
    return 0.0;
  }

  void find_cell_changes(std::size_t slice) {
    std::map<std::string, std::size_t> before;  // by the suite's text: other limits end other cells
    for (std::size_t n = 0; n < nights_.size(); ++n) {
      if (!nights_[n].complete()) continue;
      if (const auto last = before.find(nights_[n].suite_hash); last != before.end()) {
        for (std::size_t s = 0; s < history_.configurations.size(); ++s) compare_cells(slice, s, last->second, n);
      }
      before[nights_[n].suite_hash] = n;
    }
  }

  void compare_cells(std::size_t slice, std::size_t configuration, std::size_t before, std::size_t night) {
    const Column& old_cells = column(slice, before, configuration);
    const Column& new_cells = column(slice, night, configuration);
    const double limit_s = limit_of(slice, night);
    CellChanges changes{
        .configuration = configuration, .slice = slice, .before = before, .night = night, .lost = {}, .won = {}};
    for (std::size_t p = 0; p < std::min(old_cells.size(), new_cells.size()); ++p) {
      const NightCell *was = old_cells[p], *is = new_cells[p];
      if (was == nullptr || is == nullptr || !tells_[before][p] || !tells_[night][p]) continue;
      if (was->status == CellStatus::flaky || is->status == CellStatus::flaky) {
        ++changes.flaky;
      } else if (was->solved && is->solved) {
        if (was->work != is->work) ++changes.other_work;
      } else if (was->solved != is->solved) {
        const bool limited = was->solved ? near_limit(*was, *is, limit_s) : near_limit(*is, *was, limit_s);
        if (limited) {
          ++changes.hit_limit;
        } else {
          (was->solved ? changes.lost : changes.won).push_back(problems_[p].name);
        }
      }
    }
    if (!changes.lost.empty() || !changes.won.empty() || changes.hit_limit + changes.flaky + changes.other_work > 0) {
      history_.cell_changes.push_back(std::move(changes));
    }
  }

  void add_nights() {
    CodeHashes code;
    for (std::size_t n = 0; n < nights_.size(); ++n) {
      HistoryNight night{.summary = std::move(nights_[n]), .segment = segment_[n]};
      night.code_changes = code_changes(code, night.summary.code_hashes);
      for (const auto& [solver, hashes] : night.summary.code_hashes) code[solver] = hashes;
      if (night.summary.mode != "timed") {
        night.not_judged = "several workers ran at a time";
      } else if (night.summary.loaded) {
        night.not_judged = "other processes took time";
      } else {
        night.not_judged = moved_[n];
      }
      night.summary.rows.clear();
      night.summary.problems.clear();
      history_.nights.push_back(std::move(night));
    }
    for (const HistoryNight& night : history_.nights) {
      history_.judged_nights += night.segment == segment_.back() && night.not_judged.empty() ? 1 : 0;
    }
  }

  std::vector<NightSummary> nights_;
  SuiteHistory history_;
  std::vector<std::size_t> segment_;
  std::vector<std::string> moved_;  ///< by night: which slices are not judged since all configurations moved
  std::size_t segments_ = 0;
  std::map<std::string, std::size_t> problem_numbers_, family_numbers_;
  std::vector<NightProblem> problems_;                     // as the last night knows them
  std::vector<std::vector<std::vector<Column>>> columns_;  // [slice][night][configuration]
  std::size_t first_series_ = 0;
  std::vector<std::vector<const NightProblem*>> known_;  // [night][problem]; null: the night lacks it
  std::vector<std::vector<bool>> tells_;                 // the same, of the slice at work
};

/// What identifies a change in two histories: its configuration, its slice and its direction.
using ChangeKey = std::tuple<std::string, HistorySlice, bool>;
ChangeKey key_of(const SuiteHistory& suite, const TimeChange& change) {
  return {suite.configurations[change.configuration], suite.slices[change.slice], change.change.effect > 0.0};
}

}  // namespace

std::vector<TimeChange> new_time_changes(const SuiteHistory& now, const SuiteHistory& before) {
  std::map<std::filesystem::path, std::size_t> indices;  // of nights, in `now`
  for (std::size_t n = 0; n < now.nights.size(); ++n) indices[now.nights[n].summary.store] = n;
  std::map<ChangeKey, std::vector<std::size_t>> known;  // first nights after
  for (const TimeChange& change : before.time_changes) {
    const auto index = indices.find(before.nights[change.change.first_after].summary.store);
    if (index != indices.end()) known[key_of(before, change)].push_back(index->second);
  }
  std::vector<TimeChange> found;
  for (const TimeChange& change : now.time_changes) {
    constexpr std::size_t as_far_as_one_moves = 8;
    if (change.change.seen_at + as_far_as_one_moves < now.nights.size()) continue;
    // Each of the known ones stands for one change alone, the nearest.
    std::vector<std::size_t>& candidates = known[key_of(now, change)];
    const auto distance = [&](std::size_t index) {
      return std::max(index, change.change.first_after) - std::min(index, change.change.first_after);
    };
    const auto nearest = std::min_element(candidates.begin(), candidates.end(),
                                          [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    if (nearest == candidates.end() || distance(*nearest) > as_far_as_one_moves) {
      found.push_back(change);
    } else {
      candidates.erase(nearest);
    }
  }
  return found;
}

std::vector<CodeChange> changed_code(const SuiteHistory& suite, std::size_t before, std::size_t after) {
  return code_changes(suite.nights[before].summary.code_hashes, suite.nights[after].summary.code_hashes);
}

History make_history(std::vector<NightSummary> nights) {
  History history;
  std::map<std::string, std::vector<NightSummary>> by_suite;
  sort_nights(nights);
  for (NightSummary& night : nights) {
    if (night.started_utc.empty()) {
      history.notes.push_back(night.store.string() + ": left out: it has no run");
    } else if (night.side_by_side) {
      history.notes.push_back(night.store.string() + ": left out: it is an A/B run of two builds");
    } else {
      by_suite[night.suite].push_back(std::move(night));
    }
  }
  for (auto& [suite, of_suite] : by_suite) history.suites.push_back(Maker(std::move(of_suite)).make());
  return history;
}

}  // namespace conebench::reports
