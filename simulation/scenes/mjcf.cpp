#include "simulation/scenes/mjcf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace conebench::mjcf {

namespace {

std::string numbers(const Vec3& v) { return fmt::format("{} {} {}", v.x(), v.y(), v.z()); }

std::string numbers(const Quat& q) { return fmt::format("{} {} {} {}", q.w(), q.x(), q.y(), q.z()); }

bool is_identity(const Quat& q) { return q.vec().isZero(0.0); }

}  // namespace

Quat turn(double angle, const Vec3& axis) { return Quat(Eigen::AngleAxisd(angle, axis.normalized())); }

Geom::Geom(const std::string& type, const std::string& attributes)
    : attributes_(fmt::format("type=\"{}\" {}", type, attributes)) {}

Geom Geom::plane() { return {"plane", "size=\"0 0 1\""}; }

Geom Geom::sphere(double radius) { return {"sphere", fmt::format("size=\"{}\"", radius)}; }

Geom Geom::box(const Vec3& half_sizes) { return {"box", fmt::format("size=\"{}\"", numbers(half_sizes))}; }

Geom Geom::cylinder(double radius, double half_length) {
  return {"cylinder", fmt::format("size=\"{} {}\"", radius, half_length)};
}

Geom Geom::capsule(const Vec3& from, const Vec3& to, double radius) {
  return {"capsule", fmt::format("fromto=\"{} {}\" size=\"{}\"", numbers(from), numbers(to), radius)};
}

Geom Geom::convex(const std::string& mesh) { return {"mesh", fmt::format("mesh=\"{}\"", mesh)}; }

Geom Geom::height_field(const std::string& elevations) { return {"hfield", fmt::format("hfield=\"{}\"", elevations)}; }

Geom& Geom::at(const Vec3& position) {
  attributes_ += fmt::format(" pos=\"{}\"", numbers(position));
  return *this;
}

Geom& Geom::turned(const Quat& orientation) {
  attributes_ += fmt::format(" quat=\"{}\"", numbers(orientation));
  return *this;
}

Geom& Geom::mass(double kilograms) {
  mass_ = kilograms;
  return *this;
}

Geom& Geom::friction(double coefficient) {
  attributes_ += fmt::format(" friction=\"{}\"", coefficient);
  return *this;
}

Geom& Geom::untouchable() {
  attributes_ += " contype=\"0\" conaffinity=\"0\"";
  return *this;
}

Model::Model(Settings settings) : settings_(std::move(settings)) {}

void Model::Start::add(const std::string& numbers, bool differs) {
  values += " " + numbers;
  moved = moved || differs;
}

void Model::line(std::string& section, const std::string& text) const {
  section += std::string(4 + 2 * open_.size(), ' ') + text + "\n";
}

void Model::scenery(const Geom& geom) {
  if (!open_.empty()) throw std::logic_error("scenery inside a body");
  this->geom(geom);
}

void Model::open_body(const std::string& name, const Pose& pose) {
  ++bodies_;
  const std::string turned = is_identity(pose.orientation) ? "" : " quat=\"" + numbers(pose.orientation) + "\"";
  line(world_, fmt::format("<body name=\"{}\" pos=\"{}\"{}>", name, numbers(pose.position), turned));
  if (!open_.empty()) exclude(open_.back().name, name);
  open_.push_back({name, pose, 0});
}

void Model::geom(const Geom& geom) {
  // Scenery has none; a mesh is refused where its density is zero.
  const std::string mass = open_.empty() ? "" : fmt::format(" mass=\"{}\"", geom.kilograms());
  line(world_, "<geom " + geom.attributes() + mass + "/>");
}

void Model::free(const Twist& velocity) {
  if (open_.size() != 1) throw std::logic_error("only children of the world are free");
  line(world_, fmt::format("<freejoint name=\"{}\"/>", open_.back().name));
  const Pose& pose = open_.back().pose;
  positions_.add(numbers(pose.position) + " " + numbers(pose.orientation), false);
  velocities_.add(numbers(velocity.linear) + " " + numbers(velocity.angular),
                  !velocity.linear.isZero(0.0) || !velocity.angular.isZero(0.0));
}

std::string Model::joint(const Joint& joint) {
  OpenBody& body = open_.back();
  const std::string name = fmt::format("{}.{}", body.name, ++body.joints);
  std::string attributes = fmt::format("name=\"{}\" type=\"{}\"", name, joint.type);
  if (joint.type != "ball") attributes += fmt::format(" axis=\"{}\"", numbers(joint.axis));
  if (!joint.anchor.isZero(0.0)) attributes += fmt::format(" pos=\"{}\"", numbers(joint.anchor));
  if (joint.lower < joint.upper) {
    attributes += fmt::format(" limited=\"true\" range=\"{} {}\"", joint.lower, joint.upper);
  }
  if (joint.damping > 0.0) attributes += fmt::format(" damping=\"{}\"", joint.damping);
  if (joint.stiffness > 0.0) attributes += fmt::format(" stiffness=\"{}\"", joint.stiffness);
  line(world_, "<joint " + attributes + "/>");
  if (joint.type == "ball") {
    positions_.add("1 0 0 0", false);
    velocities_.add("0 0 0", false);
  } else {
    positions_.add(fmt::format("{}", joint.start), joint.start != 0.0);
    velocities_.add(fmt::format("{}", joint.speed), joint.speed != 0.0);
  }
  if (joint.drive.kind != Drive::Kind::none) actuator(name, joint);
  return name;
}

