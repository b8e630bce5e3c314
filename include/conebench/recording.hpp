/// Steps of a simulator as files of Conebench's sample format, version 4 (docs/sample_format.md), with Eigen, zlib and
/// the standard library alone: C++17, POSIX, no library of Conebench's or HDF5's. examples/recording is a whole
/// program.
///
///     conebench::recording::Recorder recorder("robot.hdf5");
///     for (...) {
///       conebench::recording::Step step;
///       step.friction({mu, mu}).gap(distance).bodies(0, 2).name("left foot");  // rows n, t1, t2
///       step.M = M;  step.J = J;  step.v_free = v_free;  step.time_step = 0.002;
///       step.answers["Mine 1.0"].r = impulses;  // N s, in the same rows
///       recorder.add(step);
///     }
///
/// The file is written from front to back: bytes that a reader may look at are never written again, but for the 48 of
/// the superblock. These follow each step, so that a recording can be read while it is written, and a writer that is
/// killed loses the step that it was writing.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace conebench::recording {

/// What is wrong, where, in one line.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Vector = Eigen::VectorXd;

/// Dense or sparse, or not given. Entries of a sparse one are kept as they are, zeros included: a pattern that does not
/// change is stored once a recording.
class Matrix {
 public:
  using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

  Matrix() = default;
  template <class Derived>
  Matrix(const Eigen::MatrixBase<Derived>& dense) : value_(Dense(dense.template cast<double>())) {}
  template <class Derived>
  Matrix(const Eigen::SparseMatrixBase<Derived>& sparse) : value_(Sparse(sparse.template cast<double>())) {
    std::get<Sparse>(value_).makeCompressed();
  }

  bool given() const { return !std::holds_alternative<std::monostate>(value_); }
  const Dense* dense() const { return std::get_if<Dense>(&value_); }
  const Sparse* sparse() const { return std::get_if<Sparse>(&value_); }
  Eigen::Index rows() const { return dense() ? dense()->rows() : sparse() ? sparse()->rows() : 0; }
  Eigen::Index cols() const { return dense() ? dense()->cols() : sparse() ? sparse()->cols() : 0; }

 private:
  std::variant<std::monostate, Dense, Sparse> value_;
};

/// The set of a cone's impulses.
enum class Cone : std::uint8_t {
  none,       ///< rows with bounds
  discs,      ///< groups of tangential rows, each bounded by its own ellipsoid
  ellipsoid,  ///< all tangential rows in one
  pyramid     ///< bounded by the sum of their parts
};

/// What an engine answered.
struct Answer {
  Vector r;  ///< impulses of all rows [N s]
  std::optional<std::int64_t> iterations;
  std::optional<double> seconds, tolerance;
  std::string status;  ///< converged, max_iterations, …
  std::string law;     ///< ncp or ccp; empty: that of the step
};

inline constexpr std::int64_t unknown_identity = std::numeric_limits<std::int64_t>::min();

class Block;

/// A step by the names of the format, which has shapes, units and signs. Empty: not known, absent from the file.
struct Step {
  /// n_b + 1
  std::vector<std::int32_t> block_rows{0};
  /// n_b, values of Cone
  std::vector<std::uint8_t> cone;
  /// n [N s]; NaN on a cone's rows
  std::vector<double> lower, upper;
  /// n [1, of moments m]; 0 on normals and rows with bounds
  std::vector<double> mu;
  /// n: number of a tangential row's group, from 1
  std::vector<std::int32_t> groups;
  /// n_b [N s]
  std::vector<double> shift;
  /// n_v × n_v [kg, kg m²], n × n_v, n × n [m/s per N s]
  Matrix M, J, G;
  /// mass or effective
  std::string metric;
  /// n_v [m/s, rad/s]
  Vector v_free, velocity;
  /// n [m/s], n [m/s per N s]
  Vector b, R;
  /// ncp or ccp
  std::string law;
  /// n_b [m]; NaN: not known
  std::vector<double> gap;
  /// 3 n_c [m] and 9 n_c, of the cones in their order; NaN: not known
  std::vector<double> point, frame;
  /// n_b; the same number is the same constraint in the next step
  std::vector<std::int64_t> identity;
  /// n_b
  std::vector<std::string> name;
  /// 2 n_b: indices of body_names, −1: none. J is the second's velocity relative to the first's
  std::vector<std::int32_t> bodies;
  std::vector<std::string> body_names;
  /// [s]; the simulation's time at the step's end
  std::optional<double> time_step, time;
  /// of the simulation, from 1; absent: counted
  std::optional<std::int64_t> step;
  std::string description;
  std::map<std::string, Answer> answers;

  int blocks() const { return static_cast<int>(cone.size()); }
  int rows() const { return block_rows.empty() ? 0 : block_rows.back(); }

  /// Appends rows that may push and pull: joints, welds, loops. Blocks, and what Block says about them, may also be
  /// filled in as whole arrays above.
  Block bilateral(int rows = 1);
  /// Appends rows that push alone: limits, contacts without friction.
  Block unilateral(int rows = 1);
  /// Appends a row with lower ≤ r ≤ upper [N s].
  Block interval(double lower, double upper);
  /// Appends a contact: its normal, and a tangential row for each coefficient. `sizes`: of the groups of discs, if they
  /// are not {the first two}, {the rest}. `shift`: adhesion [N s].
  Block friction(const std::vector<double>& coefficients, Cone kind = Cone::discs, const std::vector<int>& sizes = {},
                 double shift = 0.0);

 private:
  Block append(Cone kind, int rows, double low, double high);
};

/// The block that was appended last, and what is known about it.
class Block {
 public:
  explicit Block(Step& step) : step_(step), block_(step.cone.size() - 1) {}

