#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runners/execute/sweep.hpp"
#include "runners/plan/suite.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/store.hpp"

namespace conebench::testing {

// The table of solvers is made on its first use, after this.
inline const bool with_test_solvers = setenv("CONEBENCH_TEST_SOLVERS", "1", 1) == 0;

/// Collects what a sweep notes.
class RecordingProgress final : public Progress {
 public:
  void surveyed(long done, long) override { surveyed_count = done; }
  void cell_done(const CellRecord& cell, const ProblemRecord&, const ConfigurationRecord&,
                 const SweepState& state) override {
    order.push_back(cell.key);
    last = state;
    if (interrupt != nullptr && static_cast<long>(order.size()) == interrupt_after) *interrupt = true;
  }
  void note(const std::string& line) override { notes.push_back(line); }

  long surveyed_count = 0;
  std::vector<std::string> order;
  std::vector<std::string> notes;
  SweepState last;
  std::atomic<bool>* interrupt = nullptr;
  long interrupt_after = 0;
};

/// A folder of its own, gone at the end.
class SweepTest : public ::testing::Test {
 protected:
  SweepTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "conebench-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    options.cache = folder / "problems";
    options.pin = false;
  }
  ~SweepTest() override { std::filesystem::remove_all(folder); }

  static Suite suite(const std::string& text) {
    auto parsed = parse_suite(text, "test.json", simulation::sampled_scenes());
    if (!parsed) throw std::runtime_error(parsed.error().message);
    return *parsed;
  }
  Store open_store(const std::string& name = "out.sqlite") const {
    auto store = Store::open(folder / name, Store::Mode::read_write);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  SweepOutcome sweep(const Suite& what, Store& store) {
    auto outcome = run_sweep(what, store, options, progress);
    if (!outcome) throw std::runtime_error(outcome.error().message);
    return *outcome;
  }
  /// Cells by their configuration's label; configurations must be used once.
  static std::map<std::string, CellRecord> by_label(const Store& store) {
    const auto contents = store.read(true);
    std::map<std::string, std::string> label;
    for (const auto& configuration : contents->configurations) label[configuration.hash] = configuration.label;
    std::map<std::string, CellRecord> cells;
    for (const auto& cell : contents->cells) cells[label[cell.configuration]] = cell;
    return cells;
  }

  std::filesystem::path folder;
  SweepOptions options;
  RecordingProgress progress;
};

/// A copy without what may differ between two runs of the same cell: times and what follows from them.
inline CellRecord without_times(CellRecord cell) {
  cell.run_id = 0;
  cell.setup = cell.solve = cell.total = {};
  cell.timed_rounds.clear();
  cell.trace.clear();
  cell.repeats = 0;
  cell.rounds = 1;
  cell.judge_s = 0.0;
  cell.peak_memory_kb = 0;
  return cell;
}

}  // namespace conebench::testing
