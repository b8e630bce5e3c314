#include <filesystem>
#include <utility>

#include "problems/scenes/simulated/simulated_scenes.hpp"
#include "problems/scenes/simulated/urdf.hpp"
#include "problems/text_file.hpp"

namespace conebench {

namespace {

/// Bytes of the MJCF or URDF text; meshes lie beside it.
constexpr std::uintmax_t largest_model = 64 << 20;

struct ModelFileOptions {
  std::string path;
  std::string base = "fixed";
  std::string ground = "none";

  static void declare(OptionBinder& bind, ModelFileOptions& o) {
    bind.text("path", o.path, "MJCF or URDF file; its meshes as docs/simulation.md says");
    bind.choice("base", o.base, {"fixed", "free"}, "of a URDF's root link, which the file itself fixes to the world");
    bind.choice("ground", o.ground, {"none", "plane"},
                "of a URDF, which has none: a plane just under the robot's lowest point at the start, friction 1");
  }
};

Result<SimulatedModel> make_model_file(const ModelFileOptions& o, std::uint64_t) {
  if (o.path.empty()) {
    return Error{ErrorCode::wrong_usage, "which file? set path=robot.xml"};
  }
  auto text = read_text_file(o.path, largest_model);
  if (!text) return text.error();
  SimulatedModel model;
  model.mjcf = std::move(*text);
  model.source_file = o.path;
  model.time_step = 0.0;
  model.ground = o.ground == "plane";
  model.edited = model.ground || o.base == "free";
  if (!model.edited) return model;
  if (!is_urdf(model.mjcf)) {
    return Error{ErrorCode::wrong_usage,
                 o.path + ": base and ground are for URDF files; MJCF has <freejoint/> and <geom type=\"plane\"/>"};
  }
  if (o.base == "free") {
    auto free = with_floating_base(model.mjcf);
    if (!free) return Error{free.error().code, o.path + ": " + free.error().message};
    model.mjcf = *free;
  }
  model.mjcf = with_mesh_folder(model.mjcf, std::filesystem::path(o.path).parent_path().string());
  return model;
}

}  // namespace

SimulatedSceneRow model_file_scene() {
  return make_simulated_scene<ModelFileOptions>("file", "any MJCF or URDF model, from its first keyframe",
                                                make_model_file);
}

}  // namespace conebench
