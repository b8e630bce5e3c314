#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conebench/solver_plugin.h"
#include "problems/blocks.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// A problem, in scaled rows, as plug-ins see it. Neither copied nor moved, since it points into itself.
class ProblemView {
 public:
  /// `uses`: flags of conebench_uses: what of G, M and J is given.
  ProblemView(const ContactProblem& problem, unsigned uses);
  ProblemView(const ProblemView&) = delete;
  ProblemView& operator=(const ProblemView&) = delete;

  const conebench_problem* get() const { return &view_; }

 private:
  struct Columns {
    SparseMatrix matrix;
    conebench_sparse view{};
  };
  void show_cones();
  void show_blocks();
  static void show(Columns& columns, const SparseMatrix& matrix);

  ContactProblem problem_;
  conebench_problem view_{};
  OrderedBlocks sets_;
  std::vector<std::int64_t> first_row_, normal_row_;
  std::vector<double> rolling_friction_;
  conebench_cones cones_{};
  conebench_blocks blocks_{};
  std::vector<std::int64_t> first_value_;
  std::vector<std::int32_t> diagonal_;
  Matrix dense_;
  Columns mass_, jacobian_;
};

}  // namespace conebench
