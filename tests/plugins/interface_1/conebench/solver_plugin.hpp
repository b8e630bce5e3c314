/// Plug-ins in C++20 on top of solver_plugin.h, without any other header of Conebench: a solver is a class with
/// `prepare` and `solve`, its options a struct that `declare_options` binds, and a row joins the two, as with built-in
/// solvers. docs/plugin_interface.md explains it, examples/plugins/jacobi_cpp is a whole one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conebench/solver_plugin.h"

namespace conebench::plugin {

enum class Formulation { ncp, ccp, lcp, model };
enum class Status { converged, max_iterations, time_limit, stalled, diverged, breakdown };
enum class Breakdown { none, singular, cycle, no_solution, error, queue_exhausted };

inline constexpr long not_counted = -1;

/// What is fixed about a solver, whatever its options.
struct Info {
  const char* id = "";    ///< as in papers: letters, digits, - . _
  const char* name = "";  ///< as text
  const char* citation = "";
  const char* summary = "";  ///< when it is good and when it fails, in a sentence
  int version = 1;           ///< goes up whenever an answer may differ
  Formulation formulation = Formulation::ncp;
  bool joints = true, limits = true, compliance = true, two_dimensional = true, rolling = false;
  bool uses_blocks = false, uses_dense = false, uses_primal = false;  ///< products are there in any case
  bool needs_symmetry = false;
  bool rotation_invariant = true;  ///< the answer turns with the tangent frames
  bool scale_invariant = true;     ///< the iterates scale with the units of impulse and velocity
  bool observed_every_iteration = true;
  bool allocates = false;  ///< in its iterations
};

/// A problem, valid from prepare() to the solver's end. Rows: joints, limits, contacts; a contact's are (t1, t2, n).
class Problem {
 public:
  explicit Problem(const conebench_problem* problem) : problem_(problem) {}
  long rows() const { return static_cast<long>(problem_->rows); }
  long joints() const { return static_cast<long>(problem_->joints); }
  long limits() const { return static_cast<long>(problem_->limits); }
  long contacts() const { return static_cast<long>(problem_->contacts); }
  int contact_size() const { return problem_->contact_size; }  ///< 2, 3 or 5
  long first_contact_row() const { return joints() + limits(); }
  std::span<const double> friction() const { return view(problem_->friction, problem_->contacts); }
  std::span<const double> rolling_friction() const { return view(problem_->rolling_friction, problem_->contacts); }
  std::span<const double> free_term() const { return view(problem_->free_term, problem_->rows); }    ///< g [m/s]
  std::span<const double> compliance() const { return view(problem_->compliance, problem_->rows); }  ///< diagonal of R
  /// product = G x, both rows() long.
  void multiply(std::span<const double> x, std::span<double> product) const {
    problem_->multiply(problem_, x.data(), product.data());
  }
  const conebench_blocks& blocks() const { return *problem_->blocks; }                      ///< uses_blocks
  std::span<const double> dense() const { return view(problem_->dense, rows() * rows()); }  ///< uses_dense
  const conebench_sparse* mass() const { return problem_->mass; }          ///< uses_primal; null where not known
  const conebench_sparse* jacobian() const { return problem_->jacobian; }  ///< the same
  const conebench_problem& c() const { return *problem_; }                 ///< all there is

 private:
  static std::span<const double> view(const double* values, std::int64_t count) {
    return values == nullptr ? std::span<const double>() : std::span(values, static_cast<std::size_t>(count));
  }
  const conebench_problem* problem_;
};

/// Whether G = G^T to the last bit; a solver that needs that solves (G + G^T)/2 elsewhere and says so
/// (Summary::solved_symmetrised).
inline bool is_symmetric(const conebench_blocks& g) {
  for (std::int64_t b = 0; b < g.count; ++b) {
    const std::int64_t rows = g.first_row[b + 1] - g.first_row[b];
    for (std::int32_t k = g.begin[b]; k < g.begin[b + 1]; ++k) {
      const std::int64_t c = g.column[k], columns = g.first_row[c + 1] - g.first_row[c];
      const std::int32_t* const end = g.column + g.begin[c + 1];
      const std::int32_t* const other = std::lower_bound(g.column + g.begin[c], end, static_cast<std::int32_t>(b));
      if (other == end || *other != b) return false;
      const double* const here = g.values + g.first_value[k];
      const double* const there = g.values + g.first_value[other - g.column];
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          if (here[j * rows + i] != there[i * columns + j]) return false;
        }
      }
    }
  }
  return true;
}

