#include "problems/islands.hpp"

#include <algorithm>
#include <numeric>

#include "problems/block_sparse_builder.hpp"

namespace conebench {

namespace {

/// Sets that are joined, each known by its smallest member.
class JoinedSets {
 public:
  explicit JoinedSets(Index size) : parent_(static_cast<std::size_t>(size)) {
    std::iota(parent_.begin(), parent_.end(), Index{0});
  }
  Index find(Index i) {
    while (parent(i) != i) i = parent(i) = parent(parent(i));
    return i;
  }
  void join(Index a, Index b) {
    a = find(a);
    b = find(b);
    parent(std::max(a, b)) = std::min(a, b);
  }

 private:
  Index& parent(Index i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<Index> parent_;
};

void join_by_matrix(const BlockSparseMatrix& matrix, JoinedSets& sets) {
  for (Index b = 0; b < matrix.block_rows(); ++b) {
    for (Index k = matrix.row_begin(b); k < matrix.row_begin(b + 1); ++k) {
      if (matrix.column(k) != b && !(matrix.block(b, k).array() == 0.0).all()) sets.join(b, matrix.column(k));
    }
  }
}

/// Velocity j is the member `blocks` + j.
void join_by_motion(const ContactProblemData& data, JoinedSets& sets) {
  const Index blocks = data.cones.blocks();
  std::vector<Index> block_of_row(static_cast<std::size_t>(data.cones.rows()));
  for (Index b = 0; b < blocks; ++b) {
    std::fill_n(block_of_row.begin() + data.cones.block_row(b), data.cones.block_size(b), b);
  }
  const auto join = [&](const SparseMatrix& matrix, auto member_of) {
    for (Index j = 0; j < matrix.outerSize(); ++j) {
      for (SparseMatrix::InnerIterator it(matrix, j); it; ++it) {
        if (it.value() != 0.0) sets.join(member_of(it.row()), blocks + j);
      }
    }
  };
  join(data.primal->mass, [&](Index row) { return blocks + row; });
  join(data.primal->jacobian, [&](Index row) { return block_of_row[static_cast<std::size_t>(row)]; });
  if (!data.configuration || !data.configuration->nodes) return;
  for (const std::int64_t node : *data.configuration->nodes) {
    for (const Index k : {1, 2}) sets.join(blocks + node, blocks + node + k);
  }
}

/// Members grouped by island, `island_of[i]` < 0: in none.
void group(std::span<const Index> island_of, Index islands, std::vector<Index>& members,
           std::vector<std::size_t>& first, std::vector<Index>& local) {
  first.assign(static_cast<std::size_t>(islands) + 1, 0);
  for (const Index island : island_of) {
    if (island >= 0) ++first[static_cast<std::size_t>(island) + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  members.resize(first.back());
  local.assign(island_of.size(), -1);
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < island_of.size(); ++i) {
    if (island_of[i] < 0) continue;
    const auto island = static_cast<std::size_t>(island_of[i]);
    local[i] = static_cast<Index>(next[island] - first[island]);
    members[next[island]++] = static_cast<Index>(i);
  }
}

/// Puts islands of fewer blocks together, neighbours by number, until they have as many; returns how many are left.
Index put_together(std::vector<Index>& of_block, Index islands, Index min_blocks) {
  std::vector<Index> size(static_cast<std::size_t>(islands), 0), number(size.size());
  for (const Index island : of_block) ++size[static_cast<std::size_t>(island)];
  Index groups = 0, open = -1, in_open = 0;  // the group that small ones join
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] >= min_blocks) {
      number[i] = groups++;
      continue;
    }
    if (open < 0) open = groups++, in_open = 0;
    number[i] = open;
    in_open += size[i];
    if (in_open >= min_blocks) open = -1;
  }
  for (Index& island : of_block) island = number[static_cast<std::size_t>(island)];
  return groups;
}

Vector gathered(const Vector& whole, std::span<const Index> rows) {
  Vector part(static_cast<Index>(rows.size()));
  gather(whole, rows, part);
  return part;
}

}  // namespace

