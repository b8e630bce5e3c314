#include "fclib_loader/block_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fclib_loader/condensation.hpp"
#include "fclib_loader/fclib_extension.hpp"
#include "fclib_loader/fclib_matrix.hpp"
#include "fclib_loader/fclib_names.hpp"
#include "fclib_loader/group_reader.hpp"
#include "fclib_loader/recording.hpp"
#include "problems/mass_solve.hpp"

namespace conebench {

namespace {

using hdf5::Object;
using hdf5::ReadFile;
using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

constexpr const char* group_name = "conebench";
constexpr const char* body_count = "body_count";
constexpr std::int64_t max_rows = std::numeric_limits<std::int32_t>::max() - 1;

class BlockReader : GroupReader {
 public:
  BlockReader(const ReadFile& file, const Object& root)
      : GroupReader(file, file.open_group(root, group_name)), root_(root) {}

  GivenProblem read() {
    read_blocks();
    read_matrices();
    read_free_term();
    read_configuration();
    read_provenance();
    if (has("answers")) read_answers();
    if (file_.has(root_, "solution")) read_solution();
    if (file_.has(root_, "guesses")) read_guess();
    return std::move(given_);
  }

 private:
  Index rows() const { return given_.blocks.rows(); }
  void require(const char* part) const {
    if (!has(part)) fail(part, "is missing");
  }
  /// Refuses, by the name of both, what has another number of rows than the blocks.
  void check_rows(const char* part, Values values) const {
    const Index length = file_.open_dataset(group_, part, values).length;
    if (length != rows()) fail(part, fmt::format("has {} entries, block_rows ends at {}", length, rows()));
  }
  std::optional<Vector> read_over_rows(const char* part) const {
    if (has(part)) check_rows(part, Values::reals);
    return read_reals(part, rows());
  }
  Vector read_any_over_rows(const char* part) const {
    require(part);
    check_rows(part, Values::reals);
    return read_any(part, rows());
  }
  /// With NaN and infinities.
  Vector read_any(const char* part, Index size) const {
    require(part);
    return file_.read_reals(file_.open_dataset(group_, part, Values::reals, size));
  }

  void read_blocks() {
    BlockTable& table = given_.blocks;
    require("block_rows");
    const Index length = file_.open_dataset(group_, "block_rows", Values::integers).length;
    const auto first = *read_integers("block_rows", length);
    if (first.empty() || first.front() != 0) fail("block_rows", "must start with 0");
    for (std::size_t k = 1; k < first.size(); ++k) {
      if (first[k] >= first[k - 1] && first[k] <= max_rows) continue;
      fail("block_rows",
           fmt::format("block {} ends at row {}, after {}; the entries must ascend", k - 1, first[k], first[k - 1]));
    }
    table.first_row.assign(first.begin(), first.end());
    const auto blocks = static_cast<Index>(first.size()) - 1;
    table.lower = read_any_over_rows("lower");
    table.upper = read_any_over_rows("upper");
    require("cone");
    const auto cones = *read_integers("cone", blocks);
    for (const std::int64_t cone : cones) {
      if (cone < 0 || cone > static_cast<std::int64_t>(BlockCone::pyramid)) {
        fail("cone", fmt::format("block {} has the cone {}, known are 0 none, 1 discs, 2 ellipsoid, 3 pyramid",
                                 table.cone.size(), cone));
      }
      table.cone.push_back(static_cast<BlockCone>(cone));
    }
    table.mu = has("mu") ? read_any_over_rows("mu") : Vector::Zero(rows());
    if (!has("mu") && std::ranges::any_of(table.cone, [](BlockCone cone) { return cone != BlockCone::none; })) {
      require("mu");
    }
    if (has("groups")) check_rows("groups", Values::integers);
    if (const auto groups = read_integers("groups", rows())) {
      for (const std::int64_t group : *groups) {
        table.group.push_back(static_cast<int>(std::clamp<std::int64_t>(group, -1, max_rows)));
      }
    }
    if (has("shift")) table.shift = read_any("shift", blocks);
  }

