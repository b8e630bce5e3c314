#include "fclib_loader/hdf5_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

namespace conebench::hdf5 {

namespace {

static_assert(std::is_same_v<Id, hid_t>, "Id must be HDF5's hid_t");

constexpr int max_link_depth = 16;
constexpr int max_soft_links = 200;
constexpr std::size_t max_text_bytes = 1 << 16;
constexpr std::int64_t small_bytes = 1 << 20;
constexpr Index max_texts = 1 << 20;
constexpr std::int64_t max_chunks = 1 << 20;
// Deflate expands by 1032 at most; what claims more was never stored.
constexpr std::int64_t max_expansion = 1100;
constexpr std::int64_t unchecked_expansion_bytes = std::int64_t{64} << 20;

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

herr_t keep_first_description(unsigned depth, const H5E_error2_t* error, void* out) {
  if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
  return 0;
}

const char* kind_of(H5T_class_t type) {
  switch (type) {
    case H5T_INTEGER: return "integers";
    case H5T_FLOAT: return "floating-point numbers";
    case H5T_STRING: return "text";
    case H5T_COMPOUND: return "compound values";
    case H5T_ENUM: return "enumeration values";
    case H5T_ARRAY: return "array values";
    case H5T_VLEN: return "variable-length values";
    case H5T_REFERENCE: return "references";
    case H5T_OPAQUE: return "opaque values";
    case H5T_BITFIELD: return "bit fields";
    case H5T_TIME: return "times";
    default: return "values of an unknown type";
  }
}

/// The number types of docs/fclib_format.md. HDF5 converts any other layout too (bits anywhere, any precision), into
/// numbers that other readers don't see.
bool is_accepted(Id type) {
  const std::initializer_list<Id> accepted = {
      H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_STD_I32LE, H5T_STD_I32BE, H5T_STD_I64LE,
      H5T_STD_I64BE,  H5T_STD_U32LE,  H5T_STD_U32BE,  H5T_STD_U64LE,  H5T_STD_U64BE, H5T_STD_I16LE, H5T_STD_I16BE,
      H5T_STD_U16LE,  H5T_STD_U16BE,  H5T_STD_I8LE,   H5T_STD_I8BE,   H5T_STD_U8LE,  H5T_STD_U8BE};
  return std::any_of(accepted.begin(), accepted.end(), [&](Id one) { return H5Tequal(type, one) > 0; });
}

const char* kind_of_object(Id id) {
  switch (H5Iget_type(id)) {
    case H5I_GROUP: return "a group";
    case H5I_DATASET: return "a dataset";
    case H5I_DATATYPE: return "a named datatype";
    default: return "something else";
  }
}

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() || parent.back() == '/' ? parent + name : parent + "/" + name;
}

}  // namespace

Session::Session() : lock_(library_mutex()) {
  H5E_auto2_t printer = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &printer, &printer_data_);
  std::memcpy(&printer_, &printer, sizeof printer_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() {
  H5E_auto2_t printer = nullptr;
  std::memcpy(&printer, &printer_, sizeof printer);
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, printer, printer_data_);
}

Handle& Handle::operator=(Handle&& other) noexcept {
  std::swap(id_, other.id_);
  return *this;
}

Handle::~Handle() {
  if (id_ < 0) return;
  switch (H5Iget_type(id_)) {
    case H5I_FILE: H5Fclose(id_); break;
    case H5I_GROUP: H5Gclose(id_); break;
    case H5I_DATASET: H5Dclose(id_); break;
    case H5I_DATATYPE: H5Tclose(id_); break;
    case H5I_DATASPACE: H5Sclose(id_); break;
    case H5I_ATTR: H5Aclose(id_); break;
    case H5I_GENPROP_LST: H5Pclose(id_); break;
    default: H5Idec_ref(id_); break;
  }
}

std::string last_error() {
  std::string description;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first_description, &description);
  return description.empty() ? "HDF5 gives no reason" : one_line(description);
}

