#include "problems/contact_problem.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "problems/mass_solve.hpp"
#include "problems/used_parts.hpp"

namespace conebench {

namespace {

Error bad(const std::string& name, const std::string& what) {
  return Error{ErrorCode::bad_input, (name.empty() ? std::string("problem") : name) + ": " + what};
}

Result<void> check_vector(const std::string& problem, const char* part, const Vector& vector, Index rows) {
  if (vector.size() != rows) {
    return bad(problem, std::string(part) + " has " + std::to_string(vector.size()) + " entries, expected " +
                            std::to_string(rows));
  }
  for (Index i = 0; i < rows; ++i) {
    if (!std::isfinite(vector[i])) {
      return bad(problem, std::string(part) + " is not finite at row " + std::to_string(i));
    }
  }
  return {};
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

Result<void> check_finite(const std::string& problem, const char* part, const SparseMatrix& matrix) {
  for (Index j = 0; j < matrix.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(matrix, j); it; ++it) {
      if (std::isfinite(it.value())) continue;
      return bad(problem, std::string(part) + " is not finite at row " + std::to_string(it.row()) + ", column " +
                              std::to_string(it.col()));
    }
  }
  return {};
}

/// Feeds numbers to the hash in a fixed layout. −0 counts as 0, so that equal problems hash alike.
class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) { XXH3_128bits_reset(state_); }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  ~Hasher() { XXH3_freeState(state_); }

  void add(std::int64_t number) { append(std::bit_cast<std::uint64_t>(number)); }
  void add(double value) { append(std::bit_cast<std::uint64_t>(value + 0.0)); }
  void add(std::span<const double> values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const double value : values) add(value);
  }
  std::string digits() {
    flush();
    const XXH128_hash_t hash = XXH3_128bits_digest(state_);
    std::array<char, 33> text{};
    std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return text.data();
  }

 private:
  void append(std::uint64_t word) {
    buffer_[filled_++] = word;
    if (filled_ == buffer_.size()) flush();
  }
  void flush() {
    XXH3_128bits_update(state_, buffer_.data(), filled_ * sizeof(std::uint64_t));
    filled_ = 0;
  }

  XXH3_state_t* state_;
  std::array<std::uint64_t, 512> buffer_{};
  std::size_t filled_ = 0;
};

std::span<const double> as_span(const Vector& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}

void add_matrix(Hasher& hasher, const SparseMatrix& matrix) {
  hasher.add(matrix.rows());
  hasher.add(matrix.cols());
  for (Index j = 0; j < matrix.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(matrix, j); it; ++it) {
      if (it.value() == 0.0) continue;
      hasher.add(it.row());
      hasher.add(it.col());
      hasher.add(it.value());
    }
  }
}

/// Of a product whose contacts have Coulomb's or rolling friction, and without intervals, what it was before there were
/// other sets.
void add_cones(Hasher& hasher, const ConeProduct& cones) {
  hasher.add(cones.joints());
  hasher.add(cones.limits());
  hasher.add(Index{cones.contacts() > 0 ? cones.contact_dimension() : 0});
  hasher.add(cones.friction());
  if (cones.rolls()) hasher.add(cones.rolling_friction());
  if (cones.intervals().empty() && (cones.coulomb() || cones.rolls())) return;
  hasher.add(static_cast<std::int64_t>(cones.intervals().size()));
  for (const Interval& interval : cones.intervals()) {
    hasher.add(interval.lower);
    hasher.add(interval.upper);
  }
  for (Index i = 0; i < cones.contacts(); ++i) {
    hasher.add(Index{cones.shape(i) == ConeShape::pyramid ? 1 : 0});
    hasher.add(static_cast<std::int64_t>(cones.groups(i).size()));
    for (const int size : cones.groups(i)) hasher.add(Index{size});
    hasher.add(cones.coefficients(i));
  }
}

/// Blocks that are all zero are left out, so that the stored pattern does not matter.
std::string hash_of(const ContactProblemData& data, const BlockSparseMatrix& blocks) {
  Hasher hasher;
  add_cones(hasher, data.cones);
  for (Index b = 0; b < blocks.block_rows(); ++b) {
    for (Index k = blocks.row_begin(b); k < blocks.row_begin(b + 1); ++k) {
      const auto block = blocks.block(b, k);
      if ((block.array() == 0.0).all()) continue;
      hasher.add(b);
      hasher.add(blocks.column(k));
      hasher.add({block.data(), static_cast<std::size_t>(block.size())});
    }
  }
  hasher.add(as_span(data.free_term));
  hasher.add(as_span(data.compliance));
  return hasher.digits();
}

