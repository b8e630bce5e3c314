#include "problems/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "problems/mass_solve.hpp"

namespace conebench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Bounds from here on are none, as in OSQP and Ipopt.
constexpr double unbounded = 1e20;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A cone's rows in the order of the problem: the first group, the normal, the other groups.
struct Contact {
  Index block = 0;
  FrictionLaw law;
  std::vector<Index> rows;  ///< given
};

/// What the table says, checked and sorted.
struct Ordered {
  std::vector<Index> joints, limits, bounded;  ///< given rows
  std::vector<Interval> intervals;
  std::vector<Contact> contacts;
  std::vector<Index> limit_blocks;
};

class Reader {
 public:
  Reader(const BlockTable& table, std::string name) : table_(table), name_(std::move(name)) {}

  Result<Ordered> read() {
    CONEBENCH_CHECK(check_sizes());
    Ordered result;
    for (Index block = 0; block < table_.blocks(); ++block) {
      const Index begin = table_.first_row[at(block)];
      const Index end = table_.first_row[at(block) + 1];
      if (end == begin) return wrong(block, begin, "the block has no rows");
      if (table_.cone[at(block)] == BlockCone::none) {
        for (Index row = begin; row < end; ++row) CONEBENCH_CHECK(take_row(block, row, result));
      } else {
        CONEBENCH_CHECK(take_cone(block, begin, end, result));
      }
    }
    // Contacts of one type make one run.
    std::ranges::stable_sort(result.contacts, {}, [](const Contact& contact) { return rank_of(contact.law); });
    return result;
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Error wrong(Index block, Index row, const std::string& what) const {
    return {ErrorCode::bad_input, fmt::format("{}: block {}, row {}: {}", name_, block, row, what)};
  }
  Error wrong(const std::string& what) const { return {ErrorCode::bad_input, name_ + ": " + what}; }

  Result<void> check_sizes() const {
    const Index n = table_.rows();
    if (table_.first_row.size() != table_.cone.size() + 1 || table_.first_row.front() != 0 ||
        !std::ranges::is_sorted(table_.first_row)) {
      return wrong(
          fmt::format("block_rows must start with 0 and ascend, one more than the {} blocks", table_.cone.size()));
    }
    const auto check = [&](const char* part, Index size) -> Result<void> {
      if (size == n) return {};
      return wrong(fmt::format("{} has {} entries, block_rows ends at {}", part, size, n));
    };
    CONEBENCH_CHECK(check("lower", table_.lower.size()));
    CONEBENCH_CHECK(check("upper", table_.upper.size()));
    CONEBENCH_CHECK(check("mu", table_.mu.size()));
    if (!table_.group.empty()) CONEBENCH_CHECK(check("groups", static_cast<Index>(table_.group.size())));
    if (table_.shift.size() > 0 && table_.shift.size() != table_.blocks()) {
      return wrong(fmt::format("shift has {} entries, expected one for each of {} blocks", table_.shift.size(),
                               table_.blocks()));
    }
    return {};
  }

  Result<void> take_row(Index block, Index row, Ordered& result) const {
    const auto bound = [](double given) {
      return std::abs(given) >= unbounded ? std::copysign(infinity, given) : given;
    };
    const double lower = bound(table_.lower[row]);
    const double upper = bound(table_.upper[row]);
    if (!(lower <= upper) || lower == infinity || upper == -infinity) {
      return wrong(block, row, fmt::format("bounds must be numbers with lower <= upper (got {} and {})", lower, upper));
    }
    if (table_.shift.size() > 0 && table_.shift[block] != 0.0) {
      return wrong(block, row, fmt::format("only a cone has a shift (got {})", table_.shift[block]));
    }
    if (table_.mu[row] != 0.0) {
      return wrong(block, row, fmt::format("only a cone's tangential rows have mu (got {})", table_.mu[row]));
    }
    if (lower == -infinity && upper == infinity) {
      result.joints.push_back(row);
    } else if (lower == 0.0 && upper == infinity) {
      result.limits.push_back(row);
      result.limit_blocks.push_back(block);
    } else {
      result.bounded.push_back(row);
      result.intervals.push_back({lower, upper});
    }
    return {};
  }

  Result<void> take_cone(Index block, Index begin, Index end, Ordered& result) const {
    if (end - begin < 1) return wrong(block, begin, "a cone needs a row");
    if (table_.cone[at(block)] > BlockCone::pyramid) {
      return wrong(block, begin, fmt::format("no cone is called {}", static_cast<int>(table_.cone[at(block)])));
    }
    for (Index row = begin; row < end; ++row) {
      if (!std::isnan(table_.lower[row]) || !std::isnan(table_.upper[row])) {
        return wrong(
            block, row,
            fmt::format("a cone's rows have the bounds NaN (got {} and {})", table_.lower[row], table_.upper[row]));
      }
      if (!std::isfinite(table_.mu[row]) || table_.mu[row] < 0.0) {
        return wrong(block, row, fmt::format("mu must be finite and not negative (got {})", table_.mu[row]));
      }
    }
    if (table_.mu[begin] != 0.0) {
      return wrong(block, begin, fmt::format("the normal's mu must be 0 (got {})", table_.mu[begin]));
    }
    if (const double shift = table_.shift.size() > 0 ? table_.shift[block] : 0.0; !(shift >= 0.0 && shift < infinity)) {
      return wrong(block, begin, fmt::format("the shift must be finite and not negative (got {})", shift));
    }
    CONEBENCH_TRY(Contact contact, read_law(block, begin, end));
    if (contact.law.groups.empty()) {  // without friction: its normal alone
      result.limits.push_back(begin);
      result.limit_blocks.push_back(block);
      return {};
    }
    if (const auto checked = contact.law.check(); !checked) return wrong(block, begin, checked.error().message);
    result.contacts.push_back(std::move(contact));
    return {};
  }

  /// Tangential rows by groups; those without friction are left out, unless there are no others in Coulomb's cone.
  Result<Contact> read_law(Index block, Index begin, Index end) const {
    const BlockCone cone = table_.cone[at(block)];
    Contact contact{.block = block, .law = {}, .rows = {}};
    contact.law.shape = cone == BlockCone::pyramid ? ConeShape::pyramid : ConeShape::discs;
    int last = 0;
    for (Index row = begin + 1; row < end; ++row) {
      int group = 1;
      if (cone == BlockCone::discs) {
        group = table_.group.empty() ? (row <= begin + 2 ? 1 : 2) : table_.group[at(row)];
        if (group < 1 || group < last || group > last + 1) {
          return wrong(block, row,
                       fmt::format("groups must be 1, 2, … in the order of the rows (got {} after {})", group, last));
        }
        last = group;
      } else if (!table_.group.empty() && table_.group[at(row)] != table_.group[at(begin + 1)]) {
        return wrong(block, row,
                     fmt::format("{} has one group (got {} after {}); discs apart are the cone 1",
                                 cone == BlockCone::pyramid ? "a pyramid" : "an ellipsoid", table_.group[at(row)],
                                 table_.group[at(begin + 1)]));
      }
      if (table_.mu[row] == 0.0) continue;
      contact.law.coefficients.push_back(table_.mu[row]);
      contact.rows.push_back(row);
      const bool joins = !contact.law.groups.empty() && group == joined_;
      joins ? ++contact.law.groups.back() : (contact.law.groups.push_back(1), 0);
      joined_ = group;
    }
    const Index first = contact.law.groups.empty() ? 0 : contact.law.groups[0];
    contact.rows.insert(contact.rows.begin() + first, begin);
    return contact;
  }

  static int rank_of(const FrictionLaw& law) {
    const bool one = law.shape == ConeShape::discs && law.isotropic();
    if (one && law.groups == std::vector{1}) return 0;
    if (one && law.groups == std::vector{2}) return 1;
    return one && law.groups == std::vector{2, 2} ? 2 : 3;
  }

  const BlockTable& table_;
  std::string name_;
  mutable int joined_ = 0;  ///< the group of the last row that was taken
};

/// entries[rows[k]] in place k.
Vector picked(const Vector& entries, const std::vector<Index>& rows) {
  Vector result(static_cast<Index>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) result[static_cast<Index>(k)] = entries[rows[k]];
  return result;
}

SparseMatrix picked_rows(const SparseMatrix& matrix, const std::vector<Index>& row_of, Index rows, bool columns) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(matrix.nonZeros()));
  for (Index j = 0; j < matrix.outerSize(); ++j) {
    const Index column = columns ? row_of[static_cast<std::size_t>(j)] : j;
    for (SparseMatrix::InnerIterator it(matrix, j); it; ++it) {
      const Index row = row_of[static_cast<std::size_t>(it.row())];
      if (row >= 0 && column >= 0) entries.emplace_back(static_cast<int>(row), static_cast<int>(column), it.value());
    }
  }
  SparseMatrix result(rows, columns ? rows : matrix.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// Frames (t1, t2, n) of three axes with t2 out of the plane, as (t, n) of two.
Vector in_the_plane(const Vector& frames) {
  Vector result(frames.size() / 9 * 4);
  for (Index i = 0; i < frames.size() / 9; ++i) {
    result.segment<2>(4 * i) = frames.segment<2>(9 * i);
    result.segment<2>(4 * i + 2) = frames.segment<2>(9 * i + 6);
  }
  return result;
}

/// Of a contact's force, what must not exceed λ_N: the longest of the groups over mu, of a pyramid the sum of the
/// parts.
double friction_over_mu(const BlockTable& table, const Contact& contact, const Vector& reaction) {
  std::vector<double> parts;
  for (const Index row : contact.rows) {
    if (row != table.first_row[static_cast<std::size_t>(contact.block)]) {
      parts.push_back(std::abs(reaction[row]) / table.mu[row]);
    }
  }
  if (contact.law.shape == ConeShape::pyramid) return std::accumulate(parts.begin(), parts.end(), 0.0);
  double longest = 0.0;
  std::size_t k = 0;
  for (const int size : contact.law.groups) {
    double length = 0.0;
    for (int in_group = 0; in_group < size; ++in_group, ++k) length = std::hypot(length, parts[k]);
    longest = std::max(longest, length);
  }
  return longest;
}

/// Whether λ is in its bounds and cones, up to 1e-6 of its largest impulse.
Result<void> check_reference(const BlockTable& table, const Ordered& ordered, const Vector& reaction,
                             const std::string& name) {
  const auto wrong = [&](Index block, Index row, const std::string& what) {
    return Error{ErrorCode::bad_input, fmt::format("{}: block {}, row {}: the reference {}", name, block, row, what)};
  };
  const auto begin = [&](Index block) { return table.first_row[static_cast<std::size_t>(block)]; };
  const auto pushed = [&](Index block) {
    return reaction[begin(block)] + (table.shift.size() > 0 ? table.shift[block] : 0.0);
  };
  double largest = 0.0;
  for (Index block = 0; block < table.blocks(); ++block) {
    for (Index row = begin(block); row < begin(block + 1); ++row) {
      if (!std::isfinite(reaction[row])) return wrong(block, row, fmt::format("is {}", reaction[row]));
      largest = std::max(largest, std::abs(reaction[row]));
    }
  }
  const double rounding = 1e-6 * largest;
  for (Index block = 0; block < table.blocks(); ++block) {
    if (table.cone[static_cast<std::size_t>(block)] != BlockCone::none) {
      if (pushed(block) >= -rounding) continue;
      return wrong(block, begin(block),
                   fmt::format("{} is outside its cone: with the shift {} the normal impulse is negative",
                               reaction[begin(block)], pushed(block) - reaction[begin(block)]));
    }
    for (Index row = begin(block); row < begin(block + 1); ++row) {
      if (reaction[row] >= table.lower[row] - rounding && reaction[row] <= table.upper[row] + rounding) continue;
      return wrong(
          block, row,
          fmt::format("{} is outside its bounds {} and {}", reaction[row], table.lower[row], table.upper[row]));
    }
  }
  for (const Contact& contact : ordered.contacts) {
    const double friction = friction_over_mu(table, contact, reaction);
    if (friction <= pushed(contact.block) + std::max(rounding, 1e-6 * friction)) continue;
    return wrong(contact.block, begin(contact.block),
                 fmt::format("is outside its cone: the friction over mu is {}, the normal impulse with the shift {}",
                             friction, pushed(contact.block)));
  }
  return {};
}

/// Off-diagonal entries above the diagonal alone, or below it alone.
bool in_one_triangle(const SparseMatrix& matrix) {
  bool above = false, below = false;
  for (Index j = 0; j < matrix.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(matrix, j); it; ++it) {
      if (it.value() == 0.0) continue;
      above = above || it.row() < it.col();
      below = below || it.row() > it.col();
    }
  }
  return above != below;
}

}  // namespace

