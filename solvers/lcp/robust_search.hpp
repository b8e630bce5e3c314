#pragma once

#include <cstdint>
#include <vector>

#include "solvers/lcp/lemke.hpp"

namespace conebench::lcp {

struct RobustOptions : LcpOptions {
  double min_q = 1e-3;             ///< ε of Yamane Alg. 2
  bool frictionless_first = true;  ///< two-step solution of Yamane Sec. IV-C
  long max_nodes = 1000000;        ///< stored; Yamane has no bound
  double memory_mb = 50.0;
  /// Not options: what sets LEMKE-ROBUST-DF apart.
  bool depth_first = false;
};
void declare_options(OptionBinder& bind, RobustOptions& options);

struct DepthFirstOptions : RobustOptions {
  DepthFirstOptions() {
    depth_first = true;
    frictionless_first = false;  // the pivoted system may end on a ray where the original one does not
    min_q = 1e-9;                // an answer may miss the LCP by as much
    max_error = 1e-6;
  }
};
inline void declare_options(OptionBinder& bind, DepthFirstOptions& o) {
  declare_options(bind, static_cast<RobustOptions&>(o));
}

/// Search for a sequence of pivots: paper Yamane Algorithms 1 and 2.
///
///     symbol     meaning
///     x, node    one pivot; its ancestors are the pivots before
///     Q, queue   nodes to be expanded, the smallest total cost first, the newest among equals
///     q_min(i)   smallest entry of q' after row i is pivoted
///     e          w − M z − z_0 c − q at the current node, ∞-norm; δ the same per unit of the driving variable
///
/// LEMKE-ROBUST-DF instead expands the newest node first, the descendants of a node from the worst to the best (see
/// worse()), and rebuilds the tableau of a node whose values have an error e above 1e-10, and that of a goal.
///
/// Deviations: a goal whose error in the LCP as assembled exceeds e_max is passed over; nodes and memory are bounded
/// (the ending is then queue_exhausted).
class RobustSolver final : public LcpSolver {
 public:
  RobustSolver(SolverInfo info, RobustOptions options);

 private:
  struct Node {
    int parent = -1;
    int saved = -1;  ///< slot of tableaus_ that holds this node's tableau
    Index entering = 0;
    Index leaving = 0;
    double total_cost = 0.0;
  };
  struct Candidate {
    Index row;
    double least;  ///< q_min(i)
    double pivot;  ///< |m'_i|
    bool goal;
  };
  struct Queued {
    double total_cost;
    int node;
    bool operator<(const Queued& other) const {  // for the heap whose top is the best
      return total_cost != other.total_cost ? total_cost > other.total_cost : node < other.node;
    }
  };

  void allocate(Index size) override;
  Ending search(const SolveProgress& progress, VectorRef impulse, SolveSummary& summary) override;

  bool start();
  void constrain_active_normals();
  int best_node();
  void update_tableau(int node);
  void add_descendants(int node);
  static bool worse(const Candidate& a, const Candidate& b);
  void append(int parent, const Candidate& candidate, Index driving);
  void restore_digits();
  void measure_error(Index driving);
  double drift() const;
  void save_tableau(int node);

  RobustOptions options_;
  std::vector<Node> nodes_;
  std::vector<Queued> queue_;
  PivotSets met_;
  bool full_ = false;
  double drift_limit_ = 0.0;
  int current_ = -1;  ///< node whose tableau is in tableau_

  std::vector<Tableau> tableaus_;
  std::vector<int> owners_;  ///< node of each saved tableau
  std::size_t next_slot_ = 0;
  std::size_t slots_ = 0;

  Vector c_, error_, change_, values_;
  std::vector<int> path_;
  std::vector<Candidate> candidates_;
  std::vector<Index> entering_, leaving_;
};

}  // namespace conebench::lcp
