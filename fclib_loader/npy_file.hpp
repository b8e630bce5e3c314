#pragma once

#include <filesystem>

#include "problems/types.hpp"

namespace conebench {

/// A NumPy array file (format 1, 2 or 3) of little-endian float64 with shape (n,) or (n, 1). Values are not checked.
/// Throws hdf5::Failure, one line with the file and the reason.
Vector read_npy(const std::filesystem::path& file);

/// The file begins with NumPy's magic bytes.
bool is_npy(const std::filesystem::path& file);

}  // namespace conebench
