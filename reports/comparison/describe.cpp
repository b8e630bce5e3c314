#include "reports/comparison/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// With the counts that differ from `other`'s; without any, with the iterations.
std::string describe_outcome(const ComparedCell& cell, const ComparedCell* other, bool with_time) {
  std::string text = cell.solved ? "solved" : to_string(cell.status);
  if (cell.solved && cell.status != CellStatus::converged) text += " (" + to_string(cell.status) + ")";
  if (!cell.reason.empty()) text += ": " + cell.reason;
  if (with_time && cell.minimum_s > 0.0) text += ", " + human_time(cell.minimum_s);
  bool differs = false;
  const auto add = [&](std::int64_t ComparedCell::*count, const char* noun) {
    if (other == nullptr || cell.*count == other->*count) return;
    differs = true;
    text += ", " + plural(static_cast<long>(cell.*count), noun);
  };
  add(&ComparedCell::iterations, "iteration");
  add(&ComparedCell::factorizations, "factorization");
  add(&ComparedCell::products, "product");
  if (!differs && cell.iterations > 0) text += ", " + plural(static_cast<long>(cell.iterations), "iteration");
  return text;
}

/// Smaller comes first.
int rank(CellChange change) {
  switch (change) {
    case CellChange::broke: return 0;
    case CellChange::lost: return 1;
    case CellChange::missing: return 2;
    case CellChange::flaky: return 3;
    case CellChange::hit_limit: return 4;
    case CellChange::won: return 5;
    case CellChange::other_failure: return 6;
    case CellChange::other_work: return 7;
    case CellChange::other_bits: return 8;
    default: return 9;
  }
}

}  // namespace

std::string per_cent(double log_change) { return fmt::format("{:+.1f} %", 100.0 * std::expm1(log_change)); }

std::string headline(const Comparison& comparison) {
  if (comparison.compared == 0) return "nothing to compare: the two have no cell in common";
  const auto cells = [&](const char* word) {
    const auto found = comparison.alarms.find(word);
    return found == comparison.alarms.end() ? 0L : found->second;
  };
  const auto configurations = [&](const char* word) {  // each once, at whatever tolerances
    std::set<std::size_t> found;
    for (const TimeSlice& slice : comparison.slices) {
      for (const ConfigurationChange& change : slice.configurations) {
        if (change.alarms.contains(word) && !change.accepted.contains(word)) found.insert(change.configuration);
      }
    }
    return std::ssize(found);
  };
  std::set<std::size_t> gone_problems, gone_configurations;
  long missing = 0;
  std::set<std::pair<std::size_t, std::size_t>> accepted;  // slices and configurations whose missing cells are
  for (const TimeSlice& slice : comparison.slices) {
    for (const ConfigurationChange& change : slice.configurations) {
      if (change.accepted.contains("missing")) accepted.emplace(change.slice, change.configuration);
    }
  }
  for (const CellPair& pair : comparison.pairs) {
    if (pair.change != CellChange::missing || !is_missed(comparison.baseline.cells[*pair.baseline])) continue;
    const bool only_problem = missed_with_problem(comparison, pair);
    if (only_problem ? comparison.accepted_missing : accepted.contains({pair.slice, pair.configuration})) continue;
    if (!comparison.configurations[pair.configuration].in_candidate) {
      gone_configurations.insert(pair.configuration);
    } else if (only_problem) {
      gone_problems.insert(pair.problem);
    } else {
      ++missing;
    }
  }
  std::string worse, better;
  const auto add = [](std::string& into, long n, const char* noun, const char* what) {
    if (n > 0) into += (into.empty() ? "" : ", ") + plural(n, noun) + " " + what;
  };
  add(worse, cells("lost"), "cell", "lost");
  add(worse, cells("broke"), "cell", "broke");
  add(worse, std::ssize(gone_problems), "problem", "missing");
  add(worse, std::ssize(gone_configurations), "configuration", "missing");
  add(worse, missing, "cell", "missing");
  add(worse, configurations("slower"), "configuration", "slower");
  add(worse, configurations("less-accurate"), "configuration", "less accurate");
  add(better, cells("won"), "cell", "won");
  add(better, configurations("faster"), "configuration", "faster");
  std::string text = worse.empty() ? "nothing worse" : "worse: " + worse;
  if (const long alarms = std::ssize(comparison.accepted); worse.empty() && alarms > 0) {
    text += fmt::format(" that was not accepted ({} accepted)", plural(alarms, "alarm"));
  }
  if (!better.empty()) text += "; better: " + better;
  if (const long undecided = configurations("undecided"); undecided > 0) {
    text += "; " + plural(undecided, "configuration") + " undecided";
    // Each tolerance and start has a table.
    const bool in_each = std::all_of(comparison.slices.begin(), comparison.slices.end(), [&](const TimeSlice& slice) {
      return std::count_if(slice.configurations.begin(), slice.configurations.end(),
                           [](const ConfigurationChange& change) { return change.alarms.contains("undecided"); }) ==
             undecided;
    });
    if (!in_each) text += " in some tables";
  }
  return text + fmt::format(" ({} compared)", plural(comparison.compared, "cell"));
}