/// With M and J in place of G.
std::string primal_hash_of(const ContactProblemData& data) {
  Hasher hasher;
  add_cones(hasher, data.cones);
  hasher.add(Index{-1});  // no block of G
  add_matrix(hasher, data.primal->mass);
  add_matrix(hasher, data.primal->jacobian);
  hasher.add(as_span(data.free_term));
  hasher.add(as_span(data.compliance));
  return hasher.digits();
}

/// An absent part differs from an empty one.
void add_optional(Hasher& hasher, const std::optional<Vector>& vector) {
  hasher.add(Index{vector ? 1 : 0});
  if (vector) hasher.add(as_span(*vector));
}

void add_text(Hasher& hasher, const std::string& text) {
  hasher.add(static_cast<std::int64_t>(text.size()));
  for (const char letter : text) hasher.add(Index{letter});
}

void add_identities(Hasher& hasher, const std::optional<std::vector<std::int64_t>>& identities) {
  hasher.add(Index{identities ? 1 : 0});
  if (!identities) return;
  hasher.add(static_cast<std::int64_t>(identities->size()));
  for (const std::int64_t identity : *identities) hasher.add(identity);
}

bool has_nodes(const Configuration& known) {
  return known.nodes || known.velocity || known.inertia || known.friction_axes;
}

void add_configuration(Hasher& hasher, const Configuration& known) {
  add_optional(hasher, known.gaps);
  hasher.add(known.time_step.value_or(0.0));
  for (const auto& count : {known.bodies, known.generalised_velocities, known.joint_count}) {
    hasher.add(count.value_or(-1));
  }
  // Problems without any of these keep the hash that they had before there were any.
  if (!known.coordinates && !known.body_masses && !known.contact_identities && !known.limit_identities &&
      !known.contact_frames && known.scene.empty() && !known.step && !known.seed && !has_nodes(known)) {
    return;
  }
  hasher.add(known.coordinates ? static_cast<Index>(*known.coordinates) : Index{-1});
  add_optional(hasher, known.body_masses);
  add_identities(hasher, known.contact_identities);
  add_identities(hasher, known.limit_identities);
  if (known.contact_frames) add_optional(hasher, known.contact_frames);  // without them the hash is that of before
  add_text(hasher, known.scene);
  hasher.add(Index{known.step ? 1 : 0});
  hasher.add(known.step.value_or(0));
  hasher.add(Index{known.seed ? 1 : 0});
  hasher.add(static_cast<std::int64_t>(known.seed.value_or(0)));
  if (!has_nodes(known)) return;
  add_identities(hasher, known.nodes);
  for (const auto& part : {known.velocity, known.inertia, known.friction_axes}) add_optional(hasher, part);
}

std::string data_hash_of(const ContactProblemData& data, const std::string& content_hash) {
  Hasher hasher;
  for (const char digit : content_hash) hasher.add(Index{digit});
  hasher.add(static_cast<Index>(data.delassus->form()));
  add_optional(hasher, data.bias);
  add_optional(hasher, data.guess);
  hasher.add(Index{data.primal ? 1 : 0});
  if (data.primal) {
    add_matrix(hasher, data.primal->mass);
    add_matrix(hasher, data.primal->jacobian);
    hasher.add(as_span(data.primal->free_velocity));
  }
  add_configuration(hasher, data.configuration.value_or(Configuration{}));
  return hasher.digits();
}

Result<void> check_primal(const std::string& name, const PrimalForm& primal, Index rows) {
  const Index velocities = primal.mass.rows();
  if (primal.mass.cols() != velocities || primal.jacobian.rows() != rows || primal.jacobian.cols() != velocities ||
      primal.free_velocity.size() != velocities) {
    return bad(name, "the primal form's sizes do not match: M " + std::to_string(velocities) + " x " +
                         std::to_string(primal.mass.cols()) + ", J " + std::to_string(primal.jacobian.rows()) + " x " +
                         std::to_string(primal.jacobian.cols()) + ", v_free " +
                         std::to_string(primal.free_velocity.size()) + ", rows " + std::to_string(rows));
  }
  CONEBENCH_CHECK(check_finite(name, "M", primal.mass));
  CONEBENCH_CHECK(check_finite(name, "J", primal.jacobian));
  return check_vector(name, "v_free", primal.free_velocity, velocities);
}

