#include "runners/programs/program_solver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "problems/scaled_rows.hpp"
#include "runners/programs/ask_served.hpp"
#include "runners/programs/run_once.hpp"
#include "solvers/attempts.hpp"
#include "solvers/claimed_iterations.hpp"
#include "solvers/outside_time.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr double max_seconds_to_describe = 60.0;
constexpr double tightening = 0.1;
constexpr double tightest = 1e-16;
constexpr std::size_t max_problem_files = 64;
constexpr std::size_t max_message = 500;
constexpr std::uint64_t max_count = std::uint64_t{1} << 53;
constexpr const char* times_name = "times";

std::optional<double> seconds_or_none(const Json& reply, const char* key) {
  if (!reply.contains(key) || reply[key].is_null()) return std::nullopt;
  if (!reply[key].is_number()) return INFINITY;  // which is no time
  const double seconds = reply[key].get<double>();
  return std::isnan(seconds) ? std::nullopt : std::optional(seconds);
}

long count_or(const Json& reply, const char* key, long otherwise) {
  if (!reply.contains(key) || !reply[key].is_number_integer()) return otherwise;
  // One beyond the type's range is as wrong as a negative one.
  if (reply[key].is_number_unsigned() && reply[key].get<std::uint64_t>() > max_count) return otherwise;
  return std::max(reply[key].get<long>(), otherwise);
}

/// The problem without its answer and guess, and unless M and J are wanted with G instead of them.
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