Result<void> GivenRows::check(ConstVectorRef given, const std::string& name, const std::string& what) const {
  for (std::size_t k = 0; k < row.size(); ++k) {
    const double value = given[static_cast<Index>(k)];
    if (row[k] >= 0 || value == 0.0) continue;
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: block {}, row {} has mu = 0, where no force acts, but {} has {}", name, block.at(k),
                             k, what, value)};
  }
  return {};
}

GivenRows GivenRows::same(Index rows) {
  GivenRows result{.row = std::vector<Index>(static_cast<std::size_t>(rows)), .shift = Vector::Zero(rows)};
  std::iota(result.row.begin(), result.row.end(), Index{0});
  return result;
}

Vector GivenRows::to_problem(ConstVectorRef given, Index rows) const {
  Vector impulse = Vector::Zero(rows);
  for (std::size_t k = 0; k < row.size(); ++k) {
    const auto i = static_cast<Index>(k);
    if (row[k] >= 0) impulse[row[k]] = given[i] + shift[i];
  }
  return impulse;
}

Vector GivenRows::to_given(ConstVectorRef impulse) const {
  Vector given = Vector::Zero(static_cast<Index>(row.size()));
  for (std::size_t k = 0; k < row.size(); ++k) {
    const auto i = static_cast<Index>(k);
    if (row[k] >= 0) given[i] = impulse[row[k]] - shift[i];
  }
  return given;
}

