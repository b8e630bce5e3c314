#include "runners/plan/cell_parts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

namespace conebench {

namespace {

/// Forking a child, and the repeats that a short solve gets.
constexpr double min_cost_s = 0.06;
/// Of a cell per entry of W: the order of what 365 cells, drawn from all of the suite `fclib`, took.
constexpr double cost_per_nonzero_s = 2e-4;

double measured_cost(const CellRecord& cell) { return cell.total.median * std::max(1, cell.repeats) + cell.judge_s; }

using Size = double;  ///< of a problem: the logarithm of its entries
Size size_of(const ProblemRecord& problem) { return std::log(1.0 + static_cast<double>(problem.nonzeros)); }

/// What was measured of a solver at a tolerance, by size.
class Neighbours {
 public:
  void add(Size size, double cost) { measured_.emplace_back(size, cost); }
  void sort() { std::sort(measured_.begin(), measured_.end()); }
  /// Mean cost of the five nearest in size.
  double mean_near(Size size) const {
    constexpr std::size_t most = 5;
    auto end = std::lower_bound(measured_.begin(), measured_.end(), std::pair(size, 0.0));
    auto begin = end;
    while (static_cast<std::size_t>(end - begin) < std::min(most, measured_.size())) {
      const bool down =
          begin != measured_.begin() && (end == measured_.end() || size - std::prev(begin)->first <= end->first - size);
      if (down) {
        --begin;
      } else {
        ++end;
      }
    }
    const double sum = std::accumulate(begin, end, 0.0, [](double all, const auto& one) { return all + one.second; });
    return sum / static_cast<double>(end - begin);
  }

 private:
  std::vector<std::pair<Size, double>> measured_;
};

/// Cells that are not torn apart.
struct Piece {
  double cost = 0.0;
  std::vector<std::size_t> cells;
};

/// Sequences whole, in the order of their first cells.
std::vector<Piece> sequences_of(const std::vector<PlannedCell>& cells, const std::vector<double>& costs) {
  std::map<std::size_t, Piece> by_first;
  std::vector<std::size_t> first(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::size_t start = i;
    while (cells[start].previous) start = *cells[start].previous;
    Piece& piece = by_first[start];
    piece.cost += costs[i];
    piece.cells.push_back(i);
  }
  std::vector<Piece> pieces;
  for (auto& [unused, piece] : by_first) pieces.push_back(std::move(piece));
  return pieces;
}

/// Joins single cells of one problem to pieces of at most `most`.
std::vector<Piece> joined(std::vector<Piece> pieces, const std::vector<PlannedCell>& cells, double most) {
  std::vector<Piece> all;
  std::map<std::size_t, std::size_t> open;  // by problem, its piece that is not full
  for (Piece& piece : pieces) {
    const std::size_t problem = cells[piece.cells.front()].problem;
    const auto found = open.find(problem);
    const bool single = piece.cells.size() == 1;
    if (single && found != open.end() && all[found->second].cost + piece.cost <= most) {
      all[found->second].cost += piece.cost;
      all[found->second].cells.push_back(piece.cells.front());
      continue;
    }
    if (single) open[problem] = all.size();
    all.push_back(std::move(piece));
  }
  return all;
}

}  // namespace

std::vector<double> estimated_costs(const Suite& suite, const std::vector<SurveyedProblem>& problems,
                                    const std::vector<PlannedConfiguration>& configurations,
                                    const std::vector<PlannedCell>& cells, const StoreContents& earlier) {
  std::map<std::string, Size> sizes;
  std::map<std::string, std::string> solver_of;
  for (const ProblemRecord& problem : earlier.problems) sizes[problem.hash] = size_of(problem);
  for (const ConfigurationRecord& configuration : earlier.configurations)
    solver_of[configuration.hash] = configuration.solver;
  std::map<std::tuple<std::string, std::string, double, std::string>, double> exact;
  std::map<std::pair<std::string, double>, Neighbours> near;
  for (const CellRecord& cell : earlier.cells) {
    const double cost = measured_cost(cell);
    if (!std::isfinite(cost)) continue;
    exact[{cell.problem, cell.configuration, cell.tolerance, cell.start}] = cost;
    near[{solver_of[cell.configuration], cell.tolerance}].add(sizes[cell.problem], cost);
  }
  for (auto& [unused, neighbours] : near) neighbours.sort();

  std::vector<double> costs;
  for (const PlannedCell& cell : cells) {
    const ProblemRecord& problem = problems[cell.problem].record;
    const ConfigurationRecord& configuration = configurations[cell.configuration].record;
    double cost = cost_per_nonzero_s * static_cast<double>(problem.nonzeros);
    if (const auto same = exact.find({problem.hash, configuration.hash, cell.tolerance, to_string(cell.start)});
        same != exact.end()) {
      cost = same->second;
    } else if (const auto like = near.find({configuration.solver, cell.tolerance}); like != near.end()) {
      cost = like->second.mean_near(size_of(problem));
    }
    costs.push_back(std::clamp(min_cost_s + cost, min_cost_s, std::max(min_cost_s, suite.limits.seconds)));
  }
  return costs;
}

std::vector<int> balanced_parts(const std::vector<PlannedCell>& cells, const std::vector<double>& costs, int parts) {
  constexpr double pieces_of_a_share = 8.0;
  const double share = std::accumulate(costs.begin(), costs.end(), 0.0) / parts;
  std::vector<Piece> pieces = joined(sequences_of(cells, costs), cells, share / pieces_of_a_share);
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.cost > b.cost; });

  using Load = std::pair<double, int>;  // seconds so far, part
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (int part = 1; part <= parts; ++part) least.emplace(0.0, part);
  std::vector<int> part_of(cells.size());
  for (const Piece& piece : pieces) {
    const auto [cost, part] = least.top();
    least.pop();
    for (const std::size_t cell : piece.cells) part_of[cell] = part;
    least.emplace(cost + piece.cost, part);
  }
  return part_of;
}

}  // namespace conebench
