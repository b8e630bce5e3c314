#include <fmt/format.h>

#include "fclib_loader/component_order.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "fclib_loader/npy_file.hpp"

namespace conebench {

namespace {

/// l before r, both as stored.
Vector read_stored_reaction(const std::filesystem::path& path, const ConeProduct& cones) {
  if (is_npy(path)) {
    Vector values = read_npy(path);
    if (values.size() != cones.rows()) {
      throw hdf5::Failure(
          fmt::format("{}: has {} entries, expected {}", hdf5::one_line(path.string()), values.size(), cones.rows()));
    }
    return values;
  }
  const hdf5::ReadFile file(path);
  const hdf5::Object root = file.root();
  if (!file.has(root, "solution")) file.fail("/solution", "is missing; expected FCLIB's solution with r (and l)");
  const hdf5::Object solution = file.open_group(root, "solution");
  const auto read_part = [&](const char* name, Index size) {
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
  return hdf5::guarded(file.string(), [&] {
    if (cones.limits() > 0) {
      throw hdf5::Failure(hdf5::one_line(file.string()) + ": FCLIB's layout has no place for limits",
                          ErrorCode::unsupported);
    }
    Vector reaction = read_stored_reaction(file, cones);
    const Index rows = reaction.size() - cones.joints();
    reaction.tail(rows) = to_normal_last(reaction.tail(rows), cones.contact_dimension());
    return reaction;
  });
}

}  // namespace conebench