  /// A group of compressed columns, rows or triplets, or a dense dataset.
  SparseMatrix read_any_matrix(const char* part, Index expected_rows, Index expected_cols,
                               bool* dense = nullptr) const {
    if (file_.is_group(group_, part)) {
      const MatrixHeader header = open_matrix(file_, group_, part);
      if (header.rows != expected_rows || (expected_cols >= 0 && header.cols != expected_cols)) {
        fail(part, fmt::format("is {} x {}, expected {} x {}", header.rows, header.cols, expected_rows,
                               expected_cols >= 0 ? std::to_string(expected_cols) : "n_v"));
      }
      return read_matrix(file_, header);
    }
    if (dense != nullptr) *dense = true;
    const Index cols = expected_cols >= 0 ? expected_cols : velocities_;
    const auto dataset = file_.open_array(group_, part, Values::reals, {expected_rows, cols});
    const Vector values = file_.read_reals(dataset);
    for (Index k = 0; k < values.size(); ++k) {
      if (!std::isfinite(values[k])) fail(part, fmt::format("row {}, column {} is {}", k / cols, k % cols, values[k]));
    }
    using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Matrix(Eigen::Map<const Dense>(values.data(), expected_rows, cols)).sparseView(1.0, 0.0);
  }

  void read_matrices() {
    if (has("M") != has("J")) require(has("M") ? "J" : "M");
    if (has("J")) {
      require("v_free");
      PrimalForm primal;
      velocities_ = length_of("v_free");
      primal.free_velocity = *read_reals("v_free", velocities_);
      primal.mass = read_any_matrix("M", velocities_, velocities_);
      primal.jacobian = read_any_matrix("J", rows(), velocities_);
      primal.metric = read_metric();
      given_.primal = std::move(primal);
    } else {
      require("G");
    }
    if (has("G")) given_.delassus = read_any_matrix("G", rows(), rows(), &given_.dense);
    if (const auto compliance = read_over_rows("R")) {
      for (Index row = 0; row < rows(); ++row) {
        if ((*compliance)[row] < 0.0) fail("R", fmt::format("row {} is negative ({})", row, (*compliance)[row]));
      }
      given_.compliance = *compliance;
    }
  }

  /// Without J, b is the free term itself.
  void read_free_term() {
    const std::optional<Vector> b = read_over_rows("b");
    const std::optional<Vector> kept = read_over_rows("g");
    if (!given_.primal) {
      given_.free_term = kept ? *kept : b.value_or(Vector::Zero(rows()));
      given_.bias = kept && b ? b : read_over_rows("bias");
      return;
    }
    const Vector bias = b.value_or(Vector::Zero(rows()));
    const PrimalForm& primal = *given_.primal;
    given_.free_term = primal.jacobian * primal.free_velocity + bias;
    if (kept) {
      const Vector size = SparseMatrix(primal.jacobian.cwiseAbs()) * primal.free_velocity.cwiseAbs() + bias.cwiseAbs();
      if (!((*kept - *given_.free_term).cwiseAbs().array() <= 1e-10 * size.array()).all()) {
        fail("g", "is not J v_free + b");
      }
      given_.free_term = kept;
    }
    if (read_count("bias_known").value_or(1) != 0) given_.bias = bias;
  }

  void read_configuration() {
    Configuration& known = given_.configuration;
    read_step(body_count, known);
    const Index blocks = given_.blocks.blocks();
    for (const auto& [part, to] : {std::pair("velocity", &known.velocity), {"inertia", &known.inertia}}) {
      if (has(part)) *to = read_reals(part, given_.primal ? velocities_ : length_of(part));
    }
    if (has("node_dofs")) {
      known.nodes = read_integers("node_dofs", file_.open_dataset(group_, "node_dofs", Values::integers).length);
    }
    if (has("gap")) given_.gaps = read_any("gap", blocks);
    if (const auto identities = read_integers("identity", blocks)) given_.identities = *identities;
    const auto cones = static_cast<Index>(
        std::ranges::count_if(given_.blocks.cone, [](BlockCone cone) { return cone != BlockCone::none; }));
    if (has("frame")) {
      given_.frames = file_.read_reals(file_.open_array(group_, "frame", Values::reals, {cones, 3, 3}));
    }
    if (has("point")) given_.points = file_.read_reals(file_.open_array(group_, "point", Values::reals, {cones, 3}));
    if (has("name")) given_.names = file_.read_texts(group_, "name", blocks);
    read_bodies(blocks);
  }

  void read_bodies(Index blocks) {
    if (has("body_names")) {
      given_.body_names = file_.read_texts(group_, "body_names", -1);
    }
    if (!has("bodies")) return;
    given_.bodies = file_.read_integers(file_.open_array(group_, "bodies", Values::integers, {blocks, 2}));
    const auto count = static_cast<std::int64_t>(given_.body_names.size());
    for (std::size_t k = 0; k < given_.bodies.size(); ++k) {
      const std::int64_t body = given_.bodies[k];
      if (body >= -1 && (body < count || !has("body_names"))) continue;
      fail("bodies", fmt::format("block {} names body {}, body_names has {}", k / 2, body, count));
    }
  }