  int number() const { return static_cast<int>(block_); }
  int first_row() const { return step_.block_rows[block_]; }
  /// [m], negative in penetration
  Block& gap(double value) { return set(step_.gap, block_, {value}, std::numeric_limits<double>::quiet_NaN()); }
  Block& identity(std::int64_t value) { return set(step_.identity, block_, {value}, unknown_identity); }
  Block& name(const std::string& value) { return set(step_.name, block_, {value}, std::string()); }
  /// The normal points from the first to the second.
  Block& bodies(int first, int second) { return set(step_.bodies, block_, {first, second}, std::int32_t{-1}); }
  /// Of a cone, in the world [m].
  Block& point(const Eigen::Vector3d& p) {
    return set(step_.point, cone(), {p[0], p[1], p[2]}, std::numeric_limits<double>::quiet_NaN());
  }
  /// Of a cone: the axes n, t1, t2 in the world, as rows.
  Block& frame(const Eigen::Matrix3d& f) {
    return set(step_.frame, cone(), {f(0, 0), f(0, 1), f(0, 2), f(1, 0), f(1, 1), f(1, 2), f(2, 0), f(2, 1), f(2, 2)},
               std::numeric_limits<double>::quiet_NaN());
  }

 private:
  std::size_t cone() const {
    if (step_.cone[block_] == 0) throw Error("block " + std::to_string(block_) + ": only a cone has a point and axes");
    return static_cast<std::size_t>(
        std::count_if(step_.cone.begin(), step_.cone.begin() + number(), [](std::uint8_t kind) { return kind != 0; }));
  }
  template <class T>
  Block& set(std::vector<T>& all, std::size_t place, std::initializer_list<T> values, const T& unknown) {
    all.resize(std::max(all.size(), (place + 1) * values.size()), unknown);
    std::copy(values.begin(), values.end(), all.begin() + static_cast<std::ptrdiff_t>(place * values.size()));
    return *this;
  }

  Step& step_;
  std::size_t block_;
};

inline Block Step::append(Cone kind, int rows, double low, double high) {
  const auto end = static_cast<std::size_t>(block_rows.back() + rows);
  cone.push_back(static_cast<std::uint8_t>(kind));
  block_rows.push_back(static_cast<std::int32_t>(end));
  lower.resize(end, low);
  upper.resize(end, high);
  mu.resize(end, 0.0);
  // What is known of blocks before is not of this one.
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto follow = [](auto& all, std::size_t size, const auto& unknown) {
    if (!all.empty()) all.resize(size, unknown);
  };
  follow(groups, end, 0);
  follow(shift, cone.size(), 0.0);
  follow(gap, cone.size(), nan);
  follow(identity, cone.size(), unknown_identity);
  follow(name, cone.size(), std::string());
  follow(bodies, 2 * cone.size(), -1);
  if (kind != Cone::none) {
    follow(point, point.size() + 3, nan);
    follow(frame, frame.size() + 9, nan);
  }
  return Block(*this);
}

inline Block Step::bilateral(int rows) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return append(Cone::none, rows, -infinity, infinity);
}

inline Block Step::unilateral(int rows) {
  return append(Cone::none, rows, 0.0, std::numeric_limits<double>::infinity());
}

inline Block Step::interval(double low, double high) { return append(Cone::none, 1, low, high); }

inline Block Step::friction(const std::vector<double>& coefficients, Cone kind, const std::vector<int>& sizes,
                            double adhesion) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto begin = static_cast<std::size_t>(rows());
  Block block = append(kind, static_cast<int>(coefficients.size()) + 1, nan, nan);
  std::copy(coefficients.begin(), coefficients.end(), mu.begin() + static_cast<std::ptrdiff_t>(begin + 1));
  if (adhesion != 0.0) {
    shift.resize(cone.size(), 0.0);
    shift.back() = adhesion;
  }
  if (sizes.empty() && groups.empty()) return block;
  if (groups.empty()) {
    // Of the blocks before, the format's own.
    groups.resize(mu.size(), 0);
    for (std::size_t k = 0; k + 1 < cone.size(); ++k) {
      for (std::int32_t row = block_rows[k] + 1; cone[k] != 0 && row < block_rows[k + 1]; ++row) {
        const bool rest = cone[k] == static_cast<std::uint8_t>(Cone::discs) && row > block_rows[k] + 2;
        groups[static_cast<std::size_t>(row)] = rest ? 2 : 1;
      }
    }
  }
  std::size_t row = begin + 1;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    for (int k = 0; k < sizes[group] && row < groups.size(); ++k) groups[row++] = static_cast<std::int32_t>(group + 1);
  }
  for (std::size_t k = row; sizes.empty() && k < groups.size(); ++k) {
    groups[k] = kind == Cone::discs && k > begin + 2 ? 2 : 1;
  }
  return block;
}

namespace detail {

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

// ---------------------------------------------------------------- checks

class Check {
 public:
  explicit Check(const Step& step) : step_(step) {}

  void all() {
    blocks();
    for (int block = 0; block < step_.blocks(); ++block) {
      step_.cone[at(block)] == 0 ? bounds(block) : cone(block);
    }
    problem();
    rest();
  }

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  template <class... Parts>
  [[noreturn]] static void fail(const char* part, const Parts&... what) {
    throw Error(text(part, ": ", what...));
  }
  template <class... Parts>
  [[noreturn]] static void fail_at(const char* part, int block, int row, const Parts&... what) {
    fail(part, "block ", block, ", row ", row, ": ", what...);
  }
  static void size(const char* part, std::size_t found, std::size_t expected, const char* of) {
    if (found != expected) fail(part, "has ", found, " entries, expected ", expected, " (", of, ")");
  }
  template <class Values>
  static void optional_size(const char* part, const Values& values, std::size_t expected, const char* of) {
    if (values.size() > 0) size(part, static_cast<std::size_t>(values.size()), expected, of);
  }
  static void finite(const char* part, const Vector& values, double least = -std::numeric_limits<double>::infinity()) {
    for (Eigen::Index k = 0; k < values.size(); ++k) {
      if (!std::isfinite(values[k])) fail(part, "entry ", k, " is ", values[k]);
      if (values[k] < least) fail(part, "entry ", k, " is ", values[k], ", must be at least ", least);
    }
  }
  static void word(const char* part, const std::string& given, const char* one, const char* other) {
    if (given.empty() || given == one || given == other) return;
    fail(part, "is '", given, "', expected ", one, " or ", other);
  }

