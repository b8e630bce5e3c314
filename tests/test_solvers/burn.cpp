#include "tests/test_solvers/burn.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/test_solvers/misbehave.hpp"

namespace conebench {

namespace {

struct Burn {
  std::string solvers;  ///< with commas before, between and behind
  double share_of_time = 0.0;
  std::chrono::duration<double> min_time{0.0};
  long min_contacts = 0, max_contacts = std::numeric_limits<long>::max();
  double share_of_problems = 1.0;
};

Burn parse(const std::string& text) {
  const auto wrong = [&] {
    return std::invalid_argument("CONEBENCH_TEST_BURN=" + text +
                                 ": must be ID:PERCENT[:min_ms=T][:contacts=A-B][:share=S]");
  };
  std::istringstream words(text);
  std::string word;
  Burn burn;
  if (!std::getline(words, burn.solvers, ':') || !std::getline(words, word, ':')) throw wrong();
  burn.solvers = "," + burn.solvers + ",";
  try {
    burn.share_of_time = std::stod(word) / 100.0;
    while (std::getline(words, word, ':')) {
      const auto equals = word.find('=');
      const std::string key = word.substr(0, equals);
      const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
      if (key == "contacts" && value.find('-') != std::string::npos) {
        burn.min_contacts = std::stol(value);
        burn.max_contacts = std::stol(value.substr(value.find('-') + 1));
      } else if (key == "min_ms") {
        burn.min_time = std::chrono::duration<double>(1e-3 * std::stod(value));
      } else if (key == "share") {
        burn.share_of_problems = std::stod(value);
      } else {
        throw wrong();
      }
    }
  } catch (const std::logic_error&) {
    throw wrong();
  }
  return burn;
}

using Clock = std::chrono::steady_clock;
volatile double sink = 0.0;

/// Works for `share` of the time since `begin`, and at least until `min_time` after it.
void work_on(Clock::time_point begin, double share, std::chrono::duration<double> min_time) {
  const auto now = Clock::now();
  const auto until = std::max(now + std::chrono::duration_cast<Clock::duration>(share * (now - begin)),
                              begin + std::chrono::duration_cast<Clock::duration>(min_time));
  while (Clock::now() < until) sink = sink + 1.0;
}

class BurningSolver final : public Solver {
 public:
  BurningSolver(std::unique_ptr<Solver> inner, const Burn& burn) : inner_(std::move(inner)), burn_(burn) {}
  const SolverInfo& info() const override { return inner_->info(); }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return inner_->unsupported_reason(problem);
  }
  Result<void> prepare(const ContactProblem& problem) override {
    concerned_ = concerns(problem);
    const auto begin = Clock::now();
    auto ready = inner_->prepare(problem);
    if (concerned_) work_on(begin, burn_.share_of_time, burn_.min_time);
    return ready;
  }
  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    const auto begin = Clock::now();
    SolveSummary summary = inner_->solve(guess, stop, monitor, impulse);
    if (concerned_) work_on(begin, burn_.share_of_time, burn_.min_time);
    return summary;
  }

 private:
  bool concerns(const ContactProblem& problem) const {
    const long contacts = problem.cones().contacts();
    if (contacts < burn_.min_contacts || contacts > burn_.max_contacts) return false;
    if (burn_.share_of_problems >= 1.0) return true;
    constexpr double largest = 4294967296.0;  // of eight hexadecimal digits
    return static_cast<double>(std::stoul(problem.data_hash().substr(0, 8), nullptr, 16)) <
           burn_.share_of_problems * largest;
  }

  std::unique_ptr<Solver> inner_;
  Burn burn_;
  bool concerned_ = false;
};

}  // namespace

void burn_as_wanted(std::vector<SolverRow>& table) {
  const char* const text = std::getenv("CONEBENCH_TEST_BURN");
  if (text == nullptr || !test_solvers_wanted()) return;
  const Burn burn = parse(text);
  for (SolverRow& row : table) {
    if (burn.solvers != ",*," && burn.solvers.find("," + row.info.id + ",") == std::string::npos) continue;
    row.make = [make = row.make, burn](const OptionValues& values) -> Result<std::unique_ptr<Solver>> {
      auto inner = make(values);
      if (!inner) return inner.error();
      return std::unique_ptr<Solver>(std::make_unique<BurningSolver>(std::move(*inner), burn));
    };
  }
}

}  // namespace conebench
