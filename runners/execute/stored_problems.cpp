#include "runners/execute/stored_problems.hpp"

#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "runners/execute/simulate.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "runners/plan/suite.hpp"

namespace conebench {

Result<StoredProblems> StoredProblems::list(const std::vector<RunRecord>& runs, const StoredProblemOptions& options) {
  StoredProblems problems;
  problems.options_ = options;
  std::optional<Error> first_error;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  SceneWatch watch;
  if (!options.family.empty()) watch.wanted = [&](const std::string& family) { return family == options.family; };
  for (const RunRecord& run : runs) {
    const std::string data = options.data.empty() ? run.data_folder : options.data.string();
    if (!seen.insert({run.suite_text, run.suite_folder, data}).second) continue;
    CONEBENCH_TRY(auto suite, parse_suite(run.suite_text, run.suite_name, CodeInSuite::leave_out, options.scenes));
    suite.folder = run.suite_folder;
    watch.make = isolated_samples(suite.limits, nullptr);
    auto sources = list_sources(suite, data, options.environment, options.cache, watch);
    if (!sources) {
      if (!first_error) first_error = sources.error();
      continue;
    }
    for (auto& source : *sources) {
      // Samples were once named by their file.
      problems.sources_[(source.file.parent_path().filename() / source.file.filename()).generic_string()].push_back(
          source);
      problems.sources_[source.source].push_back(std::move(source));
    }
  }
  if (problems.sources_.empty() && first_error) return *first_error;
  return problems;
}

Result<std::vector<ContactProblem>> StoredProblems::load(const ProblemRecord& record) const {
  std::vector<std::string> names = record.copies;
  names.insert(names.begin(), record.source);
  std::optional<Error> failed;
  for (const std::string& name : names) {
    const auto found = sources_.find(name);
    if (found == sources_.end()) continue;
    for (const ProblemSource& source : found->second) {
      auto members = load_members(source, options_.cache, true);
      if (members && are_called(*members, record.hash)) return members;
      if (failed) continue;
      failed = members ? Error{ErrorCode::bad_input, name + " is another problem now than when it was solved"}
                       : members.error();
    }
  }
  if (failed) return *failed;
  return Error{ErrorCode::bad_input, record.source + " is not there; give its folder with --data"};
}

}  // namespace conebench
