#include "simulation/deformable/soft_picture.hpp"

namespace conebench::simulation {

Result<void> draw_soft_picture(const SoftModel&, const Frames&, const Vector&, const std::filesystem::path&) {
  return Error{ErrorCode::unsupported,
               "no picture: this Conebench was built without libpng; on Debian: apt-get install libpng-dev, then build "
               "again"};
}

}  // namespace conebench::simulation
