#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "simulation/scenes/simulated_scenes.hpp"
#include "simulation/scenes/urdf.hpp"

namespace conebench {

namespace fs = std::filesystem;

namespace {

/// Bytes of the MJCF or URDF text; meshes lie beside it.
constexpr std::uintmax_t max_model_bytes = 64 << 20;

struct ModelFileOptions {
  std::string path;
  std::string base = "fixed";
  std::string ground = "none";
  std::string package_dir;
  bool self_collision = false;

  static void declare(OptionBinder& bind, ModelFileOptions& o) {
    bind.text("path", o.path, "MJCF or URDF file; its meshes as docs/simulation.md says");
    bind.choice("base", o.base, {"fixed", "free"}, "of a URDF's root link, which the file itself fixes to the world");
    bind.choice("ground", o.ground, {"none", "plane"},
                "of a URDF, which has none: a plane just under the robot's lowest point at the start, friction 1");
    bind.text("package_dir", o.package_dir,
              "of a URDF: folders, with ':' between them, that its package:// names are searched for in");
    bind.flag(
        "self_collision", o.self_collision,
        "of a URDF: with contacts of adjacent links, of links that overlap at the start and of those of its SRDF");
  }

  bool is_of_urdf() const { return base == "free" || ground == "plane" || !package_dir.empty() || self_collision; }
};

/// Names of files and folders that MJCF and URDF texts have.
struct NamedFiles {
  std::set<std::string> files, folders = {""}, included;

  void add(const std::string& mjcf) {
    pugi::xml_document document;
    document.load_buffer(mjcf.data(), mjcf.size());  // what is before an error; MuJoCo names the error
    for (pugi::xml_node node = document.first_child(); node; node = next(node)) {
      for (const pugi::xml_attribute attribute : node.attributes()) {
        const std::string name = attribute.name();
        if (name.starts_with("file")) files.insert(attribute.value());
        if (name == "meshdir" || name == "texturedir" || name == "assetdir") folders.insert(attribute.value());
        if (name == "file" && node.name() == std::string("include")) included.insert(attribute.value());
      }
    }
  }

 private:
  /// In the order of the text.
  static pugi::xml_node next(pugi::xml_node node) {
    if (node.first_child()) return node.first_child();
    while (node && !node.next_sibling()) node = node.parent();
    return node.next_sibling();
  }
};

/// Those of the text and of the texts that it includes. What is not there MuJoCo names.
Result<NamedFiles> with_included(const std::string& mjcf, const fs::path& folder) {
  NamedFiles named;
  named.add(mjcf);
  std::set<std::string> seen;
  while (!named.included.empty()) {
    const std::string name = named.included.extract(named.included.begin()).value();
    std::error_code ignored;
    if (!fs::exists(folder / name, ignored) || !seen.insert(name).second) continue;
    CONEBENCH_TRY(const auto text, read_text_file(folder / name, max_model_bytes));
    named.add(text);
  }
  return named;
}

/// A device, pipe or socket among the files that the texts may mean; MuJoCo would open it and wait, or never end.
std::optional<fs::path> endless_file(const NamedFiles& named, const fs::path& folder) {
  for (const fs::path name : named.files) {
    for (const fs::path base : named.folders) {
      for (const fs::path& file : {folder / base / name, folder / base / name.filename()}) {
        std::error_code ignored;
        if (fs::is_other(fs::status(file, ignored))) return file;
      }
    }
  }
  return std::nullopt;
}

Result<void> check_named_files(const ModelFileOptions& o, const std::string& mjcf) {
  const fs::path folder = fs::path(o.path).parent_path();
  CONEBENCH_TRY(const auto named, with_included(mjcf, folder).within(o.path));
  if (const auto file = endless_file(named, folder)) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: {}, which it names, is a device, a pipe or a socket; give a file", o.path,
                             one_line(file->string()))};
  }
  return {};
}

/// The folders of a list with ':' between them.
std::vector<fs::path> folders_of(const std::string& list) {
  std::vector<fs::path> folders;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    std::error_code ignored;  // one that is not there has no packages
    if (end > at) folders.push_back(fs::weakly_canonical(list.substr(at, end - at), ignored));
    at = end + 1;
  }
  return folders;
}

UrdfSource urdf_source(const ModelFileOptions& o) {
  const char* const package_path = std::getenv("ROS_PACKAGE_PATH");
  return {.file = o.path,
          .free_base = o.base == "free",
          .self_collision = o.self_collision,
          .package_path = folders_of(package_path == nullptr ? "" : package_path),
          .package_dirs = folders_of(o.package_dir)};
}

Result<SimulatedModel> make_model_file(const ModelFileOptions& o, std::uint64_t) {
  if (o.path.empty()) {
    return Error{ErrorCode::wrong_usage, "which file? set path=robot.xml"};
  }
  SimulatedModel model;
  CONEBENCH_TRY(model.mjcf, read_text_file(o.path, max_model_bytes));
  model.source_file = o.path;
  model.time_step = 0.0;
  model.ground = o.ground == "plane";
  if (is_urdf(model.mjcf)) {
    model.urdf = urdf_source(o);
  } else if (o.is_of_urdf()) {
    return Error{ErrorCode::wrong_usage, o.path +
                                             ": base, ground, package_dir and self_collision are for URDF files; MJCF "
                                             "has <freejoint/> and <geom type=\"plane\"/>"};
  }
  CONEBENCH_CHECK(check_named_files(o, model.mjcf));
  return model;
}

}  // namespace

SimulatedSceneRow model_file_scene() {
  return make_simulated_scene<ModelFileOptions>("file", "any MJCF or URDF model, from its first keyframe",
                                                make_model_file,
                                                {{"solver", std::string("CASCADE")}, {"max_depenetration", 1.0}});
}

}  // namespace conebench
