#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace conebench::testing {

/// Makes and damages HDF5 files link by link. Every call must succeed: a failure throws, so that no test passes on a
/// file that was never made as described.
class FileMaker {
 public:
  /// A new file; `user_block` bytes (0 or 512, 1024, …) come before it.
  explicit FileMaker(const std::filesystem::path& file, hsize_t user_block = 0);
  /// An existing file, to be changed.
  static std::unique_ptr<FileMaker> open(const std::filesystem::path& file);
  FileMaker(const FileMaker&) = delete;
  FileMaker& operator=(const FileMaker&) = delete;
  ~FileMaker();

  hid_t id() const { return file_; }
  void group(const std::string& path);
  void remove(const std::string& path);
  void hard_link(const std::string& target, const std::string& path);
  void soft_link(const std::string& target, const std::string& path);
  void external_link(const std::string& file, const std::string& object, const std::string& path);

  /// How the next datasets are stored. `type` −1: int32 or float64.
  struct Storage {
    hid_t type = -1;
    std::vector<hsize_t> shape = {};  ///< empty: one dimension
    bool scalar = false;
    hsize_t chunk = 0;
    bool shuffle = false;
    bool gzip = false;
    bool checksum = false;
    bool big_endian = false;
  };
  /// These replace what stands at `path`.
  void integers(const std::string& path, const std::vector<std::int64_t>& values, const Storage& storage);
  void integers(const std::string& path, const std::vector<std::int64_t>& values) { integers(path, values, {}); }
  void reals(const std::string& path, const std::vector<double>& values, const Storage& storage);
  void reals(const std::string& path, const std::vector<double>& values) { reals(path, values, {}); }
  void text(const std::string& path, const std::string& value, std::size_t bytes, bool variable = false);
  /// A dataset that nobody writes, of any type, with the creation property list `creation` (H5P_DEFAULT for none).
  void unwritten(const std::string& path, hid_t type, const std::vector<hsize_t>& shape, hid_t creation);
  /// These throw where there are more than 2^20 numbers, and the second where one is beyond 2^53.
  std::vector<double> read_reals(const std::string& path) const;
  std::vector<std::int64_t> read_integers(const std::string& path) const;

 private:
  void dataset(const std::string& path, hid_t file_type, hid_t memory_type, std::size_t count, const void* values,
               const Storage& storage);
  FileMaker() = default;
  hid_t file_ = -1;
};

/// The values as integers; throws where one is beyond 2^53.
std::vector<std::int64_t> whole_numbers(const std::vector<double>& values);

/// A matrix as FCLIB stores it; what is not set follows from the rest.
struct StoredMatrix {
  std::int64_t m = 0, n = 0, nz = 0, nzmax = 0;
  std::vector<std::int64_t> p, i;
  std::vector<double> x;
};
void write_matrix(FileMaker& maker, const std::string& group, const StoredMatrix& matrix,
                  const FileMaker::Storage& storage = {});

/// A dense matrix, row by row, as a triplet, compressed columns (−1) or compressed rows (−2), zeros included.
StoredMatrix stored(const std::vector<double>& dense, std::int64_t m, std::int64_t n, int kind);

/// /fclib_local: 12 rows, 4 contacts, compressed rows, W symmetric positive definite.
void make_local(FileMaker& maker);
std::vector<double> local_w();
/// /fclib_local: as make_local with two bilateral rows.
void make_mixed_local(FileMaker& maker);
/// /fclib_local in the plane: 3 contacts.
void make_plane(FileMaker& maker);
/// /fclib_global: 9 velocities, 2 contacts, M diagonal.
void make_global(FileMaker& maker);
/// /fclib_global: as make_global with one bilateral row.
void make_mixed_global(FileMaker& maker);
/// /fclib_global_rolling: 10 velocities, 2 contacts of 5 rows.
void make_rolling(FileMaker& maker);
/// /fclib_local with a group /conebench: as make_local, the last contact a limit with R = 0.5.
void make_local_sample(FileMaker& maker);
/// /fclib_global with a group /conebench: as make_global, the last contact a limit with R = 0.5 on the ninth velocity.
void make_global_sample(FileMaker& maker);
/// /solution and /guesses/1, 2 with `rows` rows.
void make_answers(FileMaker& maker, std::size_t rows);

}  // namespace conebench::testing
