#include "solvers/cond/contact_step.hpp"

#include <type_traits>

#include "problems/cones/contact_cones.hpp"
#include "solvers/cond/contact_operators.hpp"

namespace conebench::cond {

namespace {

/// Coulomb's law for a velocity that (25) makes independent of direction but for the tangents' scale.
ContactVector<2> strict_in_axes(const ContactVector<2>& z, double friction, const ContactVector<2>& scale) {
  return strict_operator<2>(z, friction * scale[0] / scale[1]);
}
ContactVector<3> strict_in_axes(const ContactVector<3>& z, double friction, const ContactVector<3>& scale) {
  const double mu = friction * scale[0] / scale[2];
  return scale[0] == scale[1] ? strict_operator<3>(z, mu) : strict_operator(z, mu, friction * scale[1] / scale[2]);
}

}  // namespace

ContactStep::ContactStep(const NodalForm& form, const ConeProduct& cones, const Vector& compliance, Operator which)
    : form_(&form),
      cones_(cones),
      first_contact_(static_cast<std::size_t>(cones.first_contact_row())),
      friction_(cones.friction().begin(), cones.friction().end()),
      compliance_(compliance),
      which_(which) {}

void ContactStep::operator()(const Vector& steps, double alpha, const Vector& bias, Vector& velocity,
                             VectorRef impulse) const {
  for (std::size_t m = 0; m < first_contact_; ++m) {
    const NodalBlock& block = form_->blocks[m];
    const double scale = block.scale[0] * block.axes(0, 0);  // the row's coefficient
    double gamma = alpha * steps[block.i[0]];
    double eta = velocity[block.i[0]];
    if (block.paired) {
      gamma += alpha * steps[block.j[0]];
      eta -= velocity[block.j[0]];
    }
    const double z = -(scale * eta + bias[block.row]) / (scale * scale * gamma + compliance_[block.row]);
    const double lambda = clip(z, cones_.bounds(block.row));
    impulse[block.row] = lambda;
    velocity[block.i[0]] += alpha * steps[block.i[0]] * scale * lambda;
    if (block.paired) velocity[block.j[0]] -= alpha * steps[block.j[0]] * scale * lambda;
  }
  if (form_->blocks.size() == first_contact_) return;
  with_contact_cone(cones_, [&]<class Cone>() {
    if constexpr (!std::is_same_v<Cone, FrictionCone>) contacts<Cone>(steps, alpha, bias, velocity, impulse);
  });
}

template <class Cone>
void ContactStep::contacts(const Vector& steps, double alpha, const Vector& bias, Vector& velocity,
                           VectorRef impulse) const {
  constexpr int Dim = Cone::rows;
  constexpr int n = Cone::normal;
  for (std::size_t m = first_contact_; m < form_->blocks.size(); ++m) {
    const NodalBlock& block = form_->blocks[m];
    const double w_i = alpha * steps[block.i[0]];
    const double w_j = block.paired ? alpha * steps[block.j[0]] : 0.0;
    const double gamma = w_i + w_j;  // (25)
    ContactVector<Dim> relative;
    for (int c = 0; c < Dim; ++c) relative[c] = velocity[block.i[static_cast<std::size_t>(c)]];
    if (block.paired) {
      for (int c = 0; c < Dim; ++c) relative[c] -= velocity[block.j[static_cast<std::size_t>(c)]];
    }
    const auto axes = block.axes.template topLeftCorner<Dim, Dim>();
    const ContactVector<Dim> scale = block.scale.template head<Dim>();
    const ContactVector<Dim> eta = axes * relative;  // Alg. 2 in impulses D λ, of which (25) holds
    const ContactVector<Dim> omega = compliance_.segment<Dim>(block.row).cwiseQuotient(scale.cwiseProduct(scale));
    const double gamma_t = gamma + omega[0];
    const double gamma_n = gamma + omega[n];
    ContactVector<Dim> z = -(eta + bias.segment<Dim>(block.row).cwiseQuotient(scale));
    z.template head<n>() /= gamma_t;
    z[n] /= gamma_n;
    const double friction = friction_[m - first_contact_];
    const ContactVector<Dim> lambda = which_ == Operator::proximal
                                          ? proximal_operator<Dim>(z, friction * scale[0] / scale[n], gamma_t, gamma_n)
                                          : strict_in_axes(z, friction, scale);
    impulse.segment<Dim>(block.row) = lambda.cwiseQuotient(scale);
    const ContactVector<Dim> push = axes.transpose() * lambda;
    for (int c = 0; c < Dim; ++c) velocity[block.i[static_cast<std::size_t>(c)]] += w_i * push[c];  // (24)
    if (block.paired) {
      for (int c = 0; c < Dim; ++c) velocity[block.j[static_cast<std::size_t>(c)]] -= w_j * push[c];
    }
  }
}

}  // namespace conebench::cond
