// Reading FCLIB files, from the file to the problem that a solver sees. CONEBENCH_BENCHMARK_FILE names a file of your
// own; without it, a lattice of spheres is written and read back. benchmarks/loading_against_h5py.py sets both side by
// side.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "fclib_loader/fclib_file.hpp"
#include "scenes/scene_table.hpp"

namespace conebench {
namespace {

/// A file that lives as long as this object, unless it is the user's own.
class BenchmarkFile {
 public:
  BenchmarkFile() {
    if (const char* given = std::getenv("CONEBENCH_BENCHMARK_FILE")) {
      path_ = given;
      return;
    }
    own_ = true;
    path_ = std::filesystem::temp_directory_path() / ("conebench-loading-" + std::to_string(getpid()) + ".hdf5");
    const auto problem = (*require_scene("sphere-lattice"))->make({{"nx", 12}, {"ny", 12}, {"nz", 12}}, 1);
    if (!write_fclib(*problem, path_)) path_.clear();
  }
  BenchmarkFile(const BenchmarkFile&) = delete;
  BenchmarkFile& operator=(const BenchmarkFile&) = delete;
  ~BenchmarkFile() {
    std::error_code ignored;
    if (own_) std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool own_ = false;
};

/// The content as stored, checked; the isolated process that reads it included.
void BM_ReadFclib(benchmark::State& state) {
  const BenchmarkFile file;
  for (auto _ : state) {
    const auto content = read_fclib(file.path());
    if (!content) state.SkipWithError(content.error().message.c_str());
    benchmark::DoNotOptimize(&content);
  }
}
BENCHMARK(BM_ReadFclib)->Unit(benchmark::kMillisecond);

/// The same and on to the problem: reordering, blocks, hash, and for a global file its condensation.
void BM_LoadFclib(benchmark::State& state) {
  const BenchmarkFile file;
  for (auto _ : state) {
    const auto problem = load_fclib(file.path());
    if (!problem) state.SkipWithError(problem.error().message.c_str());
    benchmark::DoNotOptimize(&problem);
  }
}
BENCHMARK(BM_LoadFclib)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace conebench
