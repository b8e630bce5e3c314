#include "simulation/contact_laws.hpp"

#include <algorithm>

#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

ContactLaws::ContactLaws(const mjModel& model) : model_(&model) {
  // Before 3.9 contacts were found as far as the margin, and the gap was part of it.
  const auto of = [](double margin, double gap) {
    return Margins{mjVERSION_HEADER >= 3009000 ? margin : margin - gap, gap};
  };
  override_ =
      (model.opt.enableflags & mjENBL_OVERRIDE) != 0 ? std::optional(Margins{model.opt.o_margin, 0.0}) : std::nullopt;
  double first = 0.0, second = 0.0;  // the two largest reaches of geoms
  for (int g = 0; g < model.ngeom; ++g) {
    of_geoms_.push_back(of(model.geom_margin[g], model.geom_gap[g]));
    const double reach = of_geoms_.back().margin + of_geoms_.back().gap;
    second = std::max(second, std::min(first, reach));
    first = std::max(first, reach);
    largest_friction_ = std::max(largest_friction_, model.geom_friction[3 * g]);
  }
  largest_reach_ = override_ ? override_->margin : first + second;
  for (int p = 0; p < model.npair; ++p) {
    const Margins own = of(model.pair_margin[p], model.pair_gap[p]);
    of_pairs_[std::minmax(model.pair_geom1[p], model.pair_geom2[p])] = own;
    largest_reach_ = std::max(largest_reach_, override_ ? 0.0 : own.margin + own.gap);
    largest_friction_ = std::max({largest_friction_, model.pair_friction[5 * p], model.pair_friction[5 * p + 1]});
  }
  if (override_) largest_friction_ = std::max(largest_friction_, model.opt.o_friction[0]);
  adheres_ = std::count(model.actuator_trntype, model.actuator_trntype + actuators(model), int{mjTRN_BODY}) > 0;
#if mjVERSION_HEADER >= 3011000
  moving_surfaces_ = model.flg_surfacevel;
  adheres_ = adheres_ || model.flg_adhesion;
#endif
}

ContactLaws::Margins ContactLaws::margins(int first, int second) const {
  if (override_) return *override_;
  if (const auto pair = of_pairs_.find(std::minmax(first, second)); pair != of_pairs_.end()) return pair->second;
  const Margins a = of_geoms_[std::size_t(first)], b = of_geoms_[std::size_t(second)];
  if (!margins_add) return {std::max(a.margin, b.margin), std::max(a.gap, b.gap)};
  return {a.margin + b.margin, a.gap + b.gap};
}

double ContactLaws::reach(int first, int second) const {
  const Margins of = margins(first, second);
  return of.margin + of.gap;
}

void ContactLaws::describe(const mjContact& found, ContactPoint& contact) const {
  const mjtNum* const mu = found.friction;
  contact.friction = found.dim > 1 ? mu[0] : 0.0;
  if (found.dim > 3 || (found.dim == 3 && mu[0] != mu[1])) contact.coefficients.assign(mu, mu + found.dim - 1);
  contact.restitution = std::max(restitution(found.geom1), restitution(found.geom2));
}

double ContactLaws::restitution(int geom) const {
  return model_->nuser_geom > 0 ? std::clamp(model_->geom_user[model_->nuser_geom * geom], 0.0, 1.0) : 0.0;
}

double ContactLaws::adhesion(const mjContact& found) const {
#if mjVERSION_HEADER >= 3011000
  return found.adhesion;
#else
  static_cast<void>(found);
  return 0.0;
#endif
}

Eigen::Vector3d ContactLaws::surface_velocity(const mjData& data, const ContactPoint& contact) const {
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();
#if mjVERSION_HEADER >= 3011000
  const auto add = [&](int geom, double sign) {
    const mjtNum* const own = model_->geom_surfacevel + 6 * geom;
    const Eigen::Matrix3d axes = matrix3(data.geom_xmat + 9 * geom);
    const Eigen::Vector3d spin = axes * vector3(own + 3);
    const Eigen::Vector3d at_point =
        axes * vector3(own) + spin.cross(contact.position - vector3(data.geom_xpos + 3 * geom));
    velocity.head<2>() += sign * contact.frame.leftCols<2>().transpose() * at_point;
    velocity[2] += sign * contact.frame.col(2).dot(spin);
  };
  add(contact.first_shape, -1.0);
  add(contact.second_shape, 1.0);
#else
  static_cast<void>(data);
  static_cast<void>(contact);
#endif
  return velocity;
}

}  // namespace conebench::simulation
