// SCS (MIT, (c) Brendan O'Donoghue and others) on the cone problem of contacts: min 1/2 x'(G + R)x + g'x, where
// (mu x_N, x_T) is in a second-order cone. The user's own SCS is linked in.
#include <conebench/solver_plugin.hpp>

extern "C" {
#include <scs.h>
}

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

namespace {

using namespace conebench::plugin;

/// Compressed columns.
struct Columns {
  std::vector<scs_float> values;
  std::vector<scs_int> rows, begin;
  ScsMatrix view(scs_int m, scs_int n) { return {values.data(), rows.data(), begin.data(), m, n}; }
};

/// By column, then row; entries of the same index add up.
using Entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;

Columns columns_of(const Entries& entries, std::int64_t columns) {
  Columns out;
  out.begin.assign(static_cast<std::size_t>(columns) + 1, 0);
  for (const auto& [index, value] : entries) {
    ++out.begin[static_cast<std::size_t>(index.first) + 1];
    out.rows.push_back(static_cast<scs_int>(index.second));
    out.values.push_back(value);
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) out.begin[c + 1] += out.begin[c];
  return out;
}

struct ScsOptions {
  double scale = 0.1, relaxation = 1.5;
  long lookback = 10;
};

void declare_options(OptionBinder& bind, ScsOptions& o) {
  bind.real("scale", o.scale,
            {.minimum = 1e-6, .maximum = 1e6, .logarithmic = true, .doc = "of the dual, at the start"});
  bind.real("relaxation", o.relaxation, {.minimum = 0.1, .maximum = 1.9, .doc = "alpha"});
  bind.integer("lookback", o.lookback, {.minimum = 0, .maximum = 100, .doc = "of Anderson's acceleration; 0: none"});
}

class ScsCcp {
 public:
  explicit ScsCcp(const ScsOptions& options) : o_(options) {}

  std::optional<std::string> prepare(Problem problem) {
    rows_ = problem.rows();
    g_.assign(problem.free_term().begin(), problem.free_term().end());
    mu_.assign(problem.friction().begin(), problem.friction().end());
    const conebench_blocks& blocks = problem.blocks();
    symmetrised_ = !is_symmetric(blocks);
    Entries upper;
    for (long i = 0; i < rows_; ++i) {
      const double r = problem.compliance()[static_cast<std::size_t>(i)];
      if (r != 0.0) upper[{i, i}] += r;
    }
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      for (std::int32_t k = blocks.begin[b]; k < blocks.begin[b + 1]; ++k) {
        const std::int64_t column = blocks.column[k];
        const double* value = blocks.values + blocks.first_value[k];
        for (std::int64_t j = blocks.first_row[column]; j < blocks.first_row[column + 1]; ++j) {
          // Of (G + G^T)/2 the upper triangle.
          for (std::int64_t i = blocks.first_row[b]; i < blocks.first_row[b + 1]; ++i, ++value) {
            upper[{std::max(i, j), std::min(i, j)}] += i == j ? *value : 0.5 * *value;
          }
        }
      }
    }
    p_ = columns_of(upper, rows_);

    // SCS wants s = b - A x: tangents without friction are 0, then normals without friction, then the cones.
    Entries a;
    std::int64_t row = 0;
    for (std::size_t i = 0; i < mu_.size(); ++i) {
      if (mu_[i] > 0.0) continue;
      const auto first = static_cast<std::int64_t>(3 * i);
      a[{first, row++}] = 1.0;
      a[{first + 1, row++}] = 1.0;
    }
    zeros_ = static_cast<scs_int>(row);
    for (std::size_t i = 0; i < mu_.size(); ++i) {
      if (!(mu_[i] > 0.0)) a[{static_cast<std::int64_t>(3 * i + 2), row++}] = -1.0;
    }
    normals_ = static_cast<scs_int>(row) - zeros_;
    for (std::size_t i = 0; i < mu_.size(); ++i) {
      if (!(mu_[i] > 0.0)) continue;
      const auto first = static_cast<std::int64_t>(3 * i);
      a[{first + 2, row++}] = -mu_[i];
      a[{first, row++}] = -1.0;
      a[{first + 1, row++}] = -1.0;
      cones_.push_back(3);
    }
    cone_rows_ = static_cast<scs_int>(row);
    a_ = columns_of(a, rows_);
    zero_.assign(static_cast<std::size_t>(row), 0.0);
    return std::nullopt;
  }
  long rows() const { return rows_; }

