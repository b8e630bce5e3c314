#include "fclib_loader/fclib_file.hpp"

namespace conebench {

std::string to_string(FclibKind kind) {
  switch (kind) {
    case FclibKind::local: return "local";
    case FclibKind::global: return "global";
    case FclibKind::mixed_local: return "mixed_local";
    case FclibKind::mixed_global: return "mixed_global";
    case FclibKind::local_rolling: return "local_rolling";
    case FclibKind::global_rolling: return "global_rolling";
  }
  return "unknown";
}

}  // namespace conebench