  void blocks() const {
    const auto& first = step_.block_rows;
    size("block_rows", first.size(), step_.cone.size() + 1, "blocks of cone + 1");
    if (first[0] != 0) fail("block_rows", "starts with ", first[0], ", expected 0");
    for (std::size_t k = 1; k < first.size(); ++k) {
      if (first[k] <= first[k - 1]) fail("block_rows", "block ", k - 1, " ends at row ", first[k], ", must have a row");
    }
    const auto rows = at(step_.rows());
    size("lower", step_.lower.size(), rows, "rows");
    size("upper", step_.upper.size(), rows, "rows");
    size("mu", step_.mu.size(), rows, "rows");
    optional_size("groups", step_.groups, rows, "rows");
    optional_size("shift", step_.shift, step_.cone.size(), "blocks");
  }

  void bounds(int block) const {
    for (int row = step_.block_rows[at(block)]; row < step_.block_rows[at(block) + 1]; ++row) {
      const double low = step_.lower[at(row)], high = step_.upper[at(row)];
      constexpr double infinity = std::numeric_limits<double>::infinity();
      if (!(low <= high) || low == infinity || high == -infinity) {
        fail_at("lower, upper", block, row, low, " and ", high, " must be numbers with lower <= upper");
      }
      if (step_.mu[at(row)] != 0.0) {
        fail_at("mu", block, row, "is ", step_.mu[at(row)], ", must be 0 on a row with bounds");
      }
    }
    if (!step_.shift.empty() && step_.shift[at(block)] != 0.0) {
      fail("shift", "block ", block, " is ", step_.shift[at(block)], ", must be 0 where there is no cone");
    }
  }

  void cone(int block) const {
    const int begin = step_.block_rows[at(block)], end = step_.block_rows[at(block) + 1];
    const int kind = step_.cone[at(block)];
    if (kind > static_cast<int>(Cone::pyramid)) {
      fail("cone", "block ", block, " is ", kind, ", expected 0 none, 1 discs, 2 ellipsoid or 3 pyramid");
    }
    constexpr int max_rows = 8;
    if (end - begin > max_rows) fail("cone", "block ", block, " has ", end - begin, " rows, at most ", max_rows);
    for (int row = begin; row < end; ++row) {
      const double mu = step_.mu[at(row)];
      if (!std::isnan(step_.lower[at(row)]) || !std::isnan(step_.upper[at(row)])) {
        fail_at("lower, upper", block, row, "must be NaN on a cone's rows");
      }
      if (!std::isfinite(mu) || mu < 0.0) fail_at("mu", block, row, "is ", mu, ", must be finite and not negative");
      if (row == begin && mu != 0.0) fail_at("mu", block, row, "is ", mu, ", must be 0 on a normal");
    }
    if (!step_.groups.empty()) groups(block, begin, end);
    if (step_.shift.empty()) return;
    const double shift = step_.shift[at(block)];
    if (!std::isfinite(shift) || shift < 0.0) {
      fail("shift", "block ", block, " is ", shift, ", must be finite and not negative");
    }
  }

  void groups(int block, int begin, int end) const {
    for (int row = begin + 1; row < end; ++row) {
      const int group = step_.groups[at(row)];
      const int last = row == begin + 1 ? 0 : step_.groups[at(row) - 1];
      const bool one = step_.cone[at(block)] != static_cast<std::uint8_t>(Cone::discs);
      if (group < 1 || group < last || group > last + 1 || (one && group != 1)) {
        fail_at("groups", block, row, "is ", group, " after ", last, ", expected 1",
                one ? " on all tangential rows" : ", 2, ... in the order of the rows");
      }
    }
  }

  static void matrix(const char* part, const Matrix& given, std::size_t rows, std::size_t cols) {
    if (at(static_cast<int>(given.rows())) != rows || at(static_cast<int>(given.cols())) != cols) {
      fail(part, "is ", given.rows(), " x ", given.cols(), ", expected ", rows, " x ", cols);
    }
    const auto entry = [part](Eigen::Index row, Eigen::Index col, double value) {
      if (!std::isfinite(value)) fail(part, "row ", row, ", column ", col, " is ", value);
    };
    each(given, entry);
  }
  template <class Visit>
  static void each(const Matrix& given, const Visit& visit) {
    if (const auto* dense = given.dense()) {
      for (Eigen::Index i = 0; i < dense->rows(); ++i) {
        for (Eigen::Index j = 0; j < dense->cols(); ++j) visit(i, j, (*dense)(i, j));
      }
    } else if (const auto* sparse = given.sparse()) {
      for (Eigen::Index i = 0; i < sparse->rows(); ++i) {
        for (Matrix::Sparse::InnerIterator it(*sparse, i); it; ++it) visit(i, it.col(), it.value());
      }
    }
  }

  /// Forces may depend on velocities without symmetry, and M_effective = M − Δt ∂τ/∂v then has none.
  void symmetric() const {
    constexpr double tolerance = 1e-6;  // of the largest entry: engines in float32 round to that
    const Matrix& M = step_.M;
    double largest = 0.0;
    each(M, [&](Eigen::Index, Eigen::Index, double value) { largest = std::max(largest, std::abs(value)); });
    Matrix::Sparse turned;
    if (M.sparse() != nullptr) turned = M.sparse()->transpose();
    each(M, [&](Eigen::Index row, Eigen::Index col, double value) {
      const double other = M.dense() ? (*M.dense())(col, row) : turned.coeff(row, col);
      if (std::abs(value - other) > tolerance * largest) {
        fail("M", "is not symmetric: ", value, " in row ", row, ", column ", col, ", ", other,
             " in the other triangle");
      }
    });
  }

