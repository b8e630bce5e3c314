#include "fclib_loader/hdf5_image.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>

#include "base/descriptor.hpp"

namespace conebench::hdf5 {

namespace {

constexpr std::size_t growth_bytes = 1 << 16;
constexpr hsize_t min_compressed = 512;
constexpr hsize_t chunk_length = 1 << 16;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw Failure(fmt::format("{}: {}", one_line(file.string()), reason));
}

Handle memory_access() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_core(access.get(), growth_bytes, false);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  return access;
}

void check(herr_t status, const std::string& path) {
  if (status < 0) throw Failure(fmt::format("{}: can't be written: {}", path, last_error()), ErrorCode::internal);
}

}  // namespace

Image::Image(bool compress) : compress_(compress) {
  const Handle access = memory_access();
  const Handle creation(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(creation.get(), false);
  file_ = Handle(H5Fcreate("conebench-image", H5F_ACC_TRUNC, creation.get(), access.get()));
  if (!file_.valid()) throw Failure("an HDF5 file can't be made in memory: " + last_error(), ErrorCode::internal);
}

Image::Image(const std::filesystem::path& file, bool compress) : compress_(compress) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(file, fmt::format("can't be opened for reading: {}", std::strerror(errno)));
  std::vector<char> content(static_cast<std::size_t>(std::filesystem::file_size(file)));
  if (!stream.read(content.data(), static_cast<std::streamsize>(content.size()))) fail(file, "can't be read");
  // The signature stands at 0, 512, 1024, 2048, …; what comes before is the user block.
  std::size_t start = 0;
  while (start + 8 <= content.size() && std::memcmp(content.data() + start, "\x89HDF\r\n\x1a\n", 8) != 0) {
    start = start == 0 ? 512 : 2 * start;
  }
  if (start + 8 > content.size()) fail(file, "is not an HDF5 file");
  const Handle access = memory_access();
  if (H5Pset_file_image(access.get(), content.data(), content.size()) < 0) throw std::bad_alloc();
  file_ = Handle(H5Fopen("conebench-image", H5F_ACC_RDWR, access.get()));
  if (!file_.valid()) fail(file, "can't be opened for writing a copy: " + last_error());
}

void Image::make_group(const std::string& path) {
  if (H5Lexists(file_.get(), path.c_str(), H5P_DEFAULT) > 0) return;
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(creation.get(), false);
  const Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle group(H5Gcreate2(file_.get(), path.c_str(), links.get(), creation.get(), H5P_DEFAULT));
  check(group.valid() ? 0 : -1, path);
}

void Image::remove(const std::string& path) {
  if (H5Lexists(file_.get(), path.c_str(), H5P_DEFAULT) > 0) {
    check(H5Ldelete(file_.get(), path.c_str(), H5P_DEFAULT), path);
  }
}

void Image::write_numbers(const std::string& path, Id file_type, Id memory_type, const std::vector<Index>& shape,
                          const void* values) {
  const std::vector<hsize_t> extent(shape.begin(), shape.end());
  const auto rank = static_cast<int>(extent.size());
  const hsize_t count = std::accumulate(extent.begin(), extent.end(), hsize_t{1}, std::multiplies{});
  const Handle space(H5Screate_simple(rank, extent.data(), nullptr));
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(creation.get(), false);
  if (compress_ && count >= min_compressed) {
    std::vector<hsize_t> chunk = extent;  // whole rows
    chunk[0] = std::min(extent[0], std::max(hsize_t{1}, chunk_length * extent[0] / count));
    H5Pset_chunk(creation.get(), rank, chunk.data());
    H5Pset_shuffle(creation.get());
    H5Pset_deflate(creation.get(), 4);
  }
  const Handle dataset(
      H5Dcreate2(file_.get(), path.c_str(), file_type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT));
  check(dataset.valid() ? 0 : -1, path);
  if (count > 0) check(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), path);
}

