#include "simulation/scenes/urdf_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "simulation/scenes/urdf_mesh_converter.hpp"

namespace conebench {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t max_xml_bytes = 64 << 20;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return text;
}

bool is_regular(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored);
}

/// Where packages are looked for.
class Packages {
 public:
  explicit Packages(const UrdfSource& source) : source_(source) {
    std::error_code ignored;
    fs::path folder = fs::absolute(source.file, ignored).lexically_normal().parent_path();
    for (; folder.has_relative_path(); folder = folder.parent_path()) above_.push_back(folder);
    above_.push_back(folder);
  }

  const fs::path& folder() const { return above_.front(); }

  /// Files that package://NAME/REST may mean, the likeliest first.
  std::vector<fs::path> candidates(const std::string& name, const fs::path& rest) {
    std::vector<fs::path> files;
    for (const auto* const places : {&std::as_const(above_), &source_.package_path, &source_.package_dirs}) {
      for (const fs::path& place : *places) {
        if (is_named(place, name)) files.push_back(place / rest);
        files.push_back(place / name / rest);
      }
    }
    return files;
  }

  std::string places() const {
    const auto listed = [](const std::vector<fs::path>& folders) {
      std::vector<std::string> names;
      for (const fs::path& folder : folders) names.push_back(one_line(folder.string()));
      return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
    };
    return fmt::format(
        "upward from {}, in ROS_PACKAGE_PATH ({}) and the package folders ({}); give more by --package-dir",
        one_line(folder().string()), listed(source_.package_path), listed(source_.package_dirs));
  }

 private:
  bool is_named(const fs::path& folder, const std::string& name) {
    if (folder.filename() == name) return true;
    const auto [known, is_new] = names_.try_emplace(folder);
    if (is_new && is_regular(folder / "package.xml")) {
      if (const auto package = read_xml_file(folder / "package.xml")) {
        known->second = package->child("package").child("name").text().get();
      }
    }
    return known->second == name;
  }

  const UrdfSource& source_;
  std::vector<fs::path> above_;
  std::map<fs::path, std::string> names_;  ///< of package.xml
};

/// How MuJoCo's reader would look for meshes.
struct MujocoFolder {
  explicit MujocoFolder(pugi::xml_node robot) {
    const pugi::xml_node compiler = robot.child("mujoco").child("compiler");
    const pugi::xml_attribute of_meshes = compiler.attribute("meshdir");
    if (of_meshes || compiler.attribute("assetdir")) {
      folder = (of_meshes ? of_meshes : compiler.attribute("assetdir")).value();
    }
    strips = compiler.attribute("strippath").as_bool(true);
  }

  std::optional<fs::path> folder;
  bool strips = true;
};

struct Search {
  std::vector<fs::path> files;
  std::string places;
};

Search search_for(const std::string& uri, Packages& packages, const MujocoFolder& mujoco) {
  const std::size_t colon = uri.find("://");
  const std::string scheme = colon == std::string::npos ? "" : uri.substr(0, colon);
  std::string path = colon == std::string::npos ? uri : uri.substr(colon + 3);
  Search search;
  if (mujoco.folder) {
    search.files.push_back(packages.folder() / *mujoco.folder /
                           (mujoco.strips ? fs::path(path).filename() : fs::path(path)));
  }
  if (scheme == "package" || scheme == "model") {
    path.erase(0, path.find_first_not_of('/'));
    const std::size_t slash = path.find('/');
    const std::string rest = slash == std::string::npos ? "" : path.substr(slash + 1);
    for (fs::path& file : packages.candidates(path.substr(0, slash), rest)) search.files.push_back(std::move(file));
    search.places = packages.places();
  } else {
    search.files.push_back(packages.folder() / path);
    search.places = "from " + one_line(packages.folder().string()) + "; correct its name";
  }
  search.files.push_back(packages.folder() / fs::path(path).filename());
  return search;
}

Result<fs::path> find_mesh(const std::string& link, const std::string& uri, Packages& packages,
                           const MujocoFolder& mujoco) {
  const Search search = search_for(uri, packages, mujoco);
  for (const fs::path& file : search.files) {
    std::error_code ignored;
    const fs::file_status status = fs::status(file, ignored);
    if (fs::is_other(status)) {
      return Error{ErrorCode::bad_input,
                   fmt::format("link '{}': its mesh {} is a device, a pipe or a socket; give a file", link,
                               one_line(file.string()))};
    }
    if (fs::is_regular_file(status)) return fs::weakly_canonical(file, ignored);
  }
  return Error{ErrorCode::bad_input,
               fmt::format("link '{}': its mesh {} is not found {}", link, one_line(uri), search.places)};
}

