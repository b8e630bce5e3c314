// A plug-in that wants a better rank than it has earned. Its option `attack` says how; `none` is projected Jacobi as it
// is. It knows what its readers know: the layout of the frames, where the answer goes, what a repeat is.
#include <conebench/solver_plugin.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "runners/execute/wire.hpp"

extern "C" {
#include "jacobi.h"
}

namespace {

const char* const attacks[] = {"none",           "frame-without-answer", "frame-with-answer", "supports",  "keep-by-g",
                               "keep-by-shape",  "keep-and-refuse",      "keep-and-sleep",    "keep-file", "clock",
                               "slow-threefold", "split-times",          "parent-memory",     "own-tests", nullptr};
const conebench_option options[] = {{.name = "attack",
                                     .doc = "what it tries",
                                     .type = CONEBENCH_TEXT,
                                     .default_number = 0,
                                     .default_text = "none",
                                     .minimum = 0,
                                     .maximum = 0,
                                     .unit = nullptr,
                                     .logarithmic = 0,
                                     .choices = attacks}};

using Numbers = std::vector<double>;

struct State {
  const conebench_problem* problem;
  std::string attack;
  jacobi* honest;
};

Numbers free_term(const conebench_problem* problem) { return {problem->free_term, problem->free_term + problem->rows}; }

/// G times a fixed vector: what changes where G does.
Numbers product(const conebench_problem* problem) {
  Numbers ones(static_cast<std::size_t>(problem->rows), 1.0), y(ones.size());
  problem->multiply(problem, ones.data(), y.data());
  return y;
}

/// Answers by what they are recognised by.
struct Kept {
  Numbers answer;
  double scale = 1.0;
  conebench_summary summary{};
};
std::map<Numbers, Kept> kept;

/// Grows as G does with the unit of impulses.
double scale(const conebench_problem* problem) {
  const Numbers y = product(problem);
  double sum = 0.0;
  for (const double value : y) sum += std::abs(value);
  return sum;
}

Numbers shape(const conebench_problem* problem) {
  Numbers y = product(problem);
  const double sum = scale(problem);
  for (double& value : y) value = std::round(1e9 * value / sum);
  return y;
}

/// So long that nothing else in a cell takes as long.
void burn() {
  volatile double sink = 0.0;
  for (int i = 0; i < 20'000'000; ++i) sink = sink + 1.0;
}

/// Projected Jacobi with products alone, for supports(), where the blocks are not there.
Numbers solve_by_products(const conebench_problem* p) {
  const auto rows = static_cast<std::size_t>(p->rows);
  Numbers x(rows, 0.0), y(rows), unit(rows, 0.0), diagonal(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    unit[i] = 1.0;
    p->multiply(p, unit.data(), y.data());
    diagonal[i] = y[i];
    unit[i] = 0.0;
  }
  const auto size = static_cast<std::size_t>(p->contact_size);
  burn();
  for (int k = 0; k < 2000; ++k) {
    p->multiply(p, x.data(), y.data());
    for (std::size_t c = 0; c < static_cast<std::size_t>(p->contacts); ++c) {
      const std::size_t at = rows - size * static_cast<std::size_t>(p->contacts) + size * c, n = at + size - 1;
      double trace = 0.0, slip = 0.0, length = 0.0;
      for (std::size_t i = at; i <= n; ++i) trace += diagonal[i];
      for (std::size_t i = at; i <= n; ++i) y[i] += p->free_term[i];
      for (std::size_t i = at; i < n; ++i) slip += y[i] * y[i];
      y[n] += p->friction[c] * std::sqrt(slip);
      const double step = 0.2 * static_cast<double>(size) / trace;
      for (std::size_t i = at; i <= n; ++i) x[i] -= step * y[i];
      for (std::size_t i = at; i < n; ++i) length += x[i] * x[i];
      length = std::sqrt(length);
      const double mu = p->friction[c], onto = (x[n] + mu * length) / (1.0 + mu * mu);
      if (length <= mu * x[n]) continue;
      const double shrink = mu * length <= -x[n] || length == 0.0 ? 0.0 : mu * onto / length;
      for (std::size_t i = at; i < n; ++i) x[i] *= shrink;
      x[n] = std::max(shrink == 0.0 ? x[n] : onto, 0.0);
    }
  }
  return x;
}

/// What a process that solves ends with, of 2 ns; with `split` by its cold run and its median alone.
void send_frame(const Numbers& answer, bool split = false) {
  conebench::CellClaims claims;
  claims.status = conebench::CellStatus::converged;
  claims.claimed = true;
  claims.own_residual = 0.0;
  claims.setup = claims.solve = {1e-9, 1e-9, 1e-9, 0.0};
  claims.total = {2e-9, 2e-9, 2e-9, 0.0};
  claims.repeats = split ? 1 : 5;
  if (split) claims.setup.minimum = claims.solve.minimum = claims.total.minimum = 0.02;
  claims.cpu_share = 1.0;
  claims.reaction = answer;
  const std::string frame = conebench::encode_frame(conebench::FrameKind::claims, conebench::encode(claims));
  if (write(3, frame.data(), frame.size()) < 0) _exit(1);
}

long long clock_slowness = 1000;

/// A clock that goes so many times slower, instead of the C library's.
int slow_clock(clockid_t id, timespec* time) {
  static long long began[16] = {};
  const long result = syscall(SYS_clock_gettime, id, time);
  if (id < 0 || id > 15) return static_cast<int>(result);
  const long long now = 1'000'000'000LL * time->tv_sec + time->tv_nsec;
  if (began[id] == 0) began[id] = now;
  const long long reported = began[id] + (now - began[id]) / clock_slowness;
  time->tv_sec = reported / 1'000'000'000;
  time->tv_nsec = reported % 1'000'000'000;
  return static_cast<int>(result);
}

void replace_the_clock() {
#if defined(__x86_64__)
  auto* const code = reinterpret_cast<unsigned char*>(&clock_gettime);
  const auto page = reinterpret_cast<std::uintptr_t>(code) & ~std::uintptr_t{4095};
  mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  const auto to = reinterpret_cast<std::uintptr_t>(&slow_clock);
  std::memcpy(jump + 2, &to, sizeof to);
  std::memcpy(code, jump, sizeof jump);
#endif
}

/// Where the parent keeps g, it writes zeros, so that λ = 0 is right.
void rewrite_the_parent(const conebench_problem* problem) {
  const std::string folder = "/proc/" + std::to_string(getppid());
  const int memory = open((folder + "/mem").c_str(), O_RDWR);
  if (memory < 0) return;
  const auto size = sizeof(double) * static_cast<std::size_t>(problem->rows);
  std::ifstream maps(folder + "/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[1] != 'w') continue;
    std::vector<char> bytes(end - begin);
    if (pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(begin)) < 0) continue;
    for (std::size_t at = 0; at + size <= bytes.size(); at += 8) {
      if (std::memcmp(bytes.data() + at, problem->free_term, size) != 0) continue;
      const std::vector<char> zeros(size, 0);
      if (pwrite(memory, zeros.data(), size, static_cast<off_t>(begin + at)) < 0) return;
    }
  }
}

