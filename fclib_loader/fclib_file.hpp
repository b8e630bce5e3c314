#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/blocks.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"

namespace conebench {

/// Who can read a file's problem.
enum class FileFormat {
  fclib,
  blocks,  ///< the group /conebench of version 4, without an FCLIB part
  siconos  ///< Siconos' text
};

enum class FclibKind { local, global, mixed_local, mixed_global, local_rolling, global_rolling, blocks };
std::string to_string(FclibKind kind);

/// Conebench's own group `/conebench`, next to FCLIB's: what FCLIB's layout does not have (docs/sample_format.md).
/// Vectors over rows: l's, then r's without the tangents of limits, normal first.
struct FclibExtension {
  std::int64_t version = 1;
  std::string family;
  std::string category;
  std::optional<double> conditioning;
  std::optional<LoopSolve> loop;
  Index limits = 0;                 ///< so many contacts at the end are limits
  Metric metric = Metric::unknown;  ///< of M
  /// v_free of a global problem, so that M⁻¹ f need not round. Velocities of the file behind it were added for R and
  /// for the tangents of limits.
  std::optional<Vector> free_velocity;
  bool bias_known = true;            ///< false: b and w of a global problem are no bias, only what J v_free leaves of g
  std::optional<Vector> bias;        ///< b of a local problem
  std::optional<Vector> g;           ///< where J v_free + b rounds to something else
  std::optional<Vector> compliance;  ///< diagonal of R, which the file's W, R_f or M hold added to G
  std::string delassus_form;         ///< dense, block_sparse, factored; empty: block_sparse if local, else factored
  std::optional<SparseMatrix> delassus;  ///< G where W, V, R or M, H, G don't give it to the last bit
  Configuration configuration;
  std::string reference_source;
  std::map<std::string, double> reference_residuals;
};

/// A file's content as stored: normal first, matrices with duplicates summed, nothing condensed.
/// Local: u = W r + V l + q, Vᵀ r + R l + s = 0. Global: M v = H r + G l + f, u = Hᵀ v + w, Gᵀ v + b = 0.
struct FclibContent {
  FileFormat format = FileFormat::fclib;
  FclibKind kind = FclibKind::local;
  int space_dimension = 3;
  SparseMatrix w_matrix, v_matrix, r_matrix;  ///< W, V, R
  Vector q, s;
  SparseMatrix m_matrix, h_matrix, g_matrix;  ///< M, H, G
  Vector f, w, b;
  Vector mu;
  Vector mu_rolling;
  std::string title, description, math_info;
  bool also_other_kind = false;  ///< the file holds a local and a global problem; the local one was taken
  /// Where the file has it and this build knows its version.
  using Extension = FclibExtension;
  std::optional<Extension> extension;
  std::optional<Index> bodies;  ///< n_b, where the file has it (info's attribute numberOfInvolvedDS)
  /// One line for each optional part (guess, solution, extension) that was malformed and left out.
  std::vector<std::string> notes;
  std::optional<GivenProblem> blocks;  ///< all of it where kind is blocks, and nothing else

  struct Guess {
    Vector r, u, v, l;
  };
  std::vector<Guess> guesses;
  std::optional<Guess> solution;
};

/// Reads and checks a whole file: FCLIB's, one with the group /conebench of version 4, or Siconos' text. Errors
/// (bad_input): one line with file, dataset (or line of the text) and reason.
Result<FclibContent> read_fclib(const std::filesystem::path& file);

/// What `inspect` reports of a file without condensing it; of one by blocks, to_problem() has it.
struct FclibSummary {
  std::string kind;
  int space_dimension = 3;
  Index contacts = 0;  ///< without the limits
  Index limits = 0;
  Index rows = 0;  ///< of contacts and limits
  Index nonzeros = 0;
  std::optional<double> mu_min, mu_max;
  std::optional<double> mu_r_min, mu_r_max;  ///< where there is rolling friction
  double symmetry_error = 0.0;
  bool has_guess = false;
  bool has_solution = false;
};
FclibSummary summarise(const FclibContent& content);

/// Normal last; bilateral rows become joint rows; a global problem keeps its M, J form and is condensed. What the
/// extension adds is taken where it agrees with FCLIB's part. The stored guess or solution is attached where it has the
/// right size. A problem by blocks is sorted, and its given_rows() lead back. Errors: unsupported for rolling friction
/// in the plane, bad_input where the condensation fails (M singular) and those of problem_from_blocks().
Result<ContactProblem> to_problem(const FclibContent& content, const std::filesystem::path& file);

/// read_fclib and to_problem.
Result<ContactProblem> load_fclib(const std::filesystem::path& file);

/// An answer in problem order (normal last).
struct FclibAnswer {
  Vector impulse;   ///< λ, rows
  Vector velocity;  ///< σ, rows
};

struct FclibWriteOptions {
  std::optional<FclibAnswer> solution;  ///< not given: the problem's reference
  std::vector<FclibAnswer> guesses;     ///< not given: the problem's guess
  bool compress = true;
  /// What problem_from_blocks() made the problem of, to be written by blocks in its rows, with the problem's answers.
  const GivenProblem* given = nullptr;
};

/// Whether FCLIB's layout has a place for the problem: Coulomb's or FCLIB's rolling friction, no intervals, no shift.
bool fits_fclib(const ContactProblem& problem);

/// Writes a problem that fits_fclib() in FCLIB's layout (global where it has an M, J form, else local; the mixed form
/// where it has joints), in which limits are frictionless contacts behind the others and R is part of W, or of M as a
/// velocity of mass 1/R for each compliant row: FCLIB's readers see the very same problem (docs/sample_format.md). With
/// the extension beside it, what is read back has the same content and data hash; but for a factored G that has lost
/// its M and J, which comes back block-sparse. Errors (unsupported): joints whose coupling with the contacts is not
/// symmetric, which FCLIB has no place for; a compliance so small that 1/R overflows. Any other problem is described by
/// blocks, with no FCLIB part. Written to a temporary file beside `file` and renamed, so that a full disk leaves no
/// half file.
Result<void> write_fclib(const ContactProblem& problem, const std::filesystem::path& file,
                         const FclibWriteOptions& options = {});

/// The bytes that it writes, the same each time. `name`: for errors.
Result<std::vector<char>> fclib_bytes(const ContactProblem& problem, const std::string& name,
                                      const FclibWriteOptions& options = {});

/// Copies `source` to `target` and writes `/solution` into it (r, u normal first; v, l where they exist; by blocks, in
/// the order of its rows). Of Siconos' text, what write_fclib() writes.
Result<void> write_solution(const std::filesystem::path& source, const std::filesystem::path& target,
                            const ContactProblem& problem, ConstVectorRef impulse);

/// Which file an answer goes with.
enum class AnswerOf {
  source,   ///< the one that the problem was read from
  written,  ///< one that write_fclib() made of it
  problem   ///< none: its rows are the problem's
};

/// The rows of an answer in a file: FCLIB's l, then r (normal first, limits as contacts), or the file's own rows where
/// it describes blocks; or the problem's.
GivenRows answer_rows(const ContactProblem& problem, AnswerOf of = AnswerOf::source);

/// λ in problem order (normal last) from `.hdf5` (/solution, r and FCLIB's l) or `.npy` (float64, one dimension), in
/// the order of answer_rows(). The tangents of limits are not checked. Errors (bad_input): a size that does not match,
/// values of another type, by blocks an impulse where no force acts.
Result<Vector> read_reaction(const std::filesystem::path& file, const ContactProblem& problem,
                             AnswerOf of = AnswerOf::source);

}  // namespace conebench
