#include <sys/stat.h>
#include <zlib.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "tests/fclib_loader/malformed_files.hpp"

namespace conebench::testing {

namespace {

namespace fs = std::filesystem;

void require(bool made) {
  if (!made) throw std::runtime_error("a malformed test file could not be made");
}

void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string read_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void truncate_to(const fs::path& file, double share) {
  const auto bytes = static_cast<double>(fs::file_size(file));
  fs::resize_file(file, static_cast<std::uintmax_t>(share * bytes));
}

Edit unwritten(const std::string& path, hid_t type, const std::vector<hsize_t>& shape) {
  return [=](FileMaker& maker) { maker.unwritten(path, type, shape, H5P_DEFAULT); };
}

Edit chunked_unwritten(const std::string& path, hid_t type, hsize_t entries) {
  return [=](FileMaker& maker) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 1024;
    H5Pset_chunk(creation, 1, &chunk);
    maker.unwritten(path, type, {entries}, creation);
    H5Pclose(creation);
  };
}

/// Extents that agree with each other and would need gigabytes; nothing of them is stored.
void everything_huge(FileMaker& maker) {
  constexpr hsize_t rows = 300'000'000;
  maker.integers(w + "/m", {rows});
  maker.integers(w + "/n", {rows});
  chunked_unwritten(w + "/p", H5T_STD_I32LE, rows + 1)(maker);
  chunked_unwritten(q, H5T_IEEE_F64LE, rows)(maker);
  chunked_unwritten(mu, H5T_IEEE_F64LE, rows / 3)(maker);
}

/// `megabytes` of zeros, gzipped without holding them.
std::vector<unsigned char> packed_zeros(int megabytes) {
  std::vector<unsigned char> zeros(1 << 20, 0);
  std::vector<unsigned char> packed(static_cast<std::size_t>(megabytes) << 11);
  z_stream stream{};
  if (deflateInit(&stream, Z_BEST_COMPRESSION) != Z_OK) throw std::bad_alloc();
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  for (int k = 0; k < megabytes; ++k) {
    stream.next_in = zeros.data();
    stream.avail_in = static_cast<uInt>(zeros.size());
    deflate(&stream, k + 1 < megabytes ? Z_NO_FLUSH : Z_FINISH);
  }
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// q in one gzipped chunk of 800 kB whose stream inflates to 200 MB.
void inflating_chunk(FileMaker& maker) {
  maker.remove(q);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk = 100'000;
  const hsize_t extent = 12;
  const hsize_t limit = H5S_UNLIMITED;
  H5Pset_chunk(creation, 1, &chunk);
  H5Pset_deflate(creation, 9);
  const hid_t space = H5Screate_simple(1, &extent, &limit);
  const hid_t id = H5Dcreate2(maker.id(), q.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const std::vector<unsigned char> packed = packed_zeros(200);
  const hsize_t offset = 0;
  require(H5Dwrite_chunk(id, H5P_DEFAULT, 0, &offset, packed.size(), packed.data()) >= 0);
  H5Dclose(id);
  H5Sclose(space);
  H5Pclose(creation);
}

void unsigned_size(FileMaker& maker) {
  maker.unwritten(w + "/m", H5T_STD_U64LE, {1}, H5P_DEFAULT);
  const hid_t id = H5Dopen2(maker.id(), (w + "/m").c_str(), H5P_DEFAULT);
  const std::uint64_t value = (std::uint64_t{1} << 63) + 12;
  require(H5Dwrite(id, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
  H5Dclose(id);
}

void damaged_chunk(const fs::path& file) {
  {
    FileMaker maker(file);
    make_local(maker);
    FileMaker::Storage storage;
    storage.chunk = 12;
    storage.gzip = true;
    std::vector<double> values(12);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::sin(static_cast<double>(k));
    maker.reals(q, values, storage);
    const hid_t id = H5Dopen2(maker.id(), q.c_str(), H5P_DEFAULT);
    const hsize_t offset = 0;
    const std::string rubbish(60, '\x55');
    require(H5Dwrite_chunk(id, H5P_DEFAULT, 0, &offset, rubbish.size(), rubbish.data()) >= 0);
    H5Dclose(id);
  }
}

void damaged_checksum(const fs::path& file) {
  const std::vector<double> values{3.25, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  {
    FileMaker maker(file);
    make_local(maker);
    FileMaker::Storage storage;
    storage.chunk = 12;
    storage.checksum = true;
    maker.reals(q, values, storage);
  }
  std::string bytes = read_bytes(file);
  const std::string first(reinterpret_cast<const char*>(values.data()), 24);
  const std::size_t found = bytes.find(first);
  require(found != std::string::npos);
  bytes[found + 3] = '\x01';
  write_bytes(file, bytes);
}

Edit filtered(const std::function<void(hid_t)>& add_filter) {
  return [=](FileMaker& maker) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 12;
    H5Pset_chunk(creation, 1, &chunk);
    add_filter(creation);
    maker.unwritten(q, H5T_STD_I32LE, {12}, creation);
    H5Pclose(creation);
  };
}

void huge_chunk(FileMaker& maker) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk = 400'000'000;
  const hsize_t extent = 12;
  const hsize_t limit = H5S_UNLIMITED;
  H5Pset_chunk(creation, 1, &chunk);
  H5Pset_deflate(creation, 1);
  maker.remove(q);
  const hid_t space = H5Screate_simple(1, &extent, &limit);
  const hid_t id = H5Dcreate2(maker.id(), q.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  require(id >= 0);
  H5Dclose(id);
  H5Sclose(space);
  H5Pclose(creation);
}

void external_storage(FileMaker& maker) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(creation, "/etc/hostname", 0, 96);
  maker.unwritten(q, H5T_IEEE_F64LE, {12}, creation);
  H5Pclose(creation);
}

void virtual_dataset(FileMaker& maker) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t extent = 12;
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  H5Pset_virtual(creation, space, "other.hdf5", "/q", space);
  maker.unwritten(q, H5T_IEEE_F64LE, {12}, creation);
  H5Sclose(space);
  H5Pclose(creation);
}

hid_t never_traversed(const char*, hid_t, const void*, std::size_t, hid_t, hid_t) { return -1; }

void user_defined_link(FileMaker& maker) {
  H5L_class_t kind{};
  kind.version = H5L_LINK_CLASS_T_VERS;
  kind.id = static_cast<H5L_type_t>(100);
  kind.comment = "test";
  kind.trav_func = never_traversed;
  require(H5Lregister(&kind) >= 0);
  maker.remove(q);
  require(H5Lcreate_ud(maker.id(), q.c_str(), kind.id, "x", 1, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

void compound_q(FileMaker& maker) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(type, "a", 0, H5T_IEEE_F64LE);
  H5Tinsert(type, "b", 8, H5T_IEEE_F64LE);
  maker.unwritten(q, type, {12}, H5P_DEFAULT);
  H5Tclose(type);
}

void enum_q(FileMaker& maker) {
  const hid_t type = H5Tenum_create(H5T_STD_I8LE);
  std::int8_t value = 0;
  H5Tenum_insert(type, "FALSE", &value);
  value = 1;
  H5Tenum_insert(type, "TRUE", &value);
  maker.unwritten(q, type, {12}, H5P_DEFAULT);
  H5Tclose(type);
}

Edit of_type(const std::string& path, const std::function<hid_t()>& make_type, hsize_t entries) {
  return [=](FileMaker& maker) {
    const hid_t type = make_type();
    maker.unwritten(path, type, {entries}, H5P_DEFAULT);
    H5Tclose(type);
  };
}

void named_datatype(FileMaker& maker) {
  maker.remove(w + "/x");
  const hid_t type = H5Tcopy(H5T_IEEE_F64LE);
  require(H5Tcommit2(maker.id(), (w + "/x").c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
  H5Tclose(type);
}

std::vector<Malformed> not_files() {
  return {
      {"git_lfs_pointer",
       [](const fs::path& file) {
         write_bytes(file, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 8992\n");
       },
       {"Git LFS pointer"}},
      {"signature_only", [](const fs::path& file) { write_bytes(file, "\x89HDF\r\n\x1a\n"); }, {"not an HDF5 file"}},
      {"random_bytes", [](const fs::path& file) { write_bytes(file, std::string(5000, '\x5a')); }, {"not an HDF5"}},
      {"empty_file", [](const fs::path& file) { write_bytes(file, ""); }, {"is empty"}},
      {"no_file", [](const fs::path&) {}, {"no such file"}},
      {"folder", [](const fs::path& file) { fs::create_directory(file); }, {"is a directory"}},
      {"named_pipe", [](const fs::path& file) { require(::mkfifo(file.c_str(), 0600) == 0); }, {"not a regular file"}},
      {"symbolic_link_to_itself", [](const fs::path& file) { fs::create_symlink(file, file); }, {""}},
      {"device", [](const fs::path& file) { fs::create_symlink("/dev/zero", file); }, {"not a regular file"}},
      {"cut_at_a_tenth",
       [](const fs::path& file) { local([](FileMaker&) {})(file), truncate_to(file, 0.1); },
       {"truncated"}},
      {"cut_at_six_tenths",
       [](const fs::path& file) { local([](FileMaker&) {})(file), truncate_to(file, 0.6); },
       {"truncated", "bytes are there; copy it again"}},
      {"cut_by_one_byte",
       [](const fs::path& file) { local([](FileMaker&) {})(file), fs::resize_file(file, fs::file_size(file) - 1); },
       {"truncated"}},
  };
}

std::vector<Malformed> wrong_types() {
  return {
      {"text_for_q",
       local(of_type(
           q, [] { return H5Tcopy(H5T_C_S1); }, 12)),
       {q, "holds text"}},
      {"floats_for_indices",
       local([](FileMaker& m) { m.reals(w + "/i", std::vector<double>(144, 0.5)); }),
       {"W/i", "floating-point numbers, expected integers"}},
      {"floats_for_sizes", local([](FileMaker& m) { m.reals(w + "/m", {12.0}); }), {"W/m", "expected integers"}},
      {"float_for_spacedim", local([](FileMaker& m) { m.reals("/fclib_local/spacedim", {3.0}); }), {"spacedim"}},
      {"text_for_spacedim", local([](FileMaker& m) { m.text("/fclib_local/spacedim", "3", 2); }), {"spacedim", "text"}},
      {"compound_for_q", local(compound_q), {q, "compound"}},
      {"enumeration_for_q", local(enum_q), {q, "enumeration"}},
      {"references_for_q",
       local(of_type(
           q, [] { return H5Tcopy(H5T_STD_REF_OBJ); }, 12)),
       {q, "references"}},
      {"opaque_for_q",
       local(of_type(
           q, [] { return H5Tcreate(H5T_OPAQUE, 8); }, 12)),
       {q, "opaque"}},
      {"bit_field_for_indices",
       local(of_type(
           w + "/i", [] { return H5Tcopy(H5T_STD_B32LE); }, 144)),
       {"W/i", "bit"}},
      {"variable_length_for_q",
       local(of_type(
           q, [] { return H5Tvlen_create(H5T_IEEE_F64LE); }, 12)),
       {q, "variable-length"}},
      {"array_for_q",
       local(of_type(
           q,
           [] {
             const hsize_t three = 3;
             return H5Tarray_create2(H5T_IEEE_F64LE, 1, &three);
           },
           4)),
       {q, "array"}},
      {"integers_of_a_kilobyte",
       local(of_type(
           q,
           [] {
             const hid_t type = H5Tcopy(H5T_STD_I32LE);
             H5Tset_size(type, 1024);
             return type;
           },
           12)),
       {q, "1024 bytes"}},
      {"group_for_q", local(both(removed(q), [](FileMaker& m) { m.group(q); })), {q, "is a group"}},
      {"dataset_for_w", local(both(removed(w), [](FileMaker& m) { m.reals(w, {1.0}); })), {w, "is a dataset"}},
      {"dataset_for_vectors",
       local([](FileMaker& m) {
         m.remove("/fclib_local/vectors");
         m.reals("/fclib_local/vectors", {1.0});
       }),
       {"/fclib_local/vectors", "is a dataset"}},
      {"named_datatype_for_x", local(named_datatype), {"W/x", "named datatype"}},
      {"null_dataspace_for_q", local(unwritten(q, H5T_IEEE_F64LE, {})), {q, "null dataspace"}},
      {"null_dataspace_for_m", local(unwritten(w + "/m", H5T_STD_I32LE, {})), {"W/m", "null dataspace"}},
  };
}

/// Where a careless reader allocates gigabytes; the test also checks the memory used.
std::vector<Malformed> too_much() {
  const auto square = [](std::int64_t size) {
    return local([=](FileMaker& m) {
      m.integers(w + "/m", {size});
      m.integers(w + "/n", {size});
    });
  };
  return {
      {"huge_m", square(999'999'999), {"W/p", "13 entries, expected 1000000000"}},
      {"huge_m_as_triplet",
       local(changed_w(0, [](StoredMatrix& s) { s.m = s.n = 999'999'999; })),
       {q, "12 entries, expected 999999999"}},
      {"sizes_at_the_end_of_int", square(2147483647), {"W/m", "2147483647"}},
      {"sizes_of_int64",
       local([](FileMaker& m) {
         FileMaker::Storage wide;
         wide.type = H5T_STD_I64LE;
         m.integers(w + "/m", {(std::int64_t{1} << 32) + 12}, wide);
       }),
       {"W/m", "4294967308"}},
      {"unsigned_size_beyond_int64", local(unsigned_size), {"W/m", "9223372036854775807"}},
      {"huge_nzmax", local(integer_at(w + "/nzmax", 2'000'000'000)), {"W/i", "expected 2000000000"}},
      {"huge_unwritten_x",
       local([](FileMaker& m) {
         m.integers(w + "/nzmax", {1'000'000'000});
         chunked_unwritten(w + "/i", H5T_STD_I32LE, 1'000'000'000)(m);
         chunked_unwritten(w + "/x", H5T_IEEE_F64LE, 1'000'000'000)(m);
       }),
       {"W/i", "declares 4000000000 bytes but stores 0"}},
      {"everything_huge_and_unwritten", local(everything_huge), {"W/p", "but stores 0"}},
      {"compressed_zeros_for_q",
       local([](FileMaker& m) {
         FileMaker::Storage packed;
         packed.chunk = 100'000;
         packed.gzip = true;
         m.reals(q, std::vector<double>(3'000'000), packed);
       }),
       {q, "3000000 entries, expected 12"}},
      {"chunk_that_inflates", local(inflating_chunk), {q, "inflates"}},
      {"chunk_of_gigabytes", local(huge_chunk), {q, "chunks of 3200000000 bytes"}},
      {"scale_offset_filter",
       local(filtered([](hid_t creation) { H5Pset_scaleoffset(creation, H5Z_SO_INT, 0); })),
       {q, "filter 6"}},
      {"nbit_filter", local(filtered([](hid_t creation) { H5Pset_nbit(creation); })), {q, "filter 5"}},
  };
}

std::vector<Malformed> outside_or_broken() {
  return {
      {"external_link",
       local([](FileMaker& m) { m.external_link("/etc/passwd", "/x", w + "/x"); }),
       {"W/x", "external link"}},
      {"external_link_to_a_group",
       local([](FileMaker& m) { m.external_link("other.hdf5", "/W", w); }),
       {w, "external link"}},
      {"external_link_for_everything",
       [](const fs::path& file) { FileMaker(file).external_link("other.hdf5", "/fclib_local", "/fclib_local"); },
       {"/fclib_local", "external link"}},
      {"external_link_to_a_file_with_the_right_numbers",
       [](const fs::path& file) {
         const fs::path target = file.parent_path() / "target.hdf5";
         local([](FileMaker&) {})(target);
         local([](FileMaker& m) { m.external_link("target.hdf5", w + "/x", w + "/x"); })(file);
       },
       {"W/x", "external link"}},
      {"soft_link_through_an_external_link",
       local([](FileMaker& m) {
         m.external_link("other.hdf5", "/", "/elsewhere");
         m.soft_link("/elsewhere/q", q);
       }),
       {q, "external link"}},
      {"soft_link_to_nowhere", local([](FileMaker& m) { m.soft_link("/not/there", q); }), {q, "soft link", "exist"}},
      {"soft_link_to_itself", local([](FileMaker& m) { m.soft_link(q, q); }), {q, "soft link"}},
      {"soft_links_in_a_circle",
       local([](FileMaker& m) {
         m.soft_link("/b", "/a");
         m.soft_link("/a", "/b");
         m.soft_link("/a", q);
       }),
       {q, "soft link"}},
      {"soft_links_that_multiply",
       local([](FileMaker& m) {
         m.hard_link("/", "/l0");
         for (int k = 1; k <= 15; ++k) {
           std::string target;
           for (int j = 0; j < 50; ++j) target += "/l" + std::to_string(k - 1);
           m.soft_link(target.substr(1), "/l" + std::to_string(k));
         }
         m.soft_link("/l15/fclib_local/vectors/mu", q);
       }),
       {q, "too many links"}},
      {"user_defined_link", local(user_defined_link), {q, "user-defined link"}},
      {"external_raw_storage", local(external_storage), {q, "external storage"}},
      {"virtual_dataset", local(virtual_dataset), {q, "virtual dataset"}},
      {"damaged_gzip_chunk", damaged_chunk, {q, "can't be read"}},
      {"damaged_checksum", damaged_checksum, {q, "can't be read"}},
  };
}

}  // namespace

std::vector<Malformed> malformed_storage() {
  std::vector<Malformed> all;
  for (const auto& kinds : {not_files(), wrong_types(), too_much(), outside_or_broken()})
    all.insert(all.end(), kinds.begin(), kinds.end());
  return all;
}

}  // namespace conebench::testing
