#include "simulation/scenes/urdf.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <filesystem>
#include <set>

#include "simulation/scenes/xml_text.hpp"

namespace conebench {

namespace {

/// The values of `attribute` in all elements of this name.
std::set<std::string> values_of(const std::string& text, const std::string& element, const std::string& attribute) {
  return attribute_values(text, "<" + element + R"(\s[^>]*?\b)" + attribute);
}

std::string before_the_end(std::string urdf, const std::string& more) {
  const std::size_t end = urdf.rfind("</robot>");
  return end == std::string::npos ? urdf : urdf.insert(end, more);
}

}  // namespace

bool is_urdf(const std::string& text) {
  static const RE2 root(R"(^(?:\s|<\?[^>]*>|<![^>]*>)*<robot[\s/>])", RE2::Latin1);
  return RE2::PartialMatch(without_comments(text), root);
}

Result<std::string> with_floating_base(const std::string& urdf) {
  const std::string text = without_comments(urdf);
  std::set<std::string> roots = values_of(text, "link", "name");
  for (const std::string& child : values_of(text, "child", "link")) roots.erase(child);
  if (roots.size() != 1) {
    return Error{ErrorCode::bad_input,
                 fmt::format("base=free needs one link that is no joint's child; the robot has {}", roots.size())};
  }
  if (*roots.begin() == "world") {
    return Error{ErrorCode::bad_input,
                 "base=free: the robot's root link is the world itself; make its first joint floating instead"};
  }
  constexpr const char* world = "conebench_world";
  return before_the_end(text, fmt::format(R"(<link name="{}"/><joint name="conebench_base" type="floating">)"
                                          R"(<parent link="{}"/><child link="{}"/></joint>)",
                                          world, world, *roots.begin()));
}

std::string with_mesh_folder(const std::string& urdf, const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string text = without_comments(urdf);
  const fs::path base = fs::absolute(folder.empty() ? "." : folder);
  static const RE2 own(R"(<compiler\s[^>]*?\bmeshdir\s*=\s*["']([^"']*))", RE2::Latin1);
  re2::StringPiece found;
  const auto with = [&](std::size_t length, const std::string& put) {
    return std::string(text).replace(static_cast<std::size_t>(found.data() - text.data()), length, put);
  };
  if (RE2::PartialMatch(text, own, &found)) return with(found.size(), (base / std::string(found)).string());
  const std::string attribute = fmt::format(" meshdir=\"{}\"", base.string());
  static const RE2 compiler(R"(<compiler([\s/>]))", RE2::Latin1);
  if (RE2::PartialMatch(text, compiler, &found)) return with(0, attribute);
  return before_the_end(text, "<mujoco><compiler" + attribute + "/></mujoco>");
}

}  // namespace conebench
