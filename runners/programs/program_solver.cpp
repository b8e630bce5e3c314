#include "runners/programs/program_solver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "runners/programs/ask_served.hpp"
#include "runners/programs/run_once.hpp"
#include "solvers/outside_time.hpp"
#include "solvers/tries.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr double most_seconds_to_describe = 60.0;
constexpr double tightening = 0.1;
constexpr double tightest = 1e-16;
constexpr std::size_t most_problem_files = 64;
constexpr std::size_t longest_message = 500;
constexpr const char* times_name = "times";

std::optional<double> seconds_or_none(const Json& reply, const char* key) {
  if (!reply.contains(key) || reply[key].is_null()) return std::nullopt;
  return reply[key].is_number() ? reply[key].get<double>() : NAN;
}

long count_or(const Json& reply, const char* key, long otherwise) {
  return reply.contains(key) && reply[key].is_number_integer() ? std::max(reply[key].get<long>(), otherwise)
                                                               : otherwise;
}

/// The problem without its answer and guess, and unless M and J are wanted with G in their place.
Result<ContactProblem> as_given(const ContactProblem& problem, bool primal) {
  ContactProblemData data = problem.data();
  data.reference.reset();
  data.guess.reset();
  if (!primal && problem.primal()) {
    if (problem.given_as_primal()) data.delassus = make_block_sparse_delassus(problem.blocks());
    data.primal.reset();
  }
  return ContactProblem::create(std::move(data));
}

/// While it lives, this process may write files as large as the system lets it: a cell's process may not, since a
/// solver has no large files to write, but a problem that is written for a program can be large.
class LargeFiles {
 public:
  LargeFiles() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit most{before_.rlim_max, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &most);
  }
  ~LargeFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  LargeFiles(const LargeFiles&) = delete;
  LargeFiles& operator=(const LargeFiles&) = delete;

 private:
  rlimit before_{};
};

/// When a problem's file was last written to, as it is told: what a program writes to has another time.
constexpr timespec as_given_time{946'684'800, 0};

bool is_as_given(const fs::path& file) {
  struct stat now {};
  return ::stat(file.c_str(), &now) == 0 && now.st_mtim.tv_sec == as_given_time.tv_sec && now.st_mtim.tv_nsec == 0;
}

/// Last asked for now.
void mark_as_given(const fs::path& file) {
  const timespec times[] = {{0, UTIME_NOW}, as_given_time};
  ::utimensat(AT_FDCWD, file.c_str(), times, 0);
}

/// Removes problems that were not asked for lately, so that a long sweep does not fill the disk.
void keep_latest(const fs::path& scratch, std::size_t most) {
  std::vector<std::pair<std::int64_t, fs::path>> files;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(scratch, gone)) {
    struct stat now {};
    if (entry.path().extension() != ".hdf5" || ::stat(entry.path().c_str(), &now) != 0) continue;
    files.emplace_back(std::int64_t{now.st_atim.tv_sec} * 1'000'000'000 + now.st_atim.tv_nsec, entry.path());
  }
  if (files.size() < most) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() + 1 - most);
  for (const auto& [time, file] : files) fs::remove(file, gone);
}

/// Read-only, since other cells are given the same file.
std::optional<Error> write_to_read(const ContactProblem& problem, const fs::path& file, const RequestFolder& folder,
                                   const FclibWriteOptions& options) {
  const LargeFiles allowed;
  const fs::path fresh = folder / "written.hdf5";
  const auto written = write_fclib(problem, fresh, options);
  if (!written) return written.error();
  std::error_code error;
  fs::permissions(fresh, fs::perms::owner_read, error);
  mark_as_given(fresh);
  fs::rename(fresh, file, error);
  if (error) return Error{ErrorCode::bad_input, file.string() + ": " + error.message()};
  return std::nullopt;
}

class ProgramSolver final : public Solver {
 public:
  ProgramSolver(SolverProgram program, SolverInfo info, OptionValues options, bool primal)
      : program_(std::move(program)), info_(std::move(info)), options_(std::move(options)), primal_(primal) {
    own_ranks_ = options_.extract(times_name).mapped() == OptionValue(std::string("self-reported"));
  }

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  bool needs_matrix(const ContactProblem& problem) const override { return !primal_ || !problem.given_as_primal(); }

