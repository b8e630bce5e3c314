#include "fclib_loader/siconos_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.hpp"

namespace conebench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr Index max_size = std::numeric_limits<std::int32_t>::max() - 1;

// Siconos' numbers: storages of a NumericsMatrix, its types of problems, its models of plasticity.
enum Storage { dense = 0, sparse_block = 1, sparse = 2 };
enum ProblemType { lcp = 0, equality = 2, fc2d = 3, fc3d = 4, relay = 9 };
enum PlasticityModel { drucker_prager = 1, von_mises = 2 };

/// Why the text is not of one kind, and how far it was.
struct Mismatch {
  std::size_t at = 0;
  std::string reason;
  ErrorCode code = ErrorCode::bad_input;
};

/// Numbers and words, separated by space.
class Text {
 public:
  explicit Text(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return text_.size() - at_; }
  Index size() const { return static_cast<Index>(text_.size()); }
  [[noreturn]] void fail(std::string reason, ErrorCode code = ErrorCode::bad_input) const {
    throw Mismatch{at_, std::move(reason), code};
  }

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  Index integer(const char* what, Index lowest = 0) {
    skip_space();
    Index value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc{} || !ends_at(end)) fail(fmt::format("expected {}, a whole number", what));
    if (value < lowest || value > max_size) fail(fmt::format("{} is {}", what, value));
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  double real(const char* what) {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '+') ++at_;
    double value = 0.0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const bool tiny = status == std::errc::result_out_of_range;  // 0 or infinite for scanf
    if ((status != std::errc{} && !tiny) || !ends_at(end)) fail(fmt::format("expected {}, a number", what));
    if (tiny) value = std::strtod(std::string(text_.data() + at_, end).c_str(), nullptr);
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  double finite(const char* what) {
    const double value = real(what);
    if (!std::isfinite(value)) fail(fmt::format("{} has {}", what, value));
    return value;
  }
  Vector reals(const char* what, Index count, bool bounded = true) {
    // Two letters a number at least, so that no count makes more memory than the file has.
    if (count > static_cast<Index>(left())) fail(fmt::format("{} has {} numbers, more than are left", what, count));
    Vector values(count);
    for (double& value : values) value = bounded ? finite(what) : real(what);
    return values;
  }
  std::string_view word() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void expect(std::string_view expected) {
    if (const auto found = word(); found != expected) fail(fmt::format("expected '{}'", expected));
  }
  std::string_view line() {
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    at_ = std::min(end + 1, text_.size());
    return text_.substr(begin, end - begin);
  }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool ends_at(const char* end) const { return end == text_.data() + text_.size() || is_space(*end); }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// A NumericsMatrix, and the ends of its blocks of rows where it is stored by blocks.
struct StoredMatrix {
  SparseMatrix matrix;
  std::vector<Index> block_ends;
};

using Triplets = std::vector<Eigen::Triplet<double>>;

void add(Triplets& entries, Index row, Index col, double value) {
  if (value != 0.0) entries.emplace_back(static_cast<int>(row), static_cast<int>(col), value);
}

/// Columns one after the other: Siconos keeps them so, and its lines are no rows.
void read_dense(Text& text, Index rows, Index cols, Triplets& entries) {
  if (text.integer("the rows of a matrix") != rows || text.integer("the columns of a matrix") != cols) {
    text.fail("a dense matrix has two sizes");
  }
  if (rows > 0 && cols > static_cast<Index>(text.left()) / rows) {
    text.fail(fmt::format("a matrix of {} x {} has more entries than are left", rows, cols));
  }
  for (Index col = 0; col < cols; ++col) {
    for (Index row = 0; row < rows; ++row) add(entries, row, col, text.finite("a matrix"));
  }
}

std::vector<Index> read_ends(Text& text, Index count, Index size) {
  if (count > static_cast<Index>(text.left())) text.fail("more blocks than numbers are left");
  std::vector<Index> ends;
  for (Index k = 0; k < count; ++k) {
    ends.push_back(text.integer("the end of a block", ends.empty() ? 1 : ends.back() + 1));
  }
  if ((ends.empty() ? 0 : ends.back()) != size) text.fail(fmt::format("the blocks don't end at {}", size));
  return ends;
}

void read_blocks(Text& text, Index rows, Index cols, Triplets& entries, std::vector<Index>& row_ends) {
  const Index blocks = text.integer("the number of blocks");
  const Index block_rows = text.integer("the number of rows of blocks");
  const Index block_cols = text.integer("the number of columns of blocks");
  row_ends = read_ends(text, block_rows, rows);
  const std::vector<Index> col_ends = read_ends(text, block_cols, cols);
  const Index filled = text.integer("the number of starts of rows of blocks", 1);
  const Index stored = text.integer("the number of stored blocks");
  if (filled > block_rows + 1 || stored < blocks || stored > static_cast<Index>(text.left())) {
    text.fail("the numbers of blocks contradict each other");
  }
  std::vector<Index> starts, columns;
  for (Index k = 0; k < filled; ++k)
    starts.push_back(text.integer("the first block of a row", starts.empty() ? 0 : starts.back()));
  for (Index k = 0; k < stored; ++k) {
    columns.push_back(text.integer("the column of a block"));
    if (columns.back() >= block_cols)
      text.fail(fmt::format("a block is in column {} of {}", columns.back(), block_cols));
  }
  if (starts.front() != 0 || starts.back() > stored) text.fail("the rows of blocks don't cover the blocks");
  const auto begin = [](const std::vector<Index>& ends, Index k) {
    return k == 0 ? 0 : ends[static_cast<std::size_t>(k - 1)];
  };
  for (Index block_row = 0; block_row + 1 < filled; ++block_row) {
    for (Index k = starts[static_cast<std::size_t>(block_row)]; k < starts[static_cast<std::size_t>(block_row + 1)];
         ++k) {
      if (text.integer("the number of a block") != k) text.fail(fmt::format("expected block {}", k));
      const Index block_col = columns[static_cast<std::size_t>(k)];
      for (Index col = begin(col_ends, block_col); col < col_ends[static_cast<std::size_t>(block_col)]; ++col) {
        for (Index row = begin(row_ends, block_row); row < row_ends[static_cast<std::size_t>(block_row)]; ++row) {
          add(entries, row, col, text.finite("a block"));
        }
      }
    }
  }
}

/// What CSparse prints: triplets, or columns (rows) with the range of their entries.
void read_sparse(Text& text, Index rows, Index cols, Triplets& entries) {
  text.integer("the origin of a sparse matrix");
  text.line();
  const std::string_view banner = text.line();
  if (!banner.starts_with("CSparse")) text.fail("expected CSparse's line of a sparse matrix");
  const std::string header(text.line());
  const bool triplets = header.starts_with("triplet:");
  const bool by_rows = header.starts_with("csr:");
  const std::size_t count_at = header.find("nnz:");
  if (count_at == std::string::npos) text.fail("a sparse matrix has no 'nnz:'");
  Text numbers(std::string_view(header).substr(count_at + 4));
  std::string_view count_text = numbers.word();
  if (count_text.ends_with(',')) count_text.remove_suffix(1);
  Index count = -1;
  std::from_chars(count_text.data(), count_text.data() + count_text.size(), count);
  if (count < 0 || count > static_cast<Index>(text.left())) text.fail("a sparse matrix has more entries than are left");
  const auto check = [&](Index row, Index col) {
    if (row >= rows || col >= cols) text.fail(fmt::format("entry ({}, {}) of a {} x {} matrix", row, col, rows, cols));
  };
  if (triplets) {
    for (Index k = 0; k < count; ++k) {
      const Index row = text.integer("a row");
      const Index col = text.integer("a column");
      check(row, col);
      text.expect(":");
      add(entries, row, col, text.finite("a matrix"));
    }
    return;
  }
  for (Index k = 0; k < count;) {
    text.expect(by_rows ? "row" : "col");
    const Index outer = text.integer(by_rows ? "a row" : "a column");
    text.expect(":");
    text.expect("locations");
    const Index first = text.integer("the first entry");
    text.expect("to");
    const Index last = text.integer("the last entry", -1);
    if (first != k || last < first - 1 || last >= count) text.fail("the ranges of entries don't follow each other");
    for (; k <= last; ++k) {
      const Index inner = text.integer("an index");
      text.expect(":");
      check(by_rows ? outer : inner, by_rows ? inner : outer);
      add(entries, by_rows ? outer : inner, by_rows ? inner : outer, text.finite("a matrix"));
    }
  }
  // Lines of what is empty behind the last entry.
  while (true) {
    Text next = text;
    if (next.word() != (by_rows ? "row" : "col")) return;
    text = next;
    text.line();
  }
}

StoredMatrix read_matrix(Text& text) {
  const Index storage = text.integer("how a matrix is stored");
  const Index rows = text.integer("the rows of a matrix");
  const Index cols = text.integer("the columns of a matrix");
  // Each has a vector behind the matrices.
  if (std::max(rows, cols) > text.size())
    text.fail(fmt::format("a matrix of {} x {} is larger than the file", rows, cols));
  StoredMatrix result;
  Triplets entries;
  switch (storage) {
    case dense: read_dense(text, rows, cols, entries); break;
    case sparse_block: read_blocks(text, rows, cols, entries, result.block_ends); break;
    case sparse: read_sparse(text, rows, cols, entries); break;
    default: text.fail(fmt::format("a matrix is stored as {}, known are 0 dense, 1 blocks, 2 sparse", storage));
  }
  result.matrix.resize(rows, cols);
  result.matrix.setFromTriplets(entries.begin(), entries.end());
  return result;
}

StoredMatrix read_square(Text& text, Index size) {
  StoredMatrix stored = read_matrix(text);
  if (stored.matrix.rows() != size || stored.matrix.cols() != size) {
    text.fail(fmt::format("M is {} x {}, expected {} x {}", stored.matrix.rows(), stored.matrix.cols(), size, size));
  }
  return stored;
}

/// Some writers end with a flag that Siconos' reader leaves out.
void expect_end(Text& text) {
  if (text.at_end()) return;
  const Index flag = text.integer("the end, or a flag");
  if (flag > 1 || !text.at_end()) text.fail("more numbers than the problem has");
}

Vector read_friction(Text& text, const char* what, Index contacts) {
  Vector friction = text.reals(what, contacts);
  for (Index k = 0; k < contacts; ++k) {
    if (friction[k] < 0.0) text.fail(fmt::format("{} of contact {} is negative ({})", what, k, friction[k]));
  }
  return friction;
}

struct Sizes {
  int dimension = 3;
  Index contacts = 0;
  Index rows() const { return dimension * contacts; }
};

Sizes read_sizes(Text& text) {
  const Index dimension = text.integer("the dimension");
  if (dimension != 2 && dimension != 3 && dimension != 5) {
    text.fail(fmt::format("the dimension is {}, expected 2, 3, or 5 for rolling", dimension));
  }
  const Index contacts = text.integer("the number of contacts");
  if (contacts > max_size / dimension) text.fail("too many contacts");
  return {static_cast<int>(dimension), contacts};
}

void read_coefficients(Text& text, const Sizes& sizes, FclibContent& content) {
  content.mu = read_friction(text, "mu", sizes.contacts);
  if (sizes.dimension == 5) content.mu_rolling = read_friction(text, "mu_r", sizes.contacts);
  expect_end(text);
}

/// d, n_c, M, q, mu (, mu_r): u = M r + q.
FclibContent read_local(Text& text) {
  const Sizes sizes = read_sizes(text);
  FclibContent content;
  content.space_dimension = sizes.dimension;
  content.kind = sizes.dimension == 5 ? FclibKind::local_rolling : FclibKind::local;
  content.w_matrix = read_square(text, sizes.rows()).matrix;
  content.v_matrix.resize(sizes.rows(), 0);
  content.q = text.reals("q", sizes.rows());
  read_coefficients(text, sizes, content);
  return content;
}

/// d, n_c, M, H, q, b, mu (, mu_r): M v = q + H r, u = Hᵀ v + b.
FclibContent read_global(Text& text) {
  const Sizes sizes = read_sizes(text);
  FclibContent content;
  content.space_dimension = sizes.dimension;
  content.kind = sizes.dimension == 5 ? FclibKind::global_rolling : FclibKind::global;
  content.m_matrix = read_matrix(text).matrix;
  const Index velocities = content.m_matrix.rows();
  if (content.m_matrix.cols() != velocities) text.fail("M is not square");
  content.h_matrix = read_matrix(text).matrix;
  if (content.h_matrix.rows() != velocities || content.h_matrix.cols() != sizes.rows()) {
    text.fail(fmt::format("H is {} x {}, expected {} x {}", content.h_matrix.rows(), content.h_matrix.cols(),
                          velocities, sizes.rows()));
  }
  content.g_matrix.resize(velocities, 0);
  content.f = text.reals("q", velocities);
  content.w = text.reals("b", sizes.rows());
  read_coefficients(text, sizes, content);
  return content;
}

/// Adds a block to the table; its bounds and coefficients are set by the caller.
void add_block(BlockTable& table, BlockCone cone, Index rows) {
  table.cone.push_back(cone);
  table.first_row.push_back(table.first_row.back() + rows);
}

void make_rows(BlockTable& table) {
  table.lower = table.upper = Vector::Constant(table.rows(), nan);
  table.mu = Vector::Zero(table.rows());
}

FclibContent by_blocks(BlockTable table, SparseMatrix matrix, Vector q, std::string law) {
  FclibContent content;
  content.kind = FclibKind::blocks;
  GivenProblem& given = content.blocks.emplace();
  given.blocks = std::move(table);
  given.delassus = std::move(matrix);
  given.free_term = std::move(q);
  given.provenance.law = std::move(law);
  return content;
}

/// M by blocks, q, and for each row of blocks its type, and mu where it is a contact in space.
FclibContent read_general(Text& text) {
  StoredMatrix stored = read_matrix(text);
  const Index rows = stored.matrix.rows();
  if (stored.matrix.cols() != rows) text.fail("M is not square");
  if (stored.block_ends.empty()) text.fail("M of a generalised mechanical problem must be stored by blocks");
  Vector q = text.reals("q", rows);
  BlockTable table;
  std::vector<std::pair<Index, double>> friction;  // first row, mu
  std::vector<std::pair<Index, Interval>> bounds;
  for (const Index end : stored.block_ends) {
    const Index begin = table.rows();
    const Index type = text.integer("the type of a block");
    const auto unsupported = [&](const std::string& why) {
      text.fail(fmt::format("block {}, row {}: {}", table.blocks(), begin, why), ErrorCode::unsupported);
    };
    switch (type) {
      case lcp:
      case equality:
        for (Index row = begin; row < end; ++row)
          bounds.emplace_back(row, Interval{type == lcp ? 0.0 : -infinity, infinity});
        add_block(table, BlockCone::none, end - begin);
        break;
      case fc3d:
        if (end - begin != 3) unsupported(fmt::format("a contact in space has {} rows, expected 3", end - begin));
        friction.emplace_back(begin, text.finite("mu"));
        add_block(table, BlockCone::ellipsoid, 3);
        break;
      case fc2d: unsupported("a contact in the plane, whose mu Siconos does not write"); break;
      case relay: unsupported("a relay, whose bounds Siconos does not write"); break;
      default:
        unsupported(fmt::format("the type {}; known are 0 complementarity, 2 equality, 4 a contact in space", type));
    }
  }
  if (!text.at_end()) text.fail("more numbers than the problem has");
  make_rows(table);
  for (const auto& [row, mu] : friction) table.mu.segment<2>(row + 1).setConstant(mu);
  for (const auto& [row, interval] : bounds) {
    table.lower[row] = interval.lower;
    table.upper[row] = interval.upper;
  }
  return by_blocks(std::move(table), std::move(stored.matrix), std::move(q), "ncp");
}

/// d, n_c, model, M, q, eta, theta: K = {‖r_T‖ ≤ eta r_N}, r ∈ K ⟂ u + theta ‖u_T‖ e_N ∈ K*. With theta = eta that is
/// frictional contact, with theta = 0 its associated form.
FclibContent read_plasticity(Text& text) {
  const Sizes sizes = read_sizes(text);
  const Index model = text.integer("the model of plasticity");
  if (model != drucker_prager && model != von_mises) text.fail(fmt::format("the model of plasticity is {}", model));
  SparseMatrix matrix = read_square(text, sizes.rows()).matrix;
  Vector q = text.reals("q", sizes.rows());
  if (model == von_mises) {
    text.reals("sigma_y", sizes.contacts);
    text.fail("plasticity of von Mises, whose stresses are bounded by a cylinder, not by a cone",
              ErrorCode::unsupported);
  }
  const Vector eta = read_friction(text, "eta", sizes.contacts);
  const Vector theta = text.reals("theta", sizes.contacts);
  expect_end(text);
  if (sizes.dimension == 5) text.fail("plasticity of 5 rows a cone", ErrorCode::unsupported);
  const bool associated = (theta.array() == 0.0).all() && (eta.array() != 0.0).any();
  BlockTable table;
  for (Index k = 0; k < sizes.contacts; ++k) {
    if (!associated && theta[k] != eta[k]) {
      text.fail(fmt::format("cone {} has eta {} and theta {}; theta must be eta, or 0 everywhere", k, eta[k], theta[k]),
                ErrorCode::unsupported);
    }
    add_block(table, BlockCone::ellipsoid, sizes.dimension);
  }
  make_rows(table);
  for (Index k = 0; k < sizes.contacts; ++k) {
    table.mu.segment(sizes.dimension * k + 1, sizes.dimension - 1).setConstant(eta[k]);
  }
  return by_blocks(std::move(table), std::move(matrix), std::move(q), associated ? "ccp" : "ncp");
}

/// n, M, q, lower and upper bounds.
FclibContent read_relays(Text& text) {
  const Index rows = text.integer("the number of relays");
  SparseMatrix matrix = read_square(text, rows).matrix;
  Vector q = text.reals("q", rows);
  Vector lower = text.reals("lb", rows, false);
  Vector upper = text.reals("ub", rows, false);
  if (!text.at_end()) text.fail("more numbers than the problem has");
  BlockTable table;
  for (Index row = 0; row < rows; ++row) add_block(table, BlockCone::none, 1);
  make_rows(table);
  table.lower = std::move(lower);
  table.upper = std::move(upper);
  return by_blocks(std::move(table), std::move(matrix), std::move(q), "ncp");
}

bool begins_with_number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
  return std::ranges::all_of(text.substr(begin, end - begin), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_siconos_text(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::ifstream stream(file, std::ios::binary);
  std::string start(64, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  return begins_with_number(start);
}

Result<FclibContent> read_siconos_text(const std::filesystem::path& file) {
  const std::string name = one_line(file.string());
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream && !stream.eof()) return Error{ErrorCode::bad_input, name + ": can't be read"};
  Mismatch farthest;
  std::string read_as;
  for (const auto& [kind, read] : {std::pair("a local problem", &read_local),
                                   {"a global problem", &read_global},
                                   {"a problem of plasticity", &read_plasticity},
                                   {"a generalised mechanical problem", &read_general},
                                   {"relays", &read_relays}}) {
    Text text(bytes);
    try {
      FclibContent content = read(text);
      content.format = FileFormat::siconos;
      return content;
    } catch (const Mismatch& mismatch) {
      if (mismatch.at < farthest.at) continue;
      farthest = mismatch;
      read_as = kind;
    } catch (const std::bad_alloc&) {
      return Error{ErrorCode::bad_input, name + ": not enough memory for what the file declares"};
    }
  }
  const auto lines = std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(farthest.at), '\n');
  return Error{farthest.code, fmt::format("{}: line {}: {} (read as {}, the nearest of Siconos' texts)", name,
                                          lines + 1, farthest.reason, read_as)};
}

}  // namespace conebench