void Image::write_size(const std::string& path, Index value) { write_sizes(path, {static_cast<int>(value)}); }

void Image::write_sizes(const std::string& path, const std::vector<int>& values) {
  write_numbers(path, H5T_STD_I32LE, H5T_NATIVE_INT, {static_cast<Index>(values.size())}, values.data());
}

void Image::write_long(const std::string& path, std::int64_t value) { write_longs(path, {value}); }

void Image::write_longs(const std::string& path, const std::vector<std::int64_t>& values, Index columns) {
  const auto size = static_cast<Index>(values.size());
  const std::vector<Index> shape = columns > 0 ? std::vector{size / columns, columns} : std::vector{size};
  write_numbers(path, H5T_STD_I64LE, H5T_NATIVE_INT64, shape, values.data());
}

void Image::write_seed(const std::string& path, std::uint64_t value) {
  write_numbers(path, H5T_STD_U64LE, H5T_NATIVE_UINT64, {1}, &value);
}

void Image::write_bytes(const std::string& path, const std::vector<std::uint8_t>& values) {
  write_numbers(path, H5T_STD_U8LE, H5T_NATIVE_UINT8, {static_cast<Index>(values.size())}, values.data());
}

void Image::write_reals(const std::string& path, ConstVectorRef values) {
  write_numbers(path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {values.size()}, values.data());
}

void Image::write_array(const std::string& path, const std::vector<Index>& shape, ConstVectorRef values) {
  write_numbers(path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, values.data());
}

void Image::write_text(const std::string& path, const std::string& text, TextType as) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_cset(type.get(), plain && as == TextType::ascii_where_it_is ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  H5Tset_size(type.get(), text.size() + 1);
  H5Tset_strpad(type.get(), H5T_STR_NULLTERM);
  const Handle space(H5Screate(H5S_SCALAR));
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(creation.get(), false);
  const Handle dataset(
      H5Dcreate2(file_.get(), path.c_str(), type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT));
  check(dataset.valid() ? 0 : -1, path);
  check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()), path);
}

void Image::write_texts(const std::string& path, const std::vector<std::string>& texts) {
  std::size_t size = 1;
  for (const std::string& text : texts) size = std::max(size, text.size() + 1);
  std::string all;
  for (const std::string& text : texts) all += text + std::string(size - text.size(), '\0');
  const Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  H5Tset_size(type.get(), size);
  write_numbers(path, type.get(), type.get(), {static_cast<Index>(texts.size())}, all.data());
}

std::vector<char> Image::bytes() {
  check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), name_);
  const ssize_t size = H5Fget_file_image(file_.get(), nullptr, 0);
  check(size <= 0 ? -1 : 0, name_);
  std::vector<char> result(static_cast<std::size_t>(size));
  check(H5Fget_file_image(file_.get(), result.data(), result.size()) != size ? -1 : 0, name_);
  return result;
}

void Image::save(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
  std::error_code code;
  std::filesystem::path final_path = target;
  if (std::filesystem::is_symlink(target, code)) final_path = std::filesystem::weakly_canonical(target, code);
  const std::filesystem::file_status status = std::filesystem::status(final_path, code);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail(target, "exists and is not a regular file; choose another name");
  }
  const std::vector<char> content = bytes();
  std::filesystem::path temporary = final_path;
  temporary += fmt::format(".part-{}-{}", ::getpid(), counter++);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open takes its mode this way
  Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (descriptor.number() < 0)
    fail(target, fmt::format("can't be written: {}; give another file", std::strerror(errno)));
  if (!write_all(descriptor.number(), {content.data(), content.size()}) || ::fsync(descriptor.number()) != 0 ||
      !descriptor.close() || ::rename(temporary.c_str(), final_path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    fail(target, fmt::format("can't be written: {}; free space or give another file", std::strerror(reason)));
  }
}

}  // namespace conebench::hdf5
