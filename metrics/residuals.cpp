#include "metrics/residuals.hpp"

namespace conebench {}
