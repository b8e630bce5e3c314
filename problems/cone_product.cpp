#include "problems/cone_product.hpp"

#include <cmath>
#include <string>

#include "problems/cone_projection.hpp"
#include "problems/cones/contact_rows.hpp"

namespace conebench {

namespace {

template <class ContactMap>
void map_contacts(const ConeProduct& cones, ConstVectorRef x, VectorRef out, ContactMap map) {
  const auto friction = cones.friction();
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index row = cones.contact_row(i);
    const double mu = friction[static_cast<std::size_t>(i)];
    with_contact_rows(cones.contact_dimension(), [&]<int Dim>() {
      const ContactVector<Dim> value = x.segment<Dim>(row);
      out.segment<Dim>(row) = map(value, mu);
    });
  }
}

template <class Value>
constexpr int dimension_of = Value::RowsAtCompileTime;

}  // namespace

Result<ConeProduct> ConeProduct::create(Index joints, Index limits, std::vector<double> friction,
                                        int contact_dimension) {
  if (joints < 0 || limits < 0) {
    return Error{ErrorCode::bad_input, "cones: the number of joint rows and limit rows must not be negative (got " +
                                           std::to_string(joints) + " and " + std::to_string(limits) + ")"};
  }
  if (contact_dimension != 2 && contact_dimension != 3) {
    return Error{ErrorCode::bad_input,
                 "cones: a contact has 2 or 3 components, not " + std::to_string(contact_dimension)};
  }
  for (std::size_t i = 0; i < friction.size(); ++i) {
    if (!std::isfinite(friction[i]) || friction[i] < 0.0) {
      return Error{ErrorCode::bad_input, "cones: the friction coefficient of contact " + std::to_string(i) +
                                             " must be finite and not negative (got " + std::to_string(friction[i]) +
                                             ")"};
    }
  }
  ConeProduct cones;
  cones.joints_ = joints;
  cones.limits_ = limits;
  cones.contact_dimension_ = contact_dimension;
  cones.friction_ = std::move(friction);
  return cones;
}

BlockKind ConeProduct::block_kind(Index block) const {
  if (block < joints_) return BlockKind::joint;
  return block < first_contact_row() ? BlockKind::limit : BlockKind::contact;
}

Index ConeProduct::block_row(Index block) const {
  return block < first_contact_row() ? block : contact_row(block - first_contact_row());
}

void project_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out) {
  out.head(cones.joints()) = x.head(cones.joints());
  out.segment(cones.first_limit_row(), cones.limits()) =
      x.segment(cones.first_limit_row(), cones.limits()).cwiseMax(0.0);
  map_contacts(cones, x, out, [](const auto& value, double mu) {
    return project_friction_cone<dimension_of<std::decay_t<decltype(value)>>>(value, mu);
  });
}

void project_dual_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out) {
  out.head(cones.joints()).setZero();
  out.segment(cones.first_limit_row(), cones.limits()) =
      x.segment(cones.first_limit_row(), cones.limits()).cwiseMax(0.0);
  map_contacts(cones, x, out, [](const auto& value, double mu) {
    return project_dual_friction_cone<dimension_of<std::decay_t<decltype(value)>>>(value, mu);
  });
}

void add_de_saxce(const ConeProduct& cones, ConstVectorRef sigma, VectorRef out) {
  out.head(cones.first_contact_row()) = sigma.head(cones.first_contact_row());
  map_contacts(cones, sigma, out, [](const auto& value, double mu) {
    constexpr int dimension = dimension_of<std::decay_t<decltype(value)>>;
    ContactVector<dimension> corrected = value;
    corrected[dimension - 1] += mu * tangential_norm<dimension>(value);
    return corrected;
  });
}

}  // namespace conebench
