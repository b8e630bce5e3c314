#pragma once

#include <filesystem>

#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "fclib_loader/hdf5_image.hpp"

namespace conebench {

/// The version of the group /conebench that describes a whole problem by blocks, with no FCLIB part beside it
/// (docs/sample_format.md).
inline constexpr std::int64_t block_version = 4;

/// Reads the group of a file without an FCLIB part, and the answers beside it. Throws hdf5::Failure where an array is
/// missing or has another shape, and where the version is newer.
GivenProblem read_block_group(const hdf5::ReadFile& file, const hdf5::Object& root);

/// The version of the file's group /conebench; 0 where there is no group or no version.
std::int64_t version_of(const hdf5::ReadFile& file, const hdf5::Object& root);

/// Writes the group as the problem was given.
void write_block_group(const GivenProblem& given, hdf5::Image& image);

/// Writes the group for a problem of any cones in the order of its ConeProduct, a given shift put back.
void write_block_group(const ContactProblem& problem, hdf5::Image& image);

/// The rows of that.
GivenRows block_rows_of(const ContactProblem& problem);

/// The problem of what was read, as to_problem(). Its given_rows() are those of the file.
Result<ContactProblem> block_problem(GivenProblem given, const std::filesystem::path& file);

}  // namespace conebench
