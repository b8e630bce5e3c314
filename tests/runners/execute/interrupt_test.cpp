#include "runners/execute/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace conebench {
namespace {

TEST(InterruptGuard, EverySignalThatAsksForAnEndSetsTheFlag) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    std::signal(signal, SIG_DFL);
    const InterruptGuard guard;
    EXPECT_FALSE(guard.flag());
    std::raise(signal);
    EXPECT_TRUE(guard.flag()) << "signal " << signal;
  }
}

TEST(InterruptGuard, ManyBrokenPipesAreOneInterrupt) {
  std::signal(SIGPIPE, SIG_DFL);
  {
    const InterruptGuard guard;
    for (int i = 0; i < 3; ++i) std::raise(SIGPIPE);
    EXPECT_TRUE(guard.flag());
  }
  std::raise(SIGPIPE);  // what is still printed
}

TEST(InterruptGuard, WhatWasIgnoredAsUnderNohupStaysIgnored) {
  for (const int signal : {SIGHUP, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
    {
      const InterruptGuard guard;
      std::raise(signal);
      EXPECT_FALSE(guard.flag()) << "signal " << signal;
    }
    EXPECT_EQ(std::signal(signal, SIG_DFL), SIG_IGN);
  }
}

}  // namespace
}  // namespace conebench
