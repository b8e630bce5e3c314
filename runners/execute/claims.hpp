#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runners/execute/cell_run.hpp"
#include "store/records.hpp"

namespace conebench {

/// All that a process that solves can say of its cell. Foreign code may run in that process and write every bit of
/// this, so it holds no verdict, no residual and nothing of the request: the record is made from it and the request
/// (run_of), and the judge looks at λ.
struct CellClaims {
  CellStatus status = CellStatus::unknown;
  std::string reason;
  bool claimed = false;
  std::string stage;
  std::optional<double> own_residual;
  bool solved_symmetrised = false;
  double compliance_share = 0.0;
  UsedParts used = UsedParts::unknown;
  std::int64_t iterations = 0, factorizations = 0, operator_products = 0;
  TimingRecord setup, solve, total;
  std::optional<double> wall_s, own_setup_s, own_solve_s;
  std::int64_t repeats = 0;
  double judge_s = 0.0;  ///< of looks at the verdict
  std::optional<double> cpu_share;
  std::optional<std::int64_t> switches;
  double busy_s = 0.0, min_probe_s = 0.0;
  Decision decision = Decision::keep_going;
  std::int64_t stopped_at = -1, checks = 0;
  std::string trace;
  std::vector<double> reaction;
};

template <class Archive, class Claims>
void transfer_claims(Archive& archive, Claims& claims) {
  archive(claims.status, claims.reason, claims.claimed, claims.stage, claims.own_residual, claims.solved_symmetrised,
          claims.compliance_share, claims.used, claims.iterations, claims.factorizations, claims.operator_products);
  for (auto* timing : {&claims.setup, &claims.solve, &claims.total}) {
    archive(timing->cold, timing->minimum, timing->median, timing->deviation);
  }
  archive(claims.wall_s, claims.own_setup_s, claims.own_solve_s, claims.repeats, claims.judge_s, claims.cpu_share,
          claims.switches, claims.busy_s, claims.min_probe_s, claims.decision, claims.stopped_at, claims.checks,
          claims.trace, claims.reaction);
}

CellClaims claims_of(const CellRun& run);

/// The run that is claimed, not judged. nullopt for claims that no healthy process makes: a status that only the runner
/// gives, an answer of another length than `rows`, none where the solver is said to have come back, times that no runs
/// can have (the total below its parts, say) or counts that can't be.
std::optional<CellRun> run_of(const CellClaims& claims, const CellRequest& request, std::size_t rows);

}  // namespace conebench
