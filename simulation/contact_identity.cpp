#include "simulation/contact_identity.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace conebench::simulation {

namespace {

/// A sliding contact stays where it is on one of the two bodies, a rolling one moves little on both.
double distance(const ContactPoint& a, const ContactPoint& b) {
  return std::min((a.first_local - b.first_local).norm(), (a.second_local - b.second_local).norm());
}

}  // namespace

std::vector<std::int64_t> ContactIdentities::follow(const std::vector<ContactPoint>& contacts) {
  using Shapes = std::pair<int, int>;
  std::map<Shapes, std::vector<std::size_t>> known_of;
  for (std::size_t k = 0; k < known_.size(); ++k) {
    known_of[{known_[k].contact.first_shape, known_[k].contact.second_shape}].push_back(k);
  }
  // Nearest pairs first, so that a contact does not take another's identity.
  std::vector<std::tuple<double, std::size_t, std::size_t>> pairs;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const auto found = known_of.find({contacts[c].first_shape, contacts[c].second_shape});
    if (found == known_of.end()) continue;
    for (const std::size_t k : found->second) {
      const double apart = distance(contacts[c], known_[k].contact);
      if (apart <= radius_) pairs.emplace_back(apart, c, k);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::int64_t> identities(contacts.size(), -1);
  std::vector<bool> taken(known_.size(), false);
  for (const auto& [apart, c, k] : pairs) {
    if (identities[c] >= 0 || taken[k]) continue;
    identities[c] = known_[k].identity;
    taken[k] = true;
  }
  known_.clear();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (identities[c] < 0) identities[c] = next_++;
    known_.push_back({contacts[c], identities[c]});
  }
  return identities;
}

namespace {

/// Impulses of rows with names, and what `names` has of them from `first` on.
template <class Names, class Name>
std::vector<std::pair<int, double>> named(const Names& rows, Index first, const Vector& impulse, Name&& name) {
  std::vector<std::pair<int, double>> known;
  for (const auto& row : rows) known.emplace_back(name(row), impulse[first++]);
  return known;
}

template <class Names, class Name>
void recall(const Names& rows, Index first, const std::vector<std::pair<int, double>>& known, Vector& guess,
            Name&& name) {
  for (const auto& row : rows) {
    for (const auto& [number, impulse] : known) {
      if (number == name(row)) guess[first] = impulse;
    }
    ++first;
  }
}

int own_name(int name) { return name; }
int name_of(const BoundedRow& row) { return row.name; }

}  // namespace

void WarmStart::keep(const Mechanics& mechanics, const std::vector<std::int64_t>& identities, const Vector& impulse) {
  const Index joints = mechanics.joint_residuals.size();
  joints_ = impulse.head(joints);
  limits_ = named(mechanics.limit_names, joints, impulse, own_name);
  bounded_ = named(mechanics.bounded, mechanics.first_bounded_row(), impulse, name_of);
  contacts_.clear();
  Index row = mechanics.first_contact_row();
  for (std::size_t c = 0; c < identities.size(); ++c) {
    const ContactPoint& contact = mechanics.contacts[c];
    const Index normal = row + contact.normal();
    const Eigen::Vector3d local(impulse[row], impulse[row + 1] * contact.across, impulse[normal]);
    Impulse kept{.linear = contact.frame * local};
    for (Index k = 2; k < contact.normal(); ++k) kept.angular += impulse[row + k] * contact.frame.col(k % 3);
    contacts_.emplace_back(identities[c], kept);
    row += contact.rows();
  }
  std::sort(contacts_.begin(), contacts_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

Vector WarmStart::guess(const Mechanics& mechanics, const std::vector<std::int64_t>& identities) const {
  Vector guess = Vector::Zero(mechanics.rows());
  const Index joints = mechanics.joint_residuals.size();
  if (joints_.size() == joints) guess.head(joints) = joints_;
  recall(mechanics.limit_names, joints, limits_, guess, own_name);
  recall(mechanics.bounded, mechanics.first_bounded_row(), bounded_, guess, name_of);
  Index row = mechanics.first_contact_row();
  for (std::size_t c = 0; c < identities.size(); ++c) {
    const ContactPoint& contact = mechanics.contacts[c];
    const Index first = std::exchange(row, row + contact.rows());
    const auto found =
        std::lower_bound(contacts_.begin(), contacts_.end(), identities[c],
                         [](const auto& known, std::int64_t identity) { return known.first < identity; });
    if (found == contacts_.end() || found->first != identities[c]) continue;
    const Eigen::Vector3d local = contact.frame.transpose() * found->second.linear;
    guess[first] = local[0];
    guess[first + 1] = local[1] / contact.across;
    guess[first + contact.normal()] = local[2];
    for (Index k = 2; k < contact.normal(); ++k) {
      guess[first + k] = contact.frame.col(k % 3).dot(found->second.angular);
    }
  }
  return guess;
}

}  // namespace conebench::simulation
