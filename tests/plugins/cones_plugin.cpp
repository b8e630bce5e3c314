// Damped projected Jacobi for rows with bounds and any law of friction but pyramids, on solver_plugin.hpp.
#include <conebench/solver_plugin.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace conebench::plugin;
using Block = Problem::Block;
using Cone = Problem::Cone;

struct Options {
  double relaxation = 0.5;
};

void declare_options(OptionBinder& bind, Options& options) {
  bind.real("relaxation", options.relaxation, {.minimum = 0.0, .maximum = 2.0, .doc = "share of the full step"});
}

/// Norms and coefficients of a contact's groups.
struct Groups {
  double norm[8] = {}, mu[8] = {};
  explicit Groups(const Block& block, std::span<const double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (block.group[i] == 0) continue;
      const auto g = static_cast<std::size_t>(block.group[i]);
      norm[g] = std::hypot(norm[g], x[i]);
      mu[g] = block.coefficient[i];
    }
  }
};

void project(const Block& block, std::span<double> x) {
  if (block.cone == Cone::bounds) {
    x[0] = std::min(block.upper[0], std::max(block.lower[0], x[0]));
    return;
  }
  const Groups groups(block, x);
  const auto normal = static_cast<std::size_t>(block.normal);
  // The normal entry s >= 0 minimises (s - x_n)^2 + sum (|x_g| - mu_g s)_+^2.
  double low = 0.0, high = std::max(0.0, x[normal]);
  for (int g = 1; g < 8; ++g) high += groups.norm[g] * groups.mu[g];
  for (int k = 0; k < 200; ++k) {
    const double s = 0.5 * (low + high);
    double slope = s - x[normal];
    for (int g = 1; g < 8; ++g) slope -= groups.mu[g] * std::max(0.0, groups.norm[g] - groups.mu[g] * s);
    (slope < 0.0 ? low : high) = s;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (block.group[i] == 0) continue;
    const auto g = static_cast<std::size_t>(block.group[i]);
    if (groups.norm[g] > groups.mu[g] * high) x[i] *= groups.mu[g] * high / groups.norm[g];
  }
  x[normal] = high;
}

class Cones {
 public:
  explicit Cones(const Options& options) : options_(options) {}

  std::optional<std::string> unsupported_reason(Problem problem) const {
    for (long b = 0; b < problem.block_count(); ++b) {
      if (problem.block(b).cone == Cone::pyramid) return "CONES takes no pyramids";
    }
    return std::nullopt;
  }
  std::optional<std::string> prepare(Problem problem) {
    problem_.emplace(problem);
    sigma_.resize(static_cast<std::size_t>(problem.rows()));
    std::size_t row = 0;
    for (long b = 0; b < problem.block_count(); ++b) {
      const Block block = problem.block(b);
      if (block.row != static_cast<long>(row)) return "a block does not begin where the last one ends";
      if ((b >= problem.first_contact_row()) != (block.cone != Cone::bounds)) return "a contact without a cone";
      if (problem.blocks().first_row[b] != block.row) return "other blocks than G's";
      double trace = 0.0;
      for (std::size_t i = 0; i < block.size(); ++i, ++row) {
        trace += problem.dense()[row * static_cast<std::size_t>(problem.rows()) + row] + problem.compliance()[row];
        if (std::isnan(block.lower[i]) != (block.cone != Cone::bounds)) return "bounds on a contact";
        if ((block.group[i] == 0) != (static_cast<int>(i) == block.normal)) return "a tangential row without a group";
      }
      step_.push_back(options_.relaxation * static_cast<double>(block.size()) / trace);
    }
    return row == sigma_.size() ? std::nullopt : std::optional<std::string>("rows without a block");
  }
  long rows() const { return problem_->rows(); }

  Summary solve(std::span<const double> guess, const StopRule& stop, Monitor& monitor, std::span<double> impulse) {
    const Progress progress(stop, monitor);
    Summary summary;
    std::copy(guess.begin(), guess.end(), impulse.begin());
    for (long k = 1; k <= stop.max_iterations; ++k) {
      double moved = 0.0;
      problem_->multiply(impulse, sigma_);
      for (std::size_t i = 0; i < sigma_.size(); ++i) {
        sigma_[i] += problem_->free_term()[i] + problem_->compliance()[i] * impulse[i];
      }
      for (long b = 0; b < problem_->block_count(); ++b) {
        const Block block = problem_->block(b);
        const auto part = impulse.subspan(static_cast<std::size_t>(block.row), block.size());
        const auto v = std::span(sigma_).subspan(static_cast<std::size_t>(block.row), block.size());
        if (block.cone != Cone::bounds) {
          const Groups slip(block, v);
          for (int g = 1; g < 8; ++g) v[static_cast<std::size_t>(block.normal)] += slip.mu[g] * slip.norm[g];
        }
        const std::vector<double> old(part.begin(), part.end());
        for (std::size_t i = 0; i < part.size(); ++i) part[i] -= step_[static_cast<std::size_t>(b)] * v[i];
        project(block, part);
        for (std::size_t i = 0; i < part.size(); ++i) moved = std::max(moved, std::abs(part[i] - old[i]));
      }
      summary.iterations = k;
      summary.own_residual = moved;
      if (const auto status = progress.after(k, moved, impulse)) return summary.status = *status, summary;
    }
    return summary;
  }

 private:
  Options options_;
  std::optional<Problem> problem_;
  std::vector<double> step_, sigma_;
};

}  // namespace

CONEBENCH_PLUGIN(row<Cones, Options>({.id = "CONES",
                                      .name = "Projected Jacobi on any cone",
                                      .rolling = true,
                                      .intervals = true,
                                      .friction_cones = true,
                                      .uses_blocks = true,
                                      .uses_dense = true,
                                      .allocates = true}))
