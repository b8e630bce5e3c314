#pragma once

namespace conebench::simulation {

inline constexpr double g = 9.81;  ///< m/s²

}  // namespace conebench::simulation
