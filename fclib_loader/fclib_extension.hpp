#pragma once

#include <string>

#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "fclib_loader/hdf5_image.hpp"

namespace conebench {

/// The version of the group /conebench that this build writes beside an FCLIB part, and the highest that it reads there
/// (docs/sample_format.md).
inline constexpr std::int64_t extension_version = 3;

/// Reads and checks the group /conebench of a file whose FCLIB part is `content`. Throws hdf5::Failure where a part is
/// malformed or contradicts FCLIB's, or where the version is newer.
FclibContent::Extension read_extension(const hdf5::ReadFile& file, const hdf5::Object& root,
                                       const FclibContent& content);

/// Writes the group for `problem`.
void write_extension(const ContactProblem& problem, hdf5::Image& image);

/// FCLIB's compressed columns or rows, zeros included. `group` and its parents are made.
void write_matrix(hdf5::Image& image, const std::string& group, const SparseMatrix& matrix);
void write_matrix(hdf5::Image& image, const std::string& group,
                  const Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix);

}  // namespace conebench
