#include "tests/test_solvers/misbehave.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "problems/cones/coulomb.hpp"
#include "solvers/attempts.hpp"

namespace conebench {

namespace {

/// As of another build: the environment says which version and default.
double number_of_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 1.0 : std::strtod(text, nullptr);
}

struct MisbehaveOptions {
  std::string mode = "none";
  long spin = 0;
  double step = number_of_environment("CONEBENCH_TEST_STEP");
};

void declare_options(OptionBinder& bind, MisbehaveOptions& options) {
  bind.choice("mode", options.mode,
              {"none",
               "hang",
               "hang_in_set_up",
               "abort",
               "segfault",
               "segfault_in_set_up",
               "stack",
               "heap",
               "leak",
               "huge",
               "nan",
               "lie",
               "random",
               "exit",
               "throw",
               "crash_once",
               "kill_itself",
               "terminate_itself",
               "orphan",
               "orphan_session",
               "leak_in_child",
               "garbage",
               "hang_in_second_try",
               "try_forever",
               "cycle",
               "grow"},
              "what goes wrong");
  bind.integer("spin", options.spin,
               {.minimum = 0, .maximum = 1e9, .doc = "wasted additions an iteration, for a solve of a wanted length"});
  bind.real("step", options.step, {.minimum = 0, .maximum = 10, .doc = "step over 1 / trace of the diagonal block"});
}

// Volatile, so that the compiler keeps what it could prove pointless or undefined.
volatile double sink = 0.0;
volatile char* volatile nowhere = nullptr;

[[noreturn]] void hang() {
  std::signal(SIGTERM, SIG_IGN);
  for (;;) sink = sink + 1.0;
}

void write_to_nowhere() { *nowhere = 1; }

int recurse(int depth) {  // NOLINT(misc-no-recursion)
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

void scribble_over_the_heap() {
  std::vector<char*> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(static_cast<char*>(std::malloc(40)));
  for (char* block : blocks) {
    volatile char* bytes = block;
    // Its own header and content: what lies behind may be in use, and end the process before free() does.
    for (int i = -16; i < 40; ++i) bytes[i] = static_cast<char>(0x5a);
  }
  for (char* block : blocks) std::free(block);
  std::abort();
}

void leak() {
  constexpr std::size_t chunk = std::size_t{8} << 20;
  for (;;) {
    auto* const block = new char[chunk];
    for (std::size_t i = 0; i < chunk; i += 512) {
      volatile char* const byte = block + i;
      *byte = 1;
    }
  }
}

/// True for the first process that asks, ever: the marker file stays.
bool first_to_ask() {
  const char* const marker = std::getenv("CONEBENCH_TEST_MARKER");
  if (marker == nullptr) return false;
  std::FILE* const file = std::fopen(marker, "wx");
  if (file == nullptr) return false;
  std::fclose(file);
  return true;
}

/// A child that outlives its parent, with the parent's pipes still open.
void leave_an_orphan() {
  if (fork() == 0) {
    for (;;) pause();
  }
}

/// A daemon: in a session of its own, its parent gone.
void leave_a_daemon() {
  if (fork() != 0) return;
  setsid();
  leave_an_orphan();
  _exit(0);
}

/// Floods every descriptor that the harness may be listening on.
[[noreturn]] void answer_garbage() {
  std::vector<char> noise(1 << 16, static_cast<char>(0xa5));
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    if (write(descriptor, noise.data(), noise.size()) < 0) continue;
  }
  _exit(0);
}

class Misbehave final : public Solver {
 public:
  Misbehave(SolverInfo info, MisbehaveOptions options) : info_(std::move(info)), options_(std::move(options)) {
    // A solver in a simulation's loop has no options of its own.
    const char* const mode = std::getenv("CONEBENCH_TEST_MODE");
    if (options_.mode == "none" && mode != nullptr) options_.mode = mode;
  }

  const SolverInfo& info() const override { return info_; }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (options_.mode == "hang_in_set_up") hang();
    if (options_.mode == "segfault_in_set_up") write_to_nowhere();
    problem_ = std::make_unique<ContactProblem>(problem);
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    misbehave();
    Attempts* const attempts = attempts_of(monitor);
    if (options_.mode == "hang_in_second_try") {
      if (attempts != nullptr) attempts->start_over();
      hang();
    }
    while (options_.mode == "try_forever" && attempts != nullptr) attempts->start_over();
    SolveSummary summary;
    impulse = guess;
    if (options_.mode == "nan") {
      impulse.setConstant(std::numeric_limits<double>::quiet_NaN());
      return with(summary, SolveStatus::converged);
    }
    if (options_.mode == "lie") {
      summary.own_residual = 0.0;
      return with(summary, SolveStatus::converged);
    }
    for (long k = 1; k <= stop.max_iterations; ++k) {
      sweep(impulse);
      if (options_.mode == "cycle" && k % 3 == 0) impulse = guess;
      if (options_.mode == "grow") impulse *= 2.0;
      for (long i = 0; i < options_.spin; ++i) sink = sink + 1.0;
      summary.iterations = summary.operator_products = k;
      if (!monitor.should_check(k)) continue;
      if (options_.mode == "random") impulse *= 1.0 + 1e-12 * std::uniform_real_distribution<>()(device_);
      const Decision decision = monitor.observe(k, impulse, summary.own_residual);
      if (decision == Decision::accept) return with(summary, SolveStatus::converged);
      if (decision == Decision::out_of_time) return with(summary, SolveStatus::time_limit);
    }
    return with(summary, SolveStatus::max_iterations);
  }

