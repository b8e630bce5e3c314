#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>

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

/// Runs cells of one problem one after the other, each in a forked process of its own. For a process that has no other
/// children from then on: they would be ended, too.
class CellProcess {
 public:
  /// What the next call of run() will be asked for, where that is known already.
  using Following = std::function<std::optional<CellRequest>()>;

  CellProcess(const ContactProblem& problem, const IsolationLimits& limits);
  ~CellProcess();
  CellProcess(const CellProcess&) = delete;
  CellProcess& operator=(const CellProcess&) = delete;

  /// run_cell in a child, then judge_cell here. However the child ends, the record says so: status `timeout`,
  /// `out_of_memory` or `crashed`, with the phase, the signal and the child's last words as the reason. A crash is
  /// tried once more; where that ends otherwise, the cell is `flaky` and keeps no answer. A child that something
  /// outside killed, or that the system refused, is started again (CellRun::terminated_externally). Of what the child
  /// sends only λ, counters and claims are taken (claims.hpp); the time of foreign code is confirmed by fresh children
  /// and this process's clock, and doubted where they disagree (CellRecord::doubts). While a child has been at work for
  /// a while, that of `following` is forked and kept waiting. Every other child that this process then has is ended
  /// with the cell, but those from before the object.
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
  double probe(const CellRequest& request) const;
  std::optional<Confirmation> confirm(const CellRequest& request, const CellRun& done, bool warm_up);
  void doubt(const CellRequest& request, CellRun& done, double wall_s);
  Attempt attempt(const CellRequest& request, std::unique_ptr<Child> ready, bool counts, const Following& following);

  const ContactProblem& problem_;
  IsolationLimits limits_;
  Shared* shared_;
  OutputCatcher output_;
  SchedulingState scheduling_;
  std::unique_ptr<Child> waiting_;  ///< for the next call of run()
  std::set<pid_t> not_of_cells_;    ///< children of this process from before
  std::optional<double> channel_s_ = std::nullopt;
};

}  // namespace conebench
