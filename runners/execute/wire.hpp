#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runners/execute/claims.hpp"
#include "runners/execute/condensation_cost.hpp"
#include "runners/plan/problem_survey.hpp"
#include "store/records.hpp"

namespace conebench {

/// Messages between the runner, its workers and their children. Both ends are the same executable, so the layout needs
/// no version. A checksum reveals what a crashing process wrote.
enum class FrameKind : std::uint32_t {
  claims = 1,
  surveyed,
  loaded,
  cell_request,
  cell_done,
  simulated,
  ready,  ///< a process that confirms a time waits for the start; no payload
  certified,
  survey_request,
  problem_request,
  // Between builds (build_protocol.hpp): these numbers and the frame's layout must not change.
  greeting = 64,
  build_order = 65,
  build_reply = 66
};

struct Frame {
  FrameKind kind{};
  std::string payload;
};

/// Header (magic, kind, length, checksum) and payload.
std::string encode_frame(FrameKind kind, std::string_view payload);

/// Cuts frames out of a stream of bytes.
class FrameBuffer {
 public:
  void append(const char* bytes, std::size_t count) { bytes_.append(bytes, count); }
  /// Appends what can be read from a socket without waiting. False at the end of the stream.
  bool fill_from(int descriptor);
  /// The next whole frame. nullopt: more bytes are needed, or the stream is garbled (see broken()).
  std::optional<Frame> next();
  bool broken() const { return broken_; }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string bytes_;
  bool broken_ = false;
};

/// Waits for the next frame from a socket. nullopt: the other end is closed, or the stream is garbled.
std::optional<Frame> wait_for_frame(FrameBuffer& received, int descriptor);

/// A cell to run.
struct CellOrder {
  std::uint64_t cell = 0;          ///< index in the plan
  std::vector<double> start = {};  ///< another cell's answer λ to start from; empty: 0
  double min_probe_s = 0.0;        ///< see CellRequest
  std::string note = {};           ///< for the record's reason: why it starts from 0 instead of another cell's answer
};

/// A worker's report of a cell.
struct CellReport {
  std::uint64_t cell = 0;  ///< index in the plan
  CellRecord record;
  double busy_s = 0.0;
  double min_probe_s = 0.0;            ///< see CellRun
  bool terminated_externally = false;  ///< see CellRun; the record is not to be stored
  std::string trace = {};              ///< see CellRun
};

/// A problem to load.
struct ProblemOrder {
  std::uint64_t problem = 0;  ///< index in the plan, or in what is surveyed
  bool costs_known = false;   ///< CondensationCost has been measured
};

/// A problem that a worker has loaded to solve on, or why it could not.
struct LoadReport {
  std::string hash;
  std::string error;
  bool killed = false;    ///< the process that read it was terminated externally
  CondensationCost cost;  ///< where measured
};

/// How a simulation in a process of its own ended.
struct SimulationReport {
  int error = -1;  ///< an ErrorCode; −1: none, and its samples are listed in its folder
  std::string message;
};

/// Result of the search for a proof that a problem has no solution.
struct CertificateReport {
  std::string hash;  ///< of the loaded problem; empty: it could not be loaded
  FeasibilityRecord found;
};

std::string encode(const SimulationReport& report);
std::string encode(const CellClaims& claims);
std::string encode(const CertificateReport& report);
std::string encode(const SurveyedProblem& surveyed);
std::string encode(const LoadReport& report);
std::string encode(const CellReport& report);
std::string encode(const CellOrder& order);
std::string encode(const ProblemOrder& order);

/// nullopt: no encode() made these bytes.
std::optional<CellClaims> decode_claims(std::string_view bytes);
std::optional<SurveyedProblem> decode_surveyed(std::string_view bytes);
std::optional<LoadReport> decode_load_report(std::string_view bytes);
std::optional<CellReport> decode_cell_report(std::string_view bytes);
std::optional<SimulationReport> decode_simulation_report(std::string_view bytes);
std::optional<CertificateReport> decode_certificate_report(std::string_view bytes);
std::optional<CellOrder> decode_cell_order(std::string_view bytes);
std::optional<ProblemOrder> decode_problem_order(std::string_view bytes);

}  // namespace conebench