  Summary solve(std::span<const double>, const StopRule& stop, Monitor& monitor, std::span<double> impulse) {
    return tightened(stop, monitor, impulse, [&](double tolerance, std::span<double> answer) {
      return run(tolerance, static_cast<scs_int>(stop.max_iterations), answer);
    });
  }

 private:
  Summary run(double tolerance, scs_int max_iterations, std::span<double> answer) {
    const auto n = static_cast<scs_int>(rows_);
    ScsMatrix a = a_.view(cone_rows_, n), p = p_.view(n, n);
    ScsData data{};
    data.m = cone_rows_;
    data.n = n;
    data.A = &a;
    data.P = &p;
    data.b = zero_.data();
    data.c = g_.data();
    ScsCone cone{};
    cone.z = zeros_;
    cone.l = normals_;
    cone.q = cones_.data();
    cone.qsize = static_cast<scs_int>(cones_.size());
    ScsSettings settings{};
    scs_set_default_settings(&settings);
    settings.verbose = 0;
    settings.eps_abs = tolerance;
    settings.eps_rel = 0.0;
    settings.max_iters = max_iterations;
    settings.scale = o_.scale;
    settings.alpha = o_.relaxation;
    settings.acceleration_lookback = static_cast<scs_int>(o_.lookback);
    ScsSolution found{};
    ScsInfo info{};
    ScsWork* const work = scs_init(&data, &cone, &settings);
    if (work == nullptr) throw std::runtime_error("SCS refuses the problem");
    const scs_int status = scs_solve(work, &found, &info, 0);
    scs_int normal = zeros_, next = zeros_ + normals_;
    for (std::size_t i = 0; i < mu_.size(); ++i) {
      // From s, which is in the cones exactly.
      const bool plain = !(mu_[i] > 0.0);
      answer[3 * i] = plain ? 0.0 : found.s[next + 1];
      answer[3 * i + 1] = plain ? 0.0 : found.s[next + 2];
      answer[3 * i + 2] = plain ? found.s[normal] : found.s[next] / mu_[i];
      (plain ? normal : next) += plain ? 1 : 3;
    }
    scs_finish(work);
    for (scs_float* part : {found.x, found.y, found.s}) std::free(part);
    Summary reported;
    reported.status = status == SCS_SOLVED          ? Status::converged
                      : info.iter >= max_iterations ? Status::max_iterations
                                                    : Status::stalled;
    reported.iterations = info.iter;
    reported.factorizations = reported.operator_products = not_counted;
    reported.own_residual = std::max(info.res_pri, info.res_dual);
    reported.solved_symmetrised = symmetrised_;
    return reported;
  }

  ScsOptions o_;
  long rows_ = 0;
  bool symmetrised_ = false;
  std::vector<double> g_, mu_, zero_;
  Columns a_, p_;
  std::vector<scs_int> cones_;
  scs_int zeros_ = 0, normals_ = 0, cone_rows_ = 0;
};

const Info info = {.id = "SCS-CCP",
                   .name = "SCS on the cone problem",
                   .citation = "SCS (MIT), github.com/cvxgrp/scs; the baseline of paper Carpentier24",
                   .summary = "Homogeneous splitting for general cones; without De Saxce's term, starts cold.",
                   .formulation = Formulation::ccp,
                   .joints = false,
                   .limits = false,
                   .two_dimensional = false,
                   .uses_blocks = true,
                   .needs_symmetry = true,
                   .rotation_invariant = false,
                   .scale_invariant = false,
                   .observed_every_iteration = false,
                   .allocates = true};

}  // namespace

CONEBENCH_PLUGIN(row<ScsCcp, ScsOptions>(info))

const conebench_peer* conebench_plugin_peer(size_t) {
  static const conebench_peer scs = {scs_version(), nullptr, nullptr};
  return &scs;
}
