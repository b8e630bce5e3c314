#include "runners/execute/survey.hpp"

#include <fmt/format.h>

#include <deque>
#include <memory>

#include "runners/execute/cell_clock.hpp"
#include "runners/execute/watched_worker.hpp"

namespace conebench {

namespace {

class Surveyors {
 public:
  Surveyors(const SurveyPlan& plan, const std::vector<ProblemSource>& sources, Progress& progress)
      : plan_(plan), sources_(sources), progress_(progress), results_(sources.size()), attempts_(sources.size()) {
    for (std::size_t i = 0; i < sources.size(); ++i) queue_.push_back(i);
  }

  std::vector<SurveyedProblem> run(int at_a_time, const std::atomic<bool>* interrupted) {
    for (int i = 0; i < at_a_time; ++i) desks_.push_back(std::make_unique<Desk>());
    while (done_ < static_cast<long>(sources_.size())) {
      if (interrupted != nullptr && *interrupted) break;
      std::vector<WatchedWorker*> busy;
      for (auto& desk : desks_) {
        if (!desk->busy && !queue_.empty()) start(*desk);
        if (desk->busy) busy.push_back(&desk->worker);
      }
      wait_for_any(busy);
      for (auto& desk : desks_) {
        if (desk->busy) attend(*desk);
      }
    }
    return std::move(results_);
  }

 private:
  struct Desk {
    WatchedWorker worker;
    bool busy = false;  ///< with `source`; else the worker waits for the next one
    std::size_t source = 0;
  };
  struct Attempts {
    int crashes = 0;
    int external_kills = 0;
  };

  void start(Desk& desk) {
    desk.source = queue_.front();
    queue_.pop_front();
    const bool there = desk.worker.running() || desk.worker.start([&](const OutputCatcher& output) {
      return start_surveyor(plan_, sources_, output);
    });
    if (!there) {
      if (!again_after_kill(desk.source)) {
        nothing_known(desk.source, fmt::format("the system refused a process to load it, {} times", max_worker_kills));
      }
      return;
    }
    desk.busy = true;
    desk.worker.forget_output();
    desk.worker.limit_processor(plan_.suite.limits.load_seconds,
                                fmt::format("loading took more than {} s", plan_.suite.limits.load_seconds));
    desk.worker.send(FrameKind::survey_request,
                     encode(ProblemOrder{desk.source}));  // if it has ended, attend() sees it
  }

  void attend(Desk& desk) {
    const bool alive = desk.worker.read();
    if (const auto frame = desk.worker.next_frame()) {
      if (auto surveyed = decode_surveyed(frame->payload)) {
        desk.busy = false;
        if (surveyed->killed && again_after_kill(desk.source)) return;
        return finish(desk.source, std::move(*surveyed));
      }
    }
    desk.worker.enforce(monotonic_seconds(), plan_.suite.limits.memory_mb);
    if (alive) return;
    const WorkerEnd end = desk.worker.reap();
    desk.busy = false;
    if (end.starved) return nothing_known(desk.source, "loading " + end.why);
    if (end.by_us) return fail(desk.source, end.why);
    if (end.terminated_externally) {
      if (again_after_kill(desk.source)) return;
      return nothing_known(
          desk.source,
          fmt::format("the process that loads it was terminated externally ({}), {} times", end.why, max_worker_kills));
    }
    if (++attempts_[desk.source].crashes == 2) return fail(desk.source, "loading it crashed: " + end.why);
    queue_.push_front(desk.source);
  }

  /// Also where it was not even started: neither is evidence about the file.
  bool again_after_kill(std::size_t source) {
    if (++attempts_[source].external_kills >= max_worker_kills) return false;
    queue_.push_front(source);
    return true;
  }

  void fail(std::size_t source, const std::string& why) {
    finish(source, survey_failure(sources_[source], {ErrorCode::bad_input, sources_[source].source + ": " + why}));
  }

  void nothing_known(std::size_t source, const std::string& why) {
    finish(source, survey_failure(sources_[source], {ErrorCode::killed, fmt::format("{}: {}; nothing is known of it",
                                                                                    sources_[source].source, why)}));
  }

  void finish(std::size_t source, SurveyedProblem surveyed) {
    // A valid file that no solver takes is reported when it is new to the store; the outcome counts it every time.
    const bool reported = !plan_.notes || sources_[source].reported ||
                          (surveyed.unsupported && plan_.known.contains(surveyed.record.hash));
    if (!surveyed.loaded && !reported) progress_.note(surveyed.record.error);
    results_[source] = std::move(surveyed);
    progress_.surveyed(++done_, static_cast<long>(sources_.size()));
  }

  const SurveyPlan& plan_;
  const std::vector<ProblemSource>& sources_;
  Progress& progress_;
  std::vector<SurveyedProblem> results_;
  std::vector<Attempts> attempts_;
  std::deque<std::size_t> queue_;
  std::vector<std::unique_ptr<Desk>> desks_;
  long done_ = 0;
};

}  // namespace

std::vector<SurveyedProblem> survey_sources(const SurveyPlan& plan, const std::vector<ProblemSource>& sources,
                                            int at_a_time, const std::atomic<bool>* interrupted, Progress& progress) {
  return Surveyors(plan, sources, progress).run(at_a_time, interrupted);
}

}  // namespace conebench
