#include "problems/scaled_delassus.hpp"

#include <utility>

namespace conebench {

namespace {

class ScaledDelassus final : public DelassusOperator {
 public:
  ScaledDelassus(ContactProblem problem, Vector left, Vector right)
      : problem_(std::move(problem)), left_(std::move(left)), right_(std::move(right)) {
    workspace(size());
  }
  DelassusForm form() const override { return problem_.form(); }
  Index size() const override { return left_.size(); }
  bool assembles_sparsely() const override { return problem_.condenses_sparsely(); }
  void apply(ConstVectorRef impulse, VectorRef velocity) const override {
    Vector& entries = workspace(size());
    entries = right_.cwiseProduct(impulse);
    problem_.delassus().apply(entries, velocity);
    velocity.array() *= left_.array();
  }
  void apply_by(Workers& workers, ConstVectorRef impulse, VectorRef velocity) const override {
    Vector& entries = workspace(size());
    entries = right_.cwiseProduct(impulse);
    problem_.delassus().apply_by(workers, entries, velocity);
    velocity.array() *= left_.array();
  }
  BlockSparseMatrix assemble(const ConeProduct&) const override { return problem_.blocks().scaled(left_, right_); }
  Matrix dense() const override { return problem_.blocks().dense().cwiseProduct(left_ * right_.transpose()); }
  DiagonalBlocks diagonal(const ConeProduct&) const override {
    DiagonalBlocks blocks = problem_.diagonal();
    for (Index i = 0; i < blocks.count(); ++i) {
      const Index row = blocks.row(i);
      const int rows = blocks.size(i);
      Eigen::Map<Matrix> own(blocks.values(i), rows, rows);
      own = own.cwiseProduct(left_.segment(row, rows) * right_.segment(row, rows).transpose()).eval();
    }
    return blocks;
  }

 private:
  static Vector& workspace(Index size) {
    thread_local Vector entries;
    entries.resize(size);
    return entries;
  }

  ContactProblem problem_;
  Vector left_, right_;
};

}  // namespace

std::shared_ptr<const DelassusOperator> make_scaled_delassus(ContactProblem problem, Vector left, Vector right) {
  return std::make_shared<ScaledDelassus>(std::move(problem), std::move(left), std::move(right));
}

}  // namespace conebench