std::string describe_side(const Side& side) {
  std::set<std::string> runs;
  for (const RunRecord& run : side.runs) {
    std::string text = run.started_utc + ", " + run.build.version + " " + run.build.commit;
    if (!run.build.executable.empty()) text += " (" + run.build.executable.substr(0, 8) + ")";
    runs.insert(text);
  }
  if (runs.empty()) return "no run";
  return *runs.rbegin() + (runs.size() > 1 ? fmt::format(" and {} more", runs.size() - 1) : std::string());
}

std::string describe_hash(const std::set<std::string>& hashes) {
  std::string text;
  for (const std::string& hash : hashes) text += (text.empty() ? "" : " and ") + hash.substr(0, 8);
  return text;
}

std::string describe_slice(const Comparison& comparison, const TimeSlice& slice) {
  std::string text = "tolerance " + human_tolerance(slice.request.tolerance);
  if (slice.request.start != "cold") text += ", start " + slice.request.start;
  std::map<std::string, std::string> checks;
  for (const ConfigurationChange& change : slice.configurations) {
    const ComparedConfiguration& configuration = comparison.configurations[change.configuration];
    checks[configuration.solver] = configuration.checks;
  }
  return text + ", " + stop_by_text(slice.request.stop_by, checks);
}

std::string marked_label(const ComparedConfiguration& configuration) {
  return configuration.origin == "own" ? fmt::format("{} {}", configuration.label, own_mark) : configuration.label;
}

std::string legend(const Comparison& comparison) {
  const bool any = std::ranges::any_of(comparison.configurations,
                                       [](const ComparedConfiguration& one) { return one.origin == "own"; });
  return any ? own_legend_text : "";
}

bool times_shown(const Comparison& comparison, const ConfigurationChange& change) {
  return comparison.times_compared && change.times.cells > 0;
}

std::string why(const Comparison& comparison, const ConfigurationChange& change) {
  std::string text;
  for (const std::string& reason : change.reasons) text += (text.empty() ? "" : ", ") + reason;
  if (const std::string& note = comparison.configurations[change.configuration].note; !note.empty()) {
    text += (text.empty() ? "" : ": ") + note;
  }
  if (change.work.trivial > 0) {
    text += fmt::format("{}other work on {} that λ = 0 solves (not counted)", text.empty() ? "" : "; ",
                        plural(change.work.trivial, "cell"));
  }
  if (change.work.changed > change.work.trivial) {
    text += fmt::format("{}other work on {}:", text.empty() ? "" : "; ",
                        plural(change.work.changed - change.work.trivial, "cell"));
    const auto add = [&](const char* what, double by) {
      if (std::abs(by) >= 0.0005) text += fmt::format(" {} {},", what, per_cent(by));
    };
    add("iterations", change.work.iterations);
    add("factorizations", change.work.factorizations);
    add("products", change.work.products);
    if (comparison.quick) {
      if (text.ends_with(',')) text.pop_back();
    } else {
      text += " time " + per_cent(change.work.time);
      if (change.work.time_per_product != 0.0) text += " (per product " + per_cent(change.work.time_per_product) + ")";
    }
  }
  if (const long bits = change.count(CellChange::other_bits); bits > 0) {
    text += fmt::format("{}other answer bits on {}", text.empty() ? "" : "; ", plural(bits, "cell"));
  }
  if (change.assessment != Assessment::undecided && change.assessment != Assessment::same) return text;
  const char* separator = text.empty() ? "" : "; ";
  if (change.compared() == 0) return text + separator + "no cell is in both";
  if (change.solved == 0) return text + separator + "solves nothing, as before";
  if (comparison.quick) return text + separator + fmt::format("same verdicts on {}", plural(change.compared(), "cell"));
  if (!comparison.times_compared) return text + separator + "times not compared";
  if (!change.times.reason.empty()) return text + separator + change.times.reason;
  if (change.times.verdict == ChangeState::undecided) {
    return text + separator +
           fmt::format("not yet decidable, a change of {:.1f} % would have been found",
                       100.0 * std::expm1(change.times.could_have_seen));
  }
  if (change.times.verdict == ChangeState::same) {
    return text + separator + fmt::format("within {:.0f} %", 100.0 * same_bound(comparison.minimum_effect));
  }
  return text;
}

