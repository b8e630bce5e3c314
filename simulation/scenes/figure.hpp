#pragma once

#include <string>
#include <vector>

#include "simulation/scenes/mjcf.hpp"

namespace conebench {

/// How the joint of a segment is driven: at its own hinge, or by a crank and a rod, which close a loop.
enum class Linkage {
  direct,     ///< one body, one hinge: 5 rows
  planar,     ///< crank, rod and segment, four parallel hinges: 20 rows
  universal,  ///< the rod on a universal joint at the crank and a ball at the segment: 5 + 5 + 4 + 3 = 17 rows
  balls,      ///< the rod on two balls: 5 + 5 + 3 + 3 = 16 rows
};

/// One segment of a limb: hinge at its root, capsule towards the next.
struct Segment {
  mjcf::Vec3 axis = mjcf::Vec3::UnitY();
  double length = 0.3;   ///< [m]
  double radius = 0.03;  ///< [m]; the capsule stops short of the hinges by this much
  double weight = 1.0;   ///< mass in units of the figure's lightest body
  bool touches = true;   ///< false for housings of joints that stand close together
  Linkage linkage = Linkage::direct;
  bool driven = true;      ///< the segment's own hinge has a motor; a crank always has one
  double start = 0.0;      ///< angle at the keyframe [rad]; zero where there is a loop
  double press = 0.0;      ///< target of the servo less the start [rad]
  double amplitude = 0.0;  ///< of a sine about the target [rad]
  double phase = 0.0;      ///< [rad]
  double lower = -1.0;     ///< limits of the hinge [rad]; none where lower ≥ upper
  double upper = 1.0;
};

/// Segments from a point of a body on, straight along `direction` where all angles are zero.
struct Limb {
  std::string name;
  mjcf::Vec3 root;  ///< in the frame of the body it is on [m]
  mjcf::Vec3 direction = -mjcf::Vec3::UnitZ();
  std::vector<Segment> segments = {};
  std::vector<mjcf::Geom> tip = {};  ///< massless shapes in the last segment's frame: a foot
  std::string on = "base";           ///< the body that carries it: the base or a segment
  double tip_depth = 0.0;            ///< how far they reach below its end at the start [m]
};

/// A robot or an animated figure: a base with limbs. Its bodies' masses are weights times the lightest one's.
struct Figure {
  bool fixed = false;                       ///< the base is fixed to the world (a joint with 6 rows)
  mjcf::Vec3 half_sizes = {0.2, 0.1, 0.1};  ///< of the base's box [m]
  double lightest = 0.1;                    ///< [kg]
  double base_weight = 10.0;
  double crank_weight = 2.0;
  double rod_weight = 1.0;
  double frequency = 1.0;  ///< of the sines [Hz]
  double rate = 20.0;      ///< servos are as stiff as makes each limb swing at so many rad/s
  double carried = 0.0;    ///< weight that the limbs' servos are to bear besides their own
  std::vector<Limb> limbs;
};

/// What moves a joint: as stiff as the figure's rate asks for, critically damped by the joint.
struct Servo {
  double stiffness = 0.0;  ///< [N m/rad]
  double damping = 0.0;    ///< [N m s/rad]
};
Servo servo_of(const Figure& figure, const Limb& limb, std::size_t segment);

/// How far the lowest shape of the base and of the limbs on it is below the base's origin at the start [m].
double depth(const Figure& figure);

/// Adds the figure with its base's origin at `pose`; `velocity` is for free ones. Bodies are named "base", "LIMB1", …,
/// cranks and rods "LIMB1.crank", "LIMB1.rod". `push` is a constant force on the base [N].
void add_figure(mjcf::Model& model, const Figure& figure, const mjcf::Pose& pose, const mjcf::Twist& velocity = {},
                double push = 0.0);

}  // namespace conebench
