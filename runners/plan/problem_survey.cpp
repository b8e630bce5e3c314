#include "runners/plan/problem_survey.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/content_address.hpp"
#include "base/text_file.hpp"
#include "metrics/features.hpp"
#include "metrics/noise_level.hpp"
#include "metrics/residuals.hpp"

namespace conebench {

namespace {

/// Bytes: a file that is not loaded and larger is known by its name.
constexpr std::uintmax_t largest_hashed = std::uintmax_t{1} << 30;

bool repeats(const SurveyedProblem& a, const SurveyedProblem& b) {
  if (a.record.members > 1 || b.record.members > 1) return false;
  return a.loaded && b.loaded && !a.pending && !b.pending && a.record.rows == b.record.rows &&
         a.record.contacts == b.record.contacts && a.record.joints == b.record.joints &&
         a.record.limits == b.record.limits && a.record.intervals == b.record.intervals && a.record.rows > 0 &&
         same_problem(a.fingerprint, b.fingerprint);
}

}  // namespace

std::int64_t count_nonzeros(const ContactProblem& problem) {
  const auto entries = [](const auto& values) {
    return std::count_if(values.begin(), values.end(), [](double value) { return value != 0.0; });
  };
  if (problem.condenses_sparsely()) return entries(problem.blocks().values());
  const PrimalForm& primal = *problem.primal();
  return primal.mass.nonZeros() + primal.jacobian.nonZeros();
}

SurveyedProblem survey_problem(const ContactProblem& problem, const ProblemSource& source, bool with_features) {
  SurveyedProblem surveyed;
  ProblemRecord& record = surveyed.record;
  const ConeProduct& cones = problem.cones();
  record.hash = problem.data_hash();
  record.name = problem.provenance().name;
  record.family = problem.provenance().family;
  record.source = source.source;
  record.kind = source.scene.empty() || source.as_fclib ? problem.provenance().form : "generated";
  record.space_dimension =
      cones.contact_type() == ConeType::friction ? cones.space_dimension() : cones.contact_dimension();
  record.contacts = cones.contacts();
  record.joints = cones.joints();
  record.limits = cones.limits();
  record.intervals = static_cast<std::int64_t>(cones.intervals().size());
  record.rows = cones.rows();
  record.nonzeros = count_nonzeros(problem);
  record.given = !problem.given_as_primal()     ? "delassus"
                 : problem.condenses_sparsely() ? "primal"
                                                : given_as_deformable;
  if (const auto aliases = problem.aliases()) record.alias = aliases->data_hash;
  if (cones.contacts() > 0) {
    const auto [minimum, maximum] = std::minmax_element(cones.friction().begin(), cones.friction().end());
    record.mu_min = *minimum;
    record.mu_max = *maximum;
  }
  record.symmetry_error = problem.symmetry_error();
  record.noise_ratio = noise_ratio(problem);
  record.category = to_string(SampleCategory::unknown);
  if (with_features) {
    const Features features = extract_features(problem);
    record.rank = features.spectrum.rank;
    record.conditioning = features.spectrum.conditioning;
    record.features_estimated = features.spectrum.estimated;
    record.category = to_string(features.category);
  }
  const Judgement judgement = judge(problem, Vector::Zero(problem.rows()));
  for (const ResidualInfo& residual : residual_table()) {
    const double value = problem.rows() > 0 ? judgement[residual.name].value : 0.0;
    if (std::isfinite(value)) record.zero_impulse[residual.name] = value;
  }
  if (problem.guess()) {
    surveyed.guess_hash = content_address({problem.guess()->data(), static_cast<std::size_t>(problem.guess()->size())});
  }
  surveyed.position = source.position ? source.position : position_in_sequence(problem);
  if (surveyed.position) {
    // It may have a folder in it.
    record.sequence = content_address({surveyed.position->sequence});
    record.step = surveyed.position->step;
  }
  surveyed.layout = layout_of(problem);
  surveyed.fingerprint = duplicate_fingerprint(problem);
  surveyed.loaded = true;
  return surveyed;
}

SurveyedProblem survey_batch(std::span<const ContactProblem> members, const ProblemSource& source) {
  SurveyedProblem batch = survey_problem(members.front(), source, false);
  ProblemRecord& all = batch.record;
  bool have_guesses = !batch.guess_hash.empty();
  std::string guesses = batch.guess_hash;
  for (std::size_t k = 1; k < members.size(); ++k) {
    const SurveyedProblem surveyed = survey_problem(members[k], source, false);
    const ProblemRecord& one = surveyed.record;
    all.contacts += one.contacts;
    all.joints += one.joints;
    all.limits += one.limits;
    all.intervals += one.intervals;
    all.rows += one.rows;
    all.nonzeros += one.nonzeros;
    all.space_dimension = std::max(all.space_dimension, one.space_dimension);
    all.mu_min = std::min(all.mu_min, one.mu_min);
    all.mu_max = std::max(all.mu_max, one.mu_max);
    all.symmetry_error = std::max(all.symmetry_error, one.symmetry_error);
    if (one.given != all.given) all.given.clear();
    if (all.noise_ratio)
      all.noise_ratio = one.noise_ratio ? std::max(*all.noise_ratio, *one.noise_ratio) : one.noise_ratio;
    for (auto& [name, value] : all.zero_impulse) {
      const auto found = one.zero_impulse.find(name);
      if (found != one.zero_impulse.end()) value = std::max(value, found->second);
    }
    have_guesses = have_guesses && !surveyed.guess_hash.empty();
    guesses += surveyed.guess_hash;
  }
  all.members = static_cast<std::int64_t>(members.size());
  all.hash = data_hash(members);
  all.alias.clear();
  all.kind = "batch";
  all.name = source.name;
  all.family = source.family;
  batch.guess_hash = have_guesses ? content_address({guesses}) : std::string();
  batch.position.reset();
  batch.layout = {};
  return batch;
}

void copy_features(const ProblemRecord& known, ProblemRecord& record) {
  record.rank = known.rank;
  record.conditioning = known.conditioning;
  record.features_estimated = known.features_estimated;
  record.factor_s = known.factor_s;
  record.assemble_s = known.assemble_s;
  record.diagonal_s = known.diagonal_s;
  record.feasibility = known.feasibility;
}

SurveyedProblem survey_pending(const ProblemSource& source) {
  SurveyedProblem surveyed;
  surveyed.loaded = true;
  surveyed.pending = true;
  surveyed.record.name = source.name;
  surveyed.record.family = source.family;
  surveyed.record.source = source.source;
  surveyed.record.hash = content_address({"not simulated yet", source.source});
  surveyed.position = source.position;
  return surveyed;
}

SurveyedProblem survey_failure(const ProblemSource& source, const Error& error) {
  SurveyedProblem surveyed;
  surveyed.unsupported = error.code == ErrorCode::unsupported;
  surveyed.killed = error.code == ErrorCode::killed;
  ProblemRecord& record = surveyed.record;
  record.name = source.name.empty() ? source.source : source.name;
  record.family = source.family;
  record.source = source.source;
  record.kind = "unknown";
  record.category = to_string(SampleCategory::unknown);
  record.error = error.message;
  std::string bytes;
  if (source.failure.empty() && !source.file.empty()) {
    if (auto read = read_text_file(source.file, largest_hashed)) bytes = std::move(*read);
  }
  record.hash = content_address({"not loaded", bytes.empty() ? source.source : bytes});
  return surveyed;
}

std::vector<std::string> leave_out_unwanted(std::vector<ProblemSource>& sources,
                                            std::vector<SurveyedProblem>& surveyed) {
  std::vector<std::string> unwanted;
  std::size_t left = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const ProblemRecord& record = surveyed[i].record;
    const bool known = surveyed[i].loaded && !surveyed[i].pending;
    if (known && !sources[i].kept(record.category, record.conditioning)) {
      unwanted.push_back(sources[i].source);
      continue;
    }
    if (left != i) {
      sources[left] = std::move(sources[i]);
      surveyed[left] = std::move(surveyed[i]);
    }
    ++left;
  }
  sources.resize(left);
  surveyed.resize(left);
  return unwanted;
}

ProblemSet resolve_duplicates(std::vector<ProblemSource> sources, std::vector<SurveyedProblem> surveyed) {
  ProblemSet set;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < surveyed.size(); ++i) {
    SurveyedProblem& problem = surveyed[i];
    const auto [found, is_new] = known.emplace(problem.record.hash, set.problems.size());
    if (!is_new) {
      ++set.duplicates;
      set.problems[found->second].record.copies.push_back(problem.record.source);
      continue;
    }
    for (const SurveyedProblem& earlier : set.problems) {
      if (!earlier.record.duplicate_of.empty() || !repeats(earlier, problem)) continue;
      problem.record.duplicate_of = earlier.record.hash;
      break;
    }
    set.problems.push_back(std::move(problem));
    set.sources.push_back(std::move(sources[i]));
  }
  return set;
}

}  // namespace conebench