std::vector<const CellPair*> changed_cells(const Comparison& comparison) {
  std::vector<const CellPair*> cells;
  for (const CellPair& pair : comparison.pairs) {
    if (rank(pair.change) == 9) continue;
    const ComparedProblem& problem = comparison.problems[pair.problem];
    const ComparedConfiguration& configuration = comparison.configurations[pair.configuration];
    if (pair.change == CellChange::missing && (!problem.in_candidate || !configuration.in_candidate)) continue;
    // A clock ended both, as before.
    if (pair.change == CellChange::hit_limit && !comparison.baseline.cells[*pair.baseline].solved &&
        !comparison.candidate.cells[*pair.candidate].solved) {
      continue;
    }
    cells.push_back(&pair);
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const CellPair* a, const CellPair* b) { return rank(a->change) < rank(b->change); });
  return cells;
}

ChangedCell describe_cell(const Comparison& comparison, const CellPair& pair) {
  const ComparedProblem& problem = comparison.problems[pair.problem];
  const ComparedCell* baseline = pair.baseline ? &comparison.baseline.cells[*pair.baseline] : nullptr;
  const ComparedCell* candidate = pair.candidate ? &comparison.candidate.cells[*pair.candidate] : nullptr;
  return {.change = to_string(pair.change),
          .problem = problem.name,
          .family = problem.family,
          .configuration = comparison.configurations[pair.configuration].label,
          .tolerance = human_tolerance(comparison.slices[pair.slice].request.tolerance),
          .baseline = baseline != nullptr ? describe_outcome(*baseline, candidate, !comparison.quick) : "–",
          .candidate = candidate != nullptr ? describe_outcome(*candidate, baseline, !comparison.quick) : "not run"};
}

std::vector<std::string> problem_and_configuration_lines(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const ComparedProblem& problem : comparison.problems) {
    const std::string note = problem.note.empty() ? std::string() : ": " + problem.note;
    const std::string source =
        problem.source.empty() || problem.source == problem.name ? "" : " (" + problem.source + ")";
    if (!problem.in_candidate)
      lines.push_back("missing problem " + problem.name + source + note);
    else if (!problem.in_baseline)
      lines.push_back("new problem " + problem.name + source + note);
    else if (!problem.note.empty())
      lines.push_back("problem " + problem.name + source + note);
  }
  for (const ComparedConfiguration& configuration : comparison.configurations) {
    if (!configuration.in_candidate)
      lines.push_back("missing configuration " + configuration.label +
                      (configuration.note.empty() ? "" : ": " + configuration.note));
    else if (!configuration.in_baseline)
      lines.push_back((ran_side_by_side(comparison.baseline, comparison.candidate)
                           ? "missing in the baseline: configuration "
                           : "new configuration ") +
                      configuration.label);
    if (!configuration.options_changed.empty()) {
      lines.push_back(
          fmt::format("configuration {}: options differ: {}", configuration.label, configuration.options_changed));
    }
  }
  return lines;
}

}  // namespace conebench::reports
