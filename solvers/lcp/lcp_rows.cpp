#include "solvers/lcp/lcp_rows.hpp"

#include <memory>

#include "solvers/lcp/lemke.hpp"
#include "solvers/lcp/robust_search.hpp"

namespace conebench {

namespace {

using namespace lcp;

SolverInfo base_info() {
  SolverInfo info;
  info.formulation = Formulation::lcp;
  info.intervals = true;
  info.rotation_invariant = false;  // facets are fixed to t1
  return info;
}

SolverRow lemke() {
  SolverInfo info = base_info();
  info.id = "LEMKE";
  info.name = "Lemke's algorithm on the facet LCP";
  info.origin = Origin::paper;
  info.citation = "Yamane, Nakamura 2008, Sec. II-A and V-A; Lemke, Howson 1964";
  info.summary =
      "Exact in finitely many pivots on small problems; cycles or loses its digits on redundant contacts, and every "
      "pivot costs the square of ten rows a contact.";
  return make_row<LemkeOptions>(info, [](const SolverInfo& i, const LemkeOptions& o) {
    return std::make_unique<LemkeSolver>(i, o, std::make_unique<SmallestRatio>(o.min_pivot));
  });
}

SolverRow lexicographic() {
  SolverInfo info = base_info();
  info.id = "LEMKE-LEX";
  info.name = "Lexicographic Lemke algorithm on the facet LCP";
  info.origin = Origin::paper;
  info.citation = "Yamane, Nakamura 2008, Sec. II and V-A; Murty 1988";
  info.summary = "Does not cycle in exact arithmetic; with rounding it needs a threshold that fits the problem.";
  return make_row<LexicographicOptions>(info, [](const SolverInfo& i, const LexicographicOptions& o) {
    return std::make_unique<LemkeSolver>(i, o, std::make_unique<LexicographicRatio>(o.threshold, o.min_pivot));
  });
}

SolverRow robust() {
  SolverInfo info = base_info();
  info.id = "LEMKE-ROBUST";
  info.name = "Search for a sequence of Lemke pivots on the facet LCP";
  info.allocates = Allocation::iteration;
  info.origin = Origin::paper;
  info.citation = "Yamane, Nakamura 2008, Algorithms 1 and 2";
  info.summary =
      "Keeps every pivot that rounding leaves possible and goes back to them; the search is nearly breadth-first where "
      "many rows tie.";
  return make_row<RobustOptions>(
      info, [](const SolverInfo& i, const RobustOptions& o) { return std::make_unique<RobustSolver>(i, o); });
}

SolverRow depth_first() {
  SolverInfo info = base_info();
  info.id = "LEMKE-ROBUST-DF";
  info.name = "Depth-first search for a sequence of Lemke pivots on the facet LCP";
  info.allocates = Allocation::iteration;
  info.citation = "Yamane, Nakamura 2008, Algorithms 1 and 2; order of the search and fresh tableaus by Conebench";
  info.summary =
      "LEMKE-ROBUST that follows the best candidate to the end, takes the largest pivot among tied rows and rebuilds "
      "the tableau where it has lost digits; the one to use.";
  return make_row<DepthFirstOptions>(
      info, [](const SolverInfo& i, const DepthFirstOptions& o) { return std::make_unique<RobustSolver>(i, o); });
}

}  // namespace

std::vector<SolverRow> lcp_rows() { return {lemke(), lexicographic(), robust(), depth_first()}; }

}  // namespace conebench