/// Binds the fields of an options struct to names, once, for lists and for values:
///     void declare_options(OptionBinder& bind, JacobiOptions& o) {
///       bind.real("relaxation", o.relaxation, {.minimum = 0, .maximum = 2, .doc = "omega"});
///     }
class OptionBinder {
 public:
  struct Details {
    double minimum = 0.0, maximum = 0.0;  ///< both 0: any
    const char* unit = nullptr;
    bool logarithmic = false;
    const char* doc = "";
  };

  /// Lists where `values` is null, else assigns in the order of declaration.
  explicit OptionBinder(const conebench_value* values) : values_(values) {}

  void real(const char* name, double& field, const Details& details) {
    if (values_ != nullptr)
      field = values_[next_++].real;
    else
      add(name, CONEBENCH_REAL, field, details);
  }
  void integer(const char* name, long& field, const Details& details) {
    if (values_ != nullptr)
      field = static_cast<long>(values_[next_++].integer);
    else
      add(name, CONEBENCH_INTEGER, static_cast<double>(field), details);
  }
  void flag(const char* name, bool& field, const char* doc) {
    if (values_ != nullptr)
      field = values_[next_++].flag != 0;
    else
      add(name, CONEBENCH_FLAG, field ? 1.0 : 0.0, {.doc = doc});
  }
  /// `choices`: ended by a null pointer, and as long as the library.
  void choice(const char* name, std::string& field, const char* const* choices, const char* doc) {
    if (values_ != nullptr) {
      field = values_[next_++].text;
      return;
    }
    add(name, CONEBENCH_TEXT, 0.0, {.doc = doc});
    listed_.back().default_text = choices[0];
    for (const char* const* one = choices; *one != nullptr; ++one) {
      if (field == *one) listed_.back().default_text = *one;
    }
    listed_.back().choices = choices;
  }

  std::vector<conebench_option> take() { return std::move(listed_); }

 private:
  void add(const char* name, conebench_option_type type, double value, const Details& details) {
    conebench_option option{};
    option.name = name;
    option.doc = details.doc;
    option.type = type;
    option.default_number = value;
    option.minimum = details.minimum;
    option.maximum = details.maximum;
    option.unit = details.unit;
    option.logarithmic = details.logarithmic ? 1 : 0;
    listed_.push_back(option);
  }
  const conebench_value* values_;
  std::size_t next_ = 0;
  std::vector<conebench_option> listed_;
};

using StopRule = conebench_stop;

/// What a solver says of its own answer.
struct Summary {
  Status status = Status::max_iterations;
  Breakdown breakdown = Breakdown::none;
  std::string message;  ///< a line of detail, often empty
  long iterations = 0;
  long factorizations = 0;     ///< or not_counted
  long operator_products = 0;  ///< products with G, or sweeps over all its blocks; or not_counted
  double own_residual = std::numeric_limits<double>::quiet_NaN();
  bool solved_symmetrised = false;
};

/// Watches a solve from outside: the official residual and the clock.
class Monitor {
 public:
  explicit Monitor(conebench_monitor* monitor) : monitor_(monitor) {}
  bool should_check(long iteration) const { return monitor_->should_check(monitor_, iteration) != 0; }
  conebench_decision observe(long iteration, std::span<const double> impulse, double own_residual) {
    return monitor_->observe(monitor_, iteration, impulse.data(), own_residual);
  }
  conebench_decision propose(long iteration, std::span<const double> impulse, double own_residual) {
    return monitor_->propose(monitor_, iteration, impulse.data(), own_residual);
  }
  /// See conebench_monitor::start_over and tightened().
  void start_over() { monitor_->start_over(monitor_); }
  conebench_monitor* c() { return monitor_; }