void Model::actuator(const std::string& joint, const Joint& of) {
  const Drive& drive = of.drive;
  const bool servo = drive.kind == Drive::Kind::servo;
  std::string attributes = fmt::format("name=\"{0}\" joint=\"{0}\"", joint);
  if (servo) attributes += fmt::format(" kp=\"{}\"", drive.stiffness);
  const bool ranged = drive.bound == 0.0 && servo && of.lower < of.upper;
  if (ranged || drive.bound > 0.0) {
    attributes += fmt::format(" ctrllimited=\"true\" ctrlrange=\"{} {}\"", ranged ? of.lower : -drive.bound,
                              ranged ? of.upper : drive.bound);
  }
  attributes += fmt::format(" user=\"{} {} {}\"", drive.amplitude, drive.frequency, drive.phase);
  actuators_ += fmt::format("    <{} {}/>\n", servo ? "position" : "motor", attributes);
  controls_.add(fmt::format("{}", drive.control), drive.control != 0.0);
}

void Model::push(double newtons, bool growing, const Vec3& direction) {
  const std::string& body = open_.back().name;
  line(world_, fmt::format("<site name=\"{}\"/>", body));
  actuators_ +=
      fmt::format("    <general name=\"{0}.push\" site=\"{0}\" gear=\"{1} 0 0 0\" dyntype=\"{2}\" user=\"0 1 0\"/>\n",
                  body, numbers(direction), growing ? "integrator" : "none");
  controls_.add(fmt::format("{}", newtons), newtons != 0.0);
  if (growing) activations_.add("0", false);
}

void Model::close_body() {
  open_.pop_back();
  line(world_, "</body>");
}

void Model::connect(const std::string& body, const std::string& other, const Vec3& anchor) {
  equality_ += fmt::format("    <connect body1=\"{}\" body2=\"{}\" anchor=\"{}\"/>\n", body, other, numbers(anchor));
}

void Model::connect_hinge(const std::string& body, const std::string& other, const Vec3& anchor, const Vec3& axis,
                          double spread) {
  for (const double side : {-0.5, 0.5}) connect(body, other, anchor + side * spread * axis.normalized());
}

void Model::exclude(const std::string& body, const std::string& other) {
  contact_ += fmt::format("    <exclude body1=\"{}\" body2=\"{}\"/>\n", body, other);
}

std::string Model::convex_mesh(std::span<const Vec3> vertices) {
  const std::string name = fmt::format("hull{}", ++meshes_);
  std::string list;
  for (const Vec3& v : vertices) list += (list.empty() ? "" : "  ") + numbers(v);
  assets_ += fmt::format("    <mesh name=\"{}\" vertex=\"{}\"/>\n", name, list);
  return name;
}

std::string Model::height_field(const HeightField& field) {
  const auto [lowest, highest] = std::minmax_element(field.elevations.begin(), field.elevations.end());
  const std::string name = fmt::format("ground{}", files_.size() + 1);
  const std::string file = name + ".hfield";
  assets_ += fmt::format("    <hfield name=\"{}\" file=\"{}\" size=\"{} {} {} {}\"/>\n", name, file, field.half_width_x,
                         field.half_width_y, double(*highest) - double(*lowest), field.base);
  const std::array<std::int32_t, 2> shape = {field.rows, field.columns};
  std::string& bytes = files_[file];
  bytes.append(reinterpret_cast<const char*>(shape.data()), sizeof(shape));
  bytes.append(reinterpret_cast<const char*>(field.elevations.data()), field.elevations.size() * sizeof(float));
  return name;
}

std::string Model::text() const {
  if (!open_.empty()) throw std::logic_error("a body is still open");
  const Surface& s = settings_.surface;
  const auto section = [](const std::string& name, const std::string& content) {
    return content.empty() ? "" : fmt::format("  <{0}>\n{1}  </{0}>\n", name, content);
  };
  const auto key = [](const std::string& name, const Start& start) {
    return start.moved ? fmt::format(" {}=\"{}\"", name, start.values.substr(1)) : "";
  };
  const std::string start =
      key("qpos", positions_) + key("qvel", velocities_) + key("act", activations_) + key("ctrl", controls_);
  // MuJoCo's own estimate grows with the square of their number: 150 GB for ten thousand. Twenty contacts take 10 kB.
  const std::string memory = bodies_ > 1000 ? fmt::format(" memory=\"{}M\"", bodies_ / 5) : "";
  return fmt::format(
             "<mujoco model=\"{}\">\n"
             "  <compiler angle=\"radian\"/>\n"
             "  <size nuser_geom=\"1\" nuser_actuator=\"3\"{}/>\n"
             "  <option timestep=\"{}\" gravity=\"{}\" cone=\"elliptic\"><flag multiccd=\"enable\"/></option>\n"
             "  <default><geom condim=\"3\" friction=\"{}\" margin=\"{}\" user=\"{}\"/></default>\n",
             settings_.name, memory, settings_.time_step, numbers(settings_.gravity), s.friction, 0.5 * s.margin,
             s.restitution) +
         section("asset", assets_) + section("worldbody", world_) + section("contact", contact_) +
         section("equality", equality_) + section("actuator", actuators_) +
         (start.empty() ? "" : section("keyframe", "    <key" + start + "/>\n")) + "</mujoco>\n";
}

}  // namespace conebench::mjcf