Islands::Islands(const ContactProblem& problem, Index min_blocks) : whole_(problem) {
  const ContactProblemData& data = problem.data();
  const ConeProduct& cones = data.cones;
  const Index velocities = data.primal ? data.primal->mass.rows() : 0;
  JoinedSets sets(cones.blocks() + velocities);
  if (data.primal) join_by_motion(data, sets);
  if (!problem.given_as_primal()) join_by_matrix(problem.blocks(), sets);
  Index islands = 0;
  std::vector<Index> of_block(static_cast<std::size_t>(cones.blocks())), of_row, of_velocity;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index first = sets.find(b);
    Index& own = of_block[static_cast<std::size_t>(b)];
    own = first == b ? islands++ : of_block[static_cast<std::size_t>(first)];
  }
  if (min_blocks > 1) islands = put_together(of_block, islands, min_blocks);
  of_row.reserve(static_cast<std::size_t>(cones.rows()));
  for (Index b = 0; b < cones.blocks(); ++b) {
    of_row.insert(of_row.end(), static_cast<std::size_t>(cones.block_size(b)), of_block[static_cast<std::size_t>(b)]);
  }
  of_velocity.reserve(static_cast<std::size_t>(velocities));
  for (Index j = 0; j < velocities; ++j) {
    const Index first = sets.find(cones.blocks() + j);
    of_velocity.push_back(first < cones.blocks() ? of_block[static_cast<std::size_t>(first)] : -1);
  }
  group(of_block, islands, blocks_, first_block_, local_block_);
  group(of_row, islands, rows_, first_row_, local_row_);
  group(of_velocity, islands, velocities_, first_velocity_, local_velocity_);
}

SparseMatrix Islands::part_of(const SparseMatrix& matrix, Index island, std::span<const Index> local_row,
                              Index rows) const {
  const auto columns = velocities(island);
  SparseMatrix part(rows, static_cast<Index>(columns.size()));
  std::size_t entries = 0;
  for (const Index j : columns) {
    entries += static_cast<std::size_t>(matrix.outerIndexPtr()[j + 1] - matrix.outerIndexPtr()[j]);
  }
  part.reserve(static_cast<Index>(entries));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    part.startVec(static_cast<Index>(j));
    for (SparseMatrix::InnerIterator it(matrix, columns[j]); it; ++it) {
      // A stored zero may couple two islands.
      if (it.value() == 0.0) continue;
      part.insertBack(local_row[static_cast<std::size_t>(it.row())], static_cast<Index>(j)) = it.value();
    }
  }
  part.finalize();
  return part;
}

BlockSparseMatrix Islands::part_of(const BlockSparseMatrix& matrix, Index island, const ConeProduct& cones) const {
  BlockSparseBuilder builder(cones);
  for (const Index b : blocks(island)) {
    const auto coupled = [&](auto take) {
      for (Index k = matrix.row_begin(b); k < matrix.row_begin(b + 1); ++k) {
        const Index column = matrix.column(k);
        if (column != b && (matrix.block(b, k).array() == 0.0).all()) continue;
        take(k, static_cast<int>(local_block_[static_cast<std::size_t>(column)]));
      }
    };
    coupled([&](Index, int column) { builder.name(column); });
    builder.begin_row();
    coupled([&](Index k, int column) { builder.block(column) = matrix.block(b, k); });
  }
  return builder.finish();
}