 private:
  conebench_monitor* monitor_;
};

/// What a loop asks after iteration k:
///     if (const auto status = progress.after(k, own_residual, impulse)) …
class Progress {
 public:
  Progress(const StopRule& stop, Monitor& monitor) : stop_(stop), monitor_(monitor) {}
  /// Nothing, or the status to end with. `own_residual`: NaN where the solver has none.
  std::optional<Status> after(long k, double own_residual, std::span<const double> impulse) const {
    const auto status = conebench_after(&stop_, monitor_.c(), k, impulse.data(), own_residual);
    return status == CONEBENCH_GO_ON ? std::nullopt : std::optional(static_cast<Status>(status));
  }

 private:
  const StopRule& stop_;
  Monitor& monitor_;
};

/// For a library that can't be asked while it runs: `run(tolerance, impulse)` gives a Summary, and is called with a
/// tolerance ten times tighter until the monitor accepts what it ends with. A repeat begins with the attempt that
/// succeeded.
template <class Run>
Summary tightened(const StopRule& stop, Monitor& monitor, std::span<double> impulse, Run run) {
  if (stop.stop_by == CONEBENCH_STOP_BY_SOLVER) return run(stop.tolerance, impulse);
  const auto tolerance_of = [&](long rung) { return stop.tolerance * std::pow(0.1, static_cast<double>(rung - 1)); };
  constexpr double tightest = 1e-16;
  long rung = 1;
  while (!monitor.should_check(rung) && tolerance_of(rung + 1) >= tightest) ++rung;
  if (!monitor.should_check(rung)) rung = 1;
  for (;; ++rung) {
    Summary summary = run(tolerance_of(rung), impulse);
    const conebench_decision decision = monitor.propose(rung, impulse, summary.own_residual);
    if (decision == CONEBENCH_ACCEPT) summary.status = Status::converged;
    if (decision == CONEBENCH_OUT_OF_TIME) summary.status = Status::time_limit;
    if (decision != CONEBENCH_KEEP_GOING || summary.status != Status::converged) return summary;
    if (tolerance_of(rung + 1) < tightest) {
      summary.status = Status::stalled;
      return summary;
    }
    monitor.start_over();
  }
}

namespace detail {

inline void say(char* message, const char* words) { std::snprintf(message, CONEBENCH_MESSAGE_BYTES, "%s", words); }

template <class Options>
Options options_of(const conebench_value* values) {
  Options options;
  OptionBinder binder(values);
  declare_options(binder, options);
  return options;
}

template <class Solver, class Options>
struct Thunks {
  static int supports(const conebench_problem* problem, const conebench_value* values, char* reason) {
    if constexpr (requires(const Solver& s) { s.unsupported_reason(Problem(problem)); }) {
      try {
        const std::optional<std::string> why = Solver(options_of<Options>(values)).unsupported_reason(Problem(problem));
        if (why) say(reason, why->c_str());
        return why ? 0 : 1;
      } catch (const std::exception& error) {
        say(reason, error.what());
        return 0;
      }
    }
    return 1;
  }
  static void* prepare(const conebench_problem* problem, const conebench_value* values, char* message) {
    try {
      auto solver = std::make_unique<Solver>(options_of<Options>(values));
      const std::optional<std::string> failure = solver->prepare(Problem(problem));
      if (!failure) return solver.release();
      say(message, failure->c_str());
    } catch (const std::exception& error) {
      say(message, error.what());
    }
    return nullptr;
  }
  static void solve(void* state, const double* guess, const conebench_stop* stop, conebench_monitor* monitor,
                    double* impulse, conebench_summary* out) {
    Solver& solver = *static_cast<Solver*>(state);
    const auto rows = static_cast<std::size_t>(solver.rows());
    Summary summary;
    try {
      Monitor view(monitor);
      summary = solver.solve(std::span(guess, rows), *stop, view, std::span(impulse, rows));
    } catch (const std::exception& error) {
      summary.status = Status::breakdown;
      summary.breakdown = Breakdown::error;
      summary.message = error.what();
    }
    out->status = static_cast<conebench_status>(summary.status);
    out->breakdown = static_cast<conebench_breakdown>(summary.breakdown);
    out->iterations = summary.iterations;
    out->factorizations = summary.factorizations;
    out->operator_products = summary.operator_products;
    out->own_residual = summary.own_residual;
    out->solved_symmetrised = summary.solved_symmetrised ? 1 : 0;
    say(out->message, summary.message.c_str());
  }
  static void release(void* state) { delete static_cast<Solver*>(state); }
};

inline unsigned flag(bool on, unsigned bit) { return on ? bit : 0U; }

}  // namespace detail

