#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/sequence.hpp"
#include "runners/plan/duplicate_fingerprint.hpp"
#include "runners/plan/problem_source.hpp"
#include "store/records.hpp"

namespace conebench {

/// What a plan knows of one problem.
struct SurveyedProblem {
  ProblemRecord record;  ///< of a problem that can't be loaded: with its error, and a hash of the file's bytes
  bool loaded = false;
  bool pending = false;      ///< not simulated yet; sizes and contents are unknown
  bool unsupported = false;  ///< not loaded, but a valid file that no solver here can take (planar rolling friction)
  bool killed = false;       ///< not loaded: its reader was terminated externally; nothing is known of it
  std::string guess_hash;    ///< of the stored guess; empty: there is none
  std::optional<SequencePosition> position;
  ImpulseLayout layout;
  DuplicateFingerprint fingerprint;
};

/// Number of nonzero entries of G, or, if G is not assembled, of M and J.
std::int64_t count_nonzeros(const ContactProblem& problem);

/// Surveys a loaded problem. Without `with_features` rank, conditioning and category are left out, since they can take
/// a second.
SurveyedProblem survey_problem(const ContactProblem& problem, const ProblemSource& source, bool with_features);

/// Surveys a batch by its members: sums of sizes, the range of friction, the worst residual at zero impulse. Rank,
/// conditioning and category are of no batch.
SurveyedProblem survey_batch(std::span<const ContactProblem> members, const ProblemSource& source);

/// Copies rank, conditioning, costs and feasibility, which take long to compute, from `known` to `record`.
void copy_features(const ProblemRecord& known, ProblemRecord& record);

/// Survey of a problem that is not simulated yet (ProblemSource::pending).
SurveyedProblem survey_pending(const ProblemSource& source);

/// Survey of a problem that can't be loaded.
SurveyedProblem survey_failure(const ProblemSource& source, const Error& error);

/// Every problem once, in the order of the sources.
struct ProblemSet {
  std::vector<SurveyedProblem> problems;
  std::vector<ProblemSource> sources;  ///< the first source of each problem
  long duplicates = 0;                 ///< sources whose data equals another's bit for bit
};

/// Removes the problems that are not of their entry's categories or conditioning, and returns their sources. Pending
/// problems and those that could not be loaded stay.
std::vector<std::string> leave_out_unwanted(std::vector<ProblemSource>& sources,
                                            std::vector<SurveyedProblem>& surveyed);

/// Drops exact duplicates, and sets duplicate_of of near duplicates: the same problem in another file, with other
/// rounding, order or form. Both lists have the same order.
ProblemSet resolve_duplicates(std::vector<ProblemSource> sources, std::vector<SurveyedProblem> surveyed);

}  // namespace conebench