  void problem() const {
    const auto rows = at(step_.rows());
    const auto velocities = static_cast<std::size_t>(step_.v_free.size());
    if (step_.M.given() != step_.J.given() || step_.M.given() != (velocities > 0)) {
      fail("M, J, v_free", "all three of them are needed, or none");
    }
    if (!step_.M.given() && !step_.G.given()) fail("M, J, v_free", "are needed, or G");
    if (step_.M.given()) {
      matrix("M", step_.M, velocities, velocities);
      matrix("J", step_.J, rows, velocities);
      word("metric", step_.metric, "mass", "effective");
      if (step_.metric != "effective") symmetric();
      finite("v_free", step_.v_free);
      optional_size("velocity", step_.velocity, velocities, "of v_free");
    }
    finite("velocity", step_.velocity);
    if (step_.G.given()) matrix("G", step_.G, rows, rows);
    optional_size("b", step_.b, rows, "rows");
    finite("b", step_.b);
    optional_size("R", step_.R, rows, "rows");
    finite("R", step_.R, 0.0);
    word("law", step_.law, "ncp", "ccp");
  }

  void rest() const {
    const std::size_t blocks = step_.cone.size();
    const auto cones = static_cast<std::size_t>(
        std::count_if(step_.cone.begin(), step_.cone.end(), [](std::uint8_t kind) { return kind != 0; }));
    optional_size("gap", step_.gap, blocks, "blocks");
    optional_size("point", step_.point, 3 * cones, "3 a cone");
    optional_size("frame", step_.frame, 9 * cones, "9 a cone");
    optional_size("identity", step_.identity, blocks, "blocks");
    optional_size("name", step_.name, blocks, "blocks");
    optional_size("bodies", step_.bodies, 2 * blocks, "2 a block");
    for (std::size_t k = 0; k < step_.bodies.size(); ++k) {
      const auto body = step_.bodies[k];
      if (body < -1 || (!step_.body_names.empty() && body >= static_cast<int>(step_.body_names.size()))) {
        fail("bodies", "block ", k / 2, " has body ", body, ", body_names has ", step_.body_names.size());
      }
    }
    if (step_.time_step && !(std::isfinite(*step_.time_step) && *step_.time_step > 0.0)) {
      fail("time_step", "is ", *step_.time_step, ", must be positive");
    }
    if (step_.time && !std::isfinite(*step_.time)) fail("time", "is ", *step_.time);
    for (const auto& [name, answer] : step_.answers) {
      if (name.empty() || name == "." || name.find('/') != std::string::npos) {
        fail("answers", "'", name, "' can't be a name: give one without '/'");
      }
      const std::string part = "answers/" + name;
      size((part + "/r").c_str(), static_cast<std::size_t>(answer.r.size()), at(step_.rows()), "rows");
      word((part + "/law").c_str(), answer.law, "ncp", "ccp");
    }
  }

  const Step& step_;
};

/// What may not change in a recording.
class Model {
 public:
  explicit Model(const Step& step)
      : primal_(step.M.given()), velocities_(step.v_free.size()), body_names_(step.body_names) {}

  void check(const Step& step) const {
    if (step.M.given() != primal_) {
      throw Error(text("M: is ", primal_ ? "missing" : "given", ", unlike in the first step", advice));
    }
    if (step.v_free.size() != velocities_) {
      throw Error(text("v_free: has ", step.v_free.size(), " velocities, the first step ", velocities_, advice));
    }
    if (step.body_names.size() != body_names_.size()) {
      throw Error(
          text("body_names: has ", step.body_names.size(), " bodies, the first step ", body_names_.size(), advice));
    }
    for (std::size_t k = 0; k < body_names_.size(); ++k) {
      if (step.body_names[k] == body_names_[k]) continue;
      throw Error(text("body_names: body ", k, " is '", step.body_names[k], "', in the first step '", body_names_[k],
                       "'", advice));
    }
  }

 private:
  static constexpr const char* advice = "; record another model in a file of its own";
  bool primal_;
  Eigen::Index velocities_;
  std::vector<std::string> body_names_;
};

// ---------------------------------------------------------------- HDF5

// "HDF5 File Format Specification, version 3.0" (The HDF Group), by its sections.

using Address = std::uint64_t;
inline constexpr Address undefined = ~Address{0};

/// Numbers, least significant byte first.
class Bytes {
 public:
  template <class Integer>
  Bytes& put(Integer value, std::size_t size) {
    const auto wide = static_cast<std::uint64_t>(value);
    for (std::size_t k = 0; k < size; ++k) data_.push_back(static_cast<char>((wide >> (8 * k)) & 0xff));
    return *this;
  }
  Bytes& put(const std::string& bytes) {
    data_ += bytes;
    return *this;
  }
  Bytes& pad_to(std::size_t size) {
    data_.resize(size, '\0');
    return *this;
  }
  std::string take() { return std::move(data_); }
  const std::string& data() const { return data_; }

 private:
  std::string data_;
};

/// Jenkins' lookup3, hashlittle() with the start value 0 (II.A, IV.A.1.b).
inline std::uint32_t checksum(const std::string& bytes) {
  std::uint32_t state[3];
  std::fill_n(state, 3, 0xdeadbeefU + static_cast<std::uint32_t>(bytes.size()));
  auto& [a, b, c] = state;
  const auto rotated = [](std::uint32_t x, int by) { return (x << by) | (x >> (32 - by)); };
  const auto mix = [&](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int by) {
    x -= z;
    x ^= rotated(z, by);
    z += y;
  };
  const auto finish = [&](std::uint32_t& x, std::uint32_t y, int by) { x = (x ^ y) - rotated(y, by); };
  for (std::size_t begin = 0; begin < bytes.size(); begin += 12) {
    const std::size_t count = std::min<std::size_t>(12, bytes.size() - begin);
    for (std::size_t k = 0; k < count; ++k) {
      state[k / 4] += static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[begin + k])) << (8 * (k % 4));
    }
    if (begin + 12 >= bytes.size()) break;
    mix(a, b, c, 4);
    mix(b, c, a, 6);
    mix(c, a, b, 8);
    mix(a, b, c, 16);
    mix(b, c, a, 19);
    mix(c, a, b, 4);
  }
  if (bytes.empty()) return c;
  finish(c, b, 14);
  finish(a, c, 11);
  finish(b, a, 25);
  finish(c, b, 16);
  finish(a, c, 4);
  finish(b, a, 14);
  finish(c, b, 24);
  return c;
}