 private:
  static SolveSummary with(SolveSummary summary, SolveStatus status) {
    summary.status = status;
    return summary;
  }

  void misbehave() const {
    const std::string& mode = options_.mode;
    if (mode == "hang") hang();
    if (mode == "abort") std::abort();
    if (mode == "segfault" || (mode == "crash_once" && first_to_ask())) write_to_nowhere();
    if (mode == "stack") sink = recurse(0);
    if (mode == "heap") scribble_over_the_heap();
    if (mode == "leak") leak();
    if (mode == "huge") sink = std::vector<double>(std::size_t{1} << 47)[0];
    if (mode == "exit") std::exit(1);
    if (mode == "throw") throw std::runtime_error("thrown on request");
    if (mode == "kill_itself") kill(getpid(), SIGKILL);
    if (mode == "terminate_itself") std::raise(SIGTERM);
    if (mode == "orphan") leave_an_orphan();
    if (mode == "orphan_session") leave_a_daemon();
    if (mode == "leak_in_child") {
      if (fork() == 0) leak();
      wait(nullptr);
    }
    if (mode == "garbage") answer_garbage();
  }

  /// λ_i ← P(λ_i − step / trace(G_ii) v_i) block after block.
  void sweep(VectorRef impulse) {
    const ConeProduct& cones = problem_->cones();
    const BlockSparseMatrix& g = problem_->blocks();
    for (Index b = 0; b < cones.blocks(); ++b) {
      const Index row = cones.block_row(b);
      const int size = cones.block_size(b);
      velocity_ = problem_->free_term().segment(row, size) +
                  problem_->compliance().segment(row, size).cwiseProduct(impulse.segment(row, size));
      for (Index k = g.row_begin(b); k < g.row_begin(b + 1); ++k) {
        const Index column = g.column(k);
        velocity_ += g.block(b, k) * impulse.segment(cones.block_row(column), g.block_size(column));
      }
      const double trace = g.block(b, g.diagonal(b)).trace();
      const double rate = trace > 0.0 ? options_.step / trace : 0.0;
      if (b < cones.joints()) {
        impulse[row] -= rate * velocity_[0];
      } else if (b < cones.first_contact_row()) {
        impulse[row] = std::max(0.0, impulse[row] - rate * velocity_[0]);
      } else {
        const double mu = cones.friction()[static_cast<std::size_t>(b - cones.first_contact_row())];
        size == 3 ? step<3>(impulse, row, rate, mu) : step<2>(impulse, row, rate, mu);
      }
    }
  }

  template <int Dim>
  void step(VectorRef impulse, Index row, double rate, double mu) const {
    ContactVector<Dim> v = velocity_;
    v[Dim - 1] += mu * tangential_norm<Dim>(v);
    const ContactVector<Dim> moved = impulse.segment<Dim>(row) - rate * v;
    impulse.segment<Dim>(row) = project_friction_cone<Dim>(moved, mu);
  }

  SolverInfo info_;
  MisbehaveOptions options_;
  std::unique_ptr<ContactProblem> problem_;
  Vector velocity_;  ///< of one block
  std::random_device device_;
};

}  // namespace

SolverRow misbehave_row() {
  SolverInfo info;
  info.id = "MISBEHAVE";
  info.version = static_cast<int>(number_of_environment("CONEBENCH_TEST_VERSION"));
  info.name = "Test solver that misbehaves on request";
  info.allocates = Allocation::iteration;
  info.summary = "For the harness's own tests.";
  return make_row<MisbehaveOptions>(info, [](const SolverInfo& i, const MisbehaveOptions& options) {
    return std::make_unique<Misbehave>(i, options);
  });
}

bool test_solvers_wanted() {
  const char* const wanted = std::getenv("CONEBENCH_TEST_SOLVERS");
  return wanted != nullptr && std::string(wanted) == "1";
}

}  // namespace conebench
