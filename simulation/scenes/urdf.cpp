#include "simulation/scenes/urdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "base/utf8.hpp"
#include "simulation/scenes/urdf_files.hpp"
#include "simulation/scenes/urdf_inertia.hpp"
#include "simulation/scenes/urdf_tree.hpp"

namespace conebench {

namespace {

Error wrong(const std::string& what) { return {ErrorCode::bad_input, what}; }

void set(pugi::xml_node node, const char* name, const std::string& value) {
  if (!node.attribute(name)) node.append_attribute(name);
  node.attribute(name).set_value(value.c_str());
}

/// Leaves links and joints, and of links what moves and touches.
Result<void> drop_the_rest(pugi::xml_node robot) {
  const std::set<std::string> kept = {"link", "joint", "mujoco"};
  for (pugi::xml_node node = robot.first_child(); node;) {
    const pugi::xml_node next = node.next_sibling();
    const std::string name = node.name();
    if (name.starts_with("xacro:")) {
      return wrong("is a source of xacro; expand it first: xacro FILE.urdf.xacro > FILE.urdf");
    }
    if (!kept.contains(name)) robot.remove_child(node);
    node = next;
  }
  for (const pugi::xml_node link : robot.children("link")) {
    while (pugi::xml_node visual = link.child("visual")) pugi::xml_node(link).remove_child(visual);
  }
  return {};
}

/// Puts the root link on a floating joint. A root called "world" stays, and what is fixed to it floats.
Result<void> free_base(UrdfTree& tree, pugi::xml_node robot) {
  if (tree.roots.size() != 1) {
    return wrong(fmt::format("base=free needs one link that is no joint's child; the robot has {}", tree.roots.size()));
  }
  const std::string root = tree.links[tree.roots.front()].name;
  if (root != "world") {
    constexpr const char* world = "world";  // MuJoCo's own; a floating joint has to be on it
    set(robot.append_child("link"), "name", world);
    pugi::xml_node joint = robot.append_child("joint");
    set(joint, "name", "conebench_base");
    set(joint, "type", "floating");
    set(joint.append_child("parent"), "link", world);
    set(joint.append_child("child"), "link", root);
    return {};
  }
  std::vector<UrdfJoint*> on_world;
  for (UrdfJoint& joint : tree.joints) {
    if (joint.parent == tree.roots.front()) on_world.push_back(&joint);
  }
  if (on_world.size() != 1 || (on_world[0]->type != "fixed" && on_world[0]->type != "floating")) {
    return wrong("base=free: the root link is the world itself and has not one joint that is fixed; make one floating");
  }
  set(on_world[0]->node, "type", "floating");
  return {};
}

/// Takes what MuJoCo reads otherwise: limits of joints that have none, effort, mimic.
Result<void> take_joints(UrdfTree& tree, UrdfRobot& robot) {
  for (UrdfJoint& joint : tree.joints) {
    const std::string name = one_line(joint.name);
    pugi::xml_node limit = joint.node.child("limit");
    CONEBENCH_TRY(const double lower, urdf_number(limit, "lower", 0.0).within(fmt::format("joint '{}'", name)));
    CONEBENCH_TRY(const double upper, urdf_number(limit, "upper", 0.0).within(fmt::format("joint '{}'", name)));
    const bool limited = joint.type == "revolute" || joint.type == "prismatic";
    if (limited && lower > upper) robot.inverted_limits.push_back(joint.name);
    if (limited && lower == upper) robot.couplings.push_back({joint.name, "", 1.0, lower});  // locked
    limit.remove_attribute("effort");                                                        // there are no actuators
    if (!limited || lower > upper) joint.node.remove_child(limit);
    const pugi::xml_node mimic = joint.node.child("mimic");
    if (!mimic) continue;
    const std::string of = mimic.attribute("joint").value();
    CONEBENCH_TRY(const double multiplier,
                  urdf_number(mimic, "multiplier", 1.0).within(fmt::format("joint '{}'", name)));
    CONEBENCH_TRY(const double offset, urdf_number(mimic, "offset", 0.0).within(fmt::format("joint '{}'", name)));
    joint.node.remove_child(mimic);  // newer readers of MuJoCo take it, older ones do not
    if (joint.type == "fixed") continue;
    const UrdfJoint* const other = tree.find_joint(of);
    if (other == nullptr) {
      robot.lost_mimics.push_back(joint.name);
      continue;
    }
    if (!joint.has_one_coordinate() || (!other->has_one_coordinate() && other->type != "fixed")) {
      return wrong(fmt::format("joint '{}' ({}) mimics '{}' ({}); both need one coordinate", name, joint.type,
                               one_line(of), other->type));
    }
    robot.couplings.push_back({joint.name, other->type == "fixed" ? "" : of, multiplier, offset});
  }
  return {};
}

void add_adjacent(const UrdfTree& tree, std::vector<ApartBodies>& apart) {
  for (const UrdfBody& body : tree.bodies) {
    const UrdfBody& parent = tree.bodies[body.parent];
    if (body.name.empty() || !tree.has_shapes(body) || !tree.has_shapes(parent)) continue;
    apart.push_back({parent.name, body.name, ApartReason::adjacent});
  }
}

/// Bodies all of whose pairs of links with shapes are disabled.
Result<void> add_disabled(const UrdfTree& tree, const std::filesystem::path& srdf, std::vector<ApartBodies>& apart) {
  CONEBENCH_TRY(const auto document, read_xml_file(srdf));
  std::map<std::string, const UrdfLink*> links;
  for (const UrdfLink& link : tree.links) links[link.name] = &link;
  using Pair = std::pair<std::size_t, std::size_t>;
  std::map<Pair, std::set<std::pair<const UrdfLink*, const UrdfLink*>>> disabled;
  for (const pugi::xml_node node : document.child("robot").children("disable_collisions")) {
    const auto first = links.find(node.attribute("link1").value()),
               second = links.find(node.attribute("link2").value());
    if (first == links.end() || second == links.end()) continue;
    const auto [a, b] = std::minmax(first->second, second->second, [](auto* l, auto* r) { return l->body < r->body; });
    if (a->body != b->body && a->has_shapes() && b->has_shapes()) disabled[{a->body, b->body}].insert({a, b});
  }
  const auto with_shapes = [&](std::size_t body) {
    const auto& all = tree.bodies[body].links;
    return std::size_t(
        std::count_if(all.begin(), all.end(), [&](std::size_t l) { return tree.links[l].has_shapes(); }));
  };
  for (const auto& [bodies, pairs] : disabled) {
    const auto& [a, b] = bodies;
    const bool adjacent = tree.bodies[b].parent == a || tree.bodies[a].parent == b;
    if (adjacent || pairs.size() < with_shapes(a) * with_shapes(b)) continue;
    apart.push_back({tree.bodies[a].name, tree.bodies[b].name, ApartReason::srdf});
  }
  return {};
}

/// MuJoCo's compiler looks nowhere but among the files that it is given, and fixed links become one body.
void set_compiler(pugi::xml_node robot) {
  pugi::xml_node mujoco = robot.child("mujoco");
  if (!mujoco) mujoco = robot.append_child("mujoco");
  pugi::xml_node compiler = mujoco.child("compiler");
  if (!compiler) compiler = mujoco.append_child("compiler");
  for (const char* const folder : {"meshdir", "assetdir"}) compiler.remove_attribute(folder);
  set(compiler, "strippath", "false");
  set(compiler, "fusestatic", "true");
}

}  // namespace

bool is_urdf(const std::string& text) {
  pugi::xml_document document;
  document.load_buffer(text.data(), text.size());  // what is before an error is there
  return document.document_element().name() == std::string("robot");
}

Result<UrdfRobot> prepare_urdf(const std::string& text, const UrdfSource& source) {
  CONEBENCH_TRY(const auto document, parse_xml(text));
  pugi::xml_node element = document.document_element();
  UrdfRobot robot;
  robot.self_collision = source.self_collision;
  CONEBENCH_CHECK(drop_the_rest(element));
  CONEBENCH_TRY(auto tree, read_urdf_tree(element));
  if (source.free_base) {
    CONEBENCH_CHECK(free_base(tree, element));
    CONEBENCH_TRY(tree, read_urdf_tree(element));
  }
  CONEBENCH_CHECK(take_joints(tree, robot));
  CONEBENCH_TRY(robot.meshes, take_meshes(tree, element, source));
  robot.massless = bodies_without_inertia(tree);
  CONEBENCH_TRY(robot.repairs, repair_urdf_inertia(tree));
  if (!robot.self_collision) {
    add_adjacent(tree, robot.apart);
    robot.srdf = find_srdf(source.file, element.attribute("name").value());
    if (!robot.srdf.empty()) CONEBENCH_CHECK(add_disabled(tree, robot.srdf, robot.apart));
  }
  set_compiler(element);
  std::ostringstream written;
  document.save(written, " ", pugi::format_raw);
  robot.text = written.str();
  return robot;
}

}  // namespace conebench