/// IV.A.1.b: a message of an object header of version 2.
inline std::string message(int type, const std::string& body) {
  return Bytes().put(type, 1).put(body.size(), 2).put(0, 1).put(body).take();
}

enum class Kind { integer, unsigned_integer, real, text };

/// Type, shape and values, row by row, of a dataset.
struct Array {
  Kind kind;
  std::size_t size;                 ///< bytes of an element
  std::vector<std::size_t> extent;  ///< none: a scalar
  const void* data;

  std::size_t bytes() const {
    std::size_t result = size;
    for (const std::size_t length : extent) result *= length;
    return result;
  }

  /// IV.A.2.d
  std::string datatype() const {
    const std::uint16_t probe = 1;
    const int order = *reinterpret_cast<const unsigned char*>(&probe) == 1 ? 0 : 1;
    Bytes result;
    switch (kind) {
      case Kind::integer:
      case Kind::unsigned_integer:
        result.put(0x10, 1).put(order | (kind == Kind::integer ? 8 : 0), 3).put(size, 4).put(0, 2).put(8 * size, 2);
        break;
      case Kind::real:  // IEEE's 64 bits: sign, 11 of the exponent, 52
        result.put(0x11, 1).put(order | 0x20 | 63 << 8, 3).put(size, 4);
        result.put(0, 2).put(64, 2).put(52, 1).put(11, 1).put(0, 1).put(52, 1).put(1023, 4);
        break;
      case Kind::text:  // ends with NUL, UTF-8
        result.put(0x13, 1).put(0x10, 3).put(size, 4);
        break;
    }
    return result.take();
  }

  /// IV.A.2.b
  std::string dataspace() const {
    Bytes result;
    result.put(2, 1).put(extent.size(), 1).put(0, 1).put(extent.empty() ? 0 : 1, 1);
    for (const std::size_t length : extent) result.put(length, 8);
    return result.take();
  }
};

/// Objects for the end of a file.
class Objects {
 public:
  explicit Objects(Address end) : begin_(end) {}

  Address append(const std::string& block) {
    const Address address = end();
    bytes_ += block;
    return address;
  }
  /// An object header of version 2 (IV.A.1.b).
  Address append_object(const std::string& messages) {
    const int width = messages.size() < 256 ? 0 : messages.size() < 65536 ? 1 : 2;
    Bytes header;
    header.put("OHDR").put(2, 1).put(width, 1).put(messages.size(), std::size_t{1} << width).put(messages);
    header.put(checksum(header.data()), 4);
    return append(header.data());
  }
  Address end() const { return begin_ + bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  Address begin_;
  std::string bytes_;
};

/// Object Reference Count (IV.A.2.w). How many steps will link to an object is not known when it is written. This many
/// never come down to 0: who removes a step does not remove what others share.
inline std::string shared_count() { return message(0x16, Bytes().put(0, 1).put(1U << 30, 4).take()); }

/// The messages of a dataset; large ones are one chunk (layout 4, IV.A.2.i), shuffled and deflated.
inline std::string dataset(const Array& array, Objects& objects) {
  constexpr std::size_t max_compact = 4096;
  std::string messages = message(0x01, array.dataspace()) + message(0x03, array.datatype());
  messages += message(0x05, Bytes().put(3, 1).put(2 | 2 << 2, 1).take());  // no fill value
  const std::size_t size = array.bytes();
  const auto* values = static_cast<const char*>(array.data);
  if (size <= max_compact) {
    Bytes layout;
    layout.put(3, 1).put(0, 1).put(size, 2).put(std::string(values, size));
    return messages + message(0x08, layout.data());
  }
  std::string shuffled(size, '\0');
  const std::size_t count = size / array.size;
  for (std::size_t k = 0; k < size; ++k) shuffled[k % array.size * count + k / array.size] = values[k];
  uLongf length = compressBound(static_cast<uLong>(size));
  std::string deflated(length, '\0');
  constexpr int fast = 1;
  if (compress2(reinterpret_cast<Bytef*>(deflated.data()), &length, reinterpret_cast<const Bytef*>(shuffled.data()),
                static_cast<uLong>(size), fast) != Z_OK) {
    throw Error("zlib can't compress an array of " + std::to_string(size) + " bytes");
  }
  deflated.resize(length);
  const std::vector<std::size_t> extent = array.extent.empty() ? std::vector<std::size_t>{1} : array.extent;
  Bytes layout;
  std::size_t longest = array.size, width = 1;
  for (const std::size_t along : extent) longest = std::max(longest, along);
  while (longest >> (8 * width) != 0) ++width;
  layout.put(4, 1).put(2, 1).put(2, 1).put(extent.size() + 1, 1).put(width, 1);
  for (const std::size_t along : extent) layout.put(along, width);
  layout.put(array.size, width).put(1, 1).put(deflated.size(), 8).put(0, 4).put(objects.append(deflated), 8);
  Bytes filters;  // IV.A.2.l: shuffle of elements, deflate of a level
  filters.put(2, 1).put(2, 1);
  filters.put(2, 2).put(0, 2).put(1, 2).put(array.size, 4);
  filters.put(1, 2).put(0, 2).put(1, 2).put(fast, 4);
  return messages + message(0x0b, filters.data()) + message(0x08, layout.data());
}

using Links = std::vector<std::pair<std::string, Address>>;

/// The messages of a group whose links stand in its header (IV.A.2.c, g, k).
inline std::string group(const Links& links) {
  std::string messages = message(0x02, Bytes().put(0, 2).put(undefined, 8).put(undefined, 8).take());
  messages += message(0x0a, Bytes().put(0, 2).take());
  for (const auto& [name, address] : links) {
    const bool ascii = std::none_of(name.begin(), name.end(), [](char letter) { return (letter & 0x80) != 0; });
    Bytes link;
    link.put(1, 1).put(ascii ? 1 : 0x11, 1);
    if (!ascii) link.put(1, 1);
    link.put(name.size(), 2).put(name).put(address, 8);
    messages += message(0x06, link.data());
  }
  return messages;
}

/// B-tree 'K' values (IV.A.2.t): small nodes, since each step writes one anew at each level.
inline constexpr std::size_t leaf_k = 2, node_k = 4;
inline std::string tree_sizes() {
  return message(0x13, Bytes().put(0, 1).put(32, 2).put(node_k, 2).put(leaf_k, 2).take());
}

/// II.A, version 2. The extension of it follows.
inline constexpr std::size_t superblock_bytes = 48;
inline std::string superblock(Address end, Address root) {
  Bytes result;
  result.put("\x89HDF\r\n\x1a\n").put(2, 1).put(8, 1).put(8, 1).put(0, 1);
  result.put(0, 8).put(superblock_bytes, 8).put(end, 8).put(root, 8);
  result.put(checksum(result.data()), 4);
  return result.take();
}

/// The group /steps, whose links are a B-tree (III.A.1, III.B, III.D). Each step writes the tree's right border anew,
/// at the end of the file, and who began to read before still has the old one.
class StepIndex {
 public:
  static constexpr std::int64_t max_steps = 999'999;  // names are sorted as texts