  std::optional<Error> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = std::make_unique<ContactProblem>(problem);
    if (needs_matrix(problem)) problem_->blocks();  // its file may be there already, but it is what the program uses
    return std::nullopt;
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    const auto began = Clock::now();
    impulse = guess;
    SolveSummary summary;
    if (guess.size() == 0) {
      summary.status = SolveStatus::converged;
      return summary;
    }
    const RequestFolder folder(program_.scratch);
    const auto given = give(guess, folder);
    if (!given) {
      summary.status = SolveStatus::unsupported;
      summary.message = given.error().message;
      return summary;
    }
    if (stop.criterion == Criterion::own) return run(*given, stop.tolerance, stop, folder, began, monitor, impulse);
    // It can't be asked while it runs: what it ends with is proposed, and its own tolerance tightened until that is
    // accepted. A repeat goes straight to the try that was.
    Tries* const tries = tries_of(monitor);
    const auto tolerance_of = [&](long rung) {
      return stop.tolerance * std::pow(tightening, static_cast<double>(rung - 1));
    };
    long rung = 1;
    while (!monitor.due(rung) && tolerance_of(rung + 1) >= tightest) ++rung;
    if (!monitor.due(rung)) rung = 1;
    for (auto from = began;; ++rung, from = Clock::now()) {
      summary = run(*given, tolerance_of(rung), stop, folder, from, monitor, impulse);
      const Decision decision = monitor.propose(rung, impulse, summary.own_residual);
      if (decision == Decision::accept) summary.status = SolveStatus::converged;
      if (decision == Decision::out_of_time) summary.status = SolveStatus::time_limit;
      if (decision != Decision::keep_going || summary.status != SolveStatus::converged) return summary;
      if (!impulse.allFinite()) {
        summary.status = SolveStatus::breakdown;
        if (summary.message.empty()) summary.message = "the answer is not finite";
        return summary;
      }
      if (tolerance_of(rung + 1) < tightest) {
        summary.status = SolveStatus::stalled;
        summary.message = "its answer to the tightest tolerance is refused, too";
        return summary;
      }
      if (tries != nullptr) tries->start_over();
    }
  }

 private:
  /// What of a request says where to start.
  struct Given {
    fs::path problem;
    const char* start = "cold";
  };

  Result<Given> give(ConstVectorRef guess, const RequestFolder& folder) const {
    FclibWriteOptions options;
    options.compress = false;
    Given given{program_.scratch / (problem_->data_hash() + (primal_ ? "-primal" : "") + ".hdf5")};
    const bool cold = guess.isZero(0.0);
    if (cold && is_as_given(given.problem)) {
      mark_as_given(given.problem);
      return given;
    }
    const auto problem = as_given(*problem_, primal_);
    if (!problem) return problem.error();
    if (!cold) {
      options.guesses = {{guess, {}}};
      given = {folder / "problem.hdf5", "guess"};
    } else {
      keep_latest(program_.scratch, most_problem_files);
    }
    if (auto error = write_to_read(*problem, given.problem, folder, options)) return *error;
    return given;
  }

  /// `began`: when its preparations did. Throws std::runtime_error where the program gives no answer, or one that can't
  /// be.
  SolveSummary run(const Given& given, double tolerance, const StopRule& stop, const RequestFolder& folder,
                   Clock::time_point began, Monitor& monitor, VectorRef impulse) const {
    for (const FileStamp& file : program_.files) {
      if (!file.same_now()) throw std::runtime_error(file.file.string() + " has changed meanwhile; run again");
    }
    std::error_code ignored;
    for (const char* name : {"answer.npy", "answer.hdf5"}) fs::remove(folder / name, ignored);
    Json options = Json::object();
    for (const auto& [name, value] : options_) {
      std::visit([&, &key = name](const auto& plain) { options[key] = plain; }, value);
    }
    Json request = {{"request", "solve"},
                    {"problem", given.problem.string()},
                    {"start", given.start},
                    {"answer", (folder / "answer").string()},
                    {"options", options},
                    {"tolerance", tolerance},
                    {"max_iterations", stop.max_iterations}};
    if (const OutsideTimed* const timed = outside_timed(monitor)) {
      if (timed->limits().seconds > 0.0) request["time_limit_s"] = timed->limits().seconds;
      if (timed->limits().memory_mb > 0) request["memory_limit_mb"] = timed->limits().memory_mb;
    }
    const double file_mb = 16.0 + 1e-6 * 16.0 * static_cast<double>(problem_->rows());
    const auto reply = program_.serves ? ask_served(program_, request, file_mb)
                                       : run_once(program_, request, folder, {.cpu_s = 0.0, .file_mb = file_mb});
    if (!is_as_given(given.problem)) {
      throw std::runtime_error(info_.id + " has written to its problem's file, which other cells are given, too");
    }
    if (!reply) throw std::runtime_error(reply.error().message);
    SolveSummary summary = summary_of(reply->said);
    const OutsideTime time = time_of(*reply);

    fs::path answer = folder / "answer.npy";
    if (!fs::exists(answer, ignored)) answer = folder / "answer.hdf5";
    if (!fs::exists(answer, ignored)) {
      throw std::runtime_error(info_.id + ": the program wrote neither answer.npy nor answer.hdf5");
    }
    const auto reaction = read_reaction(answer, *problem_);
    if (!reaction) throw std::runtime_error(reaction.error().message);
    impulse = *reaction;
    if (OutsideTimed* const timed = outside_timed(monitor)) {
      timed->took(time, std::chrono::duration<double>(Clock::now() - began).count() - time.wall_s);
    }
    return summary;
  }

  SolveSummary summary_of(const Json& reply) const {
    SolveSummary summary;
    const std::string status = reply.value("status", Json("")).dump();
    bool known = false;
    std::string names;
    for (const SolveStatus one : {SolveStatus::converged, SolveStatus::max_iterations, SolveStatus::time_limit,
                                  SolveStatus::stalled, SolveStatus::diverged, SolveStatus::breakdown}) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(one));
      if (status != Json(to_string(one)).dump()) continue;
      summary.status = one;
      known = true;
    }
    if (!known) {
      throw std::runtime_error(
          fmt::format("{} replied with the status {}, which must be one of {}", info_.id, one_line(status), names));
    }
    if (reply.contains("message") && reply["message"].is_string()) {
      summary.message = shorten(one_line(reply["message"].get<std::string>()), longest_message);
    }
    summary.iterations = count_or(reply, "iterations", 0);
    summary.factorizations = count_or(reply, "factorizations", not_counted);
    summary.operator_products = count_or(reply, "operator_products", not_counted);
    if (reply.contains("own_residual") && reply["own_residual"].is_number()) {
      summary.own_residual = reply["own_residual"].get<double>();
    }
    return summary;
  }

  OutsideTime time_of(const ProgramReply& reply) const {
    OutsideTime time;
    time.wall_s = reply.wall_s;
    time.processor_s = reply.processor_s;
    time.own_setup_s = seconds_or_none(reply.said, "setup_s");
    time.own_solve_s = seconds_or_none(reply.said, "solve_s");
    time.own_ranks = own_ranks_;
    const double setup = time.own_setup_s.value_or(0.0), solve = time.own_solve_s.value_or(0.0);
    if (!(setup >= 0.0) || !(solve >= 0.0) || setup + solve > reply.wall_s) {
      throw std::runtime_error(
          fmt::format("{} says that it took {:g} s + {:g} s, the clock {:g} s", info_.id, setup, solve, reply.wall_s));
    }
    if (own_ranks_ && !time.own_solve_s) {
      throw std::runtime_error(info_.id + " does not tell its own times (solve_s), which times=self-reported ranks");
    }
    return time;
  }

  SolverProgram program_;
  SolverInfo info_;
  OptionValues options_;
  bool primal_;
  bool own_ranks_ = false;
  std::unique_ptr<ContactProblem> problem_;
};

}  // namespace

OptionSpec times_option() {
  OptionSpec spec;
  spec.name = times_name;
  spec.default_value = std::string("wall");
  spec.choices = {"wall", "self-reported"};
  spec.doc =
      "whose times are the cell's: the runner's, from request to reply, or what the program says of itself "
      "(self-reported)";
  return spec;
}

Result<std::string> describe_program(const SolverProgram& program) {
  const RequestFolder folder(program.scratch);
  const auto reply = run_once(program, {{"request", "describe"}}, folder,
                              {.cpu_s = most_seconds_to_describe, .wall_s = most_seconds_to_describe});
  if (!reply) return reply.error();
  return reply->said.dump();
}

std::unique_ptr<Solver> make_program_solver(const SolverProgram& program, SolverInfo info, OptionValues options,
                                            bool primal) {
  return std::make_unique<ProgramSolver>(program, std::move(info), std::move(options), primal);
}

}  // namespace conebench
