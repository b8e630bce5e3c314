#include "fclib_loader/fclib_matrix.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace conebench {

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max() - 1;
constexpr Index compressed_columns = -1;
constexpr Index compressed_rows = -2;

struct Entries {
  std::vector<std::int64_t> rows, cols;
  Vector values;
};

void check_range(const hdf5::ReadFile& file, const hdf5::ReadFile::Dataset& dataset,
                 const std::vector<std::int64_t>& indices, Index end, const char* what) {
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (indices[k] < 0 || indices[k] >= end) {
      file.fail(dataset.object.path,
                fmt::format("entry {} is {}, but {} run from 0 to {}", k, indices[k], what, end - 1));
    }
  }
}

/// The pointers of a compressed matrix, spread to one index an entry.
std::vector<std::int64_t> expand(const std::vector<std::int64_t>& pointers) {
  std::vector<std::int64_t> expanded(static_cast<std::size_t>(pointers.back()));
  for (std::size_t line = 0; line + 1 < pointers.size(); ++line) {
    for (auto k = pointers[line]; k < pointers[line + 1]; ++k) {
      expanded[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(line);
    }
  }
  return expanded;
}

std::vector<std::int64_t> read_pointers(const hdf5::ReadFile& file, const MatrixHeader& header) {
  std::vector<std::int64_t> pointers = file.read_integers(header.pointers);
  const std::string& path = header.pointers.object.path;
  if (pointers.front() != 0) file.fail(path, fmt::format("begins with {}, expected 0", pointers.front()));
  for (std::size_t k = 1; k < pointers.size(); ++k) {
    if (pointers[k] < pointers[k - 1]) {
      file.fail(path, fmt::format("goes down at entry {} ({} after {})", k, pointers[k], pointers[k - 1]));
    }
  }
  if (pointers.back() > header.nzmax) {
    file.fail(path, fmt::format("ends with {}, but nzmax is {}", pointers.back(), header.nzmax));
  }
  return pointers;
}

Entries read_entries(const hdf5::ReadFile& file, const MatrixHeader& header) {
  Entries entries;
  if (header.nz >= 0) {
    entries.rows = file.read_integers(header.indices);
    entries.cols = file.read_integers(header.pointers);
    check_range(file, header.indices, entries.rows, header.rows, "rows (i)");
    check_range(file, header.pointers, entries.cols, header.cols, "columns (p)");
    entries.values = file.read_reals(header.values);
    return entries;
  }
  const std::vector<std::int64_t> pointers = read_pointers(file, header);
  const auto count = static_cast<Index>(pointers.back());
  std::vector<std::int64_t> indices = file.read_integers(header.indices, count);
  if (header.nz == compressed_columns) {
    check_range(file, header.indices, indices, header.rows, "rows");
    entries.rows = std::move(indices);
    entries.cols = expand(pointers);
  } else {
    check_range(file, header.indices, indices, header.cols, "columns");
    entries.rows = expand(pointers);
    entries.cols = std::move(indices);
  }
  entries.values = file.read_reals(header.values, count);
  return entries;
}

/// Positions of the entries, ordered by `keys` (0 … end − 1), in the order `before` where keys are equal.
std::vector<int> stable_order(const std::vector<std::int64_t>& keys, Index end, const std::vector<int>& before) {
  std::vector<int> begin(static_cast<std::size_t>(end) + 1, 0);
  for (const std::int64_t key : keys) ++begin[static_cast<std::size_t>(key) + 1];
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  std::vector<int> order(keys.size());
  for (const int entry : before) {
    const auto key = static_cast<std::size_t>(keys[static_cast<std::size_t>(entry)]);
    order[static_cast<std::size_t>(begin[key]++)] = entry;
  }
  return order;
}

/// Sorted columns; duplicates add up in the order in which they are stored.
SparseMatrix assemble(const Entries& entries, Index rows, Index cols) {
  std::vector<int> order(entries.rows.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
  order = stable_order(entries.rows, rows, order);
  order = stable_order(entries.cols, cols, order);

  SparseMatrix matrix(rows, cols);
  matrix.reserve(static_cast<Index>(order.size()));
  std::size_t next = 0;
  for (Index col = 0; col < cols; ++col) {
    matrix.startVec(col);
    std::int64_t last_row = -1;
    double* last_value = nullptr;
    for (; next < order.size() && entries.cols[static_cast<std::size_t>(order[next])] == col; ++next) {
      const std::int64_t row = entries.rows[static_cast<std::size_t>(order[next])];
      const double value = entries.values[order[next]];
      if (row == last_row) {
        *last_value += value;
      } else {
        last_value = &matrix.insertBack(row, col);
        *last_value = value;
        last_row = row;
      }
    }
  }
  matrix.finalize();
  return matrix;
}

}  // namespace

MatrixHeader open_matrix(const hdf5::ReadFile& file, const hdf5::Object& parent, const std::string& name) {
  using Values = hdf5::ReadFile::Values;
  MatrixHeader header;
  header.group = file.open_group(parent, name);
  const hdf5::Object& group = header.group;
  const std::string& path = group.path;
  const auto read_size = [&](const char* field, std::int64_t lowest) {
    const std::int64_t value = file.read_scalar(group, field);
    if (value < lowest || value > largest) {
      file.fail(path + "/" + field, fmt::format("is {}, expected {} to {}", value, lowest, largest));
    }
    return static_cast<Index>(value);
  };
  header.rows = read_size("m", 0);
  header.cols = read_size("n", 0);
  header.nz = read_size("nz", compressed_rows);
  header.nzmax = read_size("nzmax", 0);
  if (header.nz > header.nzmax) {
    file.fail(path + "/nz", fmt::format("is {}, more than nzmax, {}", header.nz, header.nzmax));
  }
  // A triplet's arrays hold nz entries whatever nzmax says; a compressed one's hold nzmax, used up to the last pointer.
  const Index entries = header.nz >= 0 ? header.nz : header.nzmax;
  Index pointers = header.nz;
  if (header.nz == compressed_columns) pointers = header.cols + 1;
  if (header.nz == compressed_rows) pointers = header.rows + 1;
  header.pointers = file.open_dataset(group, "p", Values::integers, pointers);
  header.indices = file.open_dataset(group, "i", Values::integers, entries);
  header.values = file.open_dataset(group, "x", Values::reals, entries);
  return header;
}

SparseMatrix read_matrix(const hdf5::ReadFile& file, const MatrixHeader& header) {
  const Entries entries = read_entries(file, header);
  for (Index k = 0; k < entries.values.size(); ++k) {
    if (std::isfinite(entries.values[k])) continue;
    file.fail(header.values.object.path,
              fmt::format("entry {} is {} (row {}, column {})", k, entries.values[k],
                          entries.rows[static_cast<std::size_t>(k)], entries.cols[static_cast<std::size_t>(k)]));
  }
  SparseMatrix matrix = assemble(entries, header.rows, header.cols);
  for (Index k = 0; k < matrix.nonZeros(); ++k) {
    // Each is finite; a sum of duplicates may not be.
    if (!std::isfinite(matrix.valuePtr()[k])) file.fail(header.group.path, "has duplicate entries whose sum overflows");
  }
  return matrix;
}

}  // namespace conebench
