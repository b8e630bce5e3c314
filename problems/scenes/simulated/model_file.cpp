#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "problems/scenes/simulated/simulated_scenes.hpp"

namespace conebench {

namespace {

struct ModelFileOptions {
  std::string path;

  static void declare(OptionBinder& bind, ModelFileOptions& o) {
    bind.text("path", o.path, "MJCF or URDF file; meshes are looked for as the file says, beside it");
  }
};

Result<SimulatedModel> make_model_file(const ModelFileOptions& o, std::uint64_t) {
  if (o.path.empty()) {
    return Error{ErrorCode::wrong_usage, "which file? set path=robot.xml"};
  }
  std::ifstream stream(o.path, std::ios::binary);
  SimulatedModel model;
  if (stream) model.mjcf.assign(std::istreambuf_iterator<char>(stream), {});
  if (!stream || stream.bad()) {
    return Error{ErrorCode::bad_input, o.path + ": can't be read: " + std::strerror(errno) + "; check the path"};
  }
  model.source_file = o.path;
  model.time_step = 0.0;
  return model;
}

}  // namespace

SimulatedSceneRow model_file_scene() {
  return make_simulated_scene<ModelFileOptions>("file", "any MJCF or URDF model, from its first keyframe",
                                                make_model_file);
}

}  // namespace conebench