/// g = J v_free + b up to the rounding of another order of summation.
Result<void> check_free_term(const std::string& name, const PrimalForm& primal, const Vector& bias,
                             const Vector& free_term) {
  const Vector sum = primal.jacobian * primal.free_velocity + bias;
  const Vector magnitude = primal.jacobian.cwiseAbs() * primal.free_velocity.cwiseAbs() + bias.cwiseAbs();
  // A row of a body at rest is rounding of the others.
  const double rounding = magnitude.size() > 0 ? 1e-15 * magnitude.maxCoeff() : 0.0;
  for (Index i = 0; i < free_term.size(); ++i) {
    const double error = std::abs(sum[i] - free_term[i]);
    if (error > rounding + 1e-9 * (magnitude[i] + std::abs(free_term[i]))) {
      return bad(name, "g is not J v_free + b at row " + std::to_string(i));
    }
  }
  return {};
}

Result<void> check_identities(const std::string& name, const char* of,
                              const std::optional<std::vector<std::int64_t>>& identities, Index count) {
  if (!identities) return {};
  if (static_cast<Index>(identities->size()) != count) {
    return bad(name, std::string("the identities of the ") + of + " are " + std::to_string(identities->size()) +
                         ", expected " + std::to_string(count));
  }
  std::vector<std::int64_t> sorted = *identities;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return {};
  return bad(name, std::string("two ") + of + " have the identity " + std::to_string(*twice));
}

/// What is known of velocities has their number, where M is known.
Result<void> check_velocities(const std::string& name, const Configuration& known, const ConeProduct& cones,
                              std::optional<Index> velocities) {
  for (const auto& [part, what] :
       {std::pair(&known.velocity, "the velocity before the step"), {&known.inertia, "the inertia"}}) {
    if (!*part) continue;
    CONEBENCH_CHECK(check_vector(name, what, **part, velocities.value_or((*part)->size())));
  }
  if (known.friction_axes) {
    CONEBENCH_CHECK(check_vector(name, "the friction along tangents", *known.friction_axes, 2 * cones.contacts()));
    if ((known.friction_axes->array() < 0.0).any()) return bad(name, "friction along a tangent is negative");
  }
  std::int64_t free = 0;  // the first column that no node before has
  for (const std::int64_t node : known.nodes.value_or(std::vector<std::int64_t>{})) {
    if (node >= free && node + 3 <= velocities.value_or(std::numeric_limits<int>::max())) {
      free = node + 3;
      continue;
    }
    return bad(name, "the node at column " + std::to_string(node) + " overlaps another, or is outside of M");
  }
  return {};
}

Result<void> check_configuration(const std::string& name, const Configuration& known, const ConeProduct& cones) {
  if (known.gaps) {
    CONEBENCH_CHECK(check_vector(name, "the gaps", *known.gaps, cones.contacts()));
  }
  if (known.time_step && !(std::isfinite(*known.time_step) && *known.time_step > 0.0)) {
    return bad(name, "the time step must be finite and positive (got " + std::to_string(*known.time_step) + ")");
  }
  for (const auto& count : {known.bodies, known.generalised_velocities, known.joint_count}) {
    if (count && *count < 0) return bad(name, "the number of bodies, velocities or joints is negative");
  }
  if (known.body_masses) {
    const Vector& masses = *known.body_masses;
    CONEBENCH_CHECK(check_vector(name, "the bodies' masses", masses, known.bodies.value_or(masses.size())));
    if ((masses.array() < 0.0).any()) return bad(name, "a body's mass is negative");
  }
  if (known.contact_frames) {
    const int d = cones.space_dimension();
    CONEBENCH_CHECK(check_vector(name, "the contacts' frames", *known.contact_frames, Index{d} * d * cones.contacts()));
    if (!are_frames(*known.contact_frames, d)) return bad(name, "a contact's frame is not orthonormal");
  }
  CONEBENCH_CHECK(check_identities(name, "contacts", known.contact_identities, cones.contacts()));
  return check_identities(name, "limits", known.limit_identities, cones.limits());
}

}  // namespace

std::string to_string(Coordinates coordinates) { return coordinates == Coordinates::reduced ? "reduced" : "maximal"; }

std::string to_string(Metric metric) {
  switch (metric) {
    case Metric::mass: return "mass";
    case Metric::effective: return "effective";
    case Metric::unknown: break;
  }
  return "unknown";
}

std::optional<Metric> metric_of(const std::string& name) {
  for (const Metric metric : {Metric::mass, Metric::effective}) {
    if (name == to_string(metric)) return metric;
  }
  return std::nullopt;
}

