#include "simulation/thinning.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace conebench::simulation {

namespace {

bool same_bodies(const ContactPoint& a, const ContactPoint& b) {
  return std::minmax(a.first_body, a.second_body) == std::minmax(b.first_body, b.second_body);
}

/// Which contacts stay, in order.
std::vector<std::size_t> staying(const std::vector<ContactPoint>& contacts, double distance) {
  std::vector<std::size_t> by_depth(contacts.size());
  std::iota(by_depth.begin(), by_depth.end(), std::size_t{0});
  std::stable_sort(by_depth.begin(), by_depth.end(),
                   [&](std::size_t a, std::size_t b) { return contacts[a].gap < contacts[b].gap; });
  std::vector<std::size_t> kept;
  for (const std::size_t c : by_depth) {
    const bool is_near = std::any_of(kept.begin(), kept.end(), [&](std::size_t k) {
      return same_bodies(contacts[c], contacts[k]) && (contacts[c].position - contacts[k].position).norm() < distance;
    });
    if (!is_near) kept.push_back(c);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

void thin_contacts(Mechanics& mechanics, double distance) {
  const auto kept = staying(mechanics.contacts, distance);
  const auto before = static_cast<Index>(mechanics.contacts.size());
  if (static_cast<Index>(kept.size()) == before) return;
  const Index others = mechanics.rows() - 3 * before;
  std::vector<Eigen::Triplet<double>> chosen;
  for (Index row = 0; row < others; ++row) chosen.emplace_back(row, row, 1.0);
  std::vector<ContactPoint> contacts;
  for (const std::size_t c : kept) {
    const Index to = others + 3 * static_cast<Index>(contacts.size());
    for (Index axis = 0; axis < 3; ++axis)
      chosen.emplace_back(to + axis, others + 3 * static_cast<Index>(c) + axis, 1.0);
    contacts.push_back(mechanics.contacts[c]);
  }
  SparseMatrix choice(others + 3 * static_cast<Index>(contacts.size()), mechanics.rows());
  choice.setFromTriplets(chosen.begin(), chosen.end());
  mechanics.jacobian = SparseMatrix(choice * mechanics.jacobian);
  mechanics.contacts = std::move(contacts);
}

}  // namespace conebench::simulation
