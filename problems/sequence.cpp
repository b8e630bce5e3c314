#include "problems/sequence.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <stdexcept>
#include <unordered_map>

namespace conebench {

namespace {

/// Calls `carry(i, j)` for every block i of the one problem that is block j of the other.
template <class Carry>
void match(Index from_count, const std::vector<std::int64_t>& from, Index to_count, const std::vector<std::int64_t>& to,
           Carry carry) {
  const bool known = static_cast<Index>(from.size()) == from_count && static_cast<Index>(to.size()) == to_count;
  if (!known) {
    if (from_count != to_count) return;
    for (Index i = 0; i < from_count; ++i) carry(i, i);
    return;
  }
  std::unordered_map<std::int64_t, Index> index_of;
  for (Index i = 0; i < from_count; ++i) index_of.emplace(from[static_cast<std::size_t>(i)], i);
  for (Index j = 0; j < to_count; ++j) {
    const auto found = index_of.find(to[static_cast<std::size_t>(j)]);
    if (found != index_of.end()) carry(found->second, j);
  }
}

/// Axes of a contact's frame: moments of rolling friction are along its tangents.
Index frame_size(const ImpulseLayout& layout) { return std::min(layout.contact_dimension, 3); }

/// The frame of contact i: its axes are the columns.
Eigen::Map<const Matrix> frame(const ImpulseLayout& layout, Index i) {
  const Index size = frame_size(layout);
  return {layout.contact_frames.data() + size * size * i, size, size};
}

bool frames_known(const ImpulseLayout& layout) {
  const Index size = frame_size(layout);
  return static_cast<Index>(layout.contact_frames.size()) == size * size * layout.contacts;
}

}  // namespace

ImpulseLayout layout_of(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  ImpulseLayout layout{cones.joints(), cones.limits(), cones.contacts(), cones.contact_dimension(), {}, {}, {}};
  if (const auto& known = problem.configuration()) {
    layout.contact_identities = known->contact_identities.value_or(std::vector<std::int64_t>{});
    layout.limit_identities = known->limit_identities.value_or(std::vector<std::int64_t>{});
    if (known->contact_frames) layout.contact_frames = {known->contact_frames->begin(), known->contact_frames->end()};
  }
  return layout;
}

Vector carried_impulse(const ImpulseLayout& from, ConstVectorRef impulse, const ImpulseLayout& to) {
  if (impulse.size() != from.rows()) throw std::invalid_argument("carried_impulse: the impulse has another size");
  Vector carried = Vector::Zero(to.rows());
  match(from.joints, {}, to.joints, {}, [&](Index i, Index j) { carried[j] = impulse[i]; });
  match(from.limits, from.limit_identities, to.limits, to.limit_identities,
        [&](Index i, Index j) { carried[to.joints + j] = impulse[from.joints + i]; });
  if (from.contact_dimension != to.contact_dimension) return carried;
  const Index size = to.contact_dimension;
  const Index axes = frame_size(to);
  const Index moments = size - axes;
  const bool turned = frames_known(from) && frames_known(to);
  match(from.contacts, from.contact_identities, to.contacts, to.contact_identities, [&](Index i, Index j) {
    const auto old = impulse.segment(from.joints + from.limits + size * i, size);
    auto now = carried.segment(to.joints + to.limits + size * j, size);
    // Frames that are equal to the last bit leave λ as it is to the last bit.
    if (turned && frame(from, i) != frame(to, j)) {
      now.head(axes) = frame(to, j).transpose() * (frame(from, i) * old.head(axes));
      now.tail(moments) =
          frame(to, j).leftCols(moments).transpose() * (frame(from, i).leftCols(moments) * old.tail(moments));
    } else {
      now = old;
    }
  });
  return carried;
}

std::optional<SequencePosition> position_in_sequence(const ContactProblem& problem) {
  const auto& known = problem.configuration();
  if (!known || known->scene.empty() || !known->step) return std::nullopt;
  const Provenance& provenance = problem.provenance();
  SequencePosition position;
  for (const std::string& part : {std::filesystem::path(provenance.source_file).parent_path().string(),
                                  std::string(problem.primal() ? "global" : "local"), known->scene,
                                  known->seed ? std::to_string(*known->seed) : std::string(),
                                  known->coordinates ? to_string(*known->coordinates) : std::string()}) {
    position.sequence += part + '\n';
  }
  position.step = *known->step;
  return position;
}

std::vector<std::optional<std::size_t>> predecessors(const std::vector<std::optional<SequencePosition>>& positions) {
  std::map<std::string, std::map<std::int64_t, std::size_t>> last_at;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i]) last_at[positions[i]->sequence][positions[i]->step] = i;
  }
  std::vector<std::optional<std::size_t>> before(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (!positions[i]) continue;
    const auto& steps = last_at[positions[i]->sequence];
    const auto own = steps.find(positions[i]->step);
    if (own != steps.begin()) before[i] = std::prev(own)->second;
  }
  return before;
}

}  // namespace conebench
