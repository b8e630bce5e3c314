#pragma once

namespace conebench {

/// Of foreign code's count of iterations what can be: 0, as where it tells none, for one below 0 or beyond the limit.
inline long claimed_iterations(long told, long max_iterations) { return told < 0 || told > max_iterations ? 0 : told; }

}  // namespace conebench
