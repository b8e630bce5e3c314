#include <fmt/format.h>

#include <cstring>

#include "fclib_loader/component_order.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "fclib_loader/isolation.hpp"
#include "fclib_loader/npy_file.hpp"

namespace conebench {

namespace {

constexpr const char* wrong_size = "has {} entries, expected {}; is it the answer of another problem?";

/// l before r, both as stored.
Vector read_stored_reaction(const std::filesystem::path& path, const RowOrder& order) {
  const Index size_of_both = order.joints + order.reaction_rows();
  if (is_npy(path) || path.extension() == ".npy") {
    Vector values = read_npy(path);
    if (values.size() != size_of_both) {
      throw hdf5::Failure(hdf5::one_line(path.string()) + ": " + fmt::format(wrong_size, values.size(), size_of_both));
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
  Vector reaction(size_of_both);
  reaction.tail(order.reaction_rows()) = read_part("r", order.reaction_rows());
  if (order.joints > 0) reaction.head(order.joints) = read_part("l", order.joints);
  return reaction;
}

}  // namespace

Result<Vector> read_reaction(const std::filesystem::path& file, const ContactProblem& problem) {
  const RowOrder order = RowOrder::of(problem.cones());
  CONEBENCH_TRY(const auto bytes, hdf5::isolated(file, [&] {
                  const Vector stored = read_stored_reaction(file, order);
                  return std::string(reinterpret_cast<const char*>(stored.data()),
                                     sizeof(double) * static_cast<std::size_t>(stored.size()));
                }));
  Vector stored(order.joints + order.reaction_rows());
  if (bytes.size() != sizeof(double) * static_cast<std::size_t>(stored.size())) {
    return Error{ErrorCode::bad_input, hdf5::one_line(file.string()) + ": is damaged"};
  }
  if (!bytes.empty()) std::memcpy(stored.data(), bytes.data(), bytes.size());
  return order.joined(stored.head(order.joints), stored.tail(order.reaction_rows()));
}

}  // namespace conebench
