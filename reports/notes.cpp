#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/analysis_parts.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"
#include "store/certificates.hpp"
#include "store/run_mode.hpp"
#include "store/store_load.hpp"
#include "store/time_doubts.hpp"

namespace conebench::reports {

namespace {

/// `names` in a sentence: "a, b and c"; past `most` of them: "a, b and 7 more".
std::string sentence(const std::set<std::string>& names, std::size_t most = 4) {
  std::string text;
  std::size_t at = 0;
  for (const auto& name : names) {
    const bool cut = names.size() > most && at == most - 1;
    const bool last = cut || at + 1 == names.size();
    if (at > 0) text += last ? " and " : ", ";
    if (cut) return text + fmt::format("{} more", names.size() - at);
    text += name;
    ++at;
  }
  return text;
}

class Notes {
 public:
  void warn(std::string text) { notes_.push_back({Note::Level::warning, std::move(text)}); }
  void warn_of_noise(std::string text) { notes_.push_back({Note::Level::warning, std::move(text), true}); }
  void inform(std::string text) { notes_.push_back({Note::Level::info, std::move(text)}); }
  std::vector<Note> take() {
    std::stable_sort(notes_.begin(), notes_.end(), [](const Note& a, const Note& b) { return a.level > b.level; });
    return std::move(notes_);
  }

 private:
  std::vector<Note> notes_;
};

/// Of the runs that a shown cell is of.
void note_mixture(Notes& notes, const StoreContents& contents) {
  std::set<std::int64_t> shown;
  for (const CellRecord& cell : contents.cells) shown.insert(cell.run_id);
  std::set<std::string> machines;
  std::set<std::string> builds;
  std::set<std::string> modes, executables;
  for (const auto& run : contents.runs) {
    if (!shown.contains(run.id)) continue;
    machines.insert(fmt::format("{} ({}, {} cores)", run.machine.host, run.machine.cpu, run.machine.cores));
    builds.insert(
        fmt::format("{} {} ({} {})", run.build.version, run.build.commit, run.build.compiler, run.build.flags));
    modes.insert(run.mode);
    if (!run.build.executable.empty()) executables.insert(run.build.executable);
  }
  if (machines.size() > 1) {
    notes.warn(fmt::format("Mixed machines: cells come from {}; times of different machines do not compare.",
                           sentence(machines)));
  }
  if (builds.size() > 1) notes.warn(fmt::format("Mixed builds: cells come from {}.", sentence(builds)));
  if (builds.size() == 1 && executables.size() > 1) {
    notes.warn(fmt::format("Mixed builds: cells come from {} executables of {}.", executables.size(), *builds.begin()));
  }
  if (modes.size() > 1) notes.warn(fmt::format("Mixed modes: runs were {}.", sentence(modes)));
}

/// Why the run's times are noisy, by the system's counters and by the cells' own times.
std::vector<NoiseRecord> noise_of(const RunRecord& run, const std::vector<CellRecord>& cells) {
  std::vector<NoiseRecord> noise = run.noise;
  if (const auto load = noise_of_load(run, cells)) noise.push_back(*load);
  return noise;
}

void note_noise(Notes& notes, const StoreContents& contents) {
  const auto& runs = contents.runs;
  const bool whole =
      !contents.suites.empty() && std::all_of(contents.suites.begin(), contents.suites.end(),
                                              [](const SuiteState& suite) { return suite.missing.empty(); });
  std::map<std::pair<NoiseKind, std::string>, NoiseRecord> worst;  // by the kind and what it names
  long noisy = 0;
  long unfinished = 0;
  long not_native = 0;
  for (const auto& run : runs) {
    const std::vector<NoiseRecord> noise = noise_of(run, contents.cells);
    noisy += !noise.empty();
    for (const NoiseRecord& one : noise) {
      NoiseRecord& known = worst.emplace(std::pair(one.kind, one.text), one).first->second;
      known.value = std::max(known.value, one.value);
    }
    const bool resumed = std::any_of(runs.begin(), runs.end(), [&](const RunRecord& later) {
      return later.id > run.id && later.suite_name == run.suite_name && !later.finished_utc.empty();
    });
    unfinished += run.finished_utc.empty() && !resumed && !whole;
    not_native += !run.build.native;
  }
  if (noisy > 0) {
    std::set<std::string> reasons;
    for (const auto& [subject, noise] : worst) reasons.insert(noise_text(noise));
    notes.warn_of_noise(fmt::format("Noisy times in {} of {}: {}.", noisy,
                                    plural(static_cast<long>(runs.size()), "run"), sentence(reasons)));
  }
  if (unfinished > 0) notes.warn(fmt::format("{} did not finish.", plural(unfinished, "run")));
  if (not_native > 0 && not_native < static_cast<long>(runs.size())) {
    notes.warn("Some runs were built for this processor and some were not.");
  }
}

/// Times of foreign code that the runner's clock does not confirm.
void note_doubts(Notes& notes, const Analysis& analysis) {
  for (const TimeDoubt& doubt : time_doubts) {
    std::set<std::string> labels;
    long cells = 0;
    for (const auto& slice : analysis.slices) {
      for (const auto& row : slice.grid) {
        for (std::size_t c = 0; c < row.size(); ++c) {
          if (row[c] == nullptr || std::ranges::find(row[c]->doubts, doubt.code) == row[c]->doubts.end()) continue;
          labels.insert(analysis.columns[c].label);
          ++cells;
        }
      }
    }
    if (cells == 0) continue;
    notes.warn(fmt::format("Doubtful times in {} of {}. {}", plural(cells, "cell"), sentence(labels), doubt.sentence));
  }
}

void note_limits(Notes& notes, const Analysis& analysis) {
  for (const auto& slice : analysis.slices) {
    std::set<std::string> limits;
    for (const auto& row : slice.grid) {
      for (const auto* cell : row) {
        if (cell == nullptr) continue;
        limits.insert(fmt::format("{} iterations / {} s / {} MB", cell->max_iterations, human_number(cell->limit_s),
                                  cell->limit_mb));
      }
    }
    if (limits.size() > 1) {
      notes.warn(fmt::format("Unequal limits at {}: {}.", slice.label, sentence(limits)));
    }
  }
}

void note_gaps(Notes& notes, const Analysis& analysis) {
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const Slice& slice = analysis.slices[s];
    long problems = 0;
    long left_out = 0;
    std::vector<long> runs(analysis.columns.size(), 0);
    for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
      const auto& row = slice.grid[p];
      const bool gap = analysis.problems[p].excluded_by(Exclusion::Why::gaps);
      const bool present = std::any_of(row.begin(), row.end(), [](const auto* cell) { return cell != nullptr; });
      if (!present || (!analysis.problems[p].counted[s] && !gap)) continue;
      ++problems;
      left_out += analysis.problems[p].counted[s] ? 0 : 1;
      for (std::size_t c = 0; c < row.size(); ++c) runs[c] += outcome(row[c]) != Outcome::not_run ? 1 : 0;
    }
    if (left_out > 0) {
      notes.warn(fmt::format("At {} the ranking is over the {} of {} that every solver has run.", slice.label,
                             problems - left_out, plural(problems, "problem")));
    }
    std::set<std::string> unranked;
    for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
      if (slice.ranked[c] || problems == 0) continue;
      unranked.insert(fmt::format("{} (has run {} of {})", analysis.columns[c].label, runs[c], problems));
    }
    if (!unranked.empty()) notes.warn(fmt::format("Not ranked at {}: {}.", slice.label, sentence(unranked)));
  }
}

