#pragma once

#include <optional>
#include <string>
#include <vector>

#include "papers/entry.hpp"
#include "papers/evaluate.hpp"
#include "papers/sample.hpp"

namespace conebench::papers {

enum class Verdict { holds, fails, not_comparable, undecided };
/// "holds", "fails", "not comparable", "undecided".
std::string to_string(Verdict verdict);

/// What became of a check.
struct CheckResult {
  struct Measured {
    std::string part;  ///< of Check::each; empty: all cells
    Comparison comparison;
  };
  Verdict verdict = Verdict::undecided;
  std::vector<Measured> measured;
  Value measure;         ///< of Check::measure
  std::string reason;    ///< why it is not comparable or not run
  bool expected = true;  ///< false: fails and is no known failure, or a known failure holds again or left its range
};

struct TableCell {
  Value value, spread;
  Published published;
};

struct Point {
  double x = 0.0, y = 0.0;
};
struct Curve {
  std::string name;
  std::vector<Point> points;  ///< by x
  std::string missing;        ///< why there is none, or which are left out; else empty
};

/// An entry's numbers: a pure function of the samples.
struct EntryResult {
  const Entry* entry = nullptr;
  std::string not_run;         ///< why it was not run; else empty
  std::string problems;        ///< what was solved: "63 problems (generated)"
  std::string criterion;       ///< "stop_by judge_timed, natural_map_scaled at 1e-8"; empty: it has no cells of solvers
  std::string made;            ///< when and by which build; empty: not known
  std::vector<Table> layouts;  ///< the entry's tables, with the lines of groups written out
  std::vector<std::vector<std::vector<TableCell>>> tables;  ///< [table][row][column]
  std::vector<std::vector<Curve>> figures;                  ///< [figure][series]
  std::vector<CheckResult> checks;
};

/// The samples that count for the entry.
Selection counted(const Entry& entry, const std::vector<Sample>& samples);

EntryResult evaluate_entry(const Entry& entry, const std::vector<Sample>& samples);
/// All of it not run, for this reason.
EntryResult not_run(const Entry& entry, const std::string& reason);

CheckResult evaluate_check(const Check& check, const Selection& samples);

/// The samples with the check's mutations done: what a check that means something must notice. A truth is set by
/// `to` 0 or 1.
std::vector<Sample> mutated(std::vector<Sample> samples, const std::vector<Mutation>& mutations);

/// Whether a gate over these results fails: a check is not as expected.
bool unexpected(const std::vector<EntryResult>& results);

}  // namespace conebench::papers
