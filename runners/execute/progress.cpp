#include "runners/execute/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/plural.hpp"
#include "runners/execute/cell_clock.hpp"

namespace conebench {

namespace {

/// Between two redraws of the bar, and between two lines.
constexpr double redraw_s = 0.1;
constexpr double line_s = 10.0;

std::string rate_text(double per_second) {
  return per_second >= 10.0 ? fmt::format("{:.0f} cells/s", per_second) : fmt::format("{:.2g} cells/s", per_second);
}

std::string state_text(const SweepState& state) {
  const long done = state.resumed + state.done;
  std::string text =
      fmt::format("{}/{} cells, {} solved, {}", done, state.total, state.solved, rate_text(state.cells_per_s));
  if (state.left_s > 0.0) text += ", " + duration_text(state.left_s) + " left";
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

ProgressPrinter::ProgressPrinter(Sink write, bool terminal, int width)
    : write_(std::move(write)), terminal_(terminal), width_(std::max(width, 40)) {}

void ProgressPrinter::draw(const std::string& line) {
  const double now = monotonic_seconds();
  if (last_s_ < 0.0 && !terminal_) last_s_ = now;  // short work needs no line
  if (last_s_ >= 0.0 && now - last_s_ < (terminal_ ? redraw_s : line_s)) return;
  last_s_ = now;
  if (terminal_) {
    // One column is left free: a full line would wrap on some terminals.
    write_("\r\033[K" + line.substr(0, static_cast<std::size_t>(width_ - 1)));
    drawn_ = true;
  } else {
    write_(line + "\n");
  }
}

void ProgressPrinter::clear() {
  if (drawn_) write_("\r\033[K");
  drawn_ = false;
}

void ProgressPrinter::surveyed(long done, long total) { draw(fmt::format("reading problems: {}/{}", done, total)); }

void ProgressPrinter::stepped(long done, long total) { draw(fmt::format("{} of {} steps", done, total)); }

void ProgressPrinter::began(const SweepState& state) {
  clear();
  last_s_ = -1.0;
  std::string line = plural(state.total - state.resumed, "cell") + " to run";
  if (state.resumed > 0) line += fmt::format(", {} stored already", state.resumed);
  write_(line + "\n");
  last_s_ = monotonic_seconds();
}

void ProgressPrinter::cell_done(const CellRecord&, const ProblemRecord&, const ConfigurationRecord&,
                                const SweepState& state) {
  const std::string text = state_text(state);
  if (!terminal_) return draw(text);
  const int room = width_ - 1 - static_cast<int>(text.size()) - 3;
  std::string bar;
  if (room >= 10) {
    const int columns = std::min(room, 30);
    const double share =
        static_cast<double>(state.resumed + state.done) / static_cast<double>(std::max(1L, state.total));
    const int full = std::clamp(static_cast<int>(share * columns), 0, columns);
    bar = "[" + std::string(static_cast<std::size_t>(full), '#') +
          std::string(static_cast<std::size_t>(columns - full), '.') + "] ";
  }
  draw(bar + text);
}

void ProgressPrinter::note(const std::string& line) {
  clear();
  write_(line + "\n");
}

void ProgressPrinter::ended(const SweepState& state) {
  clear();
  if (state.done == 0) return;
  write_(
      fmt::format("{} in {}, {} solved\n", plural(state.done, "cell"), duration_text(state.elapsed_s), state.solved));
}

}  // namespace conebench
