#pragma once

namespace conebench {

/// Foreign code's count of iterations; 0, as where it reports none, for a count below 0 or beyond the limit.
inline long claimed_iterations(long reported, long max_iterations) {
  return reported < 0 || reported > max_iterations ? 0 : reported;
}

}  // namespace conebench