  void read_answers() {
    constexpr std::size_t max_answers = 1000;
    const Object answers = file_.open_group(group_, "answers");
    for (const std::string& name : file_.names(answers, max_answers)) {
      const Object group = file_.open_group(answers, name);
      EngineAnswer answer;
      answer.name = hdf5::one_line(name);
      answer.impulse = file_.read_reals(file_.open_dataset(group, "r", Values::reals, rows()));
      const auto real = [&](const char* part) -> std::optional<double> {
        if (!file_.has(group, part)) return std::nullopt;
        return file_.read_reals(file_.open_dataset(group, part, Values::reals, 1))[0];
      };
      if (file_.has(group, "iterations")) answer.iterations = file_.read_scalar(group, "iterations");
      answer.seconds = real("seconds");
      answer.tolerance = real("tolerance");
      answer.status = file_.read_text(group, "status");
      answer.law = file_.read_text(group, "law");
      if (!answer.law.empty()) check_law("answers/" + name + "/law", answer.law);
      given_.answers.push_back(std::move(answer));
    }
  }

  void check_law(const std::string& part, const std::string& law) const {
    if (law != "ncp" && law != "ccp") fail(part, "is '" + law + "', expected ncp or ccp");
  }

  void read_provenance() {
    Provenance& provenance = given_.provenance;
    provenance.law = has("law") ? file_.read_text(group_, "law") : "ncp";
    check_law("law", provenance.law);
    provenance.family = file_.read_text(group_, "family");
    provenance.category = file_.read_text(group_, "category");
    provenance.description = file_.read_text(group_, "description");
    if (const auto conditioning = read_reals("conditioning", 1)) provenance.conditioning = (*conditioning)[0];
    provenance.loop = read_loop();
  }

  Vector read_rows(const Object& parent, const char* part) const {
    return file_.read_finite(file_.open_dataset(parent, part, Values::reals, rows()));
  }

  void read_solution() {
    const Vector reaction = read_rows(file_.open_group(root_, "solution"), "r");
    if ((reaction.array() == 0.0).all()) return;  // as in FCLIB's files: nobody solved it
    Reference reference{reaction, 0.0, "/solution of the file"};
    std::string source;
    read_reference(source, reference.residuals);
    if (!source.empty()) reference.source = source;
    given_.reference = std::move(reference);
  }

  void read_guess() {
    const Object guesses = file_.open_group(root_, "guesses");
    if (!file_.has(guesses, "1")) return;
    given_.guess = read_rows(file_.open_group(guesses, "1"), "r");
  }