ReadFile::ReadFile(const std::filesystem::path& file) : name_(one_line(file.string())), path_(file) {
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(file, code);
  if (code && status.type() == std::filesystem::file_type::none) throw Failure(name_ + ": " + code.message());
  if (!std::filesystem::exists(status)) throw Failure(name_ + ": no such file; check the path");
  if (std::filesystem::is_directory(status)) throw Failure(name_ + ": is a directory, expected an FCLIB HDF5 file");
  if (!std::filesystem::is_regular_file(status)) throw Failure(name_ + ": is not a regular file");

  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Failure(fmt::format("{}: can't be opened for reading: {}", name_, std::strerror(errno)));
  std::array<char, 64> start{};
  stream.read(start.data(), start.size());
  const std::string_view head(start.data(), static_cast<std::size_t>(stream.gcount()));
  if (head.empty()) throw Failure(name_ + ": is empty, expected an FCLIB HDF5 file");
  if (head.starts_with("version https://git-lfs")) {
    throw Failure(name_ + ": is a Git LFS pointer, not the data; run `git lfs pull` where it came from");
  }
  stream.close();

  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access.get(), false, true);
#endif
  file_ = Handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get()));
  if (file_.valid()) return;
  const std::string why = last_error();
  const auto shorter = why.find("truncated file: ");
  unsigned long long there = 0, base = 0, all = 0;
  if (shorter != std::string::npos &&
      std::sscanf(why.c_str() + shorter, "truncated file: eof = %llu, sblock->base_addr = %llu, stored_eof = %llu",
                  &there, &base, &all) == 3) {
    throw Failure(fmt::format("{}: truncated: {} of {} bytes are there; copy it again", name_, there + base, all));
  }
  throw Failure(fmt::format("{}: is not an HDF5 file that can be read: {}", name_, why));
}

void ReadFile::fail(const std::string& object, const std::string& reason) const {
  throw Failure(one_line(fmt::format("{}: {}: {}", name_, object, reason)));
}

Object ReadFile::root() const {
  Object object{Handle(H5Gopen2(file_.get(), "/", H5P_DEFAULT)), "/"};
  if (!object.handle.valid()) fail("/", "can't be opened: " + last_error());
  return object;
}

bool ReadFile::has(const Object& group, const std::string& name) const {
  const htri_t exists = H5Lexists(group.handle.get(), name.c_str(), H5P_DEFAULT);
  if (exists < 0) fail(join(group.path, name), "can't be looked up: " + last_error());
  return exists > 0;
}

bool ReadFile::is_group(const Object& parent, const std::string& name) const {
  return has(parent, name) && H5Iget_type(find(parent, name, 0).get()) == H5I_GROUP;
}

/// Follows `path` (a soft link's value) component by component, so that no link is followed unseen.
Handle ReadFile::follow(const Object& parent, const std::string& path, const std::string& shown, int depth) const {
  Object current;
  current.path = shown;
  const bool absolute = !path.empty() && path.front() == '/';
  current.handle = Handle(H5Gopen2(absolute ? file_.get() : parent.handle.get(), absolute ? "/" : ".", H5P_DEFAULT));
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string component = path.substr(begin, end - begin);
    begin = end + 1;
    if (component.empty() || component == ".") continue;
    if (!current.handle.valid() || H5Iget_type(current.handle.get()) != H5I_GROUP ||
        H5Lexists(current.handle.get(), component.c_str(), H5P_DEFAULT) <= 0) {
      fail(shown, fmt::format("is a soft link to '{}', which does not exist", path));
    }
    current.handle = find(current, component, depth);
  }
  return std::move(current.handle);
}

Handle ReadFile::find(const Object& parent, const std::string& name, int depth) const {
  const std::string shown = depth == 0 ? join(parent.path, name) : parent.path;
  H5L_info_t info;
  if (H5Lget_info(parent.handle.get(), name.c_str(), &info, H5P_DEFAULT) < 0) fail(shown, "is missing");
  if (info.type == H5L_TYPE_EXTERNAL) fail(shown, "is an external link to another file, which is not followed");
  if (info.type == H5L_TYPE_SOFT) {
    if (depth >= max_link_depth || ++soft_links_followed_ > max_soft_links)
      fail(shown, "is a soft link that leads through too many links (a cycle?)");
    if (info.u.val_size == 0 || info.u.val_size > 4096) fail(shown, "is a soft link with an unusable target");
    std::string target(info.u.val_size, '\0');
    if (H5Lget_val(parent.handle.get(), name.c_str(), target.data(), target.size(), H5P_DEFAULT) < 0) {
      fail(shown, "is a soft link that can't be read: " + last_error());
    }
    target.resize(std::strlen(target.c_str()));
    return follow(parent, target, shown, depth + 1);
  }
  if (info.type != H5L_TYPE_HARD) fail(shown, "is a user-defined link, which is not followed");
  Handle handle(H5Oopen(parent.handle.get(), name.c_str(), H5P_DEFAULT));
  if (!handle.valid()) fail(shown, "can't be opened: " + last_error());
  return handle;
}

