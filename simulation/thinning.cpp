#include "simulation/thinning.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
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
  std::vector<Index> rows(static_cast<std::size_t>(mechanics.first_contact_row()));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::vector<Index> first_row;
  Index row = mechanics.first_contact_row();
  for (const ContactPoint& contact : mechanics.contacts) first_row.push_back(std::exchange(row, row + contact.rows()));
  std::vector<ContactPoint> contacts;
  for (const std::size_t c : kept) {
    contacts.push_back(mechanics.contacts[c]);
    for (Index k = 0; k < contacts.back().rows(); ++k) rows.push_back(first_row[c] + k);
  }
  std::vector<Eigen::Triplet<double>> chosen;
  for (std::size_t to = 0; to < rows.size(); ++to) chosen.emplace_back(Index(to), rows[to], 1.0);
  SparseMatrix choice(Index(rows.size()), mechanics.rows());
  choice.setFromTriplets(chosen.begin(), chosen.end());
  mechanics.jacobian = SparseMatrix(choice * mechanics.jacobian);
  if (mechanics.drift.size() > 0) mechanics.drift = choice * mechanics.drift;
  mechanics.contacts = std::move(contacts);
}

}  // namespace conebench::simulation
