// Operations of one factorization in CASCADE, all contacts sticking, in contact space (G̃ + D, a block for each contact)
// and in body space (M + Jᵀ B J, entry by entry, B block diagonal), each by the better of minimum degree and nested
// dissection. Time is that of both analyses. CONEBENCH_BENCHMARK_MATRICES names FCLIB files, separated by colons; those
// without M and J, or with joints, are left out.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fclib_loader/fclib_file.hpp"
#include "scenes/scene_table.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/linear/elimination.hpp"

namespace conebench {
namespace {

/// Multiplications and additions of an LU of blocks of `size` rows, the inversion of the pivot blocks included.
double operations(const BlockGraph& graph, double size) {
  const auto count = [&](std::vector<int> order) {
    double sum = 0.0;
    for (const double below : eliminate(graph, std::move(order)).below) {
      sum += size * size * size * (2.0 * below * (below + 1.0) + 2.0 / 3.0);
    }
    return sum;
  };
  const double by_degree = count(minimum_degree_order(graph));
  const auto dissected = nested_dissection_order(graph);
  return dissected ? std::min(by_degree, count(*dissected)) : by_degree;
}

/// Pattern of M + Jᵀ B J where B has a full block for each contact.
class BodyGraph {
 public:
  BodyGraph(const PrimalForm& form, const ConeProduct& cones) {
    std::vector<std::set<int>> neighbours(static_cast<std::size_t>(form.mass.rows()));
    for (Index row = 0; row < form.mass.outerSize(); ++row) {
      for (SparseMatrix::InnerIterator entry(form.mass, row); entry; ++entry) {
        if (entry.value() != 0.0)
          neighbours[static_cast<std::size_t>(entry.row())].insert(static_cast<int>(entry.col()));
      }
    }
    const Eigen::SparseMatrix<double, Eigen::RowMajor, int> jacobian = form.jacobian;
    const auto couple = [&](Index first, Index rows) {
      std::set<int> touched;
      for (Index row = first; row < first + rows; ++row) {
        for (Eigen::SparseMatrix<double, Eigen::RowMajor, int>::InnerIterator entry(jacobian, row); entry; ++entry) {
          if (entry.value() != 0.0) touched.insert(static_cast<int>(entry.col()));
        }
      }
      for (const int a : touched) neighbours[static_cast<std::size_t>(a)].insert(touched.begin(), touched.end());
    };
    for (Index contact = 0; contact < cones.contacts(); ++contact) {
      couple(cones.contact_row(contact), cones.contact_dimension());
    }
    for (Index limit = 0; limit < cones.limits(); ++limit) couple(cones.first_limit_row() + limit, 1);
    begins_.push_back(0);
    for (const std::set<int>& row : neighbours) {
      columns_.insert(columns_.end(), row.begin(), row.end());
      begins_.push_back(static_cast<int>(columns_.size()));
    }
  }
  BlockGraph graph() const { return {begins_, columns_}; }

 private:
  std::vector<int> begins_, columns_;
};

void count(benchmark::State& state, const ContactProblem& source) {
  if (!source.primal() || source.cones().joints() > 0) return state.SkipWithError("without M and J, or with joints");
  const cascade::ScaledProblem problem(source);
  const BodyGraph bodies(*source.primal(), source.cones());
  double in_contacts = 0.0;
  double in_bodies = 0.0;
  for (auto _ : state) {
    in_contacts = operations(problem.graph(), source.cones().contact_dimension());
    in_bodies = operations(bodies.graph(), 1.0);
  }
  state.counters["contacts"] = problem.contacts();
  state.counters["velocities"] = static_cast<double>(source.primal()->mass.rows());
  state.counters["Mflop_contacts"] = 1e-6 * in_contacts;
  state.counters["Mflop_bodies"] = 1e-6 * in_bodies;
  state.counters["ratio"] = in_bodies / in_contacts;
}

void BM_SpaceLattice(benchmark::State& state) {
  const long n = state.range(0);
  const OptionValues size{{"nx", n}, {"ny", n}, {"nz", n > 12 ? n - 1 : n}};
  count(state, (*require_scene("sphere-lattice"))->make(size, 1).value());
}
BENCHMARK(BM_SpaceLattice)->Arg(3)->Arg(7)->Arg(10)->Arg(15)->ArgName("edge")->Iterations(1);

void BM_SpaceStack(benchmark::State& state) {
  count(state, (*require_scene("box-stack"))->make({{"boxes", state.range(0)}}, 1).value());
}
BENCHMARK(BM_SpaceStack)->Arg(10)->Arg(50)->ArgName("boxes")->Iterations(1);

void count_file(benchmark::State& state, const std::string& path) {
  auto problem = load_fclib(path);
  if (!problem.ok()) return state.SkipWithError("cannot be read");
  count(state, *problem);
}

[[maybe_unused]] const bool files_registered = [] {
  const char* given = std::getenv("CONEBENCH_BENCHMARK_MATRICES");
  std::istringstream paths(given == nullptr ? "" : given);
  for (std::string path; std::getline(paths, path, ':');) {
    const std::string name = "BM_Space/" + std::filesystem::path(path).stem().string();
    benchmark::RegisterBenchmark(name.c_str(), count_file, path)->Iterations(1);
  }
  return true;
}();

}  // namespace
}  // namespace conebench
