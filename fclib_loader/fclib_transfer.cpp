#include "fclib_loader/fclib_transfer.hpp"

#include "base/archive.hpp"
#include "fclib_loader/hdf5_file.hpp"

namespace conebench {

static void transfer(Packer& archive, const Vector& vector) {
  archive.raw(vector.data(), sizeof(double) * archive.count(static_cast<std::size_t>(vector.size())));
}

static void transfer(Unpacker& archive, Vector& vector) {
  vector.resize(static_cast<Index>(archive.count(0, sizeof(double))));
  archive.raw(vector.data(), sizeof(double) * static_cast<std::size_t>(vector.size()));
}

static void transfer(Packer& archive, const SparseMatrix& given) {
  SparseMatrix copy;
  if (!given.isCompressed()) (copy = given).makeCompressed();
  const SparseMatrix& matrix = given.isCompressed() ? given : copy;
  archive(static_cast<Index>(matrix.rows()));
  const std::size_t cols = archive.count(static_cast<std::size_t>(matrix.cols()));
  const std::size_t entries = archive.count(static_cast<std::size_t>(matrix.nonZeros()));
  archive.raw(matrix.outerIndexPtr(), sizeof(int) * (cols + 1));
  archive.raw(matrix.innerIndexPtr(), sizeof(int) * entries);
  archive.raw(matrix.valuePtr(), sizeof(double) * entries);
}

/// Indices are checked, too.
static void transfer(Unpacker& archive, SparseMatrix& matrix) {
  Index rows = 0;
  archive(rows);
  const std::size_t cols = archive.count(0, sizeof(int));
  const std::size_t entries = archive.count(0, sizeof(int) + sizeof(double));
  archive.require(rows >= 0 && rows < (Index{1} << 31));
  if (!archive.ok()) return;
  matrix.resize(rows, static_cast<Index>(cols));
  matrix.resizeNonZeros(static_cast<Index>(entries));
  archive.raw(matrix.outerIndexPtr(), sizeof(int) * (cols + 1));
  archive.raw(matrix.innerIndexPtr(), sizeof(int) * entries);
  archive.raw(matrix.valuePtr(), sizeof(double) * entries);
  const int* outer = matrix.outerIndexPtr();
  archive.require(outer[0] == 0 && static_cast<std::size_t>(outer[cols]) == entries);
  for (std::size_t col = 0; col < cols; ++col) archive.require(outer[col] <= outer[col + 1]);
  for (std::size_t k = 0; k < entries; ++k) {
    archive.require(matrix.innerIndexPtr()[k] >= 0 && matrix.innerIndexPtr()[k] < rows);
  }
}

template <class Archive, class Answer>
requires std::is_same_v<std::remove_const_t<Answer>, FclibContent::Guess>
static void transfer(Archive& archive, Answer& answer) { archive(answer.r, answer.u, answer.v, answer.l); }

template <class Archive, class Known>
requires std::is_same_v<std::remove_const_t<Known>, Configuration>
static void transfer(Archive& archive, Known& known) {
  archive(known.gaps, known.time_step, known.bodies, known.generalised_velocities, known.joint_count, known.coordinates,
          known.body_masses, known.contact_identities, known.limit_identities, known.contact_frames, known.nodes,
          known.velocity, known.inertia, known.friction_axes, known.scene, known.step, known.time, known.seed);
}

template <class Archive, class Form>
requires std::is_same_v<std::remove_const_t<Form>, PrimalForm>
static void transfer(Archive& archive, Form& form) {
  archive(form.mass, form.jacobian, form.free_velocity, form.metric);
}

template <class Archive, class Answer>
requires std::is_same_v<std::remove_const_t<Answer>, Reference>
static void transfer(Archive& archive, Answer& answer) {
  archive(answer.reaction, answer.residual, answer.source, answer.residuals);
}

template <class Archive, class Solve>
requires std::is_same_v<std::remove_const_t<Solve>, LoopSolve>
static void transfer(Archive& archive, Solve& solve) {
  archive(solve.outcome, solve.status, solve.residual, solve.tolerance);
}

template <class Archive, class Origin>
requires std::is_same_v<std::remove_const_t<Origin>, Provenance>
static void transfer(Archive& archive, Origin& origin) {
  archive(origin.family, origin.description, origin.law, origin.category, origin.conditioning, origin.loop);
}

template <class Archive, class Answer>
requires std::is_same_v<std::remove_const_t<Answer>, EngineAnswer>
static void transfer(Archive& archive, Answer& answer) {
  archive(answer.name, answer.impulse, answer.iterations, answer.seconds, answer.tolerance, answer.status, answer.law);
}

template <class Archive, class Given>
requires std::is_same_v<std::remove_const_t<Given>, GivenProblem>
static void transfer(Archive& archive, Given& given) {
  auto& table = given.blocks;
  archive(table.first_row, table.lower, table.upper, table.cone, table.mu, table.group, table.shift);
  archive(given.delassus, given.dense, given.primal, given.free_term, given.bias, given.compliance, given.guess,
          given.reference, given.gaps, given.identities, given.frames, given.points, given.names, given.bodies,
          given.body_names, given.answers, given.configuration, given.provenance);
}

template <class Archive, class Extension>
requires std::is_same_v<std::remove_const_t<Extension>, FclibExtension>
static void transfer(Archive& archive, Extension& extension) {
  archive(extension.version, extension.family, extension.category, extension.conditioning, extension.loop,
          extension.limits, extension.metric, extension.free_velocity, extension.bias_known, extension.bias,
          extension.g, extension.compliance, extension.delassus_form, extension.delassus, extension.configuration,
          extension.reference_source, extension.reference_residuals);
}

template <class Archive, class Content>
requires std::is_same_v<std::remove_const_t<Content>, FclibContent>
static void transfer(Archive& archive, Content& content) {
  archive(content.format, content.kind, content.space_dimension, content.w_matrix, content.v_matrix, content.r_matrix,
          content.m_matrix, content.h_matrix, content.g_matrix, content.q, content.s, content.f, content.w, content.b,
          content.mu, content.mu_rolling, content.title, content.description, content.math_info,
          content.also_other_kind, content.extension, content.bodies, content.notes, content.blocks, content.guesses,
          content.solution);
}

std::string pack(const FclibContent& content) {
  Packer archive;
  archive(content);
  return archive.take();
}

FclibContent unpack(const std::string& bytes) {
  Unpacker archive(bytes);
  FclibContent content;
  archive(content);
  if (!archive.done()) {
    throw hdf5::Failure("the process that read the file was led astray by it; the file is damaged");
  }
  return content;
}

}  // namespace conebench
