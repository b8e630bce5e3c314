#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "store/records.hpp"

namespace conebench {

/// How far a sweep is.
struct SweepState {
  long total = 0;    ///< cells of this sweep: to run and already stored
  long resumed = 0;  ///< already stored
  long done = 0;     ///< run by now, `resumed` not counted
  long solved = 0;   ///< of `done`
  double elapsed_s = 0.0;
  double cells_per_s = 0.0;
  double left_s = 0.0;  ///< estimate; 0 while there is none
};

/// Called by a sweep in the runner's process. Every member may be left unimplemented.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Problems surveyed so far, before any cell is run.
  virtual void surveyed(long /*done*/, long /*total*/) {}
  virtual void began(const SweepState&) {}
  virtual void cell_done(const CellRecord&, const ProblemRecord&, const ConfigurationRecord&, const SweepState&) {}
  /// A line for a person: a problem that can't be loaded, a worker that had to be replaced.
  virtual void note(const std::string& /*line*/) {}
  virtual void ended(const SweepState&) {}
};

/// Draws a bar that is rewritten in place (`terminal`) or prints a line every ten seconds, and the notes.
class ProgressPrinter final : public Progress {
 public:
  using Sink = std::function<void(const std::string&)>;
  /// `write` gets text with line ends and must flush it. `width`: columns of the terminal.
  ProgressPrinter(Sink write, bool terminal, int width = 80);
  void surveyed(long done, long total) override;
  /// Steps of a simulation.
  void stepped(long done, long total);
  void began(const SweepState& state) override;
  void cell_done(const CellRecord&, const ProblemRecord&, const ConfigurationRecord&, const SweepState& state) override;
  void note(const std::string& line) override;
  void ended(const SweepState& state) override;

  /// Removes the bar.
  void clear();

 private:
  void draw(const std::string& line);

  Sink write_;
  bool terminal_;
  int width_;
  bool drawn_ = false;
  double last_s_ = -1.0;
};

/// "1 h 02 min", "3 min 10 s", "4.2 s".
std::string duration_text(double seconds);

}  // namespace conebench
