#include "base/processor_limit.hpp"

#include <algorithm>
#include <ctime>

namespace conebench {

ProcessorLimit::ProcessorLimit(pid_t process, double seconds) : seconds_(seconds), begin_(Clock::now()) {
  has_clock_ = ::clock_getcpuclockid(process, &clock_) == 0;
  if (has_clock_) used_before_s_ = used_s();
}

double ProcessorLimit::used_s() const {
  if (!has_clock_) return waited_s();
  timespec now{};
  if (::clock_gettime(clock_, &now) != 0) return 0.0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - used_before_s_;
}

double ProcessorLimit::waited_s() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

std::chrono::milliseconds ProcessorLimit::left() const {
  using std::chrono::milliseconds;
  if (used_up() || overdue()) return milliseconds::zero();
  const std::chrono::duration<double> processor(seconds_ - used_s());
  return std::max(std::chrono::ceil<milliseconds>(processor), milliseconds(1));
}

}  // namespace conebench
