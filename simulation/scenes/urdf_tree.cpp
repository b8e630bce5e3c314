#include "simulation/scenes/urdf_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "base/utf8.hpp"

namespace conebench {

namespace {

using Places = std::map<std::string, std::size_t>;

Error wrong(const std::string& what) { return {ErrorCode::bad_input, what}; }

/// Adds a named element to the list.
template <class Element>
Result<void> add(std::vector<Element>& list, Places& places, pugi::xml_node node, const char* kind) {
  const std::string name = node.attribute("name").value();
  if (name.empty()) return wrong(fmt::format("{} {} has no name", kind, list.size() + 1));
  if (!places.emplace(name, list.size()).second)
    return wrong(fmt::format("two {}s are named '{}'", kind, one_line(name)));
  Element element;
  element.node = node;
  element.name = name;
  list.push_back(std::move(element));
  return {};
}

Result<void> connect(UrdfJoint& joint, const Places& links) {
  static const std::set<std::string> types = {"revolute", "continuous", "prismatic", "fixed",
                                              "floating", "planar",     "spherical"};
  joint.type = joint.node.attribute("type").value();
  const std::string name = one_line(joint.name);
  if (!types.contains(joint.type)) {
    return wrong(
        fmt::format("joint '{}' has the unknown type '{}'; URDF joints: revolute, continuous, prismatic, fixed, "
                    "floating or planar",
                    name, one_line(joint.type)));
  }
  for (const auto& [end, place] : {std::pair("parent", &joint.parent), std::pair("child", &joint.child)}) {
    const std::string link = joint.node.child(end).attribute("link").value();
    const auto found = links.find(link);
    if (found == links.end()) {
      return wrong(fmt::format("joint '{}': its {} link '{}' is not in the file", name, end, one_line(link)));
    }
    *place = found->second;
  }
  return {};
}

/// Numbers the bodies from the roots; false: some links are in a loop.
bool make_bodies(UrdfTree& tree) {
  std::vector<std::vector<std::size_t>> joints_below(tree.links.size());
  for (std::size_t j = 0; j < tree.joints.size(); ++j) joints_below[tree.joints[j].parent].push_back(j);
  tree.bodies = {UrdfBody{.name = {}, .parent = 0, .links = tree.roots}};
  std::vector<std::size_t> reached = tree.roots;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::size_t j : joints_below[reached[i]]) {
      const UrdfJoint& joint = tree.joints[j];
      UrdfLink& child = tree.links[joint.child];
      child.body = tree.links[joint.parent].body;
      if (joint.type != "fixed") {
        tree.bodies.push_back({.name = child.name, .parent = child.body, .links = {}});
        child.body = tree.bodies.size() - 1;
      }
      tree.bodies[child.body].links.push_back(joint.child);
      reached.push_back(joint.child);
    }
  }
  return reached.size() == tree.links.size();
}

Result<void> read_numbers(pugi::xml_node node, const char* attribute, std::span<double> numbers) {
  const char* const given = node.attribute(attribute).value();
  std::istringstream text(given);
  text.imbue(std::locale::classic());
  for (double& number : numbers) text >> number;
  if (text && (text >> std::ws).eof()) return {};
  return wrong(fmt::format("<{} {}=\"{}\">: not {}", node.name(), attribute, one_line(given),
                           numbers.size() == 1 ? "a number" : fmt::format("{} numbers", numbers.size())));
}

}  // namespace

bool UrdfTree::has_shapes(const UrdfBody& body) const {
  return std::any_of(body.links.begin(), body.links.end(), [&](std::size_t link) { return links[link].has_shapes(); });
}

const UrdfJoint* UrdfTree::find_joint(const std::string& name) const {
  const auto found =
      std::find_if(joints.begin(), joints.end(), [&](const UrdfJoint& joint) { return joint.name == name; });
  return found == joints.end() ? nullptr : &*found;
}

Result<UrdfTree> read_urdf_tree(pugi::xml_node robot) {
  UrdfTree tree;
  Places links, joints;
  for (const pugi::xml_node node : robot.children("link")) CONEBENCH_CHECK(add(tree.links, links, node, "link"));
  for (const pugi::xml_node node : robot.children("joint")) {
    CONEBENCH_CHECK(add(tree.joints, joints, node, "joint"));
    CONEBENCH_CHECK(connect(tree.joints.back(), links));
  }
  std::vector<const UrdfJoint*> above(tree.links.size());
  for (const UrdfJoint& joint : tree.joints) {
    const UrdfJoint*& first = above[joint.child];
    if (first != nullptr) {
      return wrong(fmt::format("link '{}' is the child of joint '{}' and of joint '{}'; a URDF is a tree",
                               one_line(tree.links[joint.child].name), one_line(first->name), one_line(joint.name)));
    }
    first = &joint;
    if (tree.links[joint.child].name == "world") {
      return wrong(fmt::format("link 'world' is the child of joint '{}'; the world can't move: rename it",
                               one_line(joint.name)));
    }
  }
  for (std::size_t l = 0; l < tree.links.size(); ++l) {
    if (above[l] == nullptr) tree.roots.push_back(l);
  }
  if (!make_bodies(tree)) return wrong("its joints form a loop; a URDF is a tree");
  return tree;
}

Result<double> urdf_number(pugi::xml_node node, const char* attribute, double otherwise) {
  if (!node.attribute(attribute)) return otherwise;
  double value = 0.0;
  CONEBENCH_CHECK(read_numbers(node, attribute, {&value, 1}));
  return value;
}

Result<Eigen::Vector3d> urdf_vector(pugi::xml_node node, const char* attribute) {
  Eigen::Vector3d vector = Eigen::Vector3d::Zero();
  if (node.attribute(attribute)) CONEBENCH_CHECK(read_numbers(node, attribute, {vector.data(), 3}));
  return vector;
}

}  // namespace conebench
