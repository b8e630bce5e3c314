#pragma once

#include <mujoco/mujoco.h>

namespace conebench::simulation {

/// How a list of contacts ended.
enum class ContactList {
  whole,
  cut,   ///< of two shapes MuJoCo kept mjMAXCONPAIR points and left out the others
  full,  ///< it has no room for them all
};

/// Puts exact contacts of spheres and capsules with height fields in place of MuJoCo's: at the local minima of the
/// distance over the field's triangles, as near as `margin` [m]. On a level field a ball has one and a lying capsule
/// two, as on a plane; in a valley each face counts, on a ridge or peak its edge or corner. A centre below the surface
/// is pushed out the shortest way. A pair has contacts only if MuJoCo found one, and keeps MuJoCo's where a centre is
/// beside or below the field.
ContactList make_height_field_contacts_exact(const mjModel& model, mjData& data, double margin);

}  // namespace conebench::simulation