Object ReadFile::open_group(const Object& parent, const std::string& name) const {
  const std::string path = join(parent.path, name);
  if (!has(parent, name)) fail(path, "is missing");
  Object object{find(parent, name, 0), path};
  if (H5Iget_type(object.handle.get()) != H5I_GROUP) {
    fail(path, fmt::format("is {}, expected a group", kind_of_object(object.handle.get())));
  }
  return object;
}

ReadFile::Dataset ReadFile::open_numbers(const Object& parent, const std::string& name, Values values) const {
  const std::string path = join(parent.path, name);
  if (!has(parent, name)) fail(path, "is missing");
  Dataset dataset;
  dataset.object = {find(parent, name, 0), path};
  const Id id = dataset.object.handle.get();
  if (H5Iget_type(id) != H5I_DATASET) fail(path, fmt::format("is {}, expected a dataset", kind_of_object(id)));

  const Handle type(H5Dget_type(id));
  const H5T_class_t type_class = H5Tget_class(type.get());
  const bool usable = type_class == H5T_INTEGER || (type_class == H5T_FLOAT && values == Values::reals);
  if (!usable) {
    fail(path,
         fmt::format("holds {}, expected {}", kind_of(type_class), values == Values::reals ? "numbers" : "integers"));
  }
  dataset.element_bytes = static_cast<Index>(H5Tget_size(type.get()));
  if (!is_accepted(type.get())) {
    fail(path, fmt::format("holds {} of an unusual layout ({} bytes), expected float32, float64 or integers of 1, 2, 4 "
                           "or 8 bytes",
                           kind_of(type_class), dataset.element_bytes));
  }

  const Handle space(H5Dget_space(id));
  const H5S_class_t space_class = H5Sget_simple_extent_type(space.get());
  if (space_class == H5S_NULL) fail(path, "holds nothing (a null dataspace)");
  dataset.length = 1;
  if (space_class == H5S_SCALAR) return dataset;
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::array<hsize_t, H5S_MAX_RANK> extent{};
  if (space_class != H5S_SIMPLE || rank < 1 || H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr) < 0) {
    fail(path, "has no dimensions that can be read");
  }
  constexpr hsize_t most = hsize_t{1} << 40;
  for (int k = 0; k < rank; ++k) {
    const hsize_t size = extent[static_cast<std::size_t>(k)];
    if (size > 0 && static_cast<hsize_t>(dataset.length) > most / size)
      fail(path, fmt::format("declares {} entries", size));
    dataset.extent.push_back(static_cast<Index>(size));
    dataset.length *= dataset.extent.back();
  }
  return dataset;
}

ReadFile::Dataset ReadFile::open_dataset(const Object& parent, const std::string& name, Values values) const {
  Dataset dataset = open_numbers(parent, name, values);
  const std::size_t rank = dataset.extent.size();
  if (rank > 2 || (rank == 2 && dataset.extent[1] != 1)) {
    fail(dataset.object.path, fmt::format("has {} dimensions, expected one", rank));
  }
  return dataset;
}

ReadFile::Dataset ReadFile::open_array(const Object& parent, const std::string& name, Values values,
                                       const std::vector<Index>& shape) const {
  Dataset dataset = open_numbers(parent, name, values);
  if (dataset.extent != shape) {
    fail(dataset.object.path,
         fmt::format("has the shape ({}), expected ({})", fmt::join(dataset.extent, ", "), fmt::join(shape, ", ")));
  }
  check_storage(dataset);
  return dataset;
}

ReadFile::Dataset ReadFile::open_dataset(const Object& parent, const std::string& name, Values values,
                                         Index expected) const {
  Dataset dataset = open_dataset(parent, name, values);
  if (dataset.length != expected) {
    fail(dataset.object.path, fmt::format("has {} entries, expected {}", dataset.length, expected));
  }
  check_storage(dataset);
  return dataset;
}

