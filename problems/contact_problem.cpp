#include "problems/contact_problem.hpp"

#include <xxhash.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace conebench {

namespace {

Error bad(const std::string& name, const std::string& what) {
  return Error{ErrorCode::bad_input, (name.empty() ? std::string("problem") : name) + ": " + what};
}

std::optional<Error> check_vector(const std::string& problem, const char* part, const Vector& vector, Index rows) {
  if (vector.size() != rows) {
    return bad(problem, std::string(part) + " has " + std::to_string(vector.size()) + " entries, expected " +
                            std::to_string(rows));
  }
  for (Index i = 0; i < rows; ++i) {
    if (!std::isfinite(vector[i])) {
      return bad(problem, std::string(part) + " is not finite at row " + std::to_string(i));
    }
  }
  return std::nullopt;
}

bool all_finite(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value * 0.0;
  return sum == 0.0;
}

/// Feeds numbers to the hash in a fixed layout. −0 counts as 0, so that equal problems hash alike.
class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) { XXH3_128bits_reset(state_); }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  ~Hasher() { XXH3_freeState(state_); }

  void add(std::int64_t number) { XXH3_128bits_update(state_, &number, sizeof number); }
  void add(std::span<const double> values) {
    add(static_cast<std::int64_t>(values.size()));
    for (double value : values) {
      value += 0.0;
      XXH3_128bits_update(state_, &value, sizeof value);
    }
  }
  std::string digits() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_);
    std::array<char, 33> text{};
    std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return text.data();
  }

 private:
  XXH3_state_t* state_;
};

std::span<const double> as_span(const Vector& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}

/// Blocks that are all zero are left out, so that the stored pattern does not matter.
std::string hash_of(const ConeProduct& cones, const BlockSparseMatrix& blocks, const Vector& free_term,
                    const Vector& compliance) {
  Hasher hasher;
  hasher.add(cones.joints());
  hasher.add(cones.limits());
  hasher.add(cones.contact_dimension());
  hasher.add(cones.friction());
  for (Index b = 0; b < blocks.block_rows(); ++b) {
    for (Index k = blocks.row_begin(b); k < blocks.row_begin(b + 1); ++k) {
      const auto block = blocks.block(b, k);
      if ((block.array() == 0.0).all()) continue;
      hasher.add(b);
      hasher.add(blocks.column(k));
      hasher.add({block.data(), static_cast<std::size_t>(block.size())});
    }
  }
  hasher.add(as_span(free_term));
  hasher.add(as_span(compliance));
  return hasher.digits();
}

std::optional<Error> check_primal(const std::string& name, const PrimalForm& primal, Index rows) {
  const Index velocities = primal.mass.rows();
  if (primal.mass.cols() != velocities || primal.jacobian.rows() != rows || primal.jacobian.cols() != velocities ||
      primal.free_velocity.size() != velocities) {
    return bad(name, "the primal form's sizes do not match: M " + std::to_string(velocities) + " x " +
                         std::to_string(primal.mass.cols()) + ", J " + std::to_string(primal.jacobian.rows()) + " x " +
                         std::to_string(primal.jacobian.cols()) + ", v_free " +
                         std::to_string(primal.free_velocity.size()) + ", rows " + std::to_string(rows));
  }
  return check_vector(name, "v_free", primal.free_velocity, velocities);
}

}  // namespace

Result<ContactProblem> ContactProblem::create(ContactProblemData data) {
  const Index rows = data.cones.rows();
  const std::string& name = data.provenance.name;
  if (!data.delassus) return bad(name, "no Delassus operator given");
  if (data.delassus->size() != rows) {
    return bad(name, "the Delassus matrix has " + std::to_string(data.delassus->size()) + " rows, the cones have " +
                         std::to_string(rows));
  }
  if (data.compliance.size() == 0) data.compliance = Vector::Zero(rows);
  if (auto error = check_vector(name, "g", data.free_term, rows)) return *error;
  if (auto error = check_vector(name, "the compliance R", data.compliance, rows)) return *error;
  if (data.bias) {
    if (auto error = check_vector(name, "the bias b", *data.bias, rows)) return *error;
  }
  if (data.guess) {
    if (auto error = check_vector(name, "the guess", *data.guess, rows)) return *error;
  }
  if (data.reference) {
    if (auto error = check_vector(name, "the reference solution", data.reference->reaction, rows)) return *error;
  }
  for (Index i = 0; i < rows; ++i) {
    if (data.compliance[i] < 0.0) return bad(name, "the compliance R is negative at row " + std::to_string(i));
  }
  if (data.primal) {
    if (auto error = check_primal(name, *data.primal, rows)) return *error;
  }
  if (data.configuration && data.configuration->gaps) {
    if (auto error = check_vector(name, "the gaps", *data.configuration->gaps, data.cones.contacts())) return *error;
  }
  auto state = std::make_shared<State>();
  state->blocks = data.delassus->assemble(data.cones);
  if (!all_finite(state->blocks.values())) return bad(name, "the Delassus matrix has entries that are not finite");
  state->symmetry_error = state->blocks.symmetry_error();
  state->content_hash = hash_of(data.cones, state->blocks, data.free_term, data.compliance);
  state->rigid = (data.compliance.array() == 0.0).all();
  state->data = std::move(data);
  return ContactProblem(std::move(state));
}

void ContactProblem::velocity(ConstVectorRef impulse, VectorRef sigma) const {
  delassus().apply(impulse, sigma);
  sigma += compliance().cwiseProduct(impulse) + free_term();
}

ContactProblem ContactProblem::with_provenance(Provenance provenance) const {
  auto state = std::make_shared<State>(*state_);
  state->data.provenance = std::move(provenance);
  return ContactProblem(std::move(state));
}

ContactProblem ContactProblem::with_reference(Reference reference) const {
  if (reference.reaction.size() != rows()) throw std::invalid_argument("with_reference: the reaction has another size");
  auto state = std::make_shared<State>(*state_);
  state->data.reference = std::move(reference);
  return ContactProblem(std::move(state));
}

}  // namespace conebench