  const Object& root_;
  Index velocities_ = 0;
  GivenProblem given_;
};

/// Whether G z = J M⁻¹ Jᵀ z for a vector z without pattern.
bool condenses_to(const PrimalForm& primal, const MassFactor& factor, const SparseMatrix& matrix) {
  Vector z(matrix.rows());
  for (Index k = 0; k < z.size(); ++k) z[k] = std::cos(1.0 + 2.0 * static_cast<double>(k));
  const Vector expected = primal.jacobian * factor.solve(Vector(primal.jacobian.transpose() * z));
  return (matrix * z - expected).norm() <= 1e-6 * expected.norm();
}

/// Entries of the problem's rows in the file's order.
Vector in_file_order(const Vector& entries, const GivenRows& rows) {
  Vector result(entries.size());
  for (Index k = 0; k < result.size(); ++k) result[k] = entries[rows.row[static_cast<std::size_t>(k)]];
  return result;
}

SparseMatrix in_file_order(const RowMatrix& matrix, const GivenRows& rows, bool columns) {
  std::vector<int> place(rows.row.size());
  for (std::size_t k = 0; k < place.size(); ++k) place[static_cast<std::size_t>(rows.row[k])] = static_cast<int>(k);
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(matrix.nonZeros()));
  for (Index row = 0; row < matrix.outerSize(); ++row) {
    for (RowMatrix::InnerIterator it(matrix, row); it; ++it) {
      if (it.value() == 0.0) continue;
      entries.emplace_back(place[static_cast<std::size_t>(row)],
                           columns ? place[static_cast<std::size_t>(it.col())] : static_cast<int>(it.col()),
                           it.value());
    }
  }
  SparseMatrix result(matrix.rows(), matrix.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// A problem of any cones in the rows of block_rows_of(), a given shift put back.
class Description {
 public:
  explicit Description(const ContactProblem& problem) : problem_(problem), rows_(block_rows_of(problem)) {}

  GivenProblem made() {
    given_.blocks = describe_blocks(problem_.cones()).table;
    given_.provenance = problem_.provenance();
    given_.reference = problem_.reference();
    if (shifted()) shift_blocks();
    add_problem();
    if (problem_.configuration()) add_configuration(*problem_.configuration());
    return std::move(given_);
  }

 private:
  bool shifted() const { return (rows_.shift.array() != 0.0).any(); }

  void shift_blocks() {
    BlockTable& table = given_.blocks;
    table.shift = Vector::Zero(table.blocks());
    for (Index block = 0; block < table.blocks(); ++block) {
      const Index begin = table.first_row[static_cast<std::size_t>(block)];
      table.shift[block] = rows_.shift[begin];
      BlockCone& cone = table.cone[static_cast<std::size_t>(block)];
      if (table.shift[block] == 0.0 || cone != BlockCone::none) continue;
      cone = BlockCone::ellipsoid;  // without friction
      table.lower[begin] = table.upper[begin] = std::numeric_limits<double>::quiet_NaN();
    }
  }

  void add_problem() {
    // With λ' = λ + s for the given λ: g = g' + (G + R) s, of which R s is b's and G s is J v_free's.
    Vector shift = Vector::Zero(problem_.rows());
    for (std::size_t k = 0; k < rows_.row.size(); ++k) shift[rows_.row[k]] = rows_.shift[static_cast<Index>(k)];
    const Vector own = problem_.compliance().cwiseProduct(shift);
    Vector free_term = problem_.free_term();
    if (shifted()) {
      Vector moved(problem_.rows());
      problem_.multiply(shift, moved);
      free_term += moved + own;
    }
    given_.free_term = in_file_order(free_term, rows_);
    if (problem_.bias()) given_.bias = in_file_order(*problem_.bias() + own, rows_);
    if (!problem_.rigid()) given_.compliance = in_file_order(problem_.compliance(), rows_);
    if (problem_.form() != DelassusForm::factored || !problem_.primal()) {
      given_.delassus = in_file_order(problem_.blocks().sparse(), rows_, true);
      given_.dense = problem_.form() == DelassusForm::dense;
    }
    if (!problem_.primal()) return;
    given_.primal = *problem_.primal();
    PrimalForm& primal = *given_.primal;
    if (shifted()) {
      const auto mass = FactoredMass::create(primal.mass);
      if (!mass) throw hdf5::Failure("M is singular, and the shift can't be put back");
      primal.free_velocity += mass->solve(Vector(primal.jacobian.transpose() * shift));
    }
    primal.jacobian = in_file_order(RowMatrix(primal.jacobian), rows_, false);
  }

  void add_configuration(const Configuration& known) {
    const ConeProduct& cones = problem_.cones();
    const Index blocks = given_.blocks.blocks();
    given_.configuration = known;
    if (known.gaps) {
      given_.gaps = Vector::Constant(blocks, std::numeric_limits<double>::quiet_NaN());
      given_.gaps.tail(cones.contacts()) = *known.gaps;
    }
    if (known.contact_identities || known.limit_identities) {
      given_.identities.assign(static_cast<std::size_t>(blocks), unknown_identity);
      const auto put = [&](const std::optional<std::vector<std::int64_t>>& from, Index at) {
        if (from) std::ranges::copy(*from, given_.identities.begin() + at);
      };
      put(known.limit_identities, cones.joints());
      put(known.contact_identities, cones.first_contact_row());
    }
    if (known.contact_frames) add_frames(*known.contact_frames, cones.space_dimension());
  }

  /// Axes n, t1, t2; in the plane t2 points out of it. Those of shifted limits are not known.
  void add_frames(const Vector& frames, int dimension) {
    const Index contacts = problem_.cones().contacts();
    const Index size = Index{dimension} * dimension;
    const auto cones =
        std::ranges::count_if(given_.blocks.cone, [](BlockCone cone) { return cone != BlockCone::none; });
    Vector all = Vector::Constant(9 * cones, std::numeric_limits<double>::quiet_NaN());
    auto stored = all.tail(9 * contacts);
    stored.setZero();
    for (Index i = 0; i < contacts; ++i) {
      for (int axis = 0; axis < dimension; ++axis) {
        const int place = axis == dimension - 1 ? 0 : axis + 1;
        stored.segment(9 * i + 3 * place, dimension) = frames.segment(size * i + dimension * axis, dimension);
      }
      for (int axis = dimension; axis < 3; ++axis) stored[9 * i + 4 * axis] = 1.0;
    }
    given_.frames = std::move(all);
  }

  const ContactProblem& problem_;
  GivenRows rows_;
  GivenProblem given_;
};

class BlockWriter {
 public:
  BlockWriter(const GivenProblem& given, hdf5::Image& image) : given_(given), image_(image) {}

  void write() {
    image_.make_group(group_);
    image_.write_size(group_ + "/version", block_version);
    const Provenance& provenance = given_.provenance;
    write_origin(provenance, image_, group_);
    if (!provenance.law.empty()) image_.write_text(group_ + "/law", provenance.law);
    if (!provenance.description.empty()) image_.write_text(group_ + "/description", provenance.description);
    write_blocks(given_.blocks);
    write_problem();
    write_configuration(given_.configuration);
    if (given_.reference) write_reference(*given_.reference, image_, group_);
    for (const EngineAnswer& answer : given_.answers) write_answer(answer, group_ + "/answers/" + answer.name);
  }

 private:
  /// Whether the groups of all discs are those of a file that names none.
  static bool has_usual_groups(const BlockTable& table) {
    for (Index block = 0; block < table.blocks() && !table.group.empty(); ++block) {
      if (table.cone[static_cast<std::size_t>(block)] != BlockCone::discs) continue;
      const Index begin = table.first_row[static_cast<std::size_t>(block)];
      for (Index row = begin + 1; row < table.first_row[static_cast<std::size_t>(block) + 1]; ++row) {
        if (table.group[static_cast<std::size_t>(row)] != (row <= begin + 2 ? 1 : 2)) return false;
      }
    }
    return true;
  }

  void write_blocks(const BlockTable& table) {
    image_.write_sizes(group_ + "/block_rows", {table.first_row.begin(), table.first_row.end()});
    image_.write_reals(group_ + "/lower", table.lower);
    image_.write_reals(group_ + "/upper", table.upper);
    std::vector<std::uint8_t> cones;
    for (const BlockCone cone : table.cone) cones.push_back(static_cast<std::uint8_t>(cone));
    image_.write_bytes(group_ + "/cone", cones);
    image_.write_reals(group_ + "/mu", table.mu);
    if (!has_usual_groups(table)) image_.write_sizes(group_ + "/groups", table.group);
    if ((table.shift.array() != 0.0).any()) image_.write_reals(group_ + "/shift", table.shift);
  }

  void write_problem() {
    if (given_.delassus) write_delassus(*given_.delassus);
    if (given_.compliance.size() > 0) image_.write_reals(group_ + "/R", given_.compliance);
    if (!given_.primal) {
      image_.write_reals(group_ + "/b", *given_.free_term);
      if (given_.bias) image_.write_reals(group_ + "/bias", *given_.bias);
      return;
    }
    const PrimalForm& primal = *given_.primal;
    write_matrix(image_, group_ + "/M", primal.mass);
    write_metric(primal.metric, image_, group_);
    write_matrix(image_, group_ + "/J", RowMatrix(primal.jacobian));
    image_.write_reals(group_ + "/v_free", primal.free_velocity);
    const Vector along = primal.jacobian * primal.free_velocity;
    const Vector bias = given_.bias        ? *given_.bias
                        : given_.free_term ? Vector(*given_.free_term - along)
                                           : Vector(Vector::Zero(along.size()));
    image_.write_reals(group_ + "/b", bias);
    if (!given_.bias) image_.write_size(group_ + "/bias_known", 0);
    if (given_.free_term && Vector(along + bias) != *given_.free_term) {
      image_.write_reals(group_ + "/g", *given_.free_term);
    }
  }

  void write_delassus(const SparseMatrix& matrix) {
    if (!given_.dense) {
      write_matrix(image_, group_ + "/G", RowMatrix(matrix));
      return;
    }
    const Matrix columns = Matrix(matrix).transpose();  // by rows
    image_.write_array(group_ + "/G", {matrix.rows(), matrix.cols()}, columns.reshaped());
  }

  void write_configuration(const Configuration& known) {
    write_step(known, body_count, image_, group_);
    if (given_.gaps.size() > 0) image_.write_reals(group_ + "/gap", given_.gaps);
    if (!given_.identities.empty()) image_.write_longs(group_ + "/identity", given_.identities);
    if (given_.frames) image_.write_array(group_ + "/frame", {given_.frames->size() / 9, 3, 3}, *given_.frames);
    if (given_.points) image_.write_array(group_ + "/point", {given_.points->size() / 3, 3}, *given_.points);
    if (!given_.names.empty()) image_.write_texts(group_ + "/name", given_.names);
    if (!given_.bodies.empty()) image_.write_longs(group_ + "/bodies", given_.bodies, 2);
    if (!given_.body_names.empty()) image_.write_texts(group_ + "/body_names", given_.body_names);
    if (known.nodes) image_.write_sizes(group_ + "/node_dofs", {known.nodes->begin(), known.nodes->end()});
    if (known.velocity) image_.write_reals(group_ + "/velocity", *known.velocity);
    if (known.inertia) image_.write_reals(group_ + "/inertia", *known.inertia);
    write_scene(known, image_, group_);
  }

  void write_answer(const EngineAnswer& answer, const std::string& group) {
    image_.make_group(group);
    image_.write_reals(group + "/r", answer.impulse);
    if (answer.iterations) image_.write_long(group + "/iterations", *answer.iterations);
    if (answer.seconds) image_.write_reals(group + "/seconds", Vector::Constant(1, *answer.seconds));
    if (answer.tolerance) image_.write_reals(group + "/tolerance", Vector::Constant(1, *answer.tolerance));
    if (!answer.status.empty()) image_.write_text(group + "/status", answer.status);
    if (!answer.law.empty()) image_.write_text(group + "/law", answer.law);
  }

  const GivenProblem& given_;
  hdf5::Image& image_;
  const std::string group_ = std::string("/") + group_name;
};

}  // namespace

std::int64_t version_of(const ReadFile& file, const Object& root) {
  if (!file.has(root, group_name)) return 0;
  const Object group = file.open_group(root, group_name);
  if (!file.has(group, "version")) return 0;
  const std::int64_t version = file.read_scalar(group, "version");
  if (version > block_version) {
    file.fail(group.path + "/version",
              fmt::format("is {}, this build reads 1 to {}; a newer Conebench may read it", version, block_version));
  }
  return version;
}

GivenProblem read_block_group(const ReadFile& file, const Object& root) { return BlockReader(file, root).read(); }

void write_block_group(const GivenProblem& given, hdf5::Image& image) { BlockWriter(given, image).write(); }

void write_block_group(const ContactProblem& problem, hdf5::Image& image) {
  write_block_group(Description(problem).made(), image);
}

GivenRows block_rows_of(const ContactProblem& problem) {
  GivenRows rows = describe_blocks(problem.cones()).rows;
  if (!problem.given_rows()) return rows;
  const GivenRows& given = *problem.given_rows();
  Vector shift = Vector::Zero(problem.rows());
  for (std::size_t k = 0; k < given.row.size(); ++k) {
    if (given.row[k] >= 0) shift[given.row[k]] = given.shift[static_cast<Index>(k)];
  }
  rows.shift = in_file_order(shift, rows);
  return rows;
}

Result<ContactProblem> block_problem(GivenProblem given, const std::filesystem::path& file) {
  const std::string name = hdf5::one_line(file.string());
  const auto named = [&](const Error& error) {
    return error.message.starts_with(name + ": ") ? error : within(name, error);
  };
  if (given.delassus && given.primal) {
    const auto factor = MassFactor::create(given.primal->mass);
    if (!factor) return named(factor.error());
    if (!condenses_to(*given.primal, *factor, *given.delassus)) {
      return Error{ErrorCode::bad_input, name + ": /conebench/G: is not J M^-1 J^T"};
    }
  }
  Provenance provenance = given.provenance;
  const auto address = step_address(file);
  if (provenance.family.empty()) {
    provenance.family = family_of_name((address ? address->file : file).stem().string());
  }
  provenance.name = hdf5::one_line(address ? address->problem_name() : file.stem().string());
  provenance.source_file = file.string();
  provenance.form = to_string(FclibKind::blocks);
  given.provenance.name = name;  // what messages begin with
  auto problem = problem_from_blocks(std::move(given));
  if (!problem) return named(problem.error());
  ContactProblemData data = problem->data();
  data.provenance = std::move(provenance);
  if (!data.given_rows) {  // an order that FCLIB's would be taken for
    data.given_rows = std::make_shared<const GivenRows>(GivenRows::same(problem->rows()));
    return ContactProblem::create(std::move(data)).within(name);
  }
  return problem->with_provenance(std::move(data.provenance));
}

}  // namespace conebench