Vector GivenRows::velocity_to_given(ConstVectorRef velocity) const {
  Vector given = Vector::Constant(static_cast<Index>(row.size()), nan);
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] >= 0) given[static_cast<Index>(k)] = velocity[row[k]];
  }
  return given;
}

OrderedBlocks blocks_in_order(const ConeProduct& cones) {
  OrderedBlocks result;
  BlockTable& table = result.table;
  const Index rows = cones.rows();
  const auto blocks = static_cast<std::size_t>(cones.blocks());
  table.first_row.reserve(blocks + 1);
  table.cone.reserve(blocks);
  result.normal_row.reserve(blocks);
  table.lower = table.upper = Vector::Constant(rows, nan);
  table.mu = Vector::Zero(rows);
  table.group.assign(static_cast<std::size_t>(rows), 0);
  for (Index row = 0; row < cones.first_contact_row(); ++row) {
    const Interval bounds = cones.bounds(row);
    table.lower[row] = bounds.lower;
    table.upper[row] = bounds.upper;
    table.cone.push_back(BlockCone::none);
    table.first_row.push_back(row + 1);
    result.normal_row.push_back(row);
  }
  for (Index i = 0; i < cones.contacts(); ++i) {
    const auto groups = cones.groups(i);
    const auto coefficients = cones.coefficients(i);
    Index row = cones.contact_row(i);
    const Index normal = row + cones.normal_of(i);
    std::size_t k = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (int in_group = 0; in_group < groups[g]; ++in_group, ++row, ++k) {
        if (row == normal) ++row;
        table.mu[row] = coefficients[coefficients.size() == 1 ? 0 : k];
        table.group[static_cast<std::size_t>(row)] = static_cast<int>(g) + 1;
      }
    }
    table.cone.push_back(cones.shape(i) == ConeShape::pyramid ? BlockCone::pyramid
                         : groups.size() > 1                  ? BlockCone::discs
                                                              : BlockCone::ellipsoid);
    table.first_row.push_back(cones.contact_row(i + 1));
    result.normal_row.push_back(normal);
  }
  return result;
}

