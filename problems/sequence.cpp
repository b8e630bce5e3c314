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

/// Axes of a contact's frame: 2 in the plane, else 3.
Index frame_size(const ImpulseLayout& layout) {
  return layout.contact_rows.empty() ? std::min(layout.normal + 1, 3) : 3;
}

/// The frame of contact i: its axes are the columns.
Eigen::Map<const Matrix> frame(const ImpulseLayout& layout, Index i) {
  const Index size = frame_size(layout);
  return {layout.contact_frames.data() + size * size * i, size, size};
}

bool frames_known(const ImpulseLayout& layout) {
  const Index size = frame_size(layout);
  return static_cast<Index>(layout.contact_frames.size()) == size * size * layout.contacts;
}

/// The rows along a frame's axes (t1, t2, n), and those of moments about them, which are the last of t1, t2, m_n, m1,
/// m2: three tangential rows have the one about the normal, four those about the tangents, five all.
struct Axes {
  std::vector<Index> forces, moments;
};
Axes axes_of(int rows, int normal) {
  const auto row = [normal](Index tangential) { return tangential < normal ? tangential : tangential + 1; };
  Axes axes;
  const Index tangential = rows - 1;
  for (Index k = 0; k < std::min<Index>(tangential, 2); ++k) axes.forces.push_back(row(k));
  axes.forces.push_back(normal);
  for (Index k = 2; k < tangential; ++k) axes.moments.push_back(row(k));
  return axes;
}

/// Whether a contact's rows can be assigned to the axes of its frame: there are as many tangents as axes.
bool axes_known(int rows, const ImpulseLayout& layout) { return rows >= frame_size(layout) && rows <= 6; }

/// The first row of each contact.
std::vector<Index> contact_rows(const ImpulseLayout& layout) {
  std::vector<Index> rows;
  Index row = layout.first_contact_row();
  for (Index i = 0; i < layout.contacts; ++i) {
    rows.push_back(row);
    row += layout.rows_of(i);
  }
  return rows;
}

/// λ of a contact from the frame `from` (axes in the columns) in the frame `to`.
void turn(const Axes& axes, const Matrix& from, const Matrix& to, ConstVectorRef old, VectorRef now) {
  now(axes.forces) = to.transpose() * (from * old(axes.forces));
  // About m1, m2 (two moments), m_n (one), or m_n, m1, m2.
  const std::vector<Index> all{2, 0, 1};
  std::vector<Index> about;
  if (axes.moments.size() != 2) about.push_back(all[0]);
  if (axes.moments.size() >= 2) about.insert(about.end(), all.begin() + 1, all.end());
  if (axes.moments.empty() || axes.moments.size() > 3) return;
  now(axes.moments) = to(Eigen::all, about).transpose() * (from(Eigen::all, about) * old(axes.moments));
}

}  // namespace

ImpulseLayout layout_of(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  ImpulseLayout layout{.joints = cones.joints(),
                       .limits = cones.limits(),
                       .intervals = static_cast<Index>(cones.intervals().size()),
                       .contacts = cones.contacts(),
                       .contact_dimension = cones.contact_dimension(),
                       .normal = cones.contacts() > 0 ? cones.normal_of(0) : 2,
                       .contact_identities = {},
                       .limit_identities = {}};
  if (cones.contacts() > 0 && cones.contact_type() == ConeType::friction) {
    layout.contact_dimension = layout.normal = 0;
    for (Index i = 0; i < cones.contacts(); ++i) {
      layout.contact_rows.push_back(cones.contact_rows(i));
      layout.normals.push_back(cones.normal_of(i));
    }
  }
  if (const auto& given = problem.given_rows(); given && (given->shift.array() != 0.0).any()) {
    Vector shift = Vector::Zero(problem.rows());
    for (std::size_t k = 0; k < given->row.size(); ++k) {
      if (given->row[k] >= 0) shift[given->row[k]] = given->shift[static_cast<Index>(k)];
    }
    for (Index i = 0; i < cones.contacts(); ++i)
      layout.shifts.push_back(shift[cones.contact_row(i) + cones.normal_of(i)]);
  }
  if (const auto& known = problem.configuration()) {
    layout.contact_identities = known->contact_identities.value_or(std::vector<std::int64_t>{});
    layout.limit_identities = known->limit_identities.value_or(std::vector<std::int64_t>{});
    // Where a tangential row was left out, the number of rows does not say which they are.
    const auto& given = problem.given_rows();
    const bool complete = !given || std::ranges::find(given->row, Index{-1}) == given->row.end();
    if (known->contact_frames && complete)
      layout.contact_frames = {known->contact_frames->begin(), known->contact_frames->end()};
  }
  return layout;
}

Vector carried_impulse(const ImpulseLayout& from, ConstVectorRef impulse, const ImpulseLayout& to) {
  if (impulse.size() != from.rows()) throw std::invalid_argument("carried_impulse: the impulse has another size");
  Vector carried = Vector::Zero(to.rows());
  match(from.joints, {}, to.joints, {}, [&](Index i, Index j) { carried[j] = impulse[i]; });
  match(from.limits, from.limit_identities, to.limits, to.limit_identities,
        [&](Index i, Index j) { carried[to.joints + j] = impulse[from.joints + i]; });
  match(from.intervals, {}, to.intervals, {},
        [&](Index i, Index j) { carried[to.joints + to.limits + j] = impulse[from.joints + from.limits + i]; });
  const bool turned = frames_known(from) && frames_known(to) && frame_size(from) == frame_size(to);
  const std::vector<Index> from_row = contact_rows(from), to_row = contact_rows(to);
  match(from.contacts, from.contact_identities, to.contacts, to.contact_identities, [&](Index i, Index j) {
    const int size = to.rows_of(j);
    if (from.rows_of(i) != size || from.normal_of(i) != to.normal_of(j)) return;
    const auto old = impulse.segment(from_row[static_cast<std::size_t>(i)], size);
    auto now = carried.segment(to_row[static_cast<std::size_t>(j)], size);
    now = old;
    now[to.normal_of(j)] += to.shift_of(j) - from.shift_of(i);
    // Frames that are equal to the last bit leave λ as it is to the last bit.
    if (turned && frame(from, i) != frame(to, j) && axes_known(size, to)) {
      const Vector moved = now;
      turn(axes_of(size, to.normal_of(j)), frame(from, i), frame(to, j), moved, now);
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
