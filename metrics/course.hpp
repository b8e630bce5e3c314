#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/contact_modes.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"

namespace conebench {

struct ResidualDefinition;

/// What is seen of one iterate.
struct SeenIterate {
  long iteration = 0;
  double verdict = 0.0;    ///< the residual that decides, in double; inf for an iterate that is not finite
  Index worst_block = -1;  ///< where it is worst
  /// How far it is from the iterate before it, max_i ‖Δλ_i‖ / (r_i V), comparable with the verdict; nothing where that
  /// was not seen.
  std::optional<double> step;
  std::string modes;  ///< ContactMode, a letter a contact; empty but for the last iterates
};

/// The iterates of a solve as far as they were seen: the first ten, a few hundred between, all of the last
/// max_last_iterates.
struct SeenIterates {
  std::vector<SeenIterate> list;
  std::vector<double> returns;  ///< how far the last one is from that 1, 2, … iterations before, measured as `step`
};
inline constexpr long max_last_iterates = 64;

/// Takes the iterates of a solve that will end at `last_iteration`.
class IterateWatch {
 public:
  /// Errors: as Verdict::create.
  static Result<IterateWatch> create(const std::string& verdict, const ContactProblem& problem, long last_iteration);
  /// The next iteration that it wants.
  long next() const { return next_; }
  void take(long iteration, ConstVectorRef impulse);
  /// Ends the watch.
  SeenIterates finish();

 private:
  IterateWatch(const ResidualDefinition& verdict, const ContactProblem& problem, long last_iteration);
  double distance(const Vector& one, const Vector& other) const;

  const ResidualDefinition* verdict_;
  ResidualEvaluation<double> evaluation_;
  long last_iteration_, stride_, next_ = 1;
  std::vector<Vector> last_;           ///< ring of the impulses of the last consecutive iterates
  std::size_t newest_ = 0, kept_ = 0;  ///< in the ring
  SeenIterates seen_;
};

/// How the residual went.
enum class Trend {
  unseen,   ///< no iterate was shown
  few,      ///< too few iterates to tell
  reached,  ///< the last one meets the tolerance
  /// In the last half of the iterations each eighth has a smaller median residual than the one before; or the last has
  /// the smallest of the four, and the best iterate is in it.
  falls,
  rests,    ///< the iterates no longer move: as many iterations again would change a thousandth of the error
  cycles,   ///< the last iterate is the one `period` before
  wanders,  ///< none of these: the residual went up and down without a trend
  grows,    ///< the residual grew over the last half, to ten times its least value; or it is not finite
};
/// "falls".
std::string to_string(Trend trend);

/// What the iterates say of a solve.
struct Course {
  Trend trend = Trend::unseen;
  long iterations = 0;  ///< number of the last iterate that was seen
  long seen = 0;        ///< iterates
  double first = 0.0, last = 0.0, best = 0.0;
  long best_iteration = 0;
  double low = 0.0, high = 0.0;     ///< of the residual over the last half of the iterations
  std::optional<double> last_step;  ///< SeenIterate::step
  /// falls: of the residual, an iteration; a fit of its logarithm over the last half, or, at_the_end, the last quarter.
  std::optional<double> factor;
  std::optional<double> to_tolerance;  ///< falls: iterations from the last to the tolerance, at this factor
  bool at_the_end = false;             ///< falls: not from each eighth to the next, but in the last one
  /// How far to_tolerance can be relied on.
  enum class Estimate {
    none,      ///< the residual falls unevenly
    at_least,  ///< it falls ever more slowly
    about,     ///< it falls evenly: the factors from eighth to eighth agree within a factor of 2, in their logarithms
  } estimate = Estimate::none;
  std::optional<long> period;  ///< cycles
  struct Share {
    Index block = -1;
    double share = 0.0;
  };
  /// Blocks that were the worst in the last half of the iterates, by their share of them. The first few.
  std::vector<Share> worst;
  struct Flapping {
    Index contact = -1;
    long changes = 0;
    std::vector<ContactMode> modes;  ///< that it was in
  };
  /// Contacts that left a mode and came back to it within the last iterates, by their changes.
  std::vector<Flapping> flapping;
  long compared = 0;  ///< consecutive iterates that `flapping` is of
};

Course analyse_course(const SeenIterates& seen, double tolerance);

}  // namespace conebench