BlockDescription describe_blocks(const ConeProduct& cones) {
  auto [table, normal_row] = blocks_in_order(cones);
  BlockDescription result{.table = table, .rows = {.row = {}, .shift = Vector::Zero(cones.rows())}};
  result.rows.row.reserve(static_cast<std::size_t>(cones.rows()));
  for (Index block = 0; block < table.blocks(); ++block) {
    const Index normal = normal_row[static_cast<std::size_t>(block)];
    result.rows.row.push_back(normal);
    for (Index row = table.first_row[static_cast<std::size_t>(block)];
         row < table.first_row[static_cast<std::size_t>(block) + 1]; ++row) {
      if (row != normal) result.rows.row.push_back(row);
    }
  }
  for (std::size_t k = 0; k < result.rows.row.size(); ++k) {
    const Index row = result.rows.row[k];
    result.table.mu[static_cast<Index>(k)] = table.mu[row];
    result.table.group[k] = table.group[static_cast<std::size_t>(row)];
  }
  return result;
}

Result<ContactProblem> problem_from_blocks(GivenProblem given) {
  const std::string name = given.provenance.name.empty() ? "problem" : given.provenance.name;
  const BlockTable& table = given.blocks;
  CONEBENCH_TRY(const Ordered ordered, Reader(table, name).read());
  const Index n = table.rows();
  const auto wrong = [&](const std::string& what) { return Error{ErrorCode::bad_input, name + ": " + what}; };
  const auto check = [&](const char* part, Index size, Index expected) -> Result<void> {
    if (size == expected) return {};
    return wrong(fmt::format("{} has {} entries, expected {}", part, size, expected));
  };
  const auto check_rows = [&](const char* part, Index size) -> Result<void> {
    if (size == n) return {};
    return wrong(fmt::format("{} has {} entries, block_rows ends at {}", part, size, n));
  };

  std::vector<Index> rows;  // given, in the problem's order
  for (const auto* part : {&ordered.joints, &ordered.limits, &ordered.bounded}) {
    rows.insert(rows.end(), part->begin(), part->end());
  }
  std::vector<FrictionLaw> laws;
  for (const Contact& contact : ordered.contacts) {
    rows.insert(rows.end(), contact.rows.begin(), contact.rows.end());
    laws.push_back(contact.law);
  }
  GivenRows map{.row = std::vector<Index>(static_cast<std::size_t>(n), -1), .shift = Vector::Zero(n)};
  for (Index block = 0; block < table.blocks(); ++block) {
    map.block.resize(static_cast<std::size_t>(table.first_row[static_cast<std::size_t>(block) + 1]), block);
  }
  for (std::size_t k = 0; k < rows.size(); ++k) map.row[static_cast<std::size_t>(rows[k])] = static_cast<Index>(k);
  for (Index block = 0; block < table.blocks(); ++block) {
    if (table.shift.size() > 0) map.shift[table.first_row[static_cast<std::size_t>(block)]] += table.shift[block];
  }
  const auto count = static_cast<Index>(rows.size());

  ContactProblemData data;
  CONEBENCH_TRY(data.cones, ConeProduct::create(static_cast<Index>(ordered.joints.size()),
                                                static_cast<Index>(ordered.limits.size()), ordered.intervals, laws));
  if (given.delassus) {
    if (given.delassus->rows() != n || given.delassus->cols() != n) {
      return wrong(fmt::format("G is {} x {}, expected {} x {}", given.delassus->rows(), given.delassus->cols(), n, n));
    }
    const SparseMatrix matrix = picked_rows(*given.delassus, map.row, count, true);
    data.delassus = given.dense ? make_dense_delassus(Matrix(matrix))
                                : make_block_sparse_delassus(BlockSparseMatrix::from_sparse(matrix, data.cones));
  }
  if (given.bias) CONEBENCH_CHECK(check_rows("b", given.bias->size()));
  if (given.primal) {
    if (in_one_triangle(given.primal->mass)) return wrong("M has entries in one triangle only; give both");
    if (given.primal->jacobian.rows() != n) {
      return wrong(fmt::format("J has {} rows, block_rows ends at {}", given.primal->jacobian.rows(), n));
    }
    CONEBENCH_CHECK(check("v_free", given.primal->free_velocity.size(), given.primal->jacobian.cols()));
    if (!given.free_term) {
      given.free_term = given.primal->jacobian * given.primal->free_velocity;
      if (given.bias) *given.free_term += *given.bias;
    }
  }
  if (!given.free_term) return wrong("neither g nor v_free is given");
  if (!given.delassus && !given.primal) return wrong("neither G nor M and J are given");
  CONEBENCH_CHECK(check_rows("g", given.free_term->size()));
  if (given.compliance.size() > 0) CONEBENCH_CHECK(check_rows("R", given.compliance.size()));

  // λ = λ' − s: g' = g − (G + R) s, which leaves b' = b − R s and v_free' = v_free − M⁻¹ Jᵀ s.
  if (map.shift.size() > 0 && (map.shift.array() != 0.0).any()) {
    Vector moved = Vector::Zero(n);
    if (given.compliance.size() > 0) moved = given.compliance.cwiseProduct(map.shift);
    if (given.bias) *given.bias -= moved;
    if (given.primal) {
      const auto mass = FactoredMass::create(given.primal->mass);
      if (!mass) return wrong("M is singular");
      const Vector velocity = mass->solve(Vector(given.primal->jacobian.transpose() * map.shift));
      given.primal->free_velocity -= velocity;
      moved += given.primal->jacobian * velocity;
    } else {
      moved += *given.delassus * map.shift;
    }
    *given.free_term -= moved;
  }
  data.free_term = picked(*given.free_term, rows);
  if (given.compliance.size() > 0) data.compliance = picked(given.compliance, rows);
  if (given.bias) data.bias = picked(*given.bias, rows);
  if (given.primal) {
    data.primal = std::move(given.primal);
    data.primal->jacobian = picked_rows(data.primal->jacobian, map.row, count, false);
  }
  if (given.guess) {
    CONEBENCH_CHECK(check_rows("the guess", given.guess->size()));
    CONEBENCH_CHECK(map.check(*given.guess, name, "the guess"));
    data.guess = map.to_problem(*given.guess, count);
  }
  if (given.reference) {
    CONEBENCH_CHECK(check_rows("the reference", given.reference->reaction.size()));
    CONEBENCH_CHECK(map.check(given.reference->reaction, name, "the reference"));
    CONEBENCH_CHECK(check_reference(table, ordered, given.reference->reaction, name));
    given.reference->reaction = map.to_problem(given.reference->reaction, count);
    data.reference = std::move(given.reference);
  }

  Configuration& known = given.configuration;
  std::vector<Index> blocks;
  for (const Contact& contact : ordered.contacts) blocks.push_back(contact.block);
  if (given.gaps.size() > 0) {
    CONEBENCH_CHECK(check("gap", given.gaps.size(), table.blocks()));
    const Vector gaps = picked(given.gaps, blocks);
    if (!gaps.hasNaN()) known.gaps = gaps;
  }
  if (given.frames) {
    std::vector<Index> number(table.cone.size());  // of a block among the cones
    Index cones = 0;
    for (std::size_t b = 0; b < table.cone.size(); ++b) number[b] = table.cone[b] == BlockCone::none ? -1 : cones++;
    CONEBENCH_CHECK(check("frame", given.frames->size(), 9 * cones));
    Vector frames(9 * static_cast<Index>(blocks.size()));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto own = given.frames->segment<9>(9 * number[static_cast<std::size_t>(blocks[i])]);
      frames.segment<9>(9 * static_cast<Index>(i)) << own.tail<6>(), own.head<3>();
    }
    if (!frames.hasNaN()) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (are_frames(frames.segment<9>(9 * static_cast<Index>(i)), 3)) continue;
        return wrong(fmt::format("block {}: its frame (number {}) is not orthonormal", blocks[i],
                                 number[static_cast<std::size_t>(blocks[i])]));
      }
      // Contacts with one tangent each need not lie in one plane; then no frame of two axes is known.
      const Vector flat = in_the_plane(frames);
      if (data.cones.contact_type() != ConeType::coulomb_plane) {
        known.contact_frames = frames;
      } else if (are_frames(flat, 2)) {
        known.contact_frames = flat;
      }
    }
  }
  if (!given.identities.empty()) {
    CONEBENCH_CHECK(check("identity", static_cast<Index>(given.identities.size()), table.blocks()));
    using Identities = std::optional<std::vector<std::int64_t>>;
    const auto of = [&](const std::vector<Index>& of_blocks) -> Result<Identities> {
      std::vector<std::int64_t> result;
      for (const Index block : of_blocks) result.push_back(given.identities[static_cast<std::size_t>(block)]);
      if (std::ranges::find(result, unknown_identity) != result.end()) return Identities();
      std::map<std::int64_t, Index> had;
      for (std::size_t k = 0; k < result.size(); ++k) {
        const auto [first, is_new] = had.emplace(result[k], of_blocks[k]);
        if (is_new) continue;
        const auto [one, other] = std::minmax(first->second, of_blocks[k]);
        return wrong(fmt::format("blocks {} and {} have the same identity {}", one, other, result[k]));
      }
      return Identities(std::move(result));
    };
    CONEBENCH_TRY(known.contact_identities, of(blocks));
    CONEBENCH_TRY(known.limit_identities, of(ordered.limit_blocks));
  }
  if (!known.empty()) data.configuration = std::move(known);
  data.provenance = std::move(given.provenance);

  bool same = count == n && (map.shift.array() == 0.0).all();
  for (std::size_t k = 0; same && k < rows.size(); ++k) same = rows[k] == static_cast<Index>(k);
  if (!same) data.given_rows = std::make_shared<const GivenRows>(std::move(map));
  return ContactProblem::create(std::move(data));
}

}  // namespace conebench
