#include <fcntl.h>
#include <fuzzer/FuzzedDataProvider.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/fclib_read.hpp"
#include "tests/fclib_loader/file_maker.hpp"

/// libFuzzer's entry: whatever the file, the loader gives a problem or one line of refusal; and a problem that it gives
/// is written and read back as the same problem.
///
/// Bytes that begin with HDF5's signature are a file; it is read in a child process, as HDF5 itself crashes on damaged
/// metadata: only a crash in Conebench's own code is a finding. Other bytes select how a good file is damaged byte by
/// byte (read in a child too), or how it is mutated link by link and dataset by dataset, through HDF5, so that what is
/// inside reaches the loader's own checks.

namespace {

using conebench::testing::FileMaker;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_one_line(const conebench::Error& error) {
  require(!error.message.empty() && error.message.find('\n') == std::string::npos);
  require(error.code == conebench::ErrorCode::bad_input || error.code == conebench::ErrorCode::unsupported);
}

/// Two files in memory, with paths that HDF5 can resolve.
struct Files {
  std::string stem = "/dev/shm/conebench-fuzz-" + std::to_string(::getpid());
  std::filesystem::path file = stem + ".hdf5";
  std::filesystem::path copy = stem + "-copy.hdf5";
  std::filesystem::path log = stem + ".log";
  ~Files() {
    std::error_code ignored;
    for (const auto& path : {file, copy, log}) std::filesystem::remove(path, ignored);
  }
};

void check_content(const Files& files, const conebench::FclibContent& content) {
  const conebench::FclibSummary summary = conebench::summarise(content);
  require(summary.rows == summary.contacts * summary.space_dimension + summary.limits);
  const conebench::Result<conebench::ContactProblem> problem = conebench::to_problem(content, files.file);
  if (!problem) return require_one_line(problem.error());
  const auto written = conebench::write_fclib(*problem, files.copy);
  if (!written) return require_one_line(written.error());
  const auto again = conebench::read_fclib_here(files.copy);
  require(again.ok());
  const auto same = conebench::to_problem(*again, files.copy);
  require(same.ok() && same->content_hash() == problem->content_hash());
}

/// The sanitizer's report puts it on our code: HDF5 is not in the stack, or was given memory of ours that is too small.
bool is_our_crash(const std::filesystem::path& log) {
  std::ifstream stream(log);
  bool in_hdf5 = false;
  bool our_memory = false;
  bool allocation = false;
  for (std::string line; std::getline(stream, line);) {
    const bool hdf5_frame = line.find("libhdf5") != std::string::npos;
    if (line.find("allocated by") != std::string::npos) allocation = true;
    // Frame 0 is malloc itself.
    if (allocation && line.find("#1 ") != std::string::npos) our_memory = !hdf5_frame;
    in_hdf5 = in_hdf5 || (hdf5_frame && !allocation);
  }
  return !in_hdf5 || our_memory;
}

void read_in_child(const Files& files) {
  const pid_t child = ::fork();
  require(child >= 0);
  if (child == 0) {
    const int log = ::open(files.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(log, STDERR_FILENO);
    __sanitizer_set_death_callback(nullptr);  // libFuzzer's, which would keep the file as a finding
    const auto content = conebench::read_fclib_here(files.file);
    if (content) {
      check_content(files, *content);
    } else {
      require_one_line(content.error());
    }
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) require(errno == EINTR);
  if (status == 0 || !is_our_crash(files.log)) return;
  std::ifstream log(files.log);
  for (std::string line; std::getline(log, line);) std::fprintf(stderr, "%s\n", line.c_str());
  std::abort();
}

const char* const parts[] = {"/fclib_local/spacedim",
                             "/fclib_local/W",
                             "/fclib_local/W/m",
                             "/fclib_local/W/n",
                             "/fclib_local/W/nz",
                             "/fclib_local/W/nzmax",
                             "/fclib_local/W/p",
                             "/fclib_local/W/i",
                             "/fclib_local/W/x",
                             "/fclib_local/V",
                             "/fclib_local/R",
                             "/fclib_local/V/p",
                             "/fclib_local/R/n",
                             "/fclib_local/vectors",
                             "/fclib_local/vectors/q",
                             "/fclib_local/vectors/mu",
                             "/fclib_local/vectors/s",
                             "/fclib_local/vectors/mu_r",
                             "/fclib_global/spacedim",
                             "/fclib_global/M/x",
                             "/fclib_global/M/nz",
                             "/fclib_global/M/p",
                             "/fclib_global/H/m",
                             "/fclib_global/H/n",
                             "/fclib_global/H/i",
                             "/fclib_global/G",
                             "/fclib_global/vectors/f",
                             "/fclib_global/vectors/w",
                             "/fclib_global/vectors/b",
                             "/fclib_global/vectors/mu",
                             "/solution",
                             "/solution/r",
                             "/solution/u",
                             "/guesses",
                             "/guesses/number_of_guesses",
                             "/guesses/1",
                             "/guesses/1/r",
                             "/conebench",
                             "/conebench/version",
                             "/conebench/limits",
                             "/conebench/compliance",
                             "/conebench/v_free",
                             "/conebench/bias",
                             "/conebench/g",
                             "/conebench/delassus",
                             "/conebench/delassus/m",
                             "/conebench/delassus/p",
                             "/conebench/delassus/x",
                             "/conebench/delassus_form",
                             "/conebench/gaps",
                             "/conebench/body_masses",
                             "/conebench/contact_identities",
                             "/conebench/limit_identities",
                             "/conebench/contact_frames",
                             "/conebench/category",
                             "/conebench/conditioning",
                             "/conebench/coordinates",
                             "/conebench/step",
                             "/conebench/seed",
                             "/conebench/reference/residuals",
                             "/fclib_local/info/title",
                             "/fclib_global/info/title"};

FileMaker::Storage storage_of(FuzzedDataProvider& data, bool whole) {
  static const hid_t integers[] = {H5T_STD_I32LE, H5T_STD_I64BE, H5T_STD_U8LE, H5T_STD_I16LE};
  static const hid_t reals[] = {H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_STD_I32LE};
  FileMaker::Storage storage;
  storage.type = whole ? data.PickValueInArray(integers) : data.PickValueInArray(reals);
  storage.scalar = data.ConsumeProbability<float>() < 0.1F;
  if (!storage.scalar && data.ConsumeBool()) {
    storage.chunk = data.ConsumeIntegralInRange<hsize_t>(1, 50);
    storage.shuffle = data.ConsumeBool();
    storage.gzip = data.ConsumeBool();
    storage.checksum = data.ConsumeBool();
  }
  return storage;
}

void write_numbers(FuzzedDataProvider& data, FileMaker& maker, const std::string& path) {
  const bool whole = data.ConsumeBool();
  FileMaker::Storage storage = storage_of(data, whole);
  const std::size_t count = storage.scalar ? 1 : data.ConsumeIntegralInRange<std::size_t>(0, 160);
  if (!storage.scalar && storage.chunk == 0 && data.ConsumeProbability<float>() < 0.2F) storage.shape = {count, 1};
  if (whole) {
    std::vector<std::int64_t> values(count);
    for (auto& value : values) {
      value = data.ConsumeBool() ? data.ConsumeIntegralInRange<std::int64_t>(-3, 13) : data.ConsumeIntegral<int>();
    }
    maker.integers(path, values, storage);
  } else {
    std::vector<double> values(count);
    for (auto& value : values) value = data.ConsumeBool() ? 1.0 : data.ConsumeFloatingPoint<double>();
    maker.reals(path, values, storage);
  }
}

/// One number in a dataset that is there changes; everything else about it stays.
void change_number(FuzzedDataProvider& data, FileMaker& maker, const std::string& path) {
  std::vector<double> values = maker.read_reals(path);
  if (values.empty()) return;
  const auto index = data.ConsumeIntegralInRange<std::size_t>(0, values.size() - 1);
  const std::string last = path.substr(path.rfind('/') + 1);
  if (last == "x" || path.find("vectors") != std::string::npos || last == "r" || last == "u") {
    values[index] = data.ConsumeFloatingPoint<double>();
    maker.reals(path, values);
  } else {
    std::vector<std::int64_t> whole = conebench::testing::whole_numbers(values);
    whole[index] = data.ConsumeIntegralInRange<std::int64_t>(-3, 200);
    maker.integers(path, whole);
  }
}

void damage(FuzzedDataProvider& data, FileMaker& maker) {
  const std::string path = data.PickValueInArray(parts);
  switch (data.ConsumeIntegralInRange<int>(0, 9)) {
    case 0: maker.remove(path); break;
    case 1:
      maker.remove(path);
      maker.group(path);
      break;
    case 2: maker.soft_link(data.PickValueInArray(parts), path); break;
    case 3: maker.external_link("other.hdf5", "/", path); break;
    case 4: maker.hard_link("/", path + "/root"); break;
    case 5: maker.text(path, data.ConsumeRandomLengthString(40), 1, data.ConsumeBool()); break;
    case 6: {
      const std::vector<hsize_t> shape(data.ConsumeIntegralInRange<std::size_t>(0, 3),
                                       data.ConsumeIntegralInRange<hsize_t>(0, hsize_t{1} << 34));
      maker.unwritten(path, H5T_IEEE_F64LE, shape, H5P_DEFAULT);
      break;
    }
    case 7: write_numbers(data, maker, path); break;
    default: change_number(data, maker, path); break;
  }
}

void make_mutated_file(FuzzedDataProvider& data, const std::filesystem::path& file) {
  using namespace conebench::testing;
  void (*const bases[])(FileMaker&) = {make_local,        make_mixed_local, make_plane,        make_global,
                                       make_mixed_global, make_rolling,     make_local_sample, make_global_sample};
  FileMaker maker(file, data.ConsumeBool() ? 512 : 0);
  data.PickValueInArray(bases)(maker);
  if (data.ConsumeBool()) make_answers(maker, data.ConsumeBool() ? 12 : 6);
  for (int edits = data.ConsumeIntegralInRange<int>(0, 6); edits > 0; --edits) {
    try {
      damage(data, maker);
    } catch (const std::exception&) {
      // That edit could not be made (nothing at the path, say): the others still count.
    }
  }
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Good files of every kind, as bytes, and one with its arrays gzipped.
std::vector<std::string> good_files(const std::filesystem::path& file) {
  using namespace conebench::testing;
  std::vector<std::string> files;
  for (void (*const make)(FileMaker&) : {make_local, make_mixed_local, make_plane, make_global, make_mixed_global,
                                         make_rolling, make_local_sample, make_global_sample}) {
    {
      FileMaker maker(file);
      make(maker);
      make_answers(maker, 12);
    }
    files.push_back(bytes_of(file));
  }
  FileMaker::Storage packed;
  packed.chunk = 7;
  packed.gzip = packed.shuffle = packed.checksum = true;
  {
    FileMaker maker(file);
    make_local(maker);
    for (const std::string part : {"W/x", "W/i", "vectors/q"}) {
      const std::string path = "/fclib_local/" + part;
      if (part == "W/i") {
        maker.integers(path, maker.read_integers(path), packed);
      } else {
        maker.reals(path, maker.read_reals(path), packed);
      }
    }
    maker.group("/fclib_local/info");
    maker.text("/fclib_local/info/title", "variable", 0, true);
  }
  files.push_back(bytes_of(file));
  return files;
}

void damage(FuzzedDataProvider& data, std::string& bytes) {
  for (int edits = data.ConsumeIntegralInRange<int>(1, 8); edits > 0 && !bytes.empty(); --edits) {
    const auto at = data.ConsumeIntegralInRange<std::size_t>(0, bytes.size() - 1);
    const auto length = data.ConsumeIntegralInRange<std::size_t>(0, 64);
    switch (data.ConsumeIntegralInRange<int>(0, 5)) {
      case 0: bytes.insert(at, length, static_cast<char>(data.ConsumeIntegral<std::uint8_t>())); break;
      case 1: bytes.erase(at, length); break;
      case 2: bytes.resize(at); break;
      case 3: bytes.replace(at, 8, std::string(8, static_cast<char>(data.ConsumeIntegral<std::uint8_t>()))); break;
      default: bytes[at] = static_cast<char>(data.ConsumeIntegral<std::uint8_t>()); break;
    }
  }
}

conebench::ContactProblem small_problem() {
  conebench::ContactProblemData data;
  data.cones = *conebench::ConeProduct::create(0, 0, {0.5, 0.5, 0.5, 0.5});
  data.delassus = conebench::make_dense_delassus(conebench::Matrix::Identity(12, 12));
  data.free_term = conebench::Vector::Ones(12);
  return *conebench::ContactProblem::create(std::move(data));
}

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const conebench::ContactProblem small = small_problem();
  static const Files files;
  silence_hdf5();
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  if (text.starts_with("\x89HDF") || text.starts_with("\x93NUMPY")) {
    std::ofstream(files.file, std::ios::binary | std::ios::trunc) << text;
    if (text.front() == '\x89') {
      read_in_child(files);
    } else {
      const auto reaction = conebench::read_reaction(files.file, small);
      if (!reaction) require_one_line(reaction.error());
    }
    return 0;
  }
  FuzzedDataProvider data(bytes, size);
  if (data.ConsumeIntegralInRange<int>(0, 3) == 0) {
    static const std::vector<std::string> good = good_files(files.file);
    std::string damaged = good[data.ConsumeIntegralInRange<std::size_t>(0, good.size() - 1)];
    damage(data, damaged);
    std::ofstream(files.file, std::ios::binary | std::ios::trunc) << damaged;
    read_in_child(files);
    return 0;
  }
  make_mutated_file(data, files.file);
  const auto content = conebench::read_fclib_here(files.file);
  if (content) {
    check_content(files, *content);
  } else {
    require_one_line(content.error());
  }
  require(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE | H5F_OBJ_DATASET | H5F_OBJ_GROUP) == 0);
  return 0;
}