void finish(State* s, const double* guess, const conebench_stop* stop, conebench_monitor* monitor, double* impulse,
            conebench_summary* summary) {
  burn();
  jacobi_solve(s->honest, guess, stop, monitor, impulse, summary);
}

void fill(const Kept& from, double factor, double* impulse, conebench_summary* summary) {
  for (std::size_t i = 0; i < from.answer.size(); ++i) impulse[i] = factor * from.answer[i];
  *summary = from.summary;
  summary->status = CONEBENCH_CONVERGED;
}

std::string file_of(const State* s) {
  std::size_t hash = 0;
  for (const double value : free_term(s->problem)) hash = 31 * hash + std::hash<double>()(value);
  return std::string(std::getenv("ATTACK_FOLDER")) + "/" + std::to_string(hash) + ".kept";
}

int supports(const conebench_problem* problem, const conebench_value* values, char*) {
  const Numbers key = free_term(problem);
  if (std::strcmp(values[0].text, "supports") == 0 && !kept.contains(key))
    kept[key].answer = solve_by_products(problem);
  return 1;
}

void* prepare(const conebench_problem* problem, const conebench_value* values, char* message) {
  auto* const s = new State{problem, values[0].text, nullptr};
  if (s->attack == "keep-and-refuse" && !kept.empty() && !kept.contains(product(problem))) {
    std::snprintf(message, CONEBENCH_MESSAGE_BYTES, "not this one");
    delete s;
    return nullptr;
  }
  if (s->attack == "slow-threefold") clock_slowness = 3;
  if (s->attack == "clock" || s->attack == "slow-threefold") replace_the_clock();
  const bool known = (s->attack == "keep-and-sleep" || s->attack == "keep-and-refuse") && !kept.empty();
  if (!known) s->honest = jacobi_new(problem, 0.2);
  return s;
}

