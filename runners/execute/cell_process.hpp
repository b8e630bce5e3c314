#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "base/child_process.hpp"
#include "problems/contact_problem.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/process.hpp"

namespace conebench {

struct IsolationLimits {
  CellTime time = CellTime(10.0);
  long memory_mb = 4000;  ///< resident
  int pinned_processor = -1;
};

struct Frame;

/// Runs cells of one problem, or of one batch, one after the other, each in a forked process of its own. The calling process may have no
/// other children from then on: they would be killed, too.
class CellProcess {
 public:
  /// Returns the request of the next call of run(), if it is known.
  using Following = std::function<std::optional<CellRequest>()>;

  /// A problem, or the members of a batch, which must outlive this.
  CellProcess(std::span<const ContactProblem> members, const IsolationLimits& limits);
  CellProcess(const ContactProblem& problem, const IsolationLimits& limits)
      : CellProcess(std::span(&problem, 1), limits) {}
  ~CellProcess();
  CellProcess(const CellProcess&) = delete;
  CellProcess& operator=(const CellProcess&) = delete;

  /// run_cell in a child, then judge_cell in this process. If the child does not return, the status is `timeout`,
  /// `out_of_memory` or `crashed`, and the reason has the phase, the signal and the child's last output. A crashed cell
  /// runs once more; if the second run ends in another way, the cell is `flaky` and has no answer. A child that was
  /// terminated externally, or that could not be forked, is started again (CellRun::terminated_externally).
  /// Only λ, counters and claims are taken from the child (claims.hpp). New children and this process's clock confirm
  /// the time of foreign code; CellRecord::doubts says where they disagree. While a child runs for long, the child of
  /// `following` is forked and waits. At the end of the cell this process kills all of its other children, except those
  /// from before the object.
  CellRun run(const CellRequest& request, const Following& following = nullptr);

 private:
  struct Shared;
  struct Child;
  struct Attempt;
  struct Confirmation;
  using Body = std::function<int(const CellRequest&)>;
  Result<Child> start(const CellRequest& request, const Body& body);
  Result<Child> start(const CellRequest& request);
  Result<Child> start_confirmation(const CellRequest& request, const CellRun& done, bool warm_up);
  std::set<pid_t> others() const;
  double channel_s(const CellRequest& request);
  std::optional<CellRun> run_in(const Frame& frame, const CellRequest& request) const;
  double probe() const;
  std::optional<Confirmation> confirm(const CellRequest& request, const CellRun& done, bool warm_up);
  void doubt(const CellRequest& request, CellRun& done, double wall_s);
  Attempt attempt(const CellRequest& request, std::unique_ptr<Child> ready, bool counts, const Following& following);

  std::span<const ContactProblem> members_;
  IsolationLimits limits_;
  Shared* shared_;
  OutputCatcher output_;
  SchedulingState scheduling_;
  std::unique_ptr<Child> waiting_;  ///< for the next call of run()
  std::set<pid_t> not_of_cells_;    ///< children of this process from before
  std::optional<double> channel_s_ = std::nullopt;
};

}  // namespace conebench
