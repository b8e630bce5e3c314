#include "runners/plan/program_solver.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/child_process.hpp"
#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "solvers/tries.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uintmax_t largest_reply = 1 << 20;
constexpr double most_seconds_to_describe = 60.0;
constexpr double tightening = 0.1;
constexpr double tightest = 1e-16;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// A folder of one run's files, gone at the end.
class RunFolder {
 public:
  explicit RunFolder(const fs::path& scratch) {
    std::string pattern = (scratch / "run-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error(pattern + ": no folder could be made");
    path_ = pattern;
  }
  ~RunFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// Runs the program on a request and reads its reply. Errors (bad_input): how it ended, what it said last.
Result<Json> ask(const SolverProgram& program, Json request, const RunFolder& folder, double cpu_seconds) {
  const fs::path request_file = folder / "request.json", reply_file = folder / "reply.json";
  request["reply"] = reply_file.string();
  std::ofstream(request_file) << request.dump() << "\n";
  std::vector<std::string> words = program.words;
  words.push_back(request_file.string());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const OutputCatcher output;
  const pid_t child = fork_process({.channel = -1, .output = output.descriptor()}, [&] {
    ProcessLimits limits;
    limits.cpu_s = cpu_seconds;
    limit_this_process(limits);
    ::execvp(arguments.front(), arguments.data());
    return 127;
  });
  const auto error = [&](const std::string& what) {
    const std::string last = output.last_words();
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: {}{}", program.words.front(), what, last.empty() ? "" : ": " + last)};
  };
  if (child < 0) return Error{ErrorCode::killed, "the system refused a new process"};
  const int status = wait_for_end(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return error("can't be started");
  if (status != 0) return error("ended by " + ending_text(status));
  const auto text = read_text_file(reply_file, largest_reply);
  if (!text) return error("wrote no reply");
  Json reply = Json::parse(*text, nullptr, false);
  if (!reply.is_object()) return error("its reply is no JSON object");
  return reply;
}

double number_or(const Json& reply, const char* key, double otherwise) {
  return reply.contains(key) && reply[key].is_number() ? reply[key].get<double>() : otherwise;
}

long count_or(const Json& reply, const char* key, long otherwise) {
  return reply.contains(key) && reply[key].is_number_integer() ? std::max(reply[key].get<long>(), otherwise)
                                                               : otherwise;
}

/// The problem without its answer, and unless M and J are wanted with G in their place.
Result<ContactProblem> as_given(const ContactProblem& problem, bool primal) {
  ContactProblemData data = problem.data();
  data.reference.reset();
  if (!primal && problem.given_as_primal()) {
    data.primal.reset();
    data.delassus = make_block_sparse_delassus(problem.blocks());
  }
  return ContactProblem::create(std::move(data));
}

class ProgramSolver final : public Solver {
 public:
  ProgramSolver(SolverProgram program, SolverInfo info, OptionValues options, bool primal)
      : program_(std::move(program)), info_(std::move(info)), options_(std::move(options)), primal_(primal) {}

  const SolverInfo& info() const override { return info_; }

  /// Writes the problem's file, too, where it is not there: its form is the harness's choice and not to be timed.
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    if (auto reason = unsupported_by_flags(info_, problem)) return reason;
    const fs::path file = file_of(problem);
    std::error_code ignored;
    if (fs::exists(file, ignored)) return std::nullopt;
    FclibWriteOptions options;
    options.compress = false;
    const auto given = as_given(problem, primal_);
    if (!given) return given.error().message;
    const auto written = write_fclib(*given, file, options);
    return written ? std::nullopt : std::optional(written.error().message);
  }

  bool needs_matrix(const ContactProblem& problem) const override { return !primal_ || !problem.given_as_primal(); }

  std::optional<Error> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    auto given = as_given(problem, primal_);
    if (!given) return given.error();
    problem_ = std::make_unique<ContactProblem>(std::move(*given));
    file_ = file_of(problem);
    return std::nullopt;
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    impulse = guess;
    SolveSummary summary;
    if (guess.size() == 0) {
      summary.status = SolveStatus::converged;
      return summary;
    }
    if (stop.criterion == Criterion::own) return run(guess, stop.tolerance, stop, impulse);
    // It can't be asked while it runs: what it ends with is proposed, and its own tolerance tightened until that is
    // accepted. A repeat goes straight to the try that was.
    Tries* const tries = tries_of(monitor);
    const auto tolerance_of = [&](long rung) {
      return stop.tolerance * std::pow(tightening, static_cast<double>(rung - 1));
    };
    long rung = 1;
    while (!monitor.due(rung) && tolerance_of(rung + 1) >= tightest) ++rung;
    if (!monitor.due(rung)) rung = 1;
    for (;; ++rung) {
      summary = run(guess, tolerance_of(rung), stop, impulse);
      const Decision decision = monitor.propose(rung, impulse, summary.own_residual);
      if (decision == Decision::accept) summary.status = SolveStatus::converged;
      if (decision == Decision::out_of_time) summary.status = SolveStatus::time_limit;
      if (decision != Decision::keep_going || summary.status != SolveStatus::converged) return summary;
      if (tolerance_of(rung + 1) < tightest) {
        summary.status = SolveStatus::stalled;
        return summary;
      }
      if (tries != nullptr) tries->start_over();
    }
  }

 private:
  fs::path file_of(const ContactProblem& problem) const {
    return program_.scratch / (problem.data_hash() + (primal_ ? "-primal" : "") + ".hdf5");
  }

  /// One start of the program. Throws std::runtime_error where it gives no answer, or one that can't be.
  SolveSummary run(ConstVectorRef guess, double tolerance, const StopRule& stop, VectorRef impulse) const {
    const RunFolder folder(program_.scratch);
    Json options = Json::object();
    for (const auto& [name, value] : options_) {
      std::visit([&, &key = name](const auto& plain) { options[key] = plain; }, value);
    }
    Json request = {{"request", "solve"},
                    {"problem", file_.string()},
                    {"start", "cold"},
                    {"answer", (folder / "answer").string()},
                    {"options", options},
                    {"tolerance", tolerance},
                    {"max_iterations", stop.max_iterations}};
    if (!guess.isZero(0.0)) {
      FclibAnswer start{guess, Vector(guess.size())};
      problem_->velocity(guess, start.velocity);
      FclibWriteOptions with_guess;
      with_guess.guesses = {std::move(start)};
      with_guess.compress = false;
      const fs::path file = folder / "problem.hdf5";
      if (const auto written = write_fclib(*problem_, file, with_guess); !written) {
        throw std::runtime_error(written.error().message);
      }
      request["problem"] = file.string();
      request["start"] = "guess";
    }
    const auto begin = Clock::now();
    const auto reply = ask(program_, std::move(request), folder, 0.0);
    const double wall = seconds_since(begin);
    if (!reply) throw std::runtime_error(reply.error().message);

    SolveSummary summary;
    summary.status = SolveStatus::breakdown;
    const std::string status = reply->value("status", Json("")).dump();
    for (const SolveStatus known : {SolveStatus::converged, SolveStatus::max_iterations, SolveStatus::time_limit,
                                    SolveStatus::stalled, SolveStatus::diverged, SolveStatus::breakdown}) {
      if (status == Json(to_string(known)).dump()) summary.status = known;
    }
    if (status != Json(to_string(summary.status)).dump()) {
      throw std::runtime_error(fmt::format("{} replied with the status {}", info_.id, one_line(status)));
    }
    if (reply->contains("message") && (*reply)["message"].is_string()) {
      summary.message = one_line((*reply)["message"].get<std::string>());
    }
    summary.iterations = count_or(*reply, "iterations", 0);
    summary.factorizations = count_or(*reply, "factorizations", not_counted);
    summary.operator_products = count_or(*reply, "operator_products", not_counted);
    summary.own_residual = number_or(*reply, "own_residual", summary.own_residual);
    tell_own_times(*reply, wall, summary);

    fs::path answer = folder / "answer.npy";
    std::error_code ignored;
    if (!fs::exists(answer, ignored)) answer = folder / "answer.hdf5";
    const auto reaction = read_reaction(answer, *problem_);
    if (!reaction) throw std::runtime_error(reaction.error().message);
    impulse = *reaction;
    return summary;
  }

  /// Kept beside the wall clock's, which rank.
  void tell_own_times(const Json& reply, double wall, SolveSummary& summary) const {
    const double setup = number_or(reply, "setup_s", NAN), solve = number_or(reply, "solve_s", NAN);
    if (std::isnan(setup) && std::isnan(solve)) return;
    const double both = (std::isnan(setup) ? 0.0 : setup) + (std::isnan(solve) ? 0.0 : solve);
    if (!(both >= 0.0) || both > wall) {
      throw std::runtime_error(fmt::format("{} says that it took {:g} s, the clock {:g} s", info_.id, both, wall));
    }
    summary.message += fmt::format("{}self-reported: set-up {:.3g} s, solve {:.3g} s",
                                   summary.message.empty() ? "" : "; ", setup, solve);
  }

  SolverProgram program_;
  SolverInfo info_;
  OptionValues options_;
  bool primal_;
  std::unique_ptr<ContactProblem> problem_;
  fs::path file_;
};

}  // namespace

Result<std::string> describe_program(const SolverProgram& program) {
  const RunFolder folder(program.scratch);
  const auto reply = ask(program, {{"request", "describe"}}, folder, most_seconds_to_describe);
  if (!reply) return reply.error();
  return reply->dump();
}

std::unique_ptr<Solver> make_program_solver(const SolverProgram& program, SolverInfo info, const OptionValues& options,
                                            bool primal) {
  return std::make_unique<ProgramSolver>(program, std::move(info), options, primal);
}

}  // namespace conebench