void solve(void* given, const double* guess, const conebench_stop* stop, conebench_monitor* monitor, double* impulse,
           conebench_summary* summary) {
  auto* const s = static_cast<State*>(given);
  const conebench_problem* const p = s->problem;
  const auto rows = static_cast<std::size_t>(p->rows);
  const auto work = [&] { finish(s, guess, stop, monitor, impulse, summary); };
  const auto keep = [&](const Numbers& key, double scale_now) {
    const auto found = kept.find(key);
    if (found != kept.end()) return fill(found->second, found->second.scale / scale_now, impulse, summary);
    work();
    kept[key] = {{impulse, impulse + rows}, scale_now, *summary};
  };
  if (s->attack == "frame-without-answer") {
    send_frame({});
    _exit(0);
  }
  if (s->attack == "frame-with-answer" || s->attack == "split-times") {
    work();
    send_frame({impulse, impulse + rows}, s->attack == "split-times");
    _exit(0);
  }
  if (s->attack == "supports" && kept.contains(free_term(p))) {
    fill(kept[free_term(p)], 1.0, impulse, summary);
    return;
  }
  if (s->attack == "keep-by-g") return keep(free_term(p), scale(p));
  if (s->attack == "keep-by-shape") return keep(shape(p), scale(p));
  if (s->attack == "keep-and-refuse" || s->attack == "keep-and-sleep") return keep(product(p), 1.0);
  if (s->attack == "keep-file") {
    Kept found{Numbers(rows)};
    const auto size = static_cast<std::streamsize>(8 * rows);
    std::ifstream in(file_of(s), std::ios::binary);
    if (in.read(reinterpret_cast<char*>(found.answer.data()), size) &&
        in.read(reinterpret_cast<char*>(&found.summary), sizeof found.summary))
      return fill(found, 1.0, impulse, summary);
    work();
    std::ofstream out(file_of(s), std::ios::binary);
    out.write(reinterpret_cast<const char*>(impulse), size);
    out.write(reinterpret_cast<const char*>(summary), sizeof *summary);
    return;
  }
  if (s->attack == "own-tests") {
    // It never asks the monitor, though it does not declare CONEBENCH_OBSERVED_IN_STEPS.
    conebench_stop own = *stop;
    own.stop_by = CONEBENCH_STOP_BY_SOLVER;
    own.tolerance *= 1e-4;
    conebench_monitor deaf = *monitor;
    deaf.should_check = [](const conebench_monitor*, std::int64_t) { return 0; };
    return finish(s, guess, &own, &deaf, impulse, summary);
  }
  if (s->attack == "parent-memory") {
    rewrite_the_parent(p);
    return fill({Numbers(rows, 0.0)}, 1.0, impulse, summary);
  }
  work();
}

void release(void* given) {
  auto* const s = static_cast<State*>(given);
  if (s->attack == "keep-and-sleep") usleep(400'000);
  if (s->honest != nullptr) jacobi_delete(s->honest);
  delete s;
}

}  // namespace

extern "C" const conebench_plugin* conebench_plugin_entry(void) {
  static const conebench_solver solvers[] = {{.id = "ATTACK",
                                              .name = "Wants a better rank than it has earned",
                                              .citation = nullptr,
                                              .summary = nullptr,
                                              .version = 1,
                                              .formulation = CONEBENCH_NCP,
                                              .takes = CONEBENCH_JOINTS | CONEBENCH_LIMITS,
                                              .uses = CONEBENCH_BLOCKS,
                                              .traits = 0,
                                              .options = options,
                                              .option_count = sizeof options / sizeof *options,
                                              .supports = supports,
                                              .prepare = prepare,
                                              .solve = solve,
                                              .release = release}};
  static const conebench_plugin plugin = {CONEBENCH_PLUGIN_VERSION, 1, solvers};
  return &plugin;
}
