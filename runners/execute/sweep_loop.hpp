#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runners/execute/condensation_cost.hpp"
#include "runners/execute/processor_probe.hpp"
#include "runners/execute/progress.hpp"
#include "runners/execute/watched_worker.hpp"
#include "runners/plan/cell_plan.hpp"
#include "runners/plan/problem_survey.hpp"
#include "runners/plan/suite.hpp"
#include "store/store.hpp"

namespace conebench {

/// Sends the cells of a plan to workers and stores their reports.
class SweepLoop {
 public:
  /// Stores the record of the cell with this index in the plan, and changes the record to what is stored.
  using Put = std::function<Result<void>(std::size_t cell, CellRecord& record)>;
  struct Input {
    const Suite& suite;
    const ProblemSet& problems;
    const std::vector<PlannedConfiguration>& configurations;
    const std::vector<PlannedCell>& cells;
    std::filesystem::path cache;
    std::int64_t run_id = 0;
    int pinned_processor = -1;
    const std::atomic<bool>* interrupted = nullptr;
    Put put;
  };

  /// `state` has the initial totals and is updated.
  SweepLoop(const Input& input, Store& store, Progress& progress, SweepState& state);

  /// Runs `groups` with `jobs` workers until all are done, an interrupt, or an error of the store.
  void run(std::vector<CellGroup> groups, int jobs);

  const std::map<std::string, long>& statuses() const { return statuses_; }
  long measured() const { return measured_; }
  double busy_seconds() const { return busy_s_; }
  const std::optional<Error>& stopped() const { return stopped_; }
  bool interrupted() const { return input_.interrupted != nullptr && *input_.interrupted; }

 private:
  /// The cells of one problem that no worker has yet.
  struct Group {
    std::size_t problem = 0;
    std::deque<std::size_t> pending;
    long open = 0;  ///< cells that are not stored yet
    /// Groups whose answers its cells start from, and which therefore run first.
    std::set<std::size_t> after = {};
    int workers = 0;
    int load_crashes = 0;
    int external_kills = 0;
  };
  struct Slot {
    WatchedWorker worker;
    Group* group = nullptr;
    bool loaded = false;
    std::deque<std::size_t> in_flight;
  };

  void link_sequences();
  bool waits(const Group& group) const;
  Group* next_group();
  void assign(Slot& slot);
  void attend(Slot& slot);
  void take(Slot& slot, const Frame& frame);
  void take_load(Slot& slot, const LoadReport& report);
  void take_cell(Slot& slot, CellReport report);
  void feed(Slot& slot);
  Result<CellOrder> order_for(std::size_t cell) const;
  void reap(Slot& slot);
  void dismiss(Slot& slot);
  void give_up(Group& group, const std::string& reason);
  void defer(std::size_t cell, const std::string& why);
  void defer(Group& group, const std::string& why);
  void after_kill(Group& group, const std::string& why);
  CondensationCost costs_of(std::size_t problem) const;
  void store(std::size_t cell, CellRecord record);
  void commit();
  void lose_uncommitted(Error why);
  void store_without_run(std::size_t cell, CellStatus status, const std::string& reason);
  void expect_next(Slot& slot);

  Input input_;
  Store& store_;
  Progress& progress_;
  SweepState& state_;
  SweepState kept_;  ///< at the last commit
  std::map<std::string, long> kept_statuses_;
  double began_ = 0.0;
  std::vector<Group> groups_;
  std::map<std::size_t, std::size_t> group_of_;  ///< by the problem
  std::vector<std::unique_ptr<Slot>> slots_;
  std::map<std::size_t, int> deaths_;              ///< of workers, by the cell that they ran
  std::map<std::size_t, int> external_kills_;      ///< the same, of workers that were terminated externally
  std::map<std::size_t, CondensationCost> costs_;  ///< by problem, as a worker reported it
  std::map<std::string, long> statuses_;
  long measured_ = 0;
  double busy_s_ = 0.0;
  MinimumProbe probes_;
  std::optional<Error> stopped_;
};

}  // namespace conebench
