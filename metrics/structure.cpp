#include "metrics/structure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "problems/islands.hpp"

namespace conebench {

namespace {

/// The mass of a free rigid body whose velocities these are, the translations first: they are coupled with nothing and
/// have one mass.
std::optional<double> rigid_mass(const SparseMatrix& mass, const std::vector<Index>& translations) {
  const double first = mass.coeff(translations.front(), translations.front());
  for (const Index i : translations) {
    if (std::abs(mass.coeff(i, i) - first) > 1e-12 * first) return std::nullopt;
    for (SparseMatrix::InnerIterator entry(mass, i); entry; ++entry) {
      if (entry.row() != entry.col() && entry.value() != 0.0) return std::nullopt;
    }
  }
  return first > 0.0 ? std::optional(first) : std::nullopt;
}

class UnionFind {
 public:
  explicit UnionFind(Index size) : parent_(static_cast<std::size_t>(size)) {
    std::iota(parent_.begin(), parent_.end(), Index{0});
  }
  Index root(Index i) {
    while (at(i) != i) i = at(i) = at(at(i));
    return i;
  }
  void join(Index one, Index other) {
    const Index a = root(one), b = root(other);
    at(std::max(a, b)) = std::min(a, b);
  }

 private:
  Index& at(Index i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<Index> parent_;
};

void take(std::optional<Spread>& spread, Index index, double value) {
  if (!(value > 0.0) || !std::isfinite(value)) return;
  if (!spread) spread = Spread{index, index, value, value};
  if (value < spread->minimum) {
    spread->smallest = index;
    spread->minimum = value;
  }
  if (value > spread->maximum) {
    spread->largest = index;
    spread->maximum = value;
  }
}

/// The trace of G_ii + R_ii.
double trace(const ContactProblem& problem, Index block) {
  const Index row = problem.cones().block_row(block);
  const int size = problem.cones().block_size(block);
  return problem.diagonal().block(block).trace() + problem.compliance().segment(row, size).sum();
}

void add_coupling(const ContactProblem& problem, Structure& structure) {
  if (!problem.condenses_sparsely()) return;
  const BlockSparseMatrix& delassus = problem.blocks();
  for (Index block = 0; block < delassus.block_rows(); ++block) {
    double others = 0.0, own = 0.0;
    for (Index k = delassus.row_begin(block); k < delassus.row_begin(block + 1); ++k) {
      Matrix entries = delassus.block(block, k);
      if (delassus.column(k) == block) {
        entries.diagonal() += problem.compliance().segment(delassus.block_offset(block), entries.rows());
        own = entries.norm();
      } else {
        others += entries.norm();
      }
    }
    if (!(own > 0.0)) {
      structure.coupling_between.reset();
      structure.coupled_block = block;
      return;
    }
    if (!structure.coupling_between || others / own > *structure.coupling_between) {
      structure.coupling_between = others / own;
      structure.coupled_block = block;
    }
  }
}

}  // namespace

MovingParts::MovingParts(const ContactProblem& problem)
    : of_block_(static_cast<std::size_t>(problem.cones().blocks())) {
  const auto& primal = problem.data().primal;
  if (!primal) return;
  const Index velocities = primal->mass.rows();
  UnionFind sets(velocities);
  for (Index column = 0; column < primal->mass.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator entry(primal->mass, column); entry; ++entry) {
      if (entry.value() != 0.0) sets.join(entry.row(), entry.col());
    }
  }
  const int dimension = problem.cones().space_dimension();
  const int of_body = dimension * (dimension + 1) / 2;
  // A rigid body's translations are coupled with nothing: they and its rotations come one after the other in M.
  std::vector<bool> alone(static_cast<std::size_t>(velocities));
  std::vector<Index> size(static_cast<std::size_t>(velocities));
  for (Index i = 0; i < velocities; ++i) ++size[static_cast<std::size_t>(sets.root(i))];
  const auto& known = problem.configuration();
  const bool bodies = velocities % of_body == 0 && !(known && known->nodes);
  if (bodies) {
    for (Index first = 0; first < velocities; first += of_body) {
      bool apart = true;
      for (Index i = first; i < first + of_body; ++i) {
        const Index root = sets.root(i);
        apart = apart && root >= first && root < first + of_body &&
                (i >= first + dimension || size[static_cast<std::size_t>(root)] == 1);
      }
      std::vector<Index> translations(static_cast<std::size_t>(dimension));
      std::iota(translations.begin(), translations.end(), first);
      if (!apart || !rigid_mass(primal->mass, translations)) continue;
      for (Index i = first + 1; i < first + of_body; ++i) sets.join(first, i);
      alone[static_cast<std::size_t>(first)] = true;
    }
  }
  std::vector<Index> number(static_cast<std::size_t>(velocities), -1);
  for (Index i = 0; i < velocities; ++i) {
    const auto root = static_cast<std::size_t>(sets.root(i));
    if (number[root] < 0) {
      number[root] = static_cast<Index>(parts_.size());
      parts_.emplace_back();
    }
    MovingPart& part = parts_[static_cast<std::size_t>(number[root])];
    part.velocities.push_back(i);
    if (alone[root]) part.mass = primal->mass.coeff(static_cast<Index>(root), static_cast<Index>(root));
  }
  std::vector<Index> block_of(static_cast<std::size_t>(problem.rows()));
  for (Index block = 0; block < problem.cones().blocks(); ++block) {
    for (int k = 0; k < problem.cones().block_size(block); ++k)
      block_of[static_cast<std::size_t>(problem.cones().block_row(block) + k)] = block;
  }
  for (Index outer = 0; outer < primal->jacobian.outerSize(); ++outer) {
    for (SparseMatrix::InnerIterator entry(primal->jacobian, outer); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      const Index part = number[static_cast<std::size_t>(sets.root(entry.col()))];
      of_block_[static_cast<std::size_t>(block_of[static_cast<std::size_t>(entry.row())])].push_back(part);
    }
  }
  for (auto& list : of_block_) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

Structure analyse_structure(const ContactProblem& problem, const MovingParts& parts) {
  Structure structure;
  const ConeProduct& cones = problem.cones();
  const Islands islands(problem);
  structure.islands = islands.count();
  for (Index i = 0; i < islands.count(); ++i)
    structure.largest_island = std::max(structure.largest_island, static_cast<Index>(islands.blocks(i).size()));
  add_coupling(problem, structure);
  for (Index block = 0; block < cones.blocks(); ++block) {
    take(structure.effective_mass, block, static_cast<double>(cones.block_size(block)) / trace(problem, block));
    const Index row = cones.block_row(block);
    structure.velocity_scale =
        std::max(structure.velocity_scale, problem.free_term().segment(row, cones.block_size(block)).norm());
  }
  if (const auto& known = problem.configuration(); known && known->body_masses) {
    for (Index i = 0; i < known->body_masses->size(); ++i) take(structure.mass, i, (*known->body_masses)[i]);
  } else {
    for (std::size_t i = 0; i < parts.list().size(); ++i) {
      if (const auto& mass = parts.list()[i].mass) take(structure.mass, static_cast<Index>(i), *mass);
    }
  }
  return structure;
}

}  // namespace conebench
