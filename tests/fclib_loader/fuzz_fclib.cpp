#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "fclib_loader/fclib_file.hpp"

/// libFuzzer's entry: whatever the bytes, the loader gives a problem or one line of refusal; and a problem that it
/// gives is written and read back as the same problem.

namespace {

/// A file in memory that has a path.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* bytes, std::size_t size) : descriptor_(::memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || ::write(descriptor_, bytes, size) != static_cast<ssize_t>(size)) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void require(bool holds) {
  if (!holds) std::abort();
}

void require_one_line(const conebench::Error& error) {
  require(!error.message.empty() && error.message.find('\n') == std::string::npos);
  require(error.code == conebench::ErrorCode::bad_input || error.code == conebench::ErrorCode::unsupported);
}

conebench::ContactProblem small_problem() {
  conebench::ContactProblemData data;
  data.cones = *conebench::ConeProduct::create(1, 0, {0.5, 0.5});
  data.delassus = conebench::make_dense_delassus(conebench::Matrix::Identity(7, 7));
  data.free_term = conebench::Vector::Ones(7);
  return *conebench::ContactProblem::create(std::move(data));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const conebench::ContactProblem small = small_problem();
  static const std::filesystem::path copy = "/dev/shm/conebench-fuzz-" + std::to_string(::getpid()) + ".hdf5";
  const MemoryFile file(bytes, size);

  const conebench::Result<conebench::Vector> reaction = conebench::read_reaction(file.path(), small);
  if (!reaction) require_one_line(reaction.error());

  const conebench::Result<conebench::FclibContent> content = conebench::read_fclib(file.path());
  if (!content) {
    require_one_line(content.error());
    return 0;
  }
  const conebench::FclibSummary summary = conebench::summarise(*content);
  require(summary.rows == summary.contacts * summary.space_dimension);
  const conebench::Result<conebench::ContactProblem> problem = conebench::to_problem(*content, file.path());
  if (!problem) {
    require_one_line(problem.error());
    return 0;
  }
  const conebench::Vector zero = conebench::Vector::Zero(problem->rows());
  const auto solved = conebench::write_solution(file.path(), copy, *problem, zero);
  if (!solved) require(!solved.error().message.empty());
  const auto written = conebench::write_fclib(*problem, copy);
  require(written.ok());
  const auto again = conebench::load_fclib(copy);
  require(again.ok() && again->content_hash() == problem->content_hash());
  std::filesystem::remove(copy);
  return 0;
}