std::optional<Coordinates> coordinates_of(const std::string& name) {
  for (const Coordinates coordinates : {Coordinates::reduced, Coordinates::maximal}) {
    if (name == to_string(coordinates)) return coordinates;
  }
  return std::nullopt;
}

std::string to_string(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::solved: return "solved";
    case StepOutcome::unsolved: return "unsolved";
    case StepOutcome::frictionless: return "frictionless";
    case StepOutcome::failed: return "failed";
  }
  return "unknown";
}

std::optional<StepOutcome> step_outcome_of(const std::string& name) {
  for (const StepOutcome outcome :
       {StepOutcome::solved, StepOutcome::unsolved, StepOutcome::frictionless, StepOutcome::failed}) {
    if (name == to_string(outcome)) return outcome;
  }
  return std::nullopt;
}

bool are_frames(const Vector& frames, int dimension) {
  const Index size = Index{dimension} * dimension;
  for (Index at = 0; at < frames.size(); at += size) {
    const Eigen::Map<const Matrix> axes(frames.data() + at, dimension, dimension);
    if (!((axes.transpose() * axes).isIdentity(1e-6))) return false;
  }
  return true;
}

UsedParts used_parts(const ProblemUse& use) {
  if (use.delassus) return UsedParts::delassus;
  if (use.products) return use.diagonal ? UsedParts::products_and_diagonal : UsedParts::products;
  if (use.diagonal) return UsedParts::diagonal;
  return use.primal ? UsedParts::primal : UsedParts::none;
}

bool Configuration::empty() const {
  return !gaps && !time_step && !bodies && !generalised_velocities && !joint_count && !coordinates && !body_masses &&
         !contact_identities && !limit_identities && !contact_frames && scene.empty() && !step && !time && !seed &&
         !has_nodes(*this);
}

Result<ContactProblem> ContactProblem::create(ContactProblemData data) {
  const Index rows = data.cones.rows();
  const std::string& name = data.provenance.name;
  if (!data.delassus && !data.primal) return bad(name, "neither a Delassus operator nor M and J given");
  if (data.delassus && data.delassus->size() != rows) {
    return bad(name, "the Delassus matrix has " + std::to_string(data.delassus->size()) + " rows, the cones have " +
                         std::to_string(rows));
  }
  if (data.compliance.size() == 0) data.compliance = Vector::Zero(rows);
  CONEBENCH_CHECK(check_vector(name, "g", data.free_term, rows));
  CONEBENCH_CHECK(check_vector(name, "the compliance R", data.compliance, rows));
  if (data.bias) {
    CONEBENCH_CHECK(check_vector(name, "the bias b", *data.bias, rows));
  }
  if (data.guess) {
    CONEBENCH_CHECK(check_vector(name, "the guess", *data.guess, rows));
  }
  if (data.reference) {
    CONEBENCH_CHECK(check_vector(name, "the reference solution", data.reference->reaction, rows));
  }
  for (Index i = 0; i < rows; ++i) {
    if (data.compliance[i] < 0.0) return bad(name, "the compliance R is negative at row " + std::to_string(i));
  }
  if (data.primal) {
    CONEBENCH_CHECK(check_primal(name, *data.primal, rows));
    if (data.bias) {
      CONEBENCH_CHECK(check_free_term(name, *data.primal, *data.bias, data.free_term));
    }
  }
  if (data.configuration) {
    CONEBENCH_CHECK(check_configuration(name, *data.configuration, data.cones));
    const auto velocities = data.primal ? std::optional(data.primal->mass.rows()) : std::nullopt;
    CONEBENCH_CHECK(check_velocities(name, *data.configuration, data.cones, velocities));
  }
  auto state = std::make_shared<State>();
  state->made = std::make_shared<Made>();
  state->given_as_primal = data.primal && (!data.delassus || data.delassus->form() == DelassusForm::factored);
  if (!data.delassus) {
    auto made = make_factored_delassus(data.primal->mass, data.primal->jacobian);
    if (!made) return bad(name, made.error().message);
    data.delassus = *made;
  }
  state->rigid = (data.compliance.array() == 0.0).all();
  state->data = std::move(data);
  const ContactProblemData& own = state->data;
  // A positive definite G is finite where its diagonal is; an elastic body's takes as many solves as there are rows.
  bool finite = true;
  if (!state->given_as_primal) {
    finite = all_finite(state->make_blocks().values());
    state->make_diagonal();
  } else if (own.delassus->assembles_sparsely()) {
    finite = all_finite(state->make_diagonal().values());
  }
  if (!finite) return bad(own.provenance.name, "the Delassus matrix has entries that are not finite");
  state->content_hash = state->given_as_primal ? primal_hash_of(own) : hash_of(own, state->make_blocks());
  state->data_hash = data_hash_of(own, state->content_hash);
  return ContactProblem(std::move(state));
}

