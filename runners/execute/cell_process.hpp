#pragma once

#include <memory>

#include "problems/contact_problem.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/process.hpp"

namespace conebench {

struct IsolationLimits {
  double wall_s = 17.0;   ///< for each try (Monitor::start_over), at most most_tries of them; then SIGTERM
  double grace_s = 0.5;   ///< then SIGKILL
  long memory_mb = 4000;  ///< resident
  int pinned_processor = -1;
};

/// Time after which a cell with this limit is killed: well above it, since solvers look at the deadline between
/// iterations and judging does not count.
double wall_limit(double seconds);

/// Tries of a solver that tightens a stop rule of its own which get the wall clock's limit each; later ones share it.
inline constexpr int most_tries = 5;

/// Runs cells one after the other, each in a forked process of its own.
class CellProcess {
 public:
  CellProcess();
  ~CellProcess();
  CellProcess(const CellProcess&) = delete;
  CellProcess& operator=(const CellProcess&) = delete;

  /// run_cell in a child. However that ends, the record says so: status `timeout`, `out_of_memory` or `crashed`, with
  /// the phase, the signal and the child's last words as the reason. A crash is tried once more; where that ends
  /// otherwise, the cell is `flaky` and keeps no answer. A child that something outside killed is started again.
  CellRun run(const ContactProblem& problem, const CellRequest& request, const IsolationLimits& limits);

 private:
  struct Shared;
  struct Attempt;
  Attempt attempt(const ContactProblem& problem, const CellRequest& request, const IsolationLimits& limits);

  Shared* shared_;
  OutputCatcher output_;
};

}  // namespace conebench
