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
Vector read_stored_reaction(const std::filesystem::path& path, const ConeProduct& cones) {
  if (is_npy(path) || path.extension() == ".npy") {
    Vector values = read_npy(path);
    if (values.size() != cones.rows()) {
      throw hdf5::Failure(hdf5::one_line(path.string()) + ": " + fmt::format(wrong_size, values.size(), cones.rows()));
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
  Vector reaction(cones.rows());
  const Vector contacts = read_part("r", cones.rows() - cones.joints());
  if (cones.joints() > 0) reaction.head(cones.joints()) = read_part("l", cones.joints());
  reaction.tail(contacts.size()) = contacts;
  return reaction;
}

}  // namespace

Result<Vector> read_reaction(const std::filesystem::path& file, const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  if (cones.limits() > 0) {
    return Error{ErrorCode::unsupported,
                 hdf5::one_line(file.string()) +
                     ": FCLIB's layout has no place for limits; use the scene itself in `solve` or a suite"};
  }
  const Result<std::string> bytes = hdf5::isolated(file, [&] {
    const Vector stored = read_stored_reaction(file, cones);
    return std::string(reinterpret_cast<const char*>(stored.data()),
                       sizeof(double) * static_cast<std::size_t>(stored.size()));
  });
  if (!bytes) return bytes.error();
  Vector reaction(cones.rows());
  if (bytes->size() != sizeof(double) * static_cast<std::size_t>(reaction.size())) {
    return Error{ErrorCode::bad_input, hdf5::one_line(file.string()) + ": is damaged"};
  }
  if (!bytes->empty()) std::memcpy(reaction.data(), bytes->data(), bytes->size());
  const Index rows = reaction.size() - cones.joints();
  reaction.tail(rows) = to_normal_last(reaction.tail(rows), cones.contact_dimension());
  return reaction;
}

}  // namespace conebench
