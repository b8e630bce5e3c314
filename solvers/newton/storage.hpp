#pragma once

namespace conebench::newton {

/// Of a matrix that is factored anew for each step.
enum class Storage { automatic, dense, sparse };

}  // namespace conebench::newton
