#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "simulation/scenes/simulated_scenes.hpp"
#include "simulation/scenes/urdf.hpp"
#include "simulation/scenes/xml_text.hpp"

namespace conebench {

namespace fs = std::filesystem;

namespace {

/// Bytes of the MJCF or URDF text; meshes lie beside it.
constexpr std::uintmax_t max_model_bytes = 64 << 20;

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

/// A model's text and those that it includes, without comments. What is not there MuJoCo names.
Result<std::vector<std::string>> with_included(const std::string& mjcf, const fs::path& folder) {
  std::vector<std::string> texts = {without_comments(mjcf)};
  std::set<fs::path> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (const std::string& name : attribute_values(texts[i], R"(<include\s[^>]*?\bfile)")) {
      std::error_code ignored;
      if (!fs::exists(folder / name, ignored) || !seen.insert(folder / name).second) continue;
      CONEBENCH_TRY(const auto included, read_text_file(folder / name, max_model_bytes));
      texts.push_back(without_comments(included));
    }
  }
  return texts;
}

/// A device, pipe or socket among the files that the texts may mean; MuJoCo would open it and wait, or never end.
std::optional<fs::path> endless_file(const std::vector<std::string>& texts, const fs::path& folder) {
  std::set<std::string> names, folders = {""};
  for (const std::string& text : texts) {
    names.merge(attribute_values(text, R"(\bfile\w*)"));
    folders.merge(attribute_values(text, R"(\b(?:mesh|texture|asset)dir)"));
  }
  for (const fs::path name : names) {
    for (const fs::path base : folders) {
      for (const fs::path& file : {folder / base / name, folder / base / name.filename()}) {
        std::error_code ignored;
        const fs::file_status status = fs::status(file, ignored);
        if (fs::is_other(status)) return file;
      }
    }
  }
  return std::nullopt;
}

Result<void> check_named_files(const ModelFileOptions& o, const std::string& mjcf) {
  const fs::path folder = fs::path(o.path).parent_path();
  CONEBENCH_TRY(const auto texts, with_included(mjcf, folder).within(o.path));
  if (const auto file = endless_file(texts, folder)) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: {}, which it names, is a device, a pipe or a socket; give a file", o.path,
                             one_line(file->string()))};
  }
  return {};
}

Result<SimulatedModel> make_model_file(const ModelFileOptions& o, std::uint64_t) {
  if (o.path.empty()) {
    return Error{ErrorCode::wrong_usage, "which file? set path=robot.xml"};
  }
  CONEBENCH_TRY(auto text, read_text_file(o.path, max_model_bytes));
  CONEBENCH_CHECK(check_named_files(o, text));
  SimulatedModel model;
  model.mjcf = std::move(text);
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
    CONEBENCH_TRY(model.mjcf, with_floating_base(model.mjcf).within(o.path));
  }
  model.mjcf = with_mesh_folder(model.mjcf, fs::path(o.path).parent_path().string());
  return model;
}

}  // namespace

SimulatedSceneRow model_file_scene() {
  return make_simulated_scene<ModelFileOptions>("file", "any MJCF or URDF model, from its first keyframe",
                                                make_model_file);
}

}  // namespace conebench
