#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "problems/contact_problem.hpp"
#include "problems/result.hpp"
#include "problems/types.hpp"

namespace conebench {

/// A residual of one answer: its value, or why there is none.
struct Residual {
  std::string name;                    ///< "natural_map_scaled"
  double value = 0.0;                  ///< +inf for an impulse that is not finite; meaningless where `missing` is set
  std::optional<std::string> missing;  ///< why it can't be computed for this problem
  /// Block (joint row, limit row or contact, counted through all blocks) where it is worst; -1 where there is none.
  Index worst_block = -1;

  bool known() const { return !missing.has_value(); }
};

/// A row of the table of residuals.
struct ResidualInfo {
  std::string name;
  int version = 1;
  std::string formula;
  std::string unit;
  std::string source;
  bool usable_as_verdict = true;
};

/// All residuals, in the order of judge().
std::span<const ResidualInfo> residual_table();

struct ContactModes {
  Index open = 0;
  Index stick = 0;
  Index slip = 0;
};

/// What the harness says of one answer.
struct Judgement {
  std::vector<Residual> residuals;  ///< one a row of residual_table()
  ContactModes modes;

  /// Throws std::out_of_range for a name that is not in the table.
  const Residual& operator[](const std::string& name) const;
};

/// Every residual of `impulse` (rows long) from the problem's data alone.
Judgement judge(const ContactProblem& problem, ConstVectorRef impulse);

/// One residual, made for repeated use inside a sweep: workspace allocated once.
class Verdict {
 public:
  /// Errors (wrong_usage): an unknown name, or a residual that is no verdict; lists the names.
  static Result<Verdict> create(const std::string& name, const ContactProblem& problem);

  /// The same number as judge(problem, impulse)[name]. No allocation.
  double operator()(ConstVectorRef impulse);

 private:
  struct Workspace;
  explicit Verdict(std::shared_ptr<Workspace> workspace) : workspace_(std::move(workspace)) {}
  std::shared_ptr<Workspace> workspace_;
};

/// A cell is solved when the verdict is known, finite and at most the tolerance, whatever the solver claims.
bool is_solved(const Residual& verdict, double tolerance);

}  // namespace conebench
