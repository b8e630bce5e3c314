#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/course.hpp"
#include "metrics/features.hpp"
#include "metrics/structure.hpp"
#include "problems/contact_problem.hpp"
#include "runners/execute/solve_cell.hpp"
#include "solvers/registry.hpp"
#include "store/records.hpp"

namespace conebench::cli {

/// What was found about one solve. Each follows from numbers of an Explanation.
enum class Finding {
  solved,
  infeasible,     ///< a certificate excludes every answer at this tolerance
  noise_level,    ///< g is no larger than the rounding of what made it
  unsupported,    ///< the solver does not take the problem
  broke,          ///< it crashed, was killed or had too little memory
  late,           ///< the answer passes, but came after the time limit
  false_claim,    ///< the solver says that it converged, the judge that it did not
  gave_up,        ///< the solver ended by itself without a claim, before its limits
  iterations_up,  ///< it ended at its limit of iterations
  time_up,        ///< it ended at its limit of time
  falls,          ///< this and the next four: Trend
  rests,
  cycles,
  wanders,
  grows,
  modes_flap,  ///< Course::flapping
  rounding,    ///< the verdict is no larger than what rounding of sigma in double may leave
  redundant,   ///< rows of G depend on one another
};
/// "modes_flap".
std::string to_string(Finding finding);

/// A solve of the same problem to the same tolerance, to compare with.
struct ComparedCell {
  std::string solver, label;
  bool own = false;  ///< by Conebench's authors
  /// Where it is a variant of the explained configuration: the option that differs, and its value.
  std::string option, value;
  bool stored = false;  ///< else it was run now
  std::string key;      ///< of a stored one
  CellStatus status = CellStatus::unknown;
  bool solved = false;
  std::optional<double> verdict_value;
  std::int64_t iterations = 0;
  /// Of the first run, set-up and solve; nothing where only the answer is known.
  std::optional<double> total_s;
  bool times_rank = true;  ///< false: of a run whose times are not compared
};

/// Facts about one solve of one problem. Sentences are made of them by explanation_text().
struct Explanation {
  std::string problem = {};  ///< file, scene, or the name in its store
  std::string store = {};    ///< empty: none
  std::string key = {};      ///< of the stored cell; else empty
  std::string solver, label;
  OptionValues options;  ///< that were set
  CellRecord record;     ///< the stored cell, or what was run now
  /// Of a stored cell: how it ended when it was run again for its iterates; where it ended by its time, with its
  /// iterations as the limit and more time.
  std::optional<CellRecord> again = {};
  Index contacts = 0, rows = 0;
  Features features;
  MovingParts parts;
  Structure structure;
  std::optional<double> noise_ratio;
  FeasibilityRecord feasibility = {};
  std::optional<double> rounding = {};  ///< velocity_rounding() of the answer over V
  std::optional<Course> course = {};    ///< nothing: no traced run was made
  std::vector<Finding> findings = {};
  std::vector<ComparedCell> variants = {};  ///< the same solver with one option changed
  long variants_left = 0;                   ///< that could be tried, and were not
  std::vector<ComparedCell> solvers = {};   ///< others, those that solve it first, by time
  ContactProblem of;                        ///< the problem itself
};

/// What to look at beside the solve itself.
struct ExplainScope {
  bool run = true;                                              ///< solve anything at all
  long max_variants = 0;                                        ///< variants of options to run where the store has none
  std::vector<std::string> solvers;                             ///< to run where the store has none that solves it
  std::function<void(const std::string& label)> progress = {};  ///< before each solve
};

/// A cell of a store, with what is stored of its problem.
struct StoredCell {
  const StoreContents* contents = nullptr;
  const CellRecord* cell = nullptr;
  const ProblemRecord* problem = nullptr;
  const ConfigurationRecord* configuration = nullptr;
};

/// The facts about `request` on `problem`; `stored`: the cell that it is of, null where it is of none. Every solve has
/// a process of its own. Errors: as solve_cell.
Result<Explanation> explain(const ContactProblem& problem, const CellRequest& request, const StoredCell* stored,
                            const ExplainScope& scope);

/// The configurations of the solver that differ from `options` in one option: each option's first other value, then
/// their second ones. Numbers are doubled and halved, logarithmic ones times and over 10, texts and flags take their
/// other values; within the options' bounds. `threads` is left out.
std::vector<std::pair<std::string, OptionValues>> option_variants(const SolverRow& row, const OptionValues& options);

nlohmann::json to_json(const Explanation& explanation);
std::string explanation_text(const Explanation& explanation);

}  // namespace conebench::cli
