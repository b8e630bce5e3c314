#pragma once

#include <string>

namespace conebench {

/// What a cell starts from: λ = 0, the problem's stored guess, or the same configuration's answer to the problem before
/// it in its sequence, as in a simulation (docs/suites.md).
enum class Start { cold, guess, previous };

inline std::string to_string(Start start) {
  switch (start) {
    case Start::cold: return "cold";
    case Start::guess: return "guess";
    case Start::previous: return "previous";
  }
  return "cold";
}

}  // namespace conebench