/// Whether an STL is binary: as long as its number of triangles says.
bool is_binary_stl(const fs::path& file) {
  constexpr std::uintmax_t header = 84, triangle = 50;
  std::array<char, header> bytes{};
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(bytes.data(), bytes.size())) return false;
  std::uint32_t triangles = 0;
  std::memcpy(&triangles, bytes.data() + 80, sizeof triangles);
  std::error_code ignored;
  return fs::file_size(file, ignored) == header + triangle * triangles;
}

/// A name for MuJoCo's files, which have no folders; different ones differ in more than case.
std::string mesh_name(const fs::path& file, const std::string& extension, std::set<std::string>& taken) {
  std::string stem = file.stem().string();
  for (char& c : stem) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  std::string name = stem + extension;
  for (int n = 2; !taken.insert(lower(name)).second; ++n) name = fmt::format("{}-{}{}", stem, n, extension);
  return name;
}

}  // namespace

Result<pugi::xml_document> parse_xml(const std::string& text) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (parsed) return document;
  const auto end = text.begin() + std::clamp<std::ptrdiff_t>(parsed.offset, 0, std::ptrdiff_t(text.size()));
  return Error{ErrorCode::bad_input,
               fmt::format("is not XML: line {}: {}", 1 + std::count(text.begin(), end, '\n'), parsed.description())};
}

Result<pugi::xml_document> read_xml_file(const fs::path& file) {
  CONEBENCH_TRY(const auto text, read_text_file(file, max_xml_bytes));
  return parse_xml(text).within(one_line(file.string()));
}

Result<std::vector<UrdfMesh>> take_meshes(const UrdfTree& tree, pugi::xml_node robot, const UrdfSource& source) {
  Packages packages(source);
  const MujocoFolder mujoco(robot);
  std::vector<UrdfMesh> meshes;
  std::map<std::pair<fs::path, std::string>, std::string> names;
  std::set<std::string> taken;
  for (const UrdfLink& link : tree.links) {
    const std::string link_name = one_line(link.name);
    for (const pugi::xml_node collision : link.node.children("collision")) {
      const pugi::xml_node mesh = collision.child("geometry").child("mesh");
      if (!mesh) continue;
      pugi::xml_attribute file_name = mesh.attribute("filename");
      if (file_name.empty() || *file_name.value() == '\0') {
        return Error{ErrorCode::bad_input, fmt::format("link '{}': a <mesh> of it has no filename", link_name)};
      }
      CONEBENCH_TRY(const auto file, find_mesh(link_name, file_name.value(), packages, mujoco));
      std::string& name = names[{file, mesh.attribute("scale").value()}];
      if (name.empty()) {
        const std::string extension = lower(file.extension().string());
        const bool kept = extension == ".obj" || extension == ".msh" || (extension == ".stl" && is_binary_stl(file));
        if (!kept && !converts_meshes()) {
          return Error{ErrorCode::unsupported,
                       fmt::format("link '{}': its mesh {} is neither a binary .stl nor an .obj, and this build has no "
                                   "assimp to convert it; build with libassimp-dev, or convert it",
                                   link_name, one_line(file.string()))};
        }
        name = mesh_name(file, kept ? extension : ".stl", taken);
        meshes.push_back({name, file, !kept, link.name});
      }
      file_name.set_value(name.c_str());
    }
  }
  return meshes;
}

fs::path find_srdf(const fs::path& urdf, const std::string& robot) {
  const fs::path folder = urdf.parent_path().empty() ? "." : urdf.parent_path();
  std::vector<fs::path> of_robot;
  for (const fs::path& place : {folder, folder / ".." / "srdf"}) {
    const fs::path same_stem = place / (urdf.stem().string() + ".srdf");
    if (is_regular(same_stem)) return same_stem;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place, ignored)) {
      if (entry.path().extension() != ".srdf" || !is_regular(entry.path())) continue;
      const auto document = read_xml_file(entry.path());
      if (document && document->child("robot").attribute("name").value() == robot) of_robot.push_back(entry.path());
    }
  }
  return of_robot.size() == 1 ? of_robot.front() : fs::path();
}

}  // namespace conebench