  std::int64_t steps() const { return steps_; }
  static std::string name(std::int64_t step) {
    char digits[8] = {};
    for (int k = 5; k >= 0; --k, step /= 10) digits[k] = static_cast<char>('0' + step % 10);
    return {digits, sizeof digits};
  }

  /// The address of the group's new header.
  Address write_empty(Objects& objects) {
    write_names(objects);
    return write_header(objects, write_node(objects, 1));
  }
  Address add(Address step, Objects& objects) {
    if (++steps_ > capacity_) write_names(objects);
    bool grown = levels_[0].entries.size() % (2 * leaf_k) == 0;
    if (grown) levels_[0].entries.clear();
    const std::uint64_t key = 8 * static_cast<std::uint64_t>(steps_);
    levels_[0].entries.push_back({key, step});
    Entry below{key, write_leaf(objects)};
    for (std::size_t k = 1; k < levels_.size(); ++k) {
      std::vector<Entry>& entries = levels_[k].entries;
      if (!grown) {
        entries.back() = below;
      } else if (entries.size() < 2 * node_k) {
        entries.push_back(below);
        grown = false;
      } else {
        const Entry full{entries.back().key, levels_[k].written};
        entries = {below};
        levels_[k].before = full.key;
        if (k + 1 == levels_.size()) levels_.push_back({{full}, 0, undefined});
      }
      below.child = levels_[k].written = write_node(objects, k);
    }
    return write_header(objects, below.child);
  }

 private:
  /// A child, and where the greatest name below it stands among the names.
  struct Entry {
    std::uint64_t key;
    Address child;
  };
  /// The last node of a level.
  struct Level {
    std::vector<Entry> entries;
    std::uint64_t before;  ///< the greatest name left of it
    Address written;
  };

  /// A local heap with the names of steps to come.
  void write_names(Objects& objects) {
    capacity_ = capacity_ == 0 ? 128 : 4 * capacity_;
    Bytes names;
    names.put(0, 8);
    for (std::int64_t k = 1; k <= capacity_; ++k) names.put(name(k));
    const Address at = objects.append(names.data());
    constexpr int none_free = 1;
    names_ =
        objects.append(Bytes().put("HEAP").put(0, 4).put(names.data().size(), 8).put(none_free, 8).put(at, 8).take());
  }
  Address write_leaf(Objects& objects) const {
    Bytes leaf;
    leaf.put("SNOD").put(1, 2).put(levels_[0].entries.size(), 2);
    for (const Entry& entry : levels_[0].entries)
      leaf.put(entry.key, 8).put(entry.child, 8).put(0, 8).put(0, 8).put(0, 8);
    return objects.append(leaf.pad_to(8 + 2 * leaf_k * 40).data());
  }
  Address write_node(Objects& objects, std::size_t level) const {
    Bytes node;
    node.put("TREE").put(0, 1).put(level - 1, 1).put(levels_[level].entries.size(), 2);
    node.put(undefined, 8).put(undefined, 8).put(levels_[level].before, 8);
    for (const Entry& entry : levels_[level].entries) node.put(entry.child, 8).put(entry.key, 8);
    return objects.append(node.pad_to(24 + 8 + 2 * node_k * 16).data());
  }
  Address write_header(Objects& objects, Address tree) const {
    return objects.append_object(message(0x11, Bytes().put(tree, 8).put(names_, 8).take()));
  }

  std::int64_t steps_ = 0, capacity_ = 0;
  Address names_ = undefined;
  std::vector<Level> levels_{{{}, 0, undefined}, {{}, 0, undefined}};
};

/// What stands in the file by its name in a step, as it was written last.
struct Kept {
  std::string content;
  Address address;
};
using KeptObjects = std::unordered_map<std::string, Kept>;

/// The group of a step; what equals the object of that name in `last` is that.
class StepWriter {
 public:
  StepWriter(const Step& step, const KeptObjects& last, Objects& objects)
      : step_(step), last_(last), objects_(objects) {}

  /// What was written, for the step to come.
  KeptObjects take_fresh() { return std::move(fresh_); }

