#include "tests/fclib_loader/file_maker.hpp"

#include <cmath>
#include <stdexcept>

namespace conebench::testing {

namespace {

/// Numbers that are read back at most.
constexpr hssize_t max_read = 1 << 20;

hid_t require(hid_t result, const std::string& what) {
  if (result < 0) throw std::runtime_error("test file: " + what);
  return result;
}

/// Closing the file closes what a failed edit left open in it; else the file stays open, and no other takes its place.
hid_t closing_all() {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
}

}  // namespace

FileMaker::FileMaker(const std::filesystem::path& file, hsize_t user_block) {
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  require(H5Pset_userblock(creation, user_block), "user block");
  const hid_t access = closing_all();
  file_ = require(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation, access), file.string());
  H5Pclose(access);
  H5Pclose(creation);
}

std::unique_ptr<FileMaker> FileMaker::open(const std::filesystem::path& file) {
  std::unique_ptr<FileMaker> maker(new FileMaker);
  const hid_t access = closing_all();
  maker->file_ = require(H5Fopen(file.c_str(), H5F_ACC_RDWR, access), file.string());
  H5Pclose(access);
  return maker;
}

FileMaker::~FileMaker() { H5Fclose(file_); }

void FileMaker::group(const std::string& path) {
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Gclose(require(H5Gcreate2(file_, path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), path));
  H5Pclose(links);
}

void FileMaker::remove(const std::string& path) {
  require(H5Ldelete(file_, path.c_str(), H5P_DEFAULT), "remove " + path);
}

void FileMaker::hard_link(const std::string& target, const std::string& path) {
  require(H5Lcreate_hard(file_, target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT), path);
}

void FileMaker::soft_link(const std::string& target, const std::string& path) {
  if (H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0) remove(path);
  require(H5Lcreate_soft(target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT), path);
}

void FileMaker::external_link(const std::string& file, const std::string& object, const std::string& path) {
  if (H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0) remove(path);
  require(H5Lcreate_external(file.c_str(), object.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT), path);
}

void FileMaker::dataset(const std::string& path, hid_t file_type, hid_t memory_type, std::size_t count,
                        const void* values, const Storage& storage) {
  if (H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0) remove(path);
  std::vector<hsize_t> shape = storage.shape;
  if (shape.empty()) shape = {count};
  const hid_t space =
      storage.scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  if (storage.chunk > 0) H5Pset_chunk(creation, 1, &storage.chunk);
  if (storage.shuffle) H5Pset_shuffle(creation);
  if (storage.gzip) H5Pset_deflate(creation, 6);
  if (storage.checksum) H5Pset_fletcher32(creation);
  const hid_t type = storage.type >= 0 ? storage.type : file_type;
  const hid_t id =
      require(H5Dcreate2(file_, path.c_str(), type, require(space, path), H5P_DEFAULT, creation, H5P_DEFAULT), path);
  if (count > 0) require(H5Dwrite(id, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), path);
  H5Dclose(id);
  H5Pclose(creation);
  H5Sclose(space);
}

void FileMaker::integers(const std::string& path, const std::vector<std::int64_t>& values, const Storage& storage) {
  const hid_t type = storage.big_endian ? H5T_STD_I32BE : H5T_STD_I32LE;
  dataset(path, type, H5T_NATIVE_INT64, values.size(), values.data(), storage);
}

void FileMaker::reals(const std::string& path, const std::vector<double>& values, const Storage& storage) {
  const hid_t type = storage.big_endian ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
  dataset(path, type, H5T_NATIVE_DOUBLE, values.size(), values.data(), storage);
}

void FileMaker::text(const std::string& path, const std::string& value, std::size_t bytes, bool variable) {
  if (H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0) remove(path);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, variable ? H5T_VARIABLE : bytes);
  if (variable) H5Tset_cset(type, H5T_CSET_UTF8);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t id = require(H5Dcreate2(file_, path.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), path);
  std::string padded = value;
  padded.resize(std::max(bytes, value.size()) + 1, '\0');
  const char* pointer = padded.c_str();
  require(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   variable ? static_cast<const void*>(&pointer) : static_cast<const void*>(pointer)),
          path);
  H5Dclose(id);
  H5Sclose(space);
  H5Tclose(type);
}