void note_suites(Notes& notes, const StoreContents& contents) {
  for (const SuiteState& suite : contents.suites) {
    if (suite.missing.empty()) continue;
    std::set<std::string> named;
    for (const WantedCell& cell : suite.missing) {
      if (suite.known_by_name.contains(cell.problem)) named.insert(cell.problem);
    }
    std::string text = fmt::format("Not run: {}{} of {} of the suite {}", named.empty() ? "" : "at most ",
                                   suite.missing.size(), plural(suite.cells(), "cell"), suite.name);
    if (!suite.filter.empty()) text += fmt::format(" that fit {}", suite.filter);
    if (!named.empty()) {
      text += fmt::format("; {} known by name only and may repeat another, be none or not fit",
                          plural(static_cast<long>(named.size()), "problem") + (named.size() == 1 ? " is" : " are"));
    }
    notes.warn(text + "; running the whole suite again does the rest.");
  }
  if (contents.outdated_cells > 0) {
    notes.inform(
        fmt::format("{} of the store left out: no suite of it asks for them any more (edited, or a file or a "
                    "solver has changed); `report --all-cells` has them.",
                    plural(contents.outdated_cells, "cell")));
  }
}

void note_relative(Notes& notes, const Analysis& analysis) {
  long fooled = 0;
  long symmetrised = 0;
  for (const auto& cell : analysis.contents->cells) {
    symmetrised += cell.solved_symmetrised;
    const auto relative = cell.residuals.find("natural_map_relative");
    const auto scaled = cell.residuals.find("natural_map_scaled");
    if (!relative || !scaled) continue;
    const bool passes = relative->value && *relative->value <= cell.tolerance;
    const bool fails = scaled->missing.empty() && (!scaled->value || *scaled->value > cell.tolerance);
    fooled += passes && fails;
  }
  if (fooled > 0) {
    notes.inform(
        fmt::format("{} would be solved by the residual natural_map_relative and {} not by natural_map_scaled, "
                    "the verdict of most suites: relative to a large λ or velocity an error looks small.",
                    plural(fooled, "cell"), fooled == 1 ? "is" : "are"));
  }
  if (symmetrised > 0) {
    notes.inform(fmt::format("{} the symmetrised problem (see its verdict in cells.csv).",
                             plural(symmetrised, "cell") + " solved"));
  }
}