  /// The address of the group conebench.
  Address write(std::optional<std::int64_t> number) {
    Group all{"", {}};
    constexpr std::int32_t format = 4;
    integer(all, "version", format);
    numbers(all, "block_rows", step_.block_rows);
    numbers(all, "cone", step_.cone);
    numbers(all, "lower", step_.lower);
    numbers(all, "upper", step_.upper);
    numbers(all, "mu", step_.mu);
    if (!step_.groups.empty()) numbers(all, "groups", step_.groups);
    if (!step_.shift.empty()) numbers(all, "shift", step_.shift);
    matrix(all, "M", step_.M);
    line(all, "metric", step_.metric);
    matrix(all, "J", step_.J);
    matrix(all, "G", step_.G);
    for (const auto& [name, values] :
         {std::pair("v_free", &step_.v_free), {"velocity", &step_.velocity}, {"b", &step_.b}, {"R", &step_.R}}) {
      if (values->size() > 0) numbers(all, name, *values);
    }
    line(all, "law", step_.law);
    const auto cones = static_cast<std::size_t>(step_.point.size() / 3);
    if (!step_.gap.empty()) numbers(all, "gap", step_.gap);
    if (!step_.point.empty()) numbers(all, "point", step_.point, {cones, 3});
    if (!step_.frame.empty()) numbers(all, "frame", step_.frame, {step_.frame.size() / 9, 3, 3});
    if (!step_.identity.empty()) numbers(all, "identity", step_.identity);
    if (!step_.name.empty()) texts(all, "name", step_.name);
    if (!step_.bodies.empty()) numbers(all, "bodies", step_.bodies, {step_.bodies.size() / 2, 2});
    if (!step_.body_names.empty()) texts(all, "body_names", step_.body_names);
    real(all, "time_step", step_.time_step);
    real(all, "time", step_.time);
    if (step_.step || number) integer(all, "step", step_.step ? *step_.step : *number);
    line(all, "description", step_.description);
    if (!step_.answers.empty()) answers(all);
    return objects_.append_object(group(all.links));
  }

 private:
  struct Group {
    std::string path;  ///< ends with '/', or is empty
    Links links;
  };

  /// `content` tells objects of one name apart.
  template <class Make>
  void link(Group& to, const std::string& name, std::string content, const Make& make) {
    const std::string path = to.path + name;
    const auto last = last_.find(path);
    const bool same = last != last_.end() && last->second.content == content;
    const Address address = same ? last->second.address : objects_.append_object(make() + shared_count());
    to.links.emplace_back(name, address);
    if (!same) fresh_[path] = {std::move(content), address};
  }
  void link(Group& to, const std::string& name, const Array& array) {
    std::string content = array.dataspace() + array.datatype();
    content.append(static_cast<const char*>(array.data), array.bytes());
    link(to, name, std::move(content), [&] { return dataset(array, objects_); });
  }
  void link(Group& to, const std::string& name, const Links& links) {
    std::string messages = group(links);
    link(to, name, messages, [&] { return messages; });
  }

  template <class Values>
  void numbers(Group& to, const std::string& name, const Values& values, std::vector<std::size_t> extent = {}) {
    using Number = std::decay_t<decltype(*values.data())>;
    const Kind kind = std::is_floating_point_v<Number> ? Kind::real
                      : std::is_signed_v<Number>       ? Kind::integer
                                                       : Kind::unsigned_integer;
    if (extent.empty()) extent = {static_cast<std::size_t>(values.size())};
    link(to, name, Array{kind, sizeof(Number), std::move(extent), values.data()});
  }
  template <class Integer>
  void integer(Group& to, const std::string& name, Integer value) {
    link(to, name, Array{Kind::integer, sizeof value, {1}, &value});
  }
  void real(Group& to, const std::string& name, const std::optional<double>& value) {
    if (value) link(to, name, Array{Kind::real, sizeof *value, {1}, &*value});
  }
  void line(Group& to, const std::string& name, const std::string& value) {
    if (!value.empty()) link(to, name, Array{Kind::text, value.size() + 1, {}, value.c_str()});
  }
  void texts(Group& to, const std::string& name, const std::vector<std::string>& values) {
    std::size_t size = 1;
    for (const std::string& value : values) size = std::max(size, value.size() + 1);
    std::string all;
    all.reserve(size * values.size());
    for (const std::string& value : values) all.append(value).append(size - value.size(), '\0');
    link(to, name, Array{Kind::text, size, {values.size()}, all.data()});
  }

  void matrix(Group& to, const std::string& name, const Matrix& given) {
    if (const auto* dense = given.dense()) {
      const auto rows = static_cast<std::size_t>(dense->rows()), cols = static_cast<std::size_t>(dense->cols());
      numbers(to, name, *dense, {rows, cols});
    } else if (const auto* sparse = given.sparse()) {
      Group parts{to.path + name + "/", {}};
      constexpr std::int32_t by_rows = -2;
      integer(parts, "m", static_cast<std::int32_t>(sparse->rows()));
      integer(parts, "n", static_cast<std::int32_t>(sparse->cols()));
      integer(parts, "nz", by_rows);
      integer(parts, "nzmax", static_cast<std::int32_t>(sparse->nonZeros()));
      const auto entries = static_cast<std::size_t>(sparse->nonZeros());
      const Array starts{Kind::integer, 4, {static_cast<std::size_t>(sparse->rows()) + 1}, sparse->outerIndexPtr()};
      link(parts, "p", starts);
      link(parts, "i", Array{Kind::integer, 4, {entries}, sparse->innerIndexPtr()});
      link(parts, "x", Array{Kind::real, 8, {entries}, sparse->valuePtr()});
      link(to, name, parts.links);
    }
  }

  void answers(Group& to) {
    Group all{to.path + "answers/", {}};
    for (const auto& [name, answer] : step_.answers) {
      Group one{all.path + name + "/", {}};
      numbers(one, "r", answer.r);
      if (answer.iterations) integer(one, "iterations", *answer.iterations);
      real(one, "seconds", answer.seconds);
      real(one, "tolerance", answer.tolerance);
      line(one, "status", answer.status);
      line(one, "law", answer.law);
      link(all, name, one.links);
    }
    link(to, "answers", all.links);
  }