/// A solver with its options. `Solver` has
///     explicit Solver(const Options&)
///     std::optional<std::string> prepare(Problem)   // set-up, which is timed; nothing, or why it can't
///     long rows() const                             // of the problem that was prepared
///     Summary solve(std::span<const double> guess, const StopRule&, Monitor&, std::span<double> impulse)
/// and where wanted `std::optional<std::string> unsupported_reason(Problem) const`. What it throws becomes a breakdown.
/// Exactly one row for each pair of types.
template <class Solver, class Options>
conebench_solver row(const Info& info) {
  static const std::vector<conebench_option> options = [] {
    Options defaults;
    OptionBinder binder(nullptr);
    declare_options(binder, defaults);
    return binder.take();
  }();
  using detail::flag;
  conebench_solver solver{};
  solver.id = info.id;
  solver.name = info.name;
  solver.citation = info.citation;
  solver.summary = info.summary;
  solver.version = info.version;
  solver.formulation = static_cast<conebench_formulation>(info.formulation);
  solver.takes = flag(info.joints, CONEBENCH_JOINTS) | flag(info.limits, CONEBENCH_LIMITS) |
                 flag(info.compliance, CONEBENCH_COMPLIANCE) | flag(info.two_dimensional, CONEBENCH_PLANE) |
                 flag(info.rolling, CONEBENCH_ROLLING);
  solver.uses = flag(info.uses_blocks, CONEBENCH_BLOCKS) | flag(info.uses_dense, CONEBENCH_DENSE) |
                flag(info.uses_primal, CONEBENCH_PRIMAL);
  solver.traits =
      flag(info.needs_symmetry, CONEBENCH_NEEDS_SYMMETRY) | flag(info.rotation_invariant, CONEBENCH_TURNS_WITH_FRAMES) |
      flag(info.scale_invariant, CONEBENCH_SCALES_WITH_UNITS) |
      flag(!info.observed_every_iteration, CONEBENCH_OBSERVED_IN_STEPS) | flag(info.allocates, CONEBENCH_ALLOCATES);
  solver.options = options.data();
  solver.option_count = options.size();
  solver.supports = detail::Thunks<Solver, Options>::supports;
  solver.prepare = detail::Thunks<Solver, Options>::prepare;
  solver.solve = detail::Thunks<Solver, Options>::solve;
  solver.release = detail::Thunks<Solver, Options>::release;
  return solver;
}

}  // namespace conebench::plugin

/// Exports rows, once in a library: CONEBENCH_PLUGIN(row<Jacobi, JacobiOptions>(info), …).
#define CONEBENCH_PLUGIN(...)                                                                                     \
  const conebench_plugin* conebench_plugin_entry(void) {                                                          \
    static const conebench_solver solvers[] = {__VA_ARGS__};                                                      \
    static const conebench_plugin plugin = {CONEBENCH_PLUGIN_VERSION, sizeof solvers / sizeof *solvers, solvers}; \
    return &plugin;                                                                                               \
  }
