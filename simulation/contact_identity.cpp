#include "simulation/contact_identity.hpp"

#include <algorithm>
#include <map>
#include <tuple>

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

void WarmStart::keep(const Mechanics& mechanics, const std::vector<std::int64_t>& identities, const Vector& impulse) {
  const Index joints = mechanics.joint_residuals.size();
  joints_ = impulse.head(joints);
  limits_.clear();
  for (std::size_t l = 0; l < mechanics.limit_names.size(); ++l) {
    limits_.emplace_back(mechanics.limit_names[l], impulse[joints + Index(l)]);
  }
  contacts_.clear();
  Index row = joints + mechanics.limit_gaps.size();
  for (std::size_t c = 0; c < identities.size(); ++c, row += 3) {
    Eigen::Vector3d local = impulse.segment<3>(row);
    local[1] *= mechanics.contacts[c].across;
    contacts_.emplace_back(identities[c], mechanics.contacts[c].frame * local);
  }
  std::sort(contacts_.begin(), contacts_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

Vector WarmStart::guess(const Mechanics& mechanics, const std::vector<std::int64_t>& identities) const {
  Vector guess = Vector::Zero(mechanics.rows());
  const Index joints = mechanics.joint_residuals.size();
  if (joints_.size() == joints) guess.head(joints) = joints_;
  for (std::size_t l = 0; l < mechanics.limit_names.size(); ++l) {
    for (const auto& [name, impulse] : limits_) {
      if (name == mechanics.limit_names[l]) guess[joints + Index(l)] = impulse;
    }
  }
  Index row = joints + mechanics.limit_gaps.size();
  for (std::size_t c = 0; c < identities.size(); ++c, row += 3) {
    const auto found =
        std::lower_bound(contacts_.begin(), contacts_.end(), identities[c],
                         [](const auto& known, std::int64_t identity) { return known.first < identity; });
    if (found == contacts_.end() || found->first != identities[c]) continue;
    guess.segment<3>(row) = mechanics.contacts[c].frame.transpose() * found->second;
    guess[row + 1] /= mechanics.contacts[c].across;
  }
  return guess;
}

}  // namespace conebench::simulation