/// A certificate and a solved cell of one problem: which of the two is wrong.
void note_certificates(Notes& notes, const Analysis& analysis) {
  std::map<std::string, const Problem*> marked;
  std::set<std::string> refuted;
  for (const Problem& problem : analysis.problems) {
    if (problem.record->infeasible()) marked.emplace(problem.record->hash, &problem);
    if (problem.record->feasibility.state == "refuted") refuted.insert(problem.name);
  }
  std::set<std::string> doubted;
  long cells = 0;
  for (const CellRecord& cell : analysis.contents->cells) {
    const auto known = marked.find(cell.problem);
    if (known == marked.end()) continue;
    if (!contradicts(cell, cell.verdict, cell.tolerance, known->second->record->feasibility)) continue;
    doubted.insert(known->second->name);
    ++cells;
  }
  if (!refuted.empty()) {
    notes.warn(fmt::format("The certificate of {} is wrong: an answer is better than it allows. {}.", sentence(refuted),
                           refuted.size() == 1 ? "The problem counts" : "The problems count"));
  }
  if (cells > 0) {
    notes.warn(
        fmt::format("{} solved what has no solution by a certificate ({}), as a judge with fewer digits found; "
                    "`conebench rejudge` decides.",
                    plural(cells, "cell"), sentence(doubted)));
  }
}

void note_terms(Notes& notes, const Analysis& analysis) {
  for (const Slice& slice : analysis.slices) {
    if (paying_alone(analysis, slice).empty()) continue;
    notes.warn(fmt::format("Unequal terms at {}: {}; with stop_by judge_timed all pay.", slice.label,
                           stop_by_text(analysis, slice)));
  }
  for (const std::string& line : peer_lines(analysis)) notes.inform("Other projects' code: " + line + ".");
  const auto& own = analysis.contents->own_left_out;
  if (own.empty()) return;
  std::set<std::string> labels;  // pseudonyms may be those of several configurations
  for (const NamedConfiguration& configuration : own) labels.insert(configuration.label);
  notes.inform(fmt::format("Without the {} of Conebench's authors: {}.", plural(std::ssize(own), "configuration"),
                           sentence(labels, 8)));
}

}  // namespace

std::vector<Note> make_notes(const Analysis& analysis, long superseded) {
  Notes notes;
  const StoreContents& contents = *analysis.contents;
  if (contents.cells.empty()) notes.warn("Nothing was measured: the store has no cells.");
  if (!contents.filter.empty()) notes.inform(fmt::format("Only what fits {}.", contents.filter));
  note_mixture(notes, contents);
  note_noise(notes, contents);
  note_doubts(notes, analysis);
  note_suites(notes, contents);
  note_limits(notes, analysis);
  note_terms(notes, analysis);
  note_gaps(notes, analysis);
  note_certificates(notes, analysis);
  const bool throughput = any_in_mode(contents.runs, throughput_mode);
  if (any_in_mode(contents.runs, submitted_mode)) {
    notes.warn(
        "Answers were sent in: the judge checked them, and their solver was not run. Iterations are claimed by the "
        "submitter. Times are left out.");
  } else if (any_in_mode(contents.runs, quick_mode)) {
    notes.warn("Times are left out: each cell ran once (quick mode). Costs are counts.");
  } else if (throughput && analysis.times_shown) {
    notes.warn("Times are shown by force: cells ran side by side (throughput mode) and disturbed each other.");
  } else if (throughput) {
    notes.warn("Times are left out: cells ran side by side (throughput mode). Costs are counts.");
  }
  const bool has_sides =
      std::any_of(contents.runs.begin(), contents.runs.end(), [](const RunRecord& run) { return !run.side.empty(); });
  if (superseded > 0 && has_sides) {
    notes.warn(
        fmt::format("{} of the baseline left out: this is the candidate's report; compare the store to see both.",
                    plural(superseded, "cell")));
  } else if (superseded > 0) {
    notes.warn(fmt::format("{} left out: a later run has the same problem, solver and tolerance under other limits.",
                           plural(superseded, "cell")));
  }
  long left_out = 0;
  std::string reasons;
  for (const auto& [reason, problems] : analysis.left_out) {
    left_out += problems;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", problems, reason);
  }
  if (left_out > 0) {
    notes.inform(fmt::format("{} {} not count in shares, ranks and profiles: {}.", plural(left_out, "problem"),
                             left_out == 1 ? "does" : "do", reasons));
  }
  std::size_t copies = 0;
  double largest_friction = 0.0;
  for (const auto& problem : analysis.problems) {
    copies += problem.record->copies.size();
    largest_friction = std::max(largest_friction, problem.record->mu_max);
  }
  if (copies > 0) {
    notes.inform(fmt::format("{} of another to the last bit, and run once with it.",
                             copies == 1 ? "1 source is a copy" : fmt::format("{} sources are copies", copies)));
  }
  if (largest_friction > 100.0) {
    notes.warn(
        fmt::format("Friction up to {:.3g}: the verdict sees a velocity that closes a contact only over "
                    "sqrt(1 + mu^2); look at `dual` and `penetration` there.",
                    largest_friction));
  }
  note_relative(notes, analysis);
  return notes.take();
}

}  // namespace conebench::reports
