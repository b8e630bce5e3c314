// A scene in the Open Dynamics Engine, a line a command on standard input (see `commands` below), a line a reply.
// Numbers are of SI units, rotations quaternions (w, x, y, z). Bodies are numbered as they come.

#include <ode/ode.h>

#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Vector = std::array<double, 3>;
using Quaternion = std::array<double, 4>;

Vector operator+(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vector operator-(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector operator*(double s, const Vector& a) { return {s * a[0], s * a[1], s * a[2]}; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector vector(const dReal* v) { return {v[0], v[1], v[2]}; }

class Words {
 public:
  explicit Words(const std::string& line) : stream_(line) {}

  std::string word() {
    std::string found;
    if (!(stream_ >> found)) throw std::runtime_error("a line is too short");
    return found;
  }
  double number() { return std::stod(word()); }
  int count() { return std::stoi(word()); }
  Vector vector() {
    Vector v{};
    for (double& value : v) value = number();
    return v;
  }
  Quaternion quaternion() {
    Quaternion q{};
    for (double& value : q) value = number();
    return q;
  }

 private:
  std::istringstream stream_;
};

// dCreateConvex keeps these pointers.
struct ConvexHull {
  std::vector<dReal> planes, points;
  std::vector<unsigned> polygons;
  std::vector<dTriIndex> triangles;
};

struct Settings {
  bool quick = false;
  int contacts = 16;        // of a pair of shapes
  bool meshes = false;      // of triangles stand for hulls
  bool along_slip = false;  // the pyramid's first edge points along the slip
  double friction = 0, torsion = 0, rolling = 0, restitution = 0;
  double bounce_speed = 0;  // no bounce below [m/s]
};

// A joint's limits are its own; its friction and drive are motors beside it, since ODE applies a joint's own motor as
// an outer force at its stops.
struct Drive {
  dJointID joint, motor;
  bool hinge;
  double stiffness, damping, position, velocity;
};

struct Contact {
  int first, second;  // bodies
  Vector point, normal;
  double depth;
  std::unique_ptr<dJointFeedback> feedback;
  bool on_second;  // whether ODE's first force is on the second body
};

class World {
 public:
  World() : world_(dWorldCreate()), space_(dSimpleSpaceCreate(nullptr)), group_(dJointGroupCreate(0)) {
    dRandSetSeed(0);  // QuickStep takes its rows in a random order
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    dJointGroupDestroy(group_);
    dSpaceDestroy(space_);
    dWorldDestroy(world_);
  }

  void gravity(Words& words) {
    const Vector g = words.vector();
    dWorldSetGravity(world_, g[0], g[1], g[2]);
  }
  void step_size(Words& words) { step_ = words.number(); }

  void option(Words& words) {
    const std::string name = words.word();
    const double value = words.number();
    if (name == "iterations") {  // 0: Dantzig's method
      settings_.quick = value > 0;
      if (settings_.quick) dWorldSetQuickStepNumIterations(world_, static_cast<int>(value));
    } else if (name == "relaxation") {
      dWorldSetQuickStepW(world_, value);
    } else if (name == "erp") {
      dWorldSetERP(world_, value);
    } else if (name == "cfm") {
      dWorldSetCFM(world_, value);
    } else if (name == "correcting_speed") {
      dWorldSetContactMaxCorrectingVel(world_, value);
    } else if (name == "surface_layer") {
      dWorldSetContactSurfaceLayer(world_, value);
    } else if (name == "contacts") {
      settings_.contacts = static_cast<int>(value);
    } else if (name == "meshes") {
      settings_.meshes = value != 0;
    } else if (name == "along_slip") {
      settings_.along_slip = value != 0;
    } else if (name == "bounce_speed") {
      settings_.bounce_speed = value;
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }

  void material(Words& words) {
    settings_.friction = words.number();
    settings_.torsion = words.number();
    settings_.rolling = words.number();
    settings_.restitution = words.number();
  }

  void body(Words& words) {
    const double mass = words.number();
    const Vector inertia = words.vector();
    position_ = words.vector();
    rotation_ = words.quaternion();
    const Vector velocity = words.vector(), spin = words.vector();
    if (mass <= 0) {
      bodies_.push_back(nullptr);
      return;
    }
    const dBodyID made = dBodyCreate(world_);
    dMass given;
    dMassSetParameters(&given, mass, 0, 0, 0, inertia[0], inertia[1], inertia[2], 0, 0, 0);
    dBodySetMass(made, &given);
    dBodySetPosition(made, position_[0], position_[1], position_[2]);
    dBodySetQuaternion(made, rotation_.data());
    dBodySetLinearVel(made, velocity[0], velocity[1], velocity[2]);
    dBodySetAngularVel(made, spin[0], spin[1], spin[2]);
    bodies_.push_back(made);
  }

  // Shapes are of the last body.
  void box(Words& words) {
    const Vector half = words.vector();
    place(dCreateBox(space_, 2 * half[0], 2 * half[1], 2 * half[2]), words);
  }
  void sphere(Words& words) {
    const double radius = words.number();
    place(dCreateSphere(space_, radius), words);
  }
  void cylinder(Words& words) {
    const double radius = words.number(), half = words.number();
    place(dCreateCylinder(space_, radius, 2 * half), words);
  }
  // In the world: a point of its plane, and the normal.
  void half_space(Words& words) {
    const Vector point = words.vector(), normal = words.vector();
    const dGeomID made = dCreatePlane(space_, normal[0], normal[1], normal[2], dot(normal, point));
    owners_[made] = static_cast<int>(bodies_.size()) - 1;
  }
  void hull(Words& words) {
    hulls_.push_back(std::make_unique<ConvexHull>());
    ConvexHull& made = *hulls_.back();
    const int points = words.count(), faces = words.count();
    for (int k = 0; k < 3 * points; ++k) made.points.push_back(words.number());
    for (int face = 0; face < faces; ++face) {
      for (int k = 0; k < 4; ++k) made.planes.push_back(words.number());
      const int corners = words.count();
      made.polygons.push_back(static_cast<unsigned>(corners));
      for (int k = 0; k < corners; ++k) made.polygons.push_back(static_cast<unsigned>(words.count()));
    }
    place(settings_.meshes ? mesh(space_, made) : convex(space_, made), words);
  }

  void apart(Words& words) {
    const int one = words.count(), other = words.count();
    apart_.insert(std::minmax(one, other));
  }

  void joint(Words& words) {
    const bool hinge = words.word() == "hinge";
    const dBodyID child = bodies_.at(words.count());
    const int above = words.count();  // -1: the world
    const dBodyID parent = above < 0 ? nullptr : bodies_.at(above);
    const Vector anchor = words.vector(), axis = words.vector();
    const double friction = words.number();
    const dJointID made = hinge ? dJointCreateHinge(world_, nullptr) : dJointCreateSlider(world_, nullptr);
    dJointAttach(made, child, parent);
    if (hinge) {
      dJointSetHingeAnchor(made, anchor[0], anchor[1], anchor[2]);
      dJointSetHingeAxis(made, axis[0], axis[1], axis[2]);
    } else {
      dJointSetSliderAxis(made, axis[0], axis[1], axis[2]);
    }
    if (friction > 0) motor(hinge, child, parent, axis, friction);
    std::string more = words.word();
    if (more == "limits") {
      const double low = words.number(), high = words.number();
      // Twice: ODE takes no low stop above the high one that is set.
      for (int k = 0; k < 2; ++k) {
        (hinge ? dJointSetHingeParam : dJointSetSliderParam)(made, dParamLoStop, low);
        (hinge ? dJointSetHingeParam : dJointSetSliderParam)(made, dParamHiStop, high);
      }
      more = words.word();
    }
    if (more == "drive") {
      Drive drive{made, nullptr, hinge, words.number(), words.number(), words.number(), words.number()};
      drive.motor = motor(hinge, child, parent, axis, words.number());
      drives_.push_back(drive);
    }
  }

  // The kinds of shapes between which ODE finds no contacts, as one line.
  std::string blind() const {
    std::set<std::pair<int, int>> kinds;
    for (const auto& [one, owner] : owners_) {
      for (const auto& [other, other_owner] : owners_) {
        if (owner < other_owner && may_touch(owner, other_owner)) {
          kinds.insert(std::minmax(dGeomGetClass(one), dGeomGetClass(other)));
        }
      }
    }
    std::string found;
    for (const auto& [one, other] : kinds) {
      if (!finds_contacts(one, other)) found += " " + name(one) + "-" + name(other);
    }
    return found;
  }

  // Forces and torques of some bodies: a number of them, then each with its number.
  void step(Words& words) {
    for (int k = words.count(); k > 0; --k) {
      const dBodyID pushed = bodies_.at(words.count());
      const Vector force = words.vector(), torque = words.vector();
      if (!pushed) continue;
      dBodyAddForce(pushed, force[0], force[1], force[2]);
      dBodyAddTorque(pushed, torque[0], torque[1], torque[2]);
    }
    for (const Drive& drive : drives_) aim(drive);
    contacts_.clear();
    dSpaceCollide(space_, this,
                  [](void* self, dGeomID one, dGeomID other) { static_cast<World*>(self)->touch(one, other); });
    const int done = settings_.quick ? dWorldQuickStep(world_, step_) : dWorldStep(world_, step_);
    if (!done) throw std::runtime_error("ODE is out of memory");
  }

  // Of each body that moves: position, quaternion, velocity, spin.
  void print_state(std::string& out) const {
    for (const dBodyID one : bodies_) {
      if (!one) continue;
      print(out, dBodyGetPosition(one), 3);
      print(out, dBodyGetQuaternion(one), 4);
      print(out, dBodyGetLinearVel(one), 3);
      print(out, dBodyGetAngularVel(one), 3);
    }
  }
  // Of each contact: bodies, point, normal, gap, impulse on the second body. Its joints end with this.
  void print_contacts(std::string& out) {
    for (const Contact& contact : contacts_) {
      const double bodies[2] = {static_cast<double>(contact.first), static_cast<double>(contact.second)};
      const double gap = -contact.depth;
      const Vector impulse = (contact.on_second ? step_ : -step_) * vector(contact.feedback->f1);
      print(out, bodies, 2);
      print(out, contact.point.data(), 3);
      print(out, contact.normal.data(), 3);
      print(out, &gap, 1);
      print(out, impulse.data(), 3);
    }
    dJointGroupEmpty(group_);
  }

 private:
  static void print(std::string& out, const double* values, int count) {
    char text[32];
    for (int k = 0; k < count; ++k) {
      std::snprintf(text, sizeof text, "%.17g ", values[k]);
      out += text;
    }
  }

  // At the shape's frame in its body's.
  void place(dGeomID made, Words& words) {
    const Vector at = words.vector();
    const Quaternion turned = words.quaternion();
    owners_[made] = static_cast<int>(bodies_.size()) - 1;
    if (bodies_.back()) {
      dGeomSetBody(made, bodies_.back());
      dGeomSetOffsetPosition(made, at[0], at[1], at[2]);
      dGeomSetOffsetQuaternion(made, turned.data());
      return;
    }
    dMatrix3 r;
    dQtoR(rotation_.data(), r);
    const Vector position =
        position_ + Vector{dot({r[0], r[1], r[2]}, at), dot({r[4], r[5], r[6]}, at), dot({r[8], r[9], r[10]}, at)};
    dQuaternion q;
    dQMultiply0(q, rotation_.data(), turned.data());
    dGeomSetPosition(made, position[0], position[1], position[2]);
    dGeomSetQuaternion(made, q);
  }

  static dGeomID convex(dSpaceID space, ConvexHull& hull) {
    return dCreateConvex(space, hull.planes.data(), static_cast<unsigned>(hull.planes.size() / 4), hull.points.data(),
                         static_cast<unsigned>(hull.points.size() / 3), hull.polygons.data());
  }
  static dGeomID mesh(dSpaceID space, ConvexHull& hull) {
    for (std::size_t k = 0; k < hull.polygons.size(); k += 1 + hull.polygons[k]) {
      for (unsigned corner = 2; corner < hull.polygons[k]; ++corner) {
        for (const unsigned of : {0u, corner - 1, corner}) hull.triangles.push_back(hull.polygons[k + 1 + of]);
      }
    }
    const dTriMeshDataID data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(data, hull.points.data(), 3 * sizeof(dReal), static_cast<int>(hull.points.size() / 3),
                                hull.triangles.data(), static_cast<int>(hull.triangles.size()), 3 * sizeof(dTriIndex));
    return dCreateTriMesh(space, data, nullptr, nullptr, nullptr);
  }

  dJointID motor(bool hinge, dBodyID child, dBodyID parent, const Vector& axis, double force) {
    const dJointID made = hinge ? dJointCreateAMotor(world_, nullptr) : dJointCreateLMotor(world_, nullptr);
    dJointAttach(made, child, parent);
    (hinge ? dJointSetAMotorNumAxes : dJointSetLMotorNumAxes)(made, 1);
    (hinge ? dJointSetAMotorAxis : dJointSetLMotorAxis)(made, 0, 1, axis[0], axis[1], axis[2]);
    (hinge ? dJointSetAMotorParam : dJointSetLMotorParam)(made, dParamVel, 0);
    (hinge ? dJointSetAMotorParam : dJointSetLMotorParam)(made, dParamFMax, force);
    return made;
  }

  // An implicit drive is a motor with mixed force: rate + force / (damping + h stiffness) = this velocity.
  void aim(const Drive& drive) const {
    const double q = drive.hinge ? dJointGetHingeAngle(drive.joint) : dJointGetSliderPosition(drive.joint);
    const double sum = drive.damping + step_ * drive.stiffness;
    if (sum <= 0) return;
    const double rate = (drive.damping * drive.velocity + drive.stiffness * (drive.position - q)) / sum;
    const auto set = drive.hinge ? dJointSetAMotorParam : dJointSetLMotorParam;
    set(drive.motor, dParamVel, rate);
    set(drive.motor, dParamCFM, 1 / sum);
  }

  bool may_touch(int one, int other) const {
    return (bodies_[one] || bodies_[other]) && one != other && !apart_.count(std::minmax(one, other));
  }

  void touch(dGeomID one, dGeomID other) {
    const int owner = owners_.at(one), other_owner = owners_.at(other);
    if (!may_touch(owner, other_owner)) return;
    std::vector<dContact> found(static_cast<std::size_t>(settings_.contacts));
    const int count = dCollide(one, other, settings_.contacts, &found[0].geom, sizeof(dContact));
    for (int k = 0; k < count; ++k) {
      dContact& contact = found[static_cast<std::size_t>(k)];
      // ODE's normal points into its first shape.
      const int second = owners_.at(contact.geom.g1), first = owners_.at(contact.geom.g2);
      surface(contact, bodies_[first], bodies_[second]);
      const dJointID made = dJointCreateContact(world_, group_, &contact);
      dJointAttach(made, bodies_[second], bodies_[first]);
      contacts_.push_back({first, second, vector(contact.geom.pos), vector(contact.geom.normal), contact.geom.depth,
                           std::make_unique<dJointFeedback>(), bodies_[second] != nullptr});
      dJointSetFeedback(made, contacts_.back().feedback.get());
    }
  }

  void surface(dContact& contact, dBodyID first, dBodyID second) const {
    dSurfaceParameters& own = contact.surface;
    own.mode = dContactApprox1;
    own.mu = own.mu2 = settings_.friction;
    if (settings_.restitution > 0) {
      own.mode |= dContactBounce;
      own.bounce = settings_.restitution;
      own.bounce_vel = settings_.bounce_speed;
    }
    if (settings_.torsion > 0 || settings_.rolling > 0) {
      // ODE counts rows of no rolling friction that it then leaves empty.
      const double least = 1e-12;
      own.mode |= dContactRolling | dContactAxisDep;
      own.rho = own.rho2 = std::fmax(settings_.rolling, least);
      own.rhoN = std::fmax(settings_.torsion, least);
    }
    if (!settings_.along_slip) return;
    const Vector normal = vector(contact.geom.normal), point = vector(contact.geom.pos);
    const Vector slip = velocity(second, point) - velocity(first, point);
    const Vector along = slip - dot(slip, normal) * normal;
    const double speed = std::sqrt(dot(along, along));
    if (speed < 1e-9) return;  // ODE's own directions
    own.mode |= dContactFDir1;
    for (int k = 0; k < 3; ++k) contact.fdir1[k] = along[static_cast<std::size_t>(k)] / speed;
  }

  static Vector velocity(dBodyID body, const Vector& point) {
    if (!body) return {};
    return vector(dBodyGetLinearVel(body)) +
           cross(vector(dBodyGetAngularVel(body)), point - vector(dBodyGetPosition(body)));
  }

  static std::string name(int kind) {
    return kind == dSphereClass     ? "sphere"
           : kind == dBoxClass      ? "box"
           : kind == dCylinderClass ? "cylinder"
           : kind == dPlaneClass    ? "half space"
                                    : "hull";
  }

  // ODE says nothing where it has no function for two kinds of shapes: two that overlap show it.
  static bool finds_contacts(int one, int other) {
    ConvexHull cubes[2];
    const auto make = [&cubes](int kind, int which) {
      ConvexHull& cube = cubes[which];
      cube.planes = {1, 0, 0, 1, -1, 0, 0, 1, 0, 1, 0, 1, 0, -1, 0, 1, 0, 0, 1, 1, 0, 0, -1, 1};
      cube.points = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1};
      cube.polygons = {4, 1, 3, 7, 5, 4, 0, 4, 6, 2, 4, 2, 6, 7, 3, 4, 0, 1, 5, 4, 4, 4, 5, 7, 6, 4, 0, 2, 3, 1};
      return kind == dSphereClass     ? dCreateSphere(nullptr, 1)
             : kind == dBoxClass      ? dCreateBox(nullptr, 2, 2, 2)
             : kind == dCylinderClass ? dCreateCylinder(nullptr, 1, 2)
             : kind == dPlaneClass    ? dCreatePlane(nullptr, 0, 0, 1, 0)
             : kind == dConvexClass   ? convex(nullptr, cube)
                                      : mesh(nullptr, cube);
    };
    const dGeomID a = make(one, 0), b = make(other, 1);
    if (one != dPlaneClass) dGeomSetPosition(a, 0.1, 0.2, 0.9);
    if (other != dPlaneClass) dGeomSetPosition(b, 0, 0, one == dPlaneClass ? 0.9 : -0.9);
    dContactGeom found[4];
    const int count = dCollide(a, b, 4, found, sizeof(dContactGeom));
    dGeomDestroy(a);
    dGeomDestroy(b);
    return count > 0;
  }

  dWorldID world_;
  dSpaceID space_;
  dJointGroupID group_;
  double step_ = 0;
  Settings settings_;
  std::vector<dBodyID> bodies_;
  Vector position_{};  // of the last body
  Quaternion rotation_{1, 0, 0, 0};
  std::map<dGeomID, int> owners_;
  std::vector<std::unique_ptr<ConvexHull>> hulls_;
  std::set<std::pair<int, int>> apart_;
  std::vector<Drive> drives_;
  std::vector<Contact> contacts_;
};

void run(World& world) {
  using Command = std::function<void(Words&)>;
  const std::map<std::string, Command> commands = {
      {"gravity", [&](Words& words) { world.gravity(words); }},
      {"step_size", [&](Words& words) { world.step_size(words); }},
      {"option", [&](Words& words) { world.option(words); }},
      {"material", [&](Words& words) { world.material(words); }},
      {"body", [&](Words& words) { world.body(words); }},
      {"box", [&](Words& words) { world.box(words); }},
      {"sphere", [&](Words& words) { world.sphere(words); }},
      {"cylinder", [&](Words& words) { world.cylinder(words); }},
      {"half_space", [&](Words& words) { world.half_space(words); }},
      {"hull", [&](Words& words) { world.hull(words); }},
      {"apart", [&](Words& words) { world.apart(words); }},
      {"joint", [&](Words& words) { world.joint(words); }},
  };
  for (std::string line; std::getline(std::cin, line);) {
    Words words(line);
    const std::string command = words.word();
    if (command == "start") {
      std::cout << "ready" << world.blind() << std::endl;
    } else if (command == "step") {
      world.step(words);
      std::string out;
      world.print_contacts(out);
      std::cout << out << std::endl;
    } else if (command == "state") {
      std::string out;
      world.print_state(out);
      std::cout << out << std::endl;
    } else {
      commands.at(command)(words);
    }
  }
}

// ODE's Dantzig can repeat one message thousands of times.
void say_once(int number, const char* format, va_list words) {
  static std::set<int> said;
  if (!said.insert(number).second) return;
  std::fprintf(stderr, "ODE: ");
  std::vfprintf(stderr, format, words);
  std::fprintf(stderr, "\n");
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::string(words[1]) == "--version") {
    std::cout << dODE_VERSION << std::endl;
    return 0;
  }
  std::ios::sync_with_stdio(false);
  dSetMessageHandler(say_once);
  dInitODE2(0);
  dAllocateODEDataForThread(dAllocateMaskAll);
  int status = 0;
  try {
    World world;
    run(world);
  } catch (const std::exception& error) {
    std::cout << "error " << error.what() << std::endl;
    status = 1;
  }
  dCloseODE();
  return status;
}