/// What is declared must be stored, in this file: no external or virtual storage, no unwritten or inflated extent.
void ReadFile::check_storage(const Dataset& dataset) const {
  const std::string& path = dataset.object.path;
  const Id id = dataset.object.handle.get();
  const Handle properties(H5Dget_create_plist(id));
  if (!properties.valid()) fail(path, "can't be opened: " + last_error());
  if (H5Pget_external_count(properties.get()) != 0) {
    fail(path, "keeps its data in another file (external storage), which is not followed");
  }
  const H5D_layout_t layout = H5Pget_layout(properties.get());
  if (layout == H5D_VIRTUAL) fail(path, "is a virtual dataset over other files, which are not followed");
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) fail(path, "has an unknown layout");

  const Index declared = dataset.length * dataset.element_bytes;
  const auto stored = static_cast<Index>(H5Dget_storage_size(id));
  if (layout == H5D_CHUNKED) {
    if (stored < 0 || declared > small_bytes + max_expansion * stored) {
      fail(path, fmt::format("declares {} bytes but stores {}", declared, stored));
    }
    check_chunks(dataset, properties.get());
  } else if (stored < declared && (stored != 0 || declared > small_bytes)) {
    // Stored 0: never written, all fill value, which HDF5 takes as data; so do we while it is small.
    fail(path, fmt::format("declares {} bytes but stores {}", declared, stored));
  }
}

void ReadFile::check_chunks(const Dataset& dataset, Id properties) const {
  const std::string& path = dataset.object.path;
  const Id id = dataset.object.handle.get();
  const std::size_t rank = dataset.extent.size();
  std::vector<hsize_t> chunk(rank, 1);
  const bool usable = H5Pget_chunk(properties, static_cast<int>(rank), chunk.data()) == static_cast<int>(rank) &&
                      std::ranges::find(chunk, hsize_t{0}) == chunk.end() &&
                      (rank != 2 || dataset.extent[1] != 1 || chunk[1] == 1);
  if (!usable) fail(path, "has chunks of an unusable shape");
  std::int64_t chunk_bytes = dataset.element_bytes;
  std::int64_t chunks = 1;
  for (std::size_t k = 0; k < rank; ++k) {
    if (chunk[k] > (hsize_t{1} << 40) || chunk_bytes > (std::int64_t{1} << 60) / static_cast<std::int64_t>(chunk[k])) {
      fail(path, "has chunks of an unusable shape");
    }
    chunk_bytes *= static_cast<std::int64_t>(chunk[k]);
    chunks *= (dataset.extent[k] + static_cast<Index>(chunk[k]) - 1) / static_cast<Index>(chunk[k]);
  }
  if (chunk_bytes > 64 * small_bytes && chunk_bytes > 2 * dataset.length * dataset.element_bytes) {
    fail(path, fmt::format("has chunks of {} bytes for {} entries", chunk_bytes, dataset.length));
  }
  if (chunks > max_chunks) fail(path, fmt::format("is cut into {} chunks, at most {} are read", chunks, max_chunks));

  bool deflated = false;
  const int filters = H5Pget_nfilters(properties);
  for (int k = 0; k < filters; ++k) {
    unsigned flags = 0;
    std::size_t values = 0;
    unsigned config = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(properties, static_cast<unsigned>(k), &flags, &values, nullptr, 0, nullptr, &config);
    if (filter == H5Z_FILTER_DEFLATE) deflated = true;
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) {
      fail(path, fmt::format("is compressed by filter {}, only gzip, shuffle and fletcher32 are read; convert it with "
                             "h5repack -f GZIP=4",
                             static_cast<int>(filter)));
    }
  }
  if (!deflated) return;
  // HDF5 inflates a chunk whole before it compares sizes, so a large one is first inflated piece by piece.
  std::vector<hsize_t> offset(rank);
  for (std::int64_t k = 0; k < chunks; ++k) {
    for (std::size_t left = static_cast<std::size_t>(k), d = rank; d-- > 0;) {
      const std::size_t across = (static_cast<std::size_t>(dataset.extent[d]) + chunk[d] - 1) / chunk[d];
      offset[d] = left % across * chunk[d];
      left /= across;
    }
    unsigned mask = 0;
    haddr_t address = 0;
    hsize_t stored = 0;
    if (H5Dget_chunk_info_by_coord(id, offset.data(), &mask, &address, &stored) < 0) {
      fail(path, "has chunks that can't be found: " + last_error());
    }
    if (address == HADDR_UNDEF || static_cast<std::int64_t>(stored) * max_expansion <= unchecked_expansion_bytes) {
      continue;
    }
    if (static_cast<std::int64_t>(stored) > 2 * chunk_bytes + small_bytes) {
      fail(path, fmt::format("stores {} bytes in a chunk of {}", stored, chunk_bytes));
    }
    std::vector<unsigned char> packed(stored);
    std::uint32_t read_mask = 0;
    if (H5Dread_chunk(id, H5P_DEFAULT, offset.data(), &read_mask, packed.data()) < 0) {
      fail(path, "can't be read: " + last_error());
    }
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
    stream.next_in = packed.data();
    stream.avail_in = static_cast<uInt>(packed.size());
    std::vector<unsigned char> piece(1 << 16);
    std::int64_t inflated = 0;
    int status = Z_OK;
    while (status == Z_OK && inflated <= chunk_bytes + 4) {
      stream.next_out = piece.data();
      stream.avail_out = static_cast<uInt>(piece.size());
      status = inflate(&stream, Z_NO_FLUSH);
      inflated += static_cast<std::int64_t>(piece.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    // Four bytes more where a checksum was added before compressing.
    if (inflated > chunk_bytes + 4) fail(path, "holds a chunk that inflates to more than its size");
  }
}

void ReadFile::read(const Dataset& dataset, Index count, Id memory_type, void* out) const {
  const Id id = dataset.object.handle.get();
  if (count == 0) return;
  Handle memory_space;
  Handle file_space;
  if (count < dataset.length) {
    file_space = Handle(H5Dget_space(id));
    const std::array<hsize_t, 2> start{0, 0};
    const std::array<hsize_t, 2> extent{static_cast<hsize_t>(count), 1};
    memory_space = Handle(H5Screate_simple(1, extent.data(), nullptr));
    H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
  }
  const Id in_memory = memory_space.valid() ? memory_space.get() : H5S_ALL;
  const Id in_file = file_space.valid() ? file_space.get() : H5S_ALL;
  if (H5Dread(id, memory_type, in_memory, in_file, H5P_DEFAULT, out) < 0) {
    fail(dataset.object.path, "can't be read: " + last_error());
  }
}

std::int64_t ReadFile::read_scalar(const Object& parent, const std::string& name) const {
  const Dataset dataset = open_dataset(parent, name, Values::integers, 1);
  std::int64_t value = 0;
  read(dataset, 1, H5T_NATIVE_INT64, &value);
  return value;
}

std::uint64_t ReadFile::read_unsigned(const Object& parent, const std::string& name) const {
  const Dataset dataset = open_dataset(parent, name, Values::integers, 1);
  std::uint64_t value = 0;
  read(dataset, 1, H5T_NATIVE_UINT64, &value);
  return value;
}

std::vector<std::string> ReadFile::names(const Object& group, std::size_t max_names) const {
  struct Found {
    std::vector<std::string> names;
    std::size_t most;
  } found{{}, max_names};
  const auto take = [](Id, const char* name, const H5L_info_t*, void* to) -> herr_t {
    auto& all = *static_cast<Found*>(to);
    if (all.names.size() >= all.most) return 1;
    all.names.emplace_back(name);
    return 0;
  };
  if (H5Literate(group.handle.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &found) < 0) {
    fail(group.path, "can't be listed: " + last_error());
  }
  return std::move(found.names);
}

std::vector<std::int64_t> ReadFile::read_integers(const Dataset& dataset, Index count) const {
  if (count < 0) count = dataset.length;
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  read(dataset, count, H5T_NATIVE_INT64, values.data());
  return values;
}

Vector ReadFile::read_reals(const Dataset& dataset, Index count) const {
  if (count < 0) count = dataset.length;
  Vector values(count);
  read(dataset, count, H5T_NATIVE_DOUBLE, values.data());
  return values;
}

Vector ReadFile::read_finite(const Dataset& dataset, Index count) const {
  Vector values = read_reals(dataset, count);
  for (Index k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k])) fail(dataset.object.path, fmt::format("entry {} is {}", k, values[k]));
  }
  return values;
}

