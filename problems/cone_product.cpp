#include "problems/cone_product.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "problems/cones/contact_cones.hpp"

namespace conebench {

namespace {

/// out_i = map(cone_i, x_i) for every block i.
template <class BlockMap>
void map_blocks(const ConeProduct& cones, ConstVectorRef x, VectorRef out, BlockMap map) {
  for (const ConeRun& run : cones.runs()) {
    with_cone(run.type, [&]<class Cone>() {
      for (Index i = 0; i < run.count; ++i) {
        const Index row = run.first_row + Cone::rows * i;
        const typename Cone::Block value = x.segment<Cone::rows>(row);
        out.segment<Cone::rows>(row) = map(cone_of_run<Cone>(cones, i), value);
      }
    });
  }
}

/// Nothing for a dimension that no cone has.
std::optional<ConeType> contact_type_of(int dimension) {
  switch (dimension) {
    case CoulombPlane::rows: return ConeType::coulomb_plane;
    case CoulombSpace::rows: return ConeType::coulomb_space;
    case RollingCone::rows: return ConeType::rolling;
    default: return std::nullopt;
  }
}

Result<void> check_friction(const char* name, const std::vector<double>& friction) {
  for (std::size_t i = 0; i < friction.size(); ++i) {
    if (std::isfinite(friction[i]) && friction[i] >= 0.0) continue;
    return Error{ErrorCode::bad_input, std::string("cones: the ") + name + " coefficient of contact " +
                                           std::to_string(i) + " must be finite and not negative (got " +
                                           std::to_string(friction[i]) + ")"};
  }
  return {};
}

}  // namespace

Result<ConeProduct> ConeProduct::create(Index joints, Index limits, std::vector<double> friction, int contact_dimension,
                                        std::vector<double> rolling_friction) {
  if (joints < 0 || limits < 0) {
    return Error{ErrorCode::bad_input, "cones: the number of joint rows and limit rows must not be negative (got " +
                                           std::to_string(joints) + " and " + std::to_string(limits) + ")"};
  }
  const std::optional<ConeType> type = contact_type_of(contact_dimension);
  if (!type) {
    return Error{ErrorCode::bad_input, "cones: a contact has 2 or 3 components, or 5 with rolling friction, not " +
                                           std::to_string(contact_dimension)};
  }
  CONEBENCH_CHECK(check_friction("friction", friction));
  CONEBENCH_CHECK(check_friction("rolling friction", rolling_friction));
  if (rolling_friction.size() != (*type == ConeType::rolling ? friction.size() : 0)) {
    return Error{ErrorCode::bad_input, "cones: " + std::to_string(rolling_friction.size()) +
                                           " coefficients of rolling friction for " + std::to_string(friction.size()) +
                                           " contacts of " + std::to_string(contact_dimension) + " components"};
  }
  ConeProduct cones;
  cones.joints_ = joints;
  cones.limits_ = limits;
  cones.contact_dimension_ = contact_dimension;
  cones.contact_type_ = *type;
  cones.friction_ = std::move(friction);
  cones.rolling_friction_ = std::move(rolling_friction);
  if (joints > 0) cones.runs_.push_back({ConeType::joint, 0, joints});
  if (limits > 0) cones.runs_.push_back({ConeType::limit, joints, limits});
  if (cones.contacts() > 0) cones.runs_.push_back({*type, joints + limits, cones.contacts()});
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
  map_blocks(cones, x, out, [](const auto& cone, const auto& value) { return cone.project(value); });
}

void project_dual_cone(const ConeProduct& cones, ConstVectorRef x, VectorRef out) {
  map_blocks(cones, x, out, [](const auto& cone, const auto& value) { return cone.project_dual(value); });
}

void add_de_saxce(const ConeProduct& cones, ConstVectorRef sigma, VectorRef out) {
  map_blocks(cones, sigma, out, [](const auto& cone, const auto& value) {
    using Cone = std::decay_t<decltype(cone)>;
    auto corrected = value;
    if constexpr (Cone::rows > 1) corrected[Cone::normal] += cone.de_saxce(value);
    return corrected;
  });
}

}  // namespace conebench
