#include <fmt/format.h>

#include <cstring>

#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "fclib_loader/isolation.hpp"
#include "fclib_loader/npy_file.hpp"

namespace conebench {

namespace {

constexpr const char* wrong_size = "has {} entries, expected {}; is it the answer of another problem?";

/// In the order of answer_rows(): of FCLIB's parts l before r. `joints`: rows of l; 0 where the file describes blocks.
Vector read_stored_reaction(const std::filesystem::path& path, Index joints, Index rows) {
  if (is_npy(path) || path.extension() == ".npy") {
    Vector values = read_npy(path);
    if (values.size() != rows) {
      throw hdf5::Failure(hdf5::one_line(path.string()) + ": " + fmt::format(wrong_size, values.size(), rows));
    }
    return values;
  }
  const hdf5::ReadFile file(path);
  const hdf5::Object root = file.root();
  if (!file.has(root, "solution")) file.fail("/solution", "is missing; expected FCLIB's solution with r (and l)");
  const hdf5::Object solution = file.open_group(root, "solution");
  const auto read_part = [&](const char* name, Index size) {
    const Index length = file.open_dataset(solution, name, hdf5::ReadFile::Values::reals).length;
    if (length != size) file.fail(std::string("/solution/") + name, fmt::format(wrong_size, length, size));
    return file.read_reals(file.open_dataset(solution, name, hdf5::ReadFile::Values::reals, size));
  };
  Vector reaction(rows);
  reaction.tail(rows - joints) = read_part("r", rows - joints);
  if (joints > 0) reaction.head(joints) = read_part("l", joints);
  return reaction;
}

}  // namespace

Result<Vector> read_reaction(const std::filesystem::path& file, const ContactProblem& problem, AnswerOf of) {
  const GivenRows rows = answer_rows(problem, of);
  const auto count = static_cast<Index>(rows.row.size());
  const bool blocks =
      of == AnswerOf::problem || (of == AnswerOf::source && problem.given_rows()) || !fits_fclib(problem);
  const Index joints = blocks ? 0 : problem.cones().joints();
  CONEBENCH_TRY(const auto bytes, hdf5::isolated(file, [&] {
                  const Vector stored = read_stored_reaction(file, joints, count);
                  return std::string(reinterpret_cast<const char*>(stored.data()),
                                     sizeof(double) * static_cast<std::size_t>(stored.size()));
                }));
  Vector stored(count);
  if (bytes.size() != sizeof(double) * static_cast<std::size_t>(stored.size())) {
    return Error{ErrorCode::bad_input, hdf5::one_line(file.string()) + ": is damaged"};
  }
  if (!bytes.empty()) std::memcpy(stored.data(), bytes.data(), bytes.size());
  if (blocks) CONEBENCH_CHECK(rows.check(stored, hdf5::one_line(file.string()), "the answer"));
  return rows.to_problem(stored, problem.rows());
}

}  // namespace conebench
