#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/plural.hpp"
#include "base/utf8.hpp"
#include "simulation/urdf_model.hpp"

namespace conebench::simulation {

namespace {

/// "3 links (a, b, c)"; of many, the first ones.
std::string listed(const std::vector<std::string>& items, const char* noun) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> first(items.begin(), items.begin() + std::ptrdiff_t(std::min(items.size(), shown)));
  for (std::string& item : first) item = one_line(item);
  if (items.size() > shown) first.push_back("…");
  return fmt::format("{} ({})", plural(long(items.size()), noun), fmt::join(first, ", "));
}

void add_repairs(const UrdfRobot& robot, InertiaFault fault, const char* what, const char* unit, const char* until,
                 std::vector<std::string>& notes) {
  std::vector<std::string> links;
  for (const InertiaRepair& repair : robot.repairs) {
    if (repair.fault != fault) continue;
    links.push_back(fmt::format("{}: {:.3g} to {:.3g} {}", repair.body, repair.from, repair.to, unit));
  }
  if (!links.empty()) notes.push_back(fmt::format("{} of {} raised{}", what, listed(links, "link"), until));
}

}  // namespace

std::vector<LeftOut> left_out_of(const UrdfRobot& robot) {
  std::vector<LeftOut> left_out;
  const auto add = [&](const std::vector<std::string>& joints, const char* reason) {
    for (const std::string& joint : joints) left_out.push_back({fmt::format("joint '{}'", one_line(joint)), reason});
  };
  add(robot.lost_mimics, "its <mimic>: the other joint is not in the file");
  add(robot.inverted_limits, "its limits: lower > upper");
  return left_out;
}

std::vector<std::string> urdf_notes(const UrdfRobot& robot, const UrdfFindings& found) {
  std::vector<std::string> notes;
  add_repairs(robot, InertiaFault::mass, "mass", "kg", "", notes);
  add_repairs(robot, InertiaFault::moment, "smallest moment of inertia", "kg m²", "", notes);
  add_repairs(robot, InertiaFault::triangle, "smallest moment of inertia", "kg m²", " until A + B >= C", notes);
  std::vector<std::string> masses;
  for (std::size_t i = 0; i < found.masses.size(); ++i) {
    masses.push_back(fmt::format("{}: {:.3g} kg", robot.massless[i], found.masses[i]));
  }
  if (!masses.empty()) notes.push_back(listed(masses, "link") + " without <inertial> have the mass of their shapes");
  if (!found.moved.empty()) {
    notes.push_back("start away from 0, which their limits or <mimic> exclude: " + listed(found.moved, "joint"));
  }
  const auto count = [&](ApartReason reason) {
    return std::count_if(robot.apart.begin(), robot.apart.end(),
                         [&](const auto& pair) { return pair.reason == reason; });
  };
  const long adjacent = count(ApartReason::adjacent), disabled = count(ApartReason::srdf);
  const long overlapping = long(found.overlapping.size());
  if (adjacent + disabled + overlapping > 0) {
    std::vector<std::string> parts;
    if (adjacent > 0) parts.push_back(fmt::format("{} adjacent", adjacent));
    if (overlapping > 0) parts.push_back(fmt::format("{} overlapping at the start", overlapping));
    if (disabled > 0) parts.push_back(fmt::format("{} of {}", disabled, one_line(robot.srdf.filename().string())));
    notes.push_back(fmt::format("no contacts between {} of links ({}); set self_collision=true to have them",
                                plural(adjacent + disabled + overlapping, "pair"), fmt::join(parts, ", ")));
  }
  return notes;
}

}  // namespace conebench::simulation