/// The problem in its own rows: whatever order and shift it was given in, its file and answers have those.
Result<ContactProblem> in_own_rows(const ContactProblem& problem) {
  if (!problem.given_rows()) return problem;
  ContactProblemData data = problem.data();
  data.given_rows.reset();
  auto made = ContactProblem::create(std::move(data));
  return made ? made->watched(problem.watcher()) : made;
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

XXH128_hash_t hash_of(std::string_view bytes) { return XXH3_128bits(bytes.data(), bytes.size()); }

/// Whether the file has this content. Its times prove nothing: who writes to it can set them back.
bool holds(const fs::path& file, const XXH128_hash_t& content) {
  const auto bytes = read_text_file(file, std::numeric_limits<std::int64_t>::max());
  return bytes && XXH128_isEqual(hash_of(*bytes), content) != 0;
}

/// Last asked for now.
void mark_as_asked_for(const fs::path& file) {
  const timespec times[] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  ::utimensat(AT_FDCWD, file.c_str(), times, 0);
}

/// Replaces what is there: whoever has that open keeps it. Read-only, as what is given and taken is not to change.
Result<void> write_anew(const fs::path& file, std::string_view bytes) {
  const LargeFiles allowed;
  std::error_code error;
  fs::remove(file, error);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open takes its mode this way
  Descriptor opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR));
  if (opened.open() && write_all(opened.number(), bytes) && opened.close()) return {};
  return Error{ErrorCode::bad_input, fmt::format("{}: can't be written: {}", file.string(), std::strerror(errno))};
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

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    row_units_.resize(0);
    Result<ContactProblem> given = in_own_rows(problem);
    if (given && !info_.friction_cones && given->cones().scales() && given->cones().coulomb_when_scaled()) {
      row_units_ = row_units_of(*given);
      given = in_row_units(*given, row_units_);
    }
    if (!given) return given.error();
    problem_ = std::make_unique<ContactProblem>(*given);
    if (needs_matrix(problem)) problem_->blocks();  // its file may be there already, but it is what the program uses
    return {};
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
    const auto given = give(row_units_.size() > 0 ? Vector(guess.cwiseQuotient(row_units_)) : Vector(guess), folder);
    if (!given) {
      summary.status = SolveStatus::unsupported;
      summary.message = given.error().message;
      return summary;
    }
    if (stop.stop_by == StopBy::solver) return run(*given, stop.tolerance, stop, folder, began, monitor, impulse);
    // It can't be asked while it runs: what it ends with is proposed, and its own tolerance tightened until that is
    // accepted. A repeat begins with the attempt that succeeded.
    Attempts* const attempts = attempts_of(monitor);
    const auto tolerance_of = [&](long rung) {
      return stop.tolerance * std::pow(tightening, static_cast<double>(rung - 1));
    };
    long rung = 1;
    while (!monitor.should_check(rung) && tolerance_of(rung + 1) >= tightest) ++rung;
    if (!monitor.should_check(rung)) rung = 1;
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
      if (attempts != nullptr) attempts->start_over();
    }
  }

 private:
  /// What of a request says where to start.
  struct Given {
    fs::path problem;
    XXH128_hash_t content{};
    const char* start = "cold";
  };

  /// Cold, one file for all cells of a worker. It is made anew in memory by each cell's process, which can't know what
  /// programs have done to that of another, and written where that differs.
  Result<Given> give(ConstVectorRef guess, const RequestFolder& folder) const {
    static std::map<fs::path, XXH128_hash_t> made;
    const bool cold = guess.isZero(0.0);
    Given given{folder / "problem.hdf5", {}, "guess"};
    if (cold) {
      const std::string name =
          fmt::format("{}{}-{}.hdf5", problem_->data_hash(), primal_ ? "-primal" : "", ::getppid());
      given = {program_.scratch / name};
      const auto found = made.find(given.problem);
      if (found != made.end() && holds(given.problem, found->second)) {
        given.content = found->second;
        mark_as_asked_for(given.problem);
        return given;
      }
    }
    CONEBENCH_TRY(const auto problem, as_given(*problem_, primal_));
    FclibWriteOptions options;
    options.compress = false;
    if (!cold) options.guesses = {{guess, {}}};
    CONEBENCH_TRY(const auto bytes, fclib_bytes(problem, given.problem.string(), options));
    const std::string_view content(bytes.data(), bytes.size());
    given.content = hash_of(content);
    if (cold) {
      made[given.problem] = given.content;
      if (holds(given.problem, given.content)) {
        mark_as_asked_for(given.problem);
        return given;
      }
      keep_latest(program_.scratch, max_problem_files);
    }
    CONEBENCH_CHECK(write_anew(given.problem, content));
    return given;
  }

  /// `began`: when its preparations did. Throws std::runtime_error where the program gives no answer, or one that can't
  /// be.
  SolveSummary run(const Given& given, double tolerance, const StopRule& stop, const RequestFolder& folder,
                   Clock::time_point began, Monitor& monitor, VectorRef impulse) const {
    for (const FileStamp& file : program_.files) {
      if (!file.same_now()) throw std::runtime_error(file.file.string() + " has changed meanwhile; run again");
    }
    constexpr std::array names = {"answer.npy", "answer.hdf5"};
    std::error_code ignored;
    for (const char* name : names) fs::remove(folder / name, ignored);
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
    if (program_.protocol >= protocol_with_cones) {
      request["protocol"] = newest_protocol;
      request["layout"] = fits_fclib(*problem_) ? "fclib" : "conebench";
    }
    if (const OutsideTimed* const timed = outside_timed(monitor)) {
      if (timed->limits().seconds > 0.0) request["time_limit_s"] = timed->limits().seconds;
      if (timed->limits().memory_mb > 0) request["memory_limit_mb"] = timed->limits().memory_mb;
    }
    const double file_mb = 16.0 + 1e-6 * 16.0 * static_cast<double>(problem_->rows());
    // What counts are the bytes that are there while the clock runs.
    fs::path answer;
    Result<std::string> bytes = Error{};
    const auto take = [&] {
      for (const char* name : names) {
        if (answer.empty() && fs::exists(fs::symlink_status(folder / name, ignored))) answer = folder / name;
      }
      if (!answer.empty()) bytes = read_text_file(answer, static_cast<std::uintmax_t>(file_mb * 1048576.0));
    };
    const auto reply = program_.serves ? ask_served(program_, request, file_mb, take)
                                       : run_once(program_, request, folder, {.cpu_s = 0.0, .file_mb = file_mb}, take);
    if (!holds(given.problem, given.content)) {
      fs::remove(given.problem, ignored);
      throw std::runtime_error(info_.id + " has written to its problem's file, which other cells are given, too");
    }
    if (!reply) throw std::runtime_error(reply.error().message);
    SolveSummary summary = summary_of(reply->object, stop.max_iterations);
    const OutsideTime time = time_of(*reply);

    if (answer.empty()) {
      throw std::runtime_error(info_.id + ": the program wrote neither answer.npy nor answer.hdf5");
    }
    if (!bytes) throw std::runtime_error(bytes.error().message);
    if (const auto kept = write_anew(answer, *bytes); !kept) throw std::runtime_error(kept.error().message);
    const auto reaction = read_reaction(answer, *problem_, AnswerOf::written);
    if (!reaction) throw std::runtime_error(reaction.error().message);
    impulse = row_units_.size() > 0 ? Vector(row_units_.cwiseProduct(*reaction)) : *reaction;
    if (OutsideTimed* const timed = outside_timed(monitor)) {
      timed->took(time, std::chrono::duration<double>(Clock::now() - began).count() - time.wall_s);
    }
    return summary;
  }

  SolveSummary summary_of(const Json& reply, long max_iterations) const {
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
      summary.message = shorten(one_line(reply["message"].get<std::string>()), max_message);
    }
    summary.iterations = claimed_iterations(count_or(reply, "iterations", 0), max_iterations);
    summary.factorizations = count_or(reply, "factorizations", not_counted);
    summary.operator_products = count_or(reply, "operator_products", not_counted);
    if (reply.contains("own_residual") && reply["own_residual"].is_number()) {
      summary.own_residual = reply["own_residual"].get<double>();
      if (summary.message.empty() && !std::isfinite(summary.own_residual)) {
        summary.message = fmt::format("its own residual is {}", summary.own_residual);
      }
    }
    return summary;
  }

  OutsideTime time_of(const ProgramReply& reply) const {
    OutsideTime time;
    time.wall_s = reply.wall_s;
    time.processor_s = reply.processor_s;
    time.own_setup_s = seconds_or_none(reply.object, "setup_s");
    time.own_solve_s = seconds_or_none(reply.object, "solve_s");
    time.own_ranks = own_ranks_;
    const double setup = time.own_setup_s.value_or(0.0), solve = time.own_solve_s.value_or(0.0);
    if (!(setup >= 0.0) || !(solve >= 0.0) || setup + solve > reply.wall_s) {
      throw std::runtime_error(
          fmt::format("{} says that it took {:g} s + {:g} s, the clock {:g} s", info_.id, setup, solve, reply.wall_s));
    }
    if (own_ranks_ && !time.own_solve_s) {
      throw std::runtime_error(info_.id + " does not report its own times (solve_s), which times=self-reported ranks");
    }
    return time;
  }

  SolverProgram program_;
  SolverInfo info_;
  OptionValues options_;
  bool primal_;
  bool own_ranks_ = false;
  std::unique_ptr<ContactProblem> problem_;  ///< in the rows that the program gets
  Vector row_units_;                         ///< of those rows; empty: 1
};

}  // namespace

OptionSpec times_option() {
  OptionSpec spec;
  spec.name = times_name;
  spec.default_value = std::string("wall");
  spec.choices = {"wall", "self-reported"};
  spec.doc =
      "whose times are the cell's: the runner's, from request to reply, or what the program reports itself "
      "(self-reported)";
  return spec;
}

Result<std::string> describe_program(const SolverProgram& program) {
  const RequestFolder folder(program.scratch);
  CONEBENCH_TRY(const auto reply, run_once(program, {{"request", "describe"}}, folder,
                                           {.cpu_s = max_seconds_to_describe, .wall_s = max_seconds_to_describe}));
  return reply.object.dump();
}

std::unique_ptr<Solver> make_program_solver(const SolverProgram& program, SolverInfo info, OptionValues options,
                                            bool primal) {
  return std::make_unique<ProgramSolver>(program, std::move(info), std::move(options), primal);
}

}  // namespace conebench
