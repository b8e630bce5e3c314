#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runners/execute/cell_run.hpp"
#include "store/records.hpp"

namespace conebench {

/// All that the solving process can report of its cell. Foreign code may run in that process and write every bit of it.
/// So run_of makes the record from the request and from these fields only: no judgement, round or doubt comes from the
/// process. The judge measures λ.
struct CellClaims : CellClaim, CellTiming {
  CellStatus status = CellStatus::unknown;
  std::string reason;
  UsedParts used = UsedParts::unknown;
  double judge_s = 0.0;  ///< of checks of the verdict
  std::optional<double> cpu_share;
  std::optional<std::int64_t> switches;
  double busy_s = 0.0, min_probe_s = 0.0;
  Decision decision = Decision::keep_going;
  std::int64_t stopped_at = -1, checks = 0;
  std::string trace;
  std::vector<double> points;  ///< values_of_trace()
  std::vector<double> reaction;
};

CellClaims claims_of(const CellRun& run);

/// The claimed run, not judged. nullopt for claims that no healthy process makes: a status that only the runner gives,
/// an answer of another length than `rows`, no answer though the solver returned, impossible times (a total below its
/// parts) or impossible counts.
std::optional<CellRun> run_of(const CellClaims& claims, const CellRequest& request, std::size_t rows);

}  // namespace conebench
