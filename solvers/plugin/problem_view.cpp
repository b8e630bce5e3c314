#include "solvers/plugin/problem_view.hpp"

namespace conebench {

namespace {

void multiply(const conebench_problem* problem, const double* x, double* product) {
  const auto& given = *static_cast<const ContactProblem*>(problem->harness);
  given.multiply(Eigen::Map<const Vector>(x, given.rows()), Eigen::Map<Vector>(product, given.rows()));
}

}  // namespace

ProblemView::ProblemView(const ContactProblem& problem, unsigned uses) : problem_(problem) {
  const ConeProduct& cones = problem_.cones();
  view_.rows = problem_.rows();
  view_.joints = cones.joints();
  view_.limits = cones.limits();
  view_.intervals = static_cast<std::int64_t>(cones.intervals().size());
  view_.contacts = cones.contacts();
  view_.contact_size = cones.contact_dimension();
  view_.friction = cones.friction().data();
  rolling_friction_ = cones.rolling_friction();
  if (!rolling_friction_.empty()) view_.rolling_friction = rolling_friction_.data();
  view_.free_term = problem_.free_term().data();
  view_.compliance = problem_.compliance().data();
  view_.multiply = multiply;
  view_.harness = &problem_;
  if (const auto& configuration = problem_.configuration()) {
    if (configuration->contact_frames) view_.contact_frames = configuration->contact_frames->data();
    if (configuration->gaps) view_.gaps = configuration->gaps->data();
    view_.time_step = configuration->time_step.value_or(0.0);
  }
  show_cones();
  if ((uses & CONEBENCH_BLOCKS) != 0) show_blocks();
  if ((uses & CONEBENCH_DENSE) != 0) {
    dense_ = problem_.blocks().dense();
    view_.dense = dense_.data();
  }
  if ((uses & CONEBENCH_PRIMAL) != 0 && problem_.primal()) {
    show(mass_, problem_.primal()->mass);
    show(jacobian_, problem_.primal()->jacobian);
    view_.mass = &mass_.view;
    view_.jacobian = &jacobian_.view;
    view_.free_velocity = problem_.primal()->free_velocity.data();
  }
}

void ProblemView::show_cones() {
  static_assert(sizeof(BlockCone) == sizeof(std::uint8_t) && static_cast<int>(BlockCone::none) == CONEBENCH_BOUNDS &&
                static_cast<int>(BlockCone::discs) == CONEBENCH_DISCS &&
                static_cast<int>(BlockCone::ellipsoid) == CONEBENCH_ELLIPSOID &&
                static_cast<int>(BlockCone::pyramid) == CONEBENCH_PYRAMID);
  sets_ = blocks_in_order(problem_.cones());
  const BlockTable& table = sets_.table;
  first_row_.assign(table.first_row.begin(), table.first_row.end());
  normal_row_.assign(sets_.normal_row.begin(), sets_.normal_row.end());
  cones_.count = table.blocks();
  cones_.first_row = first_row_.data();
  cones_.normal_row = normal_row_.data();
  cones_.cone = reinterpret_cast<const std::uint8_t*>(table.cone.data());
  cones_.lower = table.lower.data();
  cones_.upper = table.upper.data();
  cones_.coefficient = table.mu.data();
  cones_.group = table.group.data();
  view_.cones = &cones_;
}

void ProblemView::show_blocks() {
  const BlockSparseMatrix& g = problem_.blocks();
  blocks_.count = g.block_rows();
  for (Index b = 0; b < g.block_rows(); ++b) {
    diagonal_.push_back(static_cast<std::int32_t>(g.diagonal(b)));
  }
  const double* const values = g.values().data();
  for (Index k = 0; k < g.stored_blocks(); ++k) first_value_.push_back(g.block_values(k) - values);
  blocks_.first_row = first_row_.data();
  blocks_.begin = g.row_begins().data();
  blocks_.column = g.columns().data();
  blocks_.diagonal = diagonal_.data();
  blocks_.first_value = first_value_.data();
  blocks_.values = values;
  view_.blocks = &blocks_;
}

void ProblemView::show(Columns& columns, const SparseMatrix& matrix) {
  columns.matrix = matrix;
  columns.matrix.makeCompressed();
  columns.view = {columns.matrix.rows(), columns.matrix.cols(), columns.matrix.outerIndexPtr(),
                  columns.matrix.innerIndexPtr(), columns.matrix.valuePtr()};
}

}  // namespace conebench
