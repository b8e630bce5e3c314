#include "runners/execute/interrupt.hpp"

#include <array>
#include <csignal>

namespace conebench {

namespace {

constexpr std::array signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

std::atomic<bool> interrupt_flag{false};

void on_interrupt(int signal) {
  if (!interrupt_flag.exchange(true) || signal == SIGPIPE) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_flag = false;
  for (const int signal : signals) {
    const bool was_ignored = std::signal(signal, on_interrupt) == SIG_IGN;
    // A shell ignores SIGINT and SIGQUIT for what it starts in the background; sent there, they are meant.
    if (was_ignored && (signal == SIGHUP || signal == SIGPIPE)) std::signal(signal, SIG_IGN);
  }
}

InterruptGuard::~InterruptGuard() {
  for (const int signal : signals) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN || signal == SIGPIPE) std::signal(signal, SIG_IGN);
  }
}

const std::atomic<bool>& InterruptGuard::flag() const { return interrupt_flag; }

}  // namespace conebench