void FileMaker::unwritten(const std::string& path, hid_t type, const std::vector<hsize_t>& shape, hid_t creation) {
  if (H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0) remove(path);
  const hid_t space =
      shape.empty() ? H5Screate(H5S_NULL) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t id = H5Dcreate2(file_, path.c_str(), type, require(space, path), H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dclose(require(id, path));
  H5Sclose(space);
}

std::vector<double> FileMaker::read_reals(const std::string& path) const {
  const hid_t id = require(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), path);
  const hid_t space = H5Dget_space(id);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  // A mutated dataset may declare any size.
  std::vector<double> values(count >= 0 && count <= max_read ? static_cast<std::size_t>(count) : 0);
  const herr_t read =
      count > max_read ? -1 : H5Dread(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(id);
  require(read, path);
  return values;
}

std::vector<std::int64_t> FileMaker::read_integers(const std::string& path) const {
  return whole_numbers(read_reals(path));
}

std::vector<std::int64_t> whole_numbers(const std::vector<double>& values) {
  std::vector<std::int64_t> whole;
  for (const double value : values) {
    // Also false for NaN.
    if (!(std::abs(value) <= 0x1p53)) throw std::runtime_error("test file: a value is no integer");
    whole.push_back(static_cast<std::int64_t>(value));
  }
  return whole;
}

void write_matrix(FileMaker& maker, const std::string& group, const StoredMatrix& matrix,
                  const FileMaker::Storage& storage) {
  maker.group(group);
  maker.integers(group + "/m", {matrix.m});
  maker.integers(group + "/n", {matrix.n});
  maker.integers(group + "/nz", {matrix.nz});
  maker.integers(group + "/nzmax", {matrix.nzmax});
  maker.integers(group + "/p", matrix.p, storage);
  maker.integers(group + "/i", matrix.i, storage);
  maker.reals(group + "/x", matrix.x, storage);
}

StoredMatrix stored(const std::vector<double>& dense, std::int64_t m, std::int64_t n, int kind) {
  StoredMatrix matrix;
  matrix.m = m;
  matrix.n = n;
  const bool by_columns = kind == -1;
  if (kind < 0) matrix.p.push_back(0);
  for (std::int64_t outer = 0; outer < (by_columns ? n : m); ++outer) {
    for (std::int64_t inner = 0; inner < (by_columns ? m : n); ++inner) {
      const std::int64_t row = by_columns ? inner : outer;
      const std::int64_t col = by_columns ? outer : inner;
      matrix.x.push_back(dense[static_cast<std::size_t>(row * n + col)]);
      matrix.i.push_back(kind >= 0 ? row : inner);
      if (kind >= 0) matrix.p.push_back(col);
    }
    if (kind < 0) matrix.p.push_back(static_cast<std::int64_t>(matrix.x.size()));
  }
  matrix.nzmax = static_cast<std::int64_t>(matrix.x.size());
  matrix.nz = kind < 0 ? kind : matrix.nzmax;
  return matrix;
}

std::vector<double> local_w() {
  std::vector<double> values(144);
  for (int row = 0; row < 12; ++row) {
    for (int col = 0; col < 12; ++col) {
      values[static_cast<std::size_t>(12 * row + col)] = (row == col ? 4.0 : 0.0) + 1.0 / (1.0 + row + col);
    }
  }
  return values;
}

namespace {

/// What a sample's group has whatever its form: one limit and `contacts` contacts.
void make_rest_of_sample(FileMaker& maker, std::int64_t contacts) {
  const auto count = static_cast<std::size_t>(contacts);
  maker.integers("/conebench/version", {3});
  maker.integers("/conebench/limits", {1});
  maker.reals("/conebench/gaps", std::vector<double>(count, 1e-3));
  maker.reals("/conebench/time_step", {0.01});
  maker.integers("/conebench/bodies", {2});
  maker.reals("/conebench/body_masses", {1.0, 1000.0});
  std::vector<std::int64_t> identities;
  for (std::int64_t k = 0; k < contacts; ++k) identities.push_back(7 * k);
  maker.integers("/conebench/contact_identities", identities);
  maker.integers("/conebench/limit_identities", {4});
  std::vector<double> frames;
  for (std::int64_t k = 0; k < contacts; ++k) frames.insert(frames.end(), {0, 0, 1, 1, 0, 0, 0, 1, 0});
  maker.reals("/conebench/contact_frames", frames);
  maker.text("/conebench/category", "dense constraints", 18);
  maker.reals("/conebench/conditioning", {12.5});
  maker.text("/conebench/scene", "made", 5);
  maker.integers("/conebench/step", {3});
  maker.group("/conebench/reference");
  maker.group("/conebench/reference/residuals");
  maker.reals("/conebench/reference/residuals/natural_map", {1e-9});
}

}  // namespace

void make_local(FileMaker& maker) {
  maker.group("/fclib_local/vectors");
  maker.integers("/fclib_local/spacedim", {3});
  write_matrix(maker, "/fclib_local/W", stored(local_w(), 12, 12, -2));
  std::vector<double> free_term;
  for (int k = 0; k < 12; ++k) free_term.push_back(k % 3 == 0 ? -1.0 - 0.1 * k : 0.01 * k);
  maker.reals("/fclib_local/vectors/q", free_term);
  maker.reals("/fclib_local/vectors/mu", {0.1, 0.2, 0.3, 0.4});
}

void make_mixed_local(FileMaker& maker) {
  make_local(maker);
  std::vector<double> v(24);
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = std::sin(1.0 + static_cast<double>(k));
  write_matrix(maker, "/fclib_local/V", stored(v, 12, 2, 0));
  write_matrix(maker, "/fclib_local/R", stored({9.0, 1.0, 1.0, 8.0}, 2, 2, -1));
  maker.reals("/fclib_local/vectors/s", {0.5, -0.25});
}

void make_plane(FileMaker& maker) {
  maker.group("/fclib_local/vectors");
  maker.integers("/fclib_local/spacedim", {2});
  std::vector<double> delassus(36);
  for (std::size_t k = 0; k < 6; ++k) delassus[7 * k] = 2.0 + static_cast<double>(k);
  delassus[1] = delassus[6] = 0.5;
  write_matrix(maker, "/fclib_local/W", stored(delassus, 6, 6, 0));
  maker.reals("/fclib_local/vectors/q", {-1, 0.1, -2, 0.2, -3, 0.3});
  maker.reals("/fclib_local/vectors/mu", {0.1, 0.2, 0.3});
}

void make_global(FileMaker& maker) {
  maker.group("/fclib_global/vectors");
  maker.integers("/fclib_global/spacedim", {3});
  std::vector<double> mass(81);
  for (std::size_t k = 0; k < 9; ++k) mass[10 * k] = 1.0 + static_cast<double>(k);
  std::vector<double> h(54);
  for (std::size_t k = 0; k < h.size(); ++k) h[k] = std::cos(3.0 + 2.0 * static_cast<double>(k));
  write_matrix(maker, "/fclib_global/M", stored(mass, 9, 9, 0));
  write_matrix(maker, "/fclib_global/H", stored(h, 9, 6, 0));
  maker.reals("/fclib_global/vectors/f", {1, -2, 3, -4, 5, -6, 7, -8, 9});
  maker.reals("/fclib_global/vectors/w", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
  maker.reals("/fclib_global/vectors/mu", {0.5, 0.7});
}

void make_mixed_global(FileMaker& maker) {
  make_global(maker);
  write_matrix(maker, "/fclib_global/G", stored({1, 0, 0, -1, 0, 0, 0.5, 0, 0}, 9, 1, -1));
  maker.reals("/fclib_global/vectors/b", {0.25});
}

void make_rolling(FileMaker& maker) {
  maker.group("/fclib_global_rolling/vectors");
  maker.integers("/fclib_global_rolling/spacedim", {5});
  std::vector<double> identity(100);
  for (std::size_t k = 0; k < 10; ++k) identity[11 * k] = 2.0;
  write_matrix(maker, "/fclib_global_rolling/M", stored(identity, 10, 10, -1));
  write_matrix(maker, "/fclib_global_rolling/H", stored(identity, 10, 10, -2));
  maker.reals("/fclib_global_rolling/vectors/f", std::vector<double>(10, 1.0));
  maker.reals("/fclib_global_rolling/vectors/w", std::vector<double>(10, 0.0));
  maker.reals("/fclib_global_rolling/vectors/mu", {0.3, 0.3});
  maker.reals("/fclib_global_rolling/vectors/mu_r", {0.1, 0.1});
}

void make_local_sample(FileMaker& maker) {
  make_local(maker);
  std::vector<double> delassus = local_w();
  std::vector<double> rigid(100);
  for (std::size_t row = 0; row < 12; ++row) {
    for (std::size_t col = 0; col < 12; ++col) {
      if (row < 10 && col < 10) rigid[10 * row + col] = delassus[12 * row + col];
      if (row != col && (row > 9 || col > 9)) delassus[12 * row + col] = 0.0;
    }
  }
  rigid[99] -= 0.5;
  maker.remove("/fclib_local/W");
  write_matrix(maker, "/fclib_local/W", stored(delassus, 12, 12, -2));
  std::vector<double> free_term = maker.read_reals("/fclib_local/vectors/q");
  free_term[10] = free_term[11] = 0.0;
  maker.reals("/fclib_local/vectors/q", free_term);
  maker.reals("/fclib_local/vectors/mu", {0.1, 0.2, 0.3, 0.0});
  maker.group("/conebench");
  write_matrix(maker, "/conebench/delassus", stored(rigid, 10, 10, -1));
  maker.reals("/conebench/compliance", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5});
  maker.reals("/conebench/bias", std::vector<double>(10, 0.1));
  make_rest_of_sample(maker, 3);
}

void make_global_sample(FileMaker& maker) {
  make_global(maker);
  std::vector<double> h(54);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t col = 0; col < 4; ++col) h[6 * row + col] = std::cos(3.0 + static_cast<double>(row + 9 * col));
  }
  h[6 * 8 + 3] = 1.0;
  maker.remove("/fclib_global/H");
  maker.remove("/fclib_global/M");
  std::vector<double> mass(81);
  for (std::size_t k = 0; k < 9; ++k) mass[10 * k] = 2.0;
  write_matrix(maker, "/fclib_global/M", stored(mass, 9, 9, -1));
  write_matrix(maker, "/fclib_global/H", stored(h, 9, 6, 0));
  maker.reals("/fclib_global/vectors/f", {1, -2, 3, -4, 5, -6, 7, -8, 0});
  maker.reals("/fclib_global/vectors/w", {0.1, 0.2, 0.3, 0.4, 0, 0});
  maker.reals("/fclib_global/vectors/mu", {0.5, 0});
  maker.group("/conebench");
  maker.reals("/conebench/compliance", {0, 0, 0, 0.5});
  maker.reals("/conebench/v_free", {0.5, -1, 1.5, -2, 2.5, -3, 3.5, -4});
  make_rest_of_sample(maker, 1);
}

void make_answers(FileMaker& maker, std::size_t rows) {
  maker.group("/solution");
  maker.reals("/solution/r", std::vector<double>(rows, 0.0));
  maker.reals("/solution/u", std::vector<double>(rows, 1.0));
  maker.group("/guesses/1");
  maker.group("/guesses/2");
  maker.integers("/guesses/number_of_guesses", {2});
  std::vector<double> r(rows);
  for (std::size_t k = 0; k < rows; ++k) r[k] = static_cast<double>(k);
  for (const std::string guess : {"/guesses/1", "/guesses/2"}) {
    maker.reals(guess + "/r", r);
    maker.reals(guess + "/u", std::vector<double>(rows, 2.0));
  }
}

}  // namespace conebench::testing
