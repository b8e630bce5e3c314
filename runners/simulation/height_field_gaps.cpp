#include "runners/simulation/height_field_gaps.hpp"

#include <algorithm>

#include "runners/simulation/mujoco_base.hpp"

namespace conebench::simulation {

void correct_height_field_gaps(const mjModel& model, mjData& data, double margin) {
  for (int c = 0; c < data.ncon; ++c) {
    mjContact& contact = data.contact[c];
    if (model.geom_type[contact.geom1] != mjGEOM_HFIELD) continue;
    const Eigen::Vector3d normal = vector3(contact.frame);
    const double raised = margin * normal.dot(matrix3(data.geom_xmat + 9 * contact.geom1).col(2));
    const double swollen = 0.5 * margin;
    contact.dist += raised + swollen;
    // The place is half way between the two surfaces. On a ball's normal it is known; else MuJoCo's, moved as they are.
    const Eigen::Vector3d place = model.geom_type[contact.geom2] == mjGEOM_SPHERE
                                      ? vector3(data.geom_xpos + 3 * contact.geom2) -
                                            (model.geom_size[3 * contact.geom2] + 0.5 * contact.dist) * normal
                                      : Eigen::Vector3d(vector3(contact.pos) + 0.5 * (swollen - raised) * normal);
    std::copy_n(place.data(), 3, contact.pos);
  }
}

}  // namespace conebench::simulation
