#include "simulation/scenes/urdf_inertia.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <map>

#include "base/utf8.hpp"

namespace conebench {

namespace {

/// MuJoCo's mjMINVAL: less is no inertia.
constexpr double least_moment = 1e-15;
/// Second moments of less than this share of the largest moment are raised to `margin_share` of it, so that MuJoCo,
/// which computes the principal moments with other roundings, takes them.
constexpr double rounding_share = 1e-12;
constexpr double margin_share = 1e-9;

pugi::xml_node child_of(pugi::xml_node node, const char* name) {
  const pugi::xml_node child = node.child(name);
  return child ? child : node.append_child(name);
}

void set(pugi::xml_node node, const char* name, const std::string& value) {
  if (!node.attribute(name)) node.append_attribute(name);
  node.attribute(name).set_value(value.c_str());
}

struct Entry {
  const char* name;
  int row, column;
};
constexpr std::array<Entry, 6> entries = {
    {{"ixx", 0, 0}, {"ixy", 0, 1}, {"ixz", 0, 2}, {"iyy", 1, 1}, {"iyz", 1, 2}, {"izz", 2, 2}}};

struct Inertial {
  double mass = 0.0;                                  ///< [kg]
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();   ///< of mass [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about it [kg m²]
};

Result<Eigen::Isometry3d> read_origin(pugi::xml_node node) {
  CONEBENCH_TRY(const auto position, urdf_vector(node.child("origin"), "xyz"));
  CONEBENCH_TRY(const auto angles, urdf_vector(node.child("origin"), "rpy"));
  return Eigen::Translation3d(position) * Eigen::AngleAxisd(angles[2], Eigen::Vector3d::UnitZ()) *
         Eigen::AngleAxisd(angles[1], Eigen::Vector3d::UnitY()) *
         Eigen::AngleAxisd(angles[0], Eigen::Vector3d::UnitX());
}

/// Of a link, in the axes of the link.
Result<Inertial> read_inertial(pugi::xml_node link) {
  const pugi::xml_node inertial = link.child("inertial");
  Inertial read;
  CONEBENCH_TRY(read.mass, urdf_number(inertial.child("mass"), "value", 0.0));
  for (const auto& [name, row, column] : entries) {
    CONEBENCH_TRY(read.inertia(row, column), urdf_number(inertial.child("inertia"), name, 0.0));
    read.inertia(column, row) = read.inertia(row, column);
  }
  CONEBENCH_TRY(const auto origin, read_origin(inertial));
  read.centre = origin.translation();
  read.inertia = origin.linear() * read.inertia * origin.linear().transpose();
  return read;
}

void write_inertial(pugi::xml_node link, const Inertial& values) {
  pugi::xml_node inertial = child_of(link, "inertial");
  inertial.remove_child("origin");
  const Eigen::Vector3d& centre = values.centre;
  set(child_of(inertial, "origin"), "xyz", fmt::format("{:.17g} {:.17g} {:.17g}", centre[0], centre[1], centre[2]));
  set(child_of(inertial, "mass"), "value", fmt::format("{:.17g}", values.mass));
  for (const auto& [name, row, column] : entries) {
    set(child_of(inertial, "inertia"), name, fmt::format("{:.17g}", values.inertia(row, column)));
  }
}

Inertial sum_of(const std::vector<Inertial>& parts) {
  Inertial sum;
  for (const Inertial& part : parts) {
    sum.mass += part.mass;
    sum.centre += part.mass * part.centre;
  }
  if (sum.mass > 0.0) sum.centre /= sum.mass;
  for (const Inertial& part : parts) {
    const Eigen::Vector3d arm = part.centre - sum.centre;
    sum.inertia += part.inertia + part.mass * (arm.squaredNorm() * Eigen::Matrix3d::Identity() - arm * arm.transpose());
  }
  return sum;
}

/// Of a moving body, in the axes of its first link. Negative masses of links count as 0.
Result<Inertial> read_body(const UrdfTree& tree, const UrdfBody& body,
                           const std::map<std::size_t, const UrdfJoint*>& above, std::vector<InertiaRepair>& repairs) {
  std::map<std::size_t, Eigen::Isometry3d> poses;
  std::vector<Inertial> parts;
  for (const std::size_t l : body.links) {
    const UrdfLink& link = tree.links[l];
    Eigen::Isometry3d& pose = poses[l] = Eigen::Isometry3d::Identity();
    if (l != body.links.front()) {
      const UrdfJoint& joint = *above.at(l);
      CONEBENCH_TRY(const auto origin, read_origin(joint.node).within(fmt::format("joint '{}'", one_line(joint.name))));
      pose = poses.at(joint.parent) * origin;
    }
    CONEBENCH_TRY(auto part, read_inertial(link.node).within(fmt::format("link '{}'", one_line(link.name))));
    if (part.mass < 0.0) {
      repairs.push_back({link.name, InertiaFault::mass, part.mass, 0.0});
      part.mass = 0.0;
    }
    part.centre = pose * part.centre;
    part.inertia = pose.linear() * part.inertia * pose.linear().transpose();
    parts.push_back(part);
  }
  return sum_of(parts);
}

void repair(const std::string& body, Inertial& values, std::vector<InertiaRepair>& repairs) {
  if (values.mass == 0.0) {
    values.mass = min_urdf_mass;
    repairs.push_back({body, InertiaFault::mass, 0.0, values.mass});
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> principal(values.inertia);
  const Eigen::Vector3d moments = principal.eigenvalues();  // ascending
  const Eigen::Vector3d second = (0.5 * moments.sum() - moments.array()).matrix();
  const bool positive = moments[0] > least_moment;
  if (positive && second[2] >= rounding_share * moments[2]) return;
  const double least = positive ? margin_share * moments[2]
                                : std::max(0.5 * min_urdf_moment, values.mass * min_urdf_spread * min_urdf_spread);
  const Eigen::Vector3d raised = second.cwiseMax(least);
  const Eigen::Vector3d repaired = (raised.sum() - raised.array()).matrix();
  values.inertia = principal.eigenvectors() * repaired.asDiagonal() * principal.eigenvectors().transpose();
  if (!positive) {
    const double from = std::abs(moments[0]) > least_moment ? moments[0] : 0.0;
    repairs.push_back({body, InertiaFault::moment, from, repaired.minCoeff()});
  } else if (second[2] < -rounding_share * moments[2]) {
    repairs.push_back({body, InertiaFault::triangle, moments[0], repaired.minCoeff()});
  }
}

bool has_inertial(const UrdfTree& tree, const UrdfBody& body) {
  return std::any_of(body.links.begin(), body.links.end(),
                     [&](std::size_t link) { return bool(tree.links[link].node.child("inertial")); });
}

}  // namespace

Result<std::vector<InertiaRepair>> repair_urdf_inertia(const UrdfTree& tree) {
  std::map<std::size_t, const UrdfJoint*> above;
  for (const UrdfJoint& joint : tree.joints) above[joint.child] = &joint;
  std::vector<InertiaRepair> repairs;
  for (const UrdfBody& body : tree.bodies) {
    const bool moves = !body.name.empty();
    // MuJoCo takes mass from shapes, link by link; it is to do so where the body has no other.
    if (moves && tree.has_shapes(body) && !has_inertial(tree, body)) continue;
    Inertial sum;
    if (moves) {
      CONEBENCH_TRY(sum, read_body(tree, body, above, repairs));
      repair(body.name, sum, repairs);
    }
    for (const std::size_t l : body.links) write_inertial(tree.links[l].node, Inertial());
    if (moves) write_inertial(tree.links[body.links.front()].node, sum);
  }
  return repairs;
}

std::vector<std::string> bodies_without_inertia(const UrdfTree& tree) {
  std::vector<std::string> names;
  for (const UrdfBody& body : tree.bodies) {
    if (!body.name.empty() && tree.has_shapes(body) && !has_inertial(tree, body)) names.push_back(body.name);
  }
  return names;
}

}  // namespace conebench