const BlockSparseMatrix& ContactProblem::State::make_blocks() const {
  std::call_once(made->blocks_once, [this] {
    made->own_blocks = data.delassus->assemble(data.cones);
    made->blocks.store(&*made->own_blocks, std::memory_order_release);
  });
  return *made->own_blocks;
}

void ContactProblem::State::take_blocks(BlockSparseMatrix blocks) const {
  std::call_once(made->blocks_once, [&] {
    made->own_blocks = std::move(blocks);
    made->blocks.store(&*made->own_blocks, std::memory_order_release);
  });
}

const DiagonalBlocks& ContactProblem::State::make_diagonal() const {
  std::call_once(made->diagonal_once, [this] {
    const BlockSparseMatrix* const blocks = made->blocks.load(std::memory_order_acquire);
    const bool at_hand = blocks != nullptr && (!given_as_primal || data.delassus->assembles_sparsely());
    made->diagonal = at_hand ? DiagonalBlocks(*blocks) : data.delassus->diagonal(data.cones);
  });
  return *made->diagonal;
}

bool ContactProblem::take_diagonal(DiagonalBlocks diagonal) const {
  const DiagonalBlocks expected(cones());
  if (diagonal.count() != expected.count() || diagonal.values().size() != expected.values().size()) return false;
  Made& made = *state_->made;
  std::call_once(made.diagonal_once, [&] { made.diagonal = std::move(diagonal); });
  return true;
}

double ContactProblem::bytes_to_condense() const {
  if (condenses_sparsely() || made_blocks() != nullptr) return 0.0;
  // Once as it comes from the solves, once in blocks.
  return 2.0 * sizeof(double) * static_cast<double>(rows()) * static_cast<double>(rows());
}

double ContactProblem::symmetry_error() const {
  std::call_once(state_->made->symmetry_once, [this] {
    state_->made->symmetry_error =
        condenses_sparsely() ? state_->make_blocks().symmetry_error() : asymmetry(data().primal->mass);
  });
  return state_->made->symmetry_error;
}

std::optional<ContactProblem::Aliases> ContactProblem::aliases() const {
  if (!given_as_primal() || !condenses_sparsely()) return std::nullopt;
  const std::string content = hash_of(data(), state_->make_blocks());
  return Aliases{content, data_hash_of(data(), content)};
}

bool ContactProblem::is_called(const std::string& hash) const {
  if (hash == data_hash()) return true;
  const auto old = aliases();
  return old && hash == old->data_hash;
}

void ContactProblem::multiply(ConstVectorRef x, VectorRef product) const {
  if (condenses_sparsely()) {
    blocks().apply(x, product);
  } else {
    delassus().apply(x, product);
  }
}

void ContactProblem::multiply(ConstVectorRef x, VectorRef product, Workers& workers) const {
  if (condenses_sparsely()) {
    blocks().apply(x, product, workers);
  } else {
    delassus().apply_by(workers, x, product);
  }
}

void ContactProblem::velocity(ConstVectorRef impulse, VectorRef sigma) const {
  note(&ProblemUse::products);
  data().delassus->apply(impulse, sigma);
  sigma += compliance().cwiseProduct(impulse) + free_term();
}

ContactProblem ContactProblem::watched(std::shared_ptr<ProblemUse> use) const {
  return ContactProblem(state_, std::move(use));
}

ContactProblem ContactProblem::with_provenance(Provenance provenance) const {
  auto state = std::make_shared<State>(*state_);
  state->data.provenance = std::move(provenance);
  return ContactProblem(std::move(state), use_);
}

ContactProblem ContactProblem::without_answers(bool keep_guess) const {
  auto state = std::make_shared<State>(*state_);
  state->data.reference.reset();
  if (!keep_guess) state->data.guess.reset();
  return ContactProblem(std::move(state), use_);
}

ContactProblem ContactProblem::with_reference(Reference reference) const {
  if (reference.reaction.size() != rows()) throw std::invalid_argument("with_reference: the reaction has another size");
  auto state = std::make_shared<State>(*state_);
  state->data.reference = std::move(reference);
  return ContactProblem(std::move(state), use_);
}

}  // namespace conebench
