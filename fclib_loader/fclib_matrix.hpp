#pragma once

#include <string>

#include "fclib_loader/hdf5_file.hpp"
#include "problems/types.hpp"

namespace conebench {

/// A matrix group of an FCLIB file (`m, n, nz, nzmax, p, i, x`) whose sizes were read and whose arrays were found and
/// measured, but not read. nz ≥ 0: triplet, where i is the row and p the column; −1: compressed columns; −2:
/// compressed rows.
struct MatrixHeader {
  hdf5::Object group;
  Index rows = 0;
  Index cols = 0;
  Index nz = 0;
  Index nzmax = 0;
  hdf5::ReadFile::Dataset pointers, indices, values;
};

/// Checks m, n, nz, nzmax and the extents of p, i, x against each other. Throws hdf5::Failure.
MatrixHeader open_matrix(const hdf5::ReadFile& file, const hdf5::Object& parent, const std::string& name);

/// Reads the entries, checks pointers, index ranges and that the values are finite, and adds up duplicates. What lies
/// in the arrays beyond the last pointer is not read. Allocates in proportion to rows + cols + entries, so the
/// caller compares the sizes with the problem's vectors first. Throws hdf5::Failure.
SparseMatrix read_matrix(const hdf5::ReadFile& file, const MatrixHeader& header);

}  // namespace conebench
