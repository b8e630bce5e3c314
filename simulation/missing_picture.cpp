#include "simulation/picture.hpp"

namespace conebench::simulation {

Result<void> draw_picture(const mjModel&, const mjData&, const std::filesystem::path&) {
  return Error{ErrorCode::unsupported,
               "no picture: this Conebench was built without libpng; on Debian: apt-get install libpng-dev, then build "
               "again"};
}

}  // namespace conebench::simulation
