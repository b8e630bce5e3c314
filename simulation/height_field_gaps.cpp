#include "simulation/height_field_gaps.hpp"

#include <algorithm>

#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

void correct_height_field_gaps(const mjModel& model, mjData& data, double margin) {
  for (int c = 0; c < data.ncon; ++c) {
    mjContact& contact = data.contact[c];
    if (model.geom_type[contact.geom1] != mjGEOM_HFIELD) continue;
    const Eigen::Vector3d normal = vector3(contact.frame);
    const double up = normal.dot(matrix3(data.geom_xmat + 9 * contact.geom1).col(2));
    const double raised = margin * std::max(0.0, up);
    const double swollen = 0.5 * margin;
    contact.dist += raised + swollen;
    // Half way between the two surfaces, as they are.
    const Eigen::Vector3d position = vector3(contact.pos) + 0.5 * (swollen - raised) * normal;
    std::copy_n(position.data(), 3, contact.pos);
  }
}

}  // namespace conebench::simulation