/// Text is decoration, so whatever is odd about it leaves it out rather than refusing the problem.
std::string ReadFile::read_text(const Object& parent, const std::string& name) const {
  H5L_info_t info;
  if (H5Lexists(parent.handle.get(), name.c_str(), H5P_DEFAULT) <= 0 ||
      H5Lget_info(parent.handle.get(), name.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD) {
    return {};
  }
  const Handle object(H5Oopen(parent.handle.get(), name.c_str(), H5P_DEFAULT));
  if (!object.valid() || H5Iget_type(object.get()) != H5I_DATASET) return {};
  const Handle type(H5Dget_type(object.get()));
  const Handle space(H5Dget_space(object.get()));
  const Handle properties(H5Dget_create_plist(object.get()));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1 ||
      H5Pget_external_count(properties.get()) != 0 || H5Pget_layout(properties.get()) == H5D_VIRTUAL) {
    return {};
  }
  if (H5Tis_variable_str(type.get()) <= 0) {
    const std::size_t size = H5Tget_size(type.get());
    if (size == 0 || size > max_text_bytes || H5Pget_layout(properties.get()) == H5D_CHUNKED) return {};
    std::string text(size, '\0');
    if (H5Dread(object.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0) return {};
    text.resize(std::min(text.find('\0'), text.size()));
    return one_line(text);
  }
  // The stored length of a variable-length string comes first in its slot. HDF5 allocates that much unseen, so it is
  // checked beforehand.
  const haddr_t address = H5Dget_offset(object.get());
  std::ifstream stream(path_, std::ios::binary);
  std::array<unsigned char, 4> length{};
  if (H5Pget_layout(properties.get()) != H5D_CONTIGUOUS || address == HADDR_UNDEF || !stream ||
      !stream.seekg(static_cast<std::streamoff>(address)) ||
      !stream.read(reinterpret_cast<char*>(length.data()), length.size())) {
    return {};
  }
  const std::size_t size =
      length[0] | std::size_t{length[1]} << 8 | std::size_t{length[2]} << 16 | std::size_t{length[3]} << 24;
  if (size == 0 || size > max_text_bytes) return {};
  const Handle memory_type(H5Tcopy(type.get()));
  char* text = nullptr;
  if (H5Dread(object.get(), memory_type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) < 0 || text == nullptr) return {};
  std::string copy = one_line(text);
  H5Dvlen_reclaim(memory_type.get(), space.get(), H5P_DEFAULT, &text);
  return copy;
}

std::vector<std::string> ReadFile::read_texts(const Object& parent, const std::string& name, Index expected) const {
  const std::string path = join(parent.path, name);
  const Handle object = find(parent, name, 0);
  if (H5Iget_type(object.get()) != H5I_DATASET) fail(path, "is no dataset, expected texts");
  const Handle type(H5Dget_type(object.get()));
  if (H5Tget_class(type.get()) != H5T_STRING) fail(path, "holds no texts");
  const Handle space(H5Dget_space(object.get()));
  const auto length = static_cast<Index>(H5Sget_simple_extent_npoints(space.get()));
  if ((expected >= 0 && length != expected) || length > max_texts || H5Sget_simple_extent_ndims(space.get()) > 1) {
    fail(path, fmt::format("has {} texts, expected {}", length, expected >= 0 ? expected : max_texts));
  }
  if (length == 0) return {};
  const auto count = static_cast<std::size_t>(length);
  const std::size_t size = H5Tget_size(type.get());
  check_storage({.object = {Handle(H5Dopen2(parent.handle.get(), name.c_str(), H5P_DEFAULT)), path},
                 .extent = {length},
                 .length = length,
                 .element_bytes = static_cast<Index>(size)});
  std::vector<std::string> texts;
  texts.reserve(count);
  if (H5Tis_variable_str(type.get()) > 0) {
    std::vector<char*> read(count, nullptr);
    if (H5Dread(object.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()) < 0) {
      fail(path, "can't be read: " + last_error());
    }
    for (const char* const text : read) texts.push_back(text == nullptr ? std::string() : one_line(text));
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, read.data());
    return texts;
  }
  if (size == 0 || size > max_text_bytes) fail(path, fmt::format("has texts of {} bytes", size));
  std::string all(count * size, '\0');
  if (H5Dread(object.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0) {
    fail(path, "can't be read: " + last_error());
  }
  for (std::size_t k = 0; k < count; ++k) {
    const std::string text = all.substr(k * size, size);
    texts.push_back(one_line(text.substr(0, text.find('\0'))));
  }
  return texts;
}

std::optional<std::int64_t> ReadFile::read_attribute(const Object& group, const std::string& name) const {
  if (H5Aexists(group.handle.get(), name.c_str()) <= 0) return std::nullopt;
  const Handle attribute(H5Aopen(group.handle.get(), name.c_str(), H5P_DEFAULT));
  if (!attribute.valid()) return std::nullopt;
  const Handle type(H5Aget_type(attribute.get()));
  const Handle space(H5Aget_space(attribute.get()));
  const bool whole = H5Tget_class(type.get()) == H5T_INTEGER && is_accepted(type.get());
  if (!whole || H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
  std::int64_t value = 0;
  if (H5Aread(attribute.get(), H5T_NATIVE_INT64, &value) < 0) return std::nullopt;
  return value;
}

}  // namespace conebench::hdf5
