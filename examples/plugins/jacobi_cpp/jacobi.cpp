// Projected Jacobi for the contact NCP:
// lambda <- P_K(lambda - omega r (sigma + Gamma(sigma))), all rows at once, r = rows / trace of the diagonal block.
#include <conebench/solver_plugin.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace conebench::plugin;

struct JacobiOptions {
  double relaxation = 0.2;
};

void declare_options(OptionBinder& bind, JacobiOptions& options) {
  bind.real("relaxation", options.relaxation,
            {.minimum = 0.0, .maximum = 2.0, .doc = "omega: share of the full step that is taken"});
}

double norm(std::span<const double> x) {
  double sum = 0.0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

/// Onto {|x_T| <= mu x_N}, the normal last.
void project(std::span<double> x, double mu) {
  const auto tangents = x.first(x.size() - 1);
  double& normal = x.back();
  const double tangential = norm(tangents);
  // First the polar cone: with mu = 0 a negative normal alone is within the other bound, too.
  if (mu * tangential <= -normal) return std::fill(x.begin(), x.end(), 0.0);
  if (tangential <= mu * normal) return;
  normal = (mu * tangential + normal) / (1.0 + mu * mu);
  for (double& value : tangents) value *= mu * normal / tangential;
}

class Jacobi {
 public:
  explicit Jacobi(const JacobiOptions& options) : options_(options) {}

  std::optional<std::string> prepare(Problem problem) {
    problem_.emplace(problem);
    const conebench_blocks& g = problem.blocks();
    for (std::int64_t b = 0; b < g.count; ++b) {
      const std::int64_t row = g.first_row[b], size = g.first_row[b + 1] - row;
      const double* block = g.values + g.first_value[g.diagonal[b]];
      double trace = 0.0;
      for (std::int64_t i = 0; i < size; ++i) {
        trace += block[i * size + i] + problem.compliance()[static_cast<std::size_t>(row + i)];
      }
      step_.push_back(trace > 0.0 ? options_.relaxation * static_cast<double>(size) / trace : 0.0);
    }
    sigma_.resize(static_cast<std::size_t>(problem.rows()));
    return std::nullopt;
  }

  long rows() const { return problem_->rows(); }

  Summary solve(std::span<const double> guess, const StopRule& stop, Monitor& monitor, std::span<double> impulse) {
    const Progress progress(stop, monitor);
    Summary summary;
    std::copy(guess.begin(), guess.end(), impulse.begin());
    for (long k = 1; k <= stop.max_iterations; ++k) {
      const double moved = step(impulse);
      summary.iterations = summary.operator_products = k;
      summary.own_residual = moved;
      if (!std::isfinite(moved)) return summary.status = Status::diverged, summary;
      if (const auto status = progress.after(k, moved, impulse)) return summary.status = *status, summary;
    }
    return summary;
  }

 private:
  /// One iteration; the largest change of a row.
  double step(std::span<double> impulse) {
    const conebench_blocks& g = problem_->blocks();
    problem_->multiply(impulse, sigma_);
    for (std::size_t i = 0; i < sigma_.size(); ++i) {
      sigma_[i] += problem_->free_term()[i] + problem_->compliance()[i] * impulse[i];
    }
    double moved = 0.0;
    for (std::int64_t b = 0; b < g.count; ++b) {
      const auto row = static_cast<std::size_t>(g.first_row[b]);
      const auto size = static_cast<std::size_t>(g.first_row[b + 1]) - row;
      const std::int64_t contact = b - problem_->first_contact_row();
      const std::span<double> sigma = std::span(sigma_).subspan(row, size), part = impulse.subspan(row, size);
      const double mu = contact >= 0 ? problem_->friction()[static_cast<std::size_t>(contact)] : 0.0;
      if (contact >= 0) sigma.back() += mu * norm(sigma.first(size - 1));
      double old[3];
      for (std::size_t i = 0; i < size; ++i) {
        old[i] = part[i];
        part[i] -= step_[static_cast<std::size_t>(b)] * sigma[i];
      }
      if (contact >= 0) {
        project(part, mu);
      } else {
        const Problem::Block bounded = problem_->block(b);
        part[0] = std::min(bounded.upper[0], std::max(bounded.lower[0], part[0]));
      }
      // Not std::max, which would lose a NaN.
      for (std::size_t i = 0; i < size; ++i) {
        if (!(std::abs(part[i] - old[i]) <= moved)) moved = std::abs(part[i] - old[i]);
      }
    }
    return moved;
  }

  JacobiOptions options_;
  std::optional<Problem> problem_;
  std::vector<double> step_;   // omega r, one a block
  std::vector<double> sigma_;  // sigma + Gamma(sigma)
};

const Info info = {.id = "JACOBI-CPP",
                   .name = "Projected Jacobi in C++",
                   .citation = "textbook",
                   .summary = "Converges only where contacts are weakly coupled; here to show how a solver is added.",
                   .intervals = true,
                   .uses_blocks = true};

}  // namespace

CONEBENCH_PLUGIN(row<Jacobi, JacobiOptions>(info))
