#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/sequence.hpp"
#include "runners/plan/duplicate_fingerprint.hpp"
#include "runners/plan/problem_source.hpp"
#include "store/records.hpp"

namespace conebench {

/// What a plan has to know of one problem.
struct SurveyedProblem {
  ProblemRecord record;  ///< of a problem that can't be loaded: with its error, and a hash of the file's bytes
  bool loaded = false;
  bool pending = false;      ///< not looked at yet: a simulation will make it; sizes and contents are not known
  bool unsupported = false;  ///< not loaded, but a valid file that no solver here can take (rolling friction)
  bool killed = false;       ///< not loaded: what read it was killed from outside, and nothing is known of it
  std::string guess_hash;    ///< of the stored guess; empty where there is none
  std::optional<SequencePlace> place;
  ImpulseLayout layout;
  DuplicateFingerprint signature;
};

/// Entries that are not zero: of G, or where that is not assembled of M and J.
std::int64_t count_nonzeros(const ContactProblem& problem);

/// What is told of a loaded problem. Rank, conditioning and category, which can take a second, are left out without
/// `with_features`.
SurveyedProblem survey_problem(const ContactProblem& problem, const ProblemSource& source, bool with_features);

/// Puts what takes long to find (rank, conditioning, costs, feasibility) from `known` into `record`, which lacks it.
void copy_features(const ProblemRecord& known, ProblemRecord& record);

/// What is told of one that a simulation has still to make (ProblemSource::pending).
SurveyedProblem survey_pending(const ProblemSource& source);

/// What is told of one that can't be loaded.
SurveyedProblem survey_failure(const ProblemSource& source, const Error& error);

/// What is left of a survey: every problem once, in the order of the sources.
struct ProblemSet {
  std::vector<SurveyedProblem> problems;
  std::vector<ProblemSource> sources;  ///< the first source of each problem
  long duplicates = 0;                 ///< sources whose data another one has, bit for bit
};

/// Takes out those that are not of their entry's categories or conditioning. What is not known yet and what could not
/// be loaded stays. Returns the sources of those taken out.
std::vector<std::string> leave_out_unwanted(std::vector<ProblemSource>& sources,
                                            std::vector<SurveyedProblem>& surveyed);

/// Drops exact duplicates and marks twins (another file of the same problem, equal but for rounding, order or form)
/// with duplicate_of. The two lists go together.
ProblemSet resolve_duplicates(std::vector<ProblemSource> sources, std::vector<SurveyedProblem> surveyed);

}  // namespace conebench
