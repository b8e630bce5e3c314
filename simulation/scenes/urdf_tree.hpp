#pragma once

#include <Eigen/Core>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench {

struct UrdfLink {
  pugi::xml_node node;
  std::string name;
  std::size_t body = 0;

  bool has_shapes() const { return bool(node.child("collision")); }
};

struct UrdfJoint {
  pugi::xml_node node;
  std::string name, type;
  std::size_t parent = 0, child = 0;  ///< links

  bool has_one_coordinate() const { return type == "revolute" || type == "continuous" || type == "prismatic"; }
};

/// Links that move as one.
struct UrdfBody {
  std::string name;                ///< of its first link, which a joint moves; empty: fixed to the world
  std::size_t parent = 0;          ///< body 0 is the one that is fixed to the world
  std::vector<std::size_t> links;  ///< the first one first
};

/// A robot's elements as a forest. Indices are places in these lists.
struct UrdfTree {
  std::vector<UrdfLink> links;
  std::vector<UrdfJoint> joints;
  std::vector<std::size_t> roots;  ///< links that are no joint's child
  std::vector<UrdfBody> bodies;

  bool has_shapes(const UrdfBody& body) const;
  /// nullptr: none.
  const UrdfJoint* find_joint(const std::string& name) const;
};

/// Errors (bad_input): an element without a name, a name twice, a joint of an unknown type or with an unknown link, a
/// link with two parents, a loop.
Result<UrdfTree> read_urdf_tree(pugi::xml_node robot);

/// The attribute as a number, or `otherwise` where there is none. Errors (bad_input): not a finite number.
Result<double> urdf_number(pugi::xml_node node, const char* attribute, double otherwise);
/// The attribute as three numbers, or zeros where there is none. Errors (bad_input): not three finite numbers.
Result<Eigen::Vector3d> urdf_vector(pugi::xml_node node, const char* attribute);

}  // namespace conebench
