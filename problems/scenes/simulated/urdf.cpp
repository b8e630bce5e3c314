#include "problems/scenes/simulated/urdf.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <set>

namespace conebench {

namespace {

std::string without_comments(const std::string& xml) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t begin; (begin = xml.find("<!--", at)) != std::string::npos;) {
    text += xml.substr(at, begin - at);
    const std::size_t end = xml.find("-->", begin + 4);
    if (end == std::string::npos) return text;
    at = end + 3;
  }
  return text + xml.substr(at);
}

/// The values of `attribute` in all elements of this name.
std::set<std::string> values_of(const std::string& text, const std::string& element, const std::string& attribute) {
  const std::regex tag("<" + element + R"(\s[^>]*?\b)" + attribute + R"(\s*=\s*(?:"([^"]*)\"|'([^']*)'))");
  std::set<std::string> values;
  for (std::sregex_iterator it(text.begin(), text.end(), tag), end; it != end; ++it) {
    values.insert((*it)[1].matched ? (*it)[1].str() : (*it)[2].str());
  }
  return values;
}

std::string before_the_end(std::string urdf, const std::string& more) {
  const std::size_t end = urdf.rfind("</robot>");
  return end == std::string::npos ? urdf : urdf.insert(end, more);
}

}  // namespace

bool is_urdf(const std::string& text) {
  static const std::regex root(R"(^(?:\s|<\?[^>]*>|<![^>]*>)*<robot[\s/>])");
  return std::regex_search(without_comments(text), root, std::regex_constants::match_continuous);
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
  static const std::regex own(R"((<compiler\s[^>]*?\bmeshdir\s*=\s*["'])([^"']*))");
  std::smatch found;
  if (std::regex_search(text, found, own)) {
    return found.prefix().str() + found[1].str() + (base / found[2].str()).string() + found.suffix().str();
  }
  const std::string attribute = fmt::format(" meshdir=\"{}\"", base.string());
  static const std::regex compiler(R"(<compiler(?=[\s/>]))");
  if (std::regex_search(text, found, compiler)) {
    return found.prefix().str() + found[0].str() + attribute + found.suffix().str();
  }
  return before_the_end(text, "<mujoco><compiler" + attribute + "/></mujoco>");
}

}  // namespace conebench