Configuration Islands::configuration_of(Index island) const {
  const Configuration& whole = *whole_.configuration();
  const ConeProduct& cones = whole_.cones();
  Configuration part;
  part.time_step = whole.time_step;
  part.coordinates = whole.coordinates;
  part.scene = whole.scene;
  part.step = whole.step;
  part.time = whole.time;
  part.seed = whole.seed;
  std::vector<Index> limits, contacts;
  for (const Index b : blocks(island)) {
    const BlockKind kind = cones.block_kind(b);
    if (kind == BlockKind::limit) limits.push_back(b - cones.first_limit_row());
    if (kind == BlockKind::contact) contacts.push_back(b - cones.first_contact_row());
  }
  const auto vectors = [](const std::optional<Vector>& from, std::span<const Index> rows, Index each) {
    std::optional<Vector> to;
    if (!from) return to;
    to.emplace(static_cast<Index>(rows.size()) * each);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      to->segment(static_cast<Index>(k) * each, each) = from->segment(rows[k] * each, each);
    }
    return to;
  };
  const auto identities = [](const std::optional<std::vector<std::int64_t>>& from, std::span<const Index> rows) {
    std::optional<std::vector<std::int64_t>> to;
    if (!from) return to;
    to.emplace();
    for (const Index row : rows) to->push_back((*from)[static_cast<std::size_t>(row)]);
    return to;
  };
  part.gaps = vectors(whole.gaps, contacts, 1);
  part.contact_identities = identities(whole.contact_identities, contacts);
  part.limit_identities = identities(whole.limit_identities, limits);
  const Index axes = cones.space_dimension();
  part.contact_frames = vectors(whole.contact_frames, contacts, axes * axes);
  part.friction_axes = vectors(whole.friction_axes, contacts, 2);
  if (!whole_.data().primal) return part;
  part.generalised_velocities = static_cast<Index>(velocities(island).size());
  part.velocity = vectors(whole.velocity, velocities(island), 1);
  part.inertia = vectors(whole.inertia, velocities(island), 1);
  if (!whole.nodes) return part;
  part.nodes.emplace();
  const auto own = velocities(island);
  for (const std::int64_t node : *whole.nodes) {
    if (!std::binary_search(own.begin(), own.end(), Index{node})) continue;
    part.nodes->push_back(local_velocity_[static_cast<std::size_t>(node)]);
  }
  return part;
}

Result<ContactProblem> Islands::problem(Index island) const {
  const ContactProblemData& whole = whole_.data();
  const auto own = rows(island);
  const auto size = static_cast<Index>(own.size());
  ContactProblemData data;
  data.cones = whole.cones.of_blocks(blocks(island));
  data.free_term = gathered(whole.free_term, own);
  data.compliance = gathered(whole.compliance, own);
  if (whole.bias) data.bias = gathered(*whole.bias, own);
  if (whole.guess) data.guess = gathered(*whole.guess, own);
  if (whole.reference) {
    data.reference =
        Reference{gathered(whole.reference->reaction, own), whole.reference->residual, whole.reference->source};
  }
  if (whole.configuration) data.configuration = configuration_of(island);
  data.provenance = whole.provenance;
  if (whole.primal) {
    const PrimalForm& primal = *whole.primal;
    data.primal =
        PrimalForm{part_of(primal.mass, island, local_velocity_, static_cast<Index>(velocities(island).size())),
                   part_of(primal.jacobian, island, local_row_, size),
                   gathered(primal.free_velocity, velocities(island)), primal.metric};
  }
  if (!whole_.given_as_primal()) {
    BlockSparseMatrix blocks = part_of(whole_.blocks(), island, data.cones);
    data.delassus = whole_.form() == DelassusForm::dense ? make_dense_delassus(blocks.dense())
                                                         : make_block_sparse_delassus(std::move(blocks));
  }
  CONEBENCH_TRY(const ContactProblem made, ContactProblem::create(std::move(data)));
  if (const BlockSparseMatrix* const known = whole_.made_blocks(); known != nullptr && whole_.given_as_primal()) {
    made.take_blocks(part_of(*known, island, made.cones()));
  }
  return made.watched(whole_.watcher());
}

}  // namespace conebench
