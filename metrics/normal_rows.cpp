#include "metrics/normal_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace conebench {

namespace {

constexpr int max_tangents = 2;

/// Tangents of a contact that could be its normal; 0: one of a law with more.
int tangents_of(const ConeProduct& cones, Index contact) {
  const int tangents = cones.normal_of(contact);
  return tangents <= max_tangents ? tangents : 0;
}

/// Whether every contact's impulse is in its cone with the row as the normal, to 1e-6 of the largest.
bool in_cones(const ConeProduct& cones, const Vector& impulse, std::optional<int> tangent) {
  const double rounding = 1e-6 * impulse.lpNorm<Eigen::Infinity>();
  for (Index i = 0; i < cones.contacts(); ++i) {
    const int tangents = tangents_of(cones, i);
    if (tangents == 0) continue;
    if (tangent && *tangent >= tangents) return false;
    const auto rows = impulse.segment(cones.contact_row(i), tangents + 1);
    const double normal = rows[tangent.value_or(tangents)];
    const double friction = std::sqrt(std::max(0.0, rows.squaredNorm() - normal * normal));
    const auto coefficients = cones.coefficients(i).first(static_cast<std::size_t>(tangents));
    if (friction > *std::ranges::max_element(coefficients) * normal + rounding) return false;
  }
  return true;
}

/// The row whose lever arms are parallel to it: G_ii is diagonal, and all others have one entry, at least twice its
/// own.
std::optional<int> row_through_centres(const Matrix& block) {
  const double size = block.trace();
  for (Index row = 0; row < block.rows(); ++row) {
    for (Index col = 0; col < block.cols(); ++col) {
      if (row != col && !(std::abs(block(row, col)) <= 1e-6 * size)) return std::nullopt;
    }
  }
  Index least = 0;
  block.diagonal().minCoeff(&least);
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  for (Index row = 0; row < block.rows(); ++row) {
    if (row == least) continue;
    low = std::min(low, block(row, row));
    high = std::max(high, block(row, row));
  }
  // b / a = 1 + m R² / I, and I ≤ 2/3 m R² of a sphere, m R² of a disc.
  if (high - low > 1e-6 * size || !(low >= 1.99 * block(least, least)) || low <= 0.0) return std::nullopt;
  return static_cast<int>(least);
}

std::optional<NormalDoubt> by_lever_arms(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  Index normals = 0;
  std::array<Index, max_tangents> fits = {};
  for (Index i = 0; i < cones.contacts(); ++i) {
    const int tangents = tangents_of(cones, i);
    if (tangents == 0) continue;
    const auto block = problem.diagonal().block(cones.first_contact_row() + i);
    const auto row = row_through_centres(block.topLeftCorner(tangents + 1, tangents + 1));
    if (!row) continue;
    ++(*row == tangents ? normals : fits[static_cast<std::size_t>(*row)]);
  }
  const auto most = std::ranges::max_element(fits);
  // A few are coincidences of bodies that joints hold.
  if (*most <= 10 * (normals + fits[0] + fits[1] - *most)) return std::nullopt;
  return NormalDoubt{NormalDoubt::Evidence::lever_arms, static_cast<int>(most - fits.begin()), *most};
}

}  // namespace

std::optional<NormalDoubt> doubt_normals(const ContactProblem& problem, std::span<const Vector> answers) {
  const ConeProduct& cones = problem.cones();
  for (const Vector& impulse : answers) {
    if (!impulse.allFinite() || impulse.tail(cones.rows() - cones.first_contact_row()).isZero(0.0)) continue;
    std::array<bool, max_tangents> fits = {};
    for (int tangent = 0; tangent < max_tangents; ++tangent) {
      fits[static_cast<std::size_t>(tangent)] = in_cones(cones, impulse, tangent);
    }
    const bool as_read = in_cones(cones, impulse, std::nullopt);
    if (as_read && !(fits[0] && fits[1])) return std::nullopt;
    for (int tangent = max_tangents - 1; tangent >= 0 && !as_read; --tangent) {
      if (!fits[static_cast<std::size_t>(tangent)]) continue;
      return NormalDoubt{NormalDoubt::Evidence::answer, tangent, cones.contacts()};
    }
  }
  return by_lever_arms(problem);
}

}  // namespace conebench