  const Step& step_;
  const KeptObjects& last_;
  Objects& objects_;
  KeptObjects fresh_;
};

/// A file that grows at its end.
class File {
 public:
  /// Begins with these objects, whole or not at all: readers of a file that had the name before keep that one.
  File(const std::filesystem::path& path, bool grows, const Objects& objects, Address root) : name_(path.string()) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
      throw Error(name_ + ": is not a regular file");
    }
    std::filesystem::path part = path;
    part += ".part";
    file_ = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) throw Error(text(name_, ": can't be created: ", std::strerror(errno)));
    try {
      if (grows) reserve();
      commit(objects, root);
      std::filesystem::rename(part, path);
    } catch (const std::exception& error) {
      ::close(file_);
      std::filesystem::remove(part, ignored);
      throw Error(text(name_, ": ", error.what()));
    }
  }
  ~File() { release(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& name() const { return name_; }
  Address end() const { return end_; }
  void close() {
    if (release() != 0) throw Error(text(name_, ": can't be closed: ", std::strerror(errno)));
  }
  void check_open() const {
    if (file_ < 0) throw Error("the recording is closed");
    if (::getpid() != owner_) throw Error("another process began the recording; give each process a file of its own");
  }

  /// Makes the file longer than what is written. HDF5 asks for its length before it reads the superblock, and refuses
  /// a file that has grown past that length in between.
  void reserve() {
    constexpr Address ahead = Address{8} << 20;
    if (end_ + ahead / 2 > length_ && ::ftruncate(file_, static_cast<off_t>(end_ + ahead)) == 0) length_ = end_ + ahead;
  }
  /// The objects, then the superblock that leads to them.
  void commit(const Objects& objects, Address root) {
    if (put(end_, objects.bytes()) && put(0, superblock(objects.end(), root))) {
      end_ = objects.end();
      return;
    }
    const std::string why = std::strerror(errno);
    cut();
    throw Error("can't be written: " + why + "; free space or record to another file");
  }

 private:
  bool put(Address at, const std::string& bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
      if (count == 0) errno = ENOSPC;
      if (count <= 0 && errno != EINTR) return false;
      done += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    return true;
  }
  /// To what is written.
  void cut() {
    // Should that fail, readers do not mind.
    if (::ftruncate(file_, static_cast<off_t>(end_)) == 0) length_ = end_;
  }
  int release() {
    if (file_ < 0) return 0;
    if (::getpid() == owner_) cut();
    return ::close(std::exchange(file_, -1));
  }

  std::string name_;
  int file_ = -1;
  pid_t owner_ = ::getpid();  // a copy of the process, made by fork(), has the file, too
  Address end_ = superblock_bytes, length_ = 0;
};

}  // namespace detail

/// Throws Error, "mu: block 3, row 7: is -0.5, must be …", for what no reader would take: sizes, NaN, bounds, mu, an M
/// without symmetry (unless its metric is effective), names of bodies.
inline void check(const Step& step) { detail::Check(step).all(); }

/// Writes a file of one step, whole or not at all. Throws Error.
inline void write_step(const std::filesystem::path& path, const Step& step) {
  try {
    check(step);
  } catch (const Error& error) {
    throw Error(detail::text(path.string(), ": ", error.what()));
  }
  detail::Objects objects(detail::superblock_bytes);
  objects.append_object(detail::tree_sizes());
  const detail::Address group = detail::StepWriter(step, {}, objects).write(std::nullopt);
  const detail::Address root = objects.append_object(detail::group({{"conebench", group}}));
  const detail::File written(path, false, objects, root);
}

/// A recording: /steps/000001/conebench, … Arrays and groups that equal those of the step before are links to them.
/// Not for several threads at once.
class Recorder {
 public:
  /// Throws Error where the file can't be created. One of that name is replaced.
  explicit Recorder(const std::filesystem::path& path) {
    detail::Objects objects(detail::superblock_bytes);
    objects.append_object(detail::tree_sizes());
    const detail::Address root = write_root(objects, index_.write_empty(objects));
    file_.emplace(path, true, objects, root);
  }

  /// Until it returns, readers find the steps before; then this one, too. Throws Error where the step can't be held, is
  /// of another model than the first, or can't be written (a full disk). The recording then has the steps before, and
  /// the next one may be added.
  void add(const Step& step) {
    const std::int64_t number = steps() + 1;
    try {
      file_->check_open();
      if (number > detail::StepIndex::max_steps) throw Error("a recording has 999999 steps at most; begin another");
      check(step);
      if (model_) model_->check(step);
      detail::Objects objects(file_->end());
      detail::StepWriter writer(step, last_, objects);
      const detail::Address group = writer.write(number);
      const detail::Address holder = objects.append_object(detail::group({{"conebench", group}}));
      detail::StepIndex next = index_;
      const detail::Address root = write_root(objects, next.add(holder, objects));
      file_->reserve();
      file_->commit(objects, root);
      index_ = std::move(next);
      for (auto& [name, kept] : writer.take_fresh()) last_[name] = std::move(kept);
    } catch (const Error& error) {
      throw Error(detail::text(file_->name(), ": step ", number, ": ", error.what()));
    }
    if (!model_) model_.emplace(step);
  }

  std::int64_t steps() const { return index_.steps(); }
  /// Throws Error where the last bytes did not reach the file.
  void close() { file_->close(); }

 private:
  static detail::Address write_root(detail::Objects& objects, detail::Address steps) {
    return objects.append_object(detail::group({{"steps", steps}}));
  }

  std::optional<detail::File> file_;
  detail::StepIndex index_;
  detail::KeptObjects last_;
  std::optional<detail::Model> model_;
};

}  // namespace conebench::recording
