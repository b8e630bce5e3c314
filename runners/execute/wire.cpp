#include "runners/execute/wire.hpp"

#include <sys/socket.h>
#include <xxhash.h>

#include <array>
#include <cerrno>

#include "base/archive.hpp"

namespace conebench {

namespace {

constexpr std::uint32_t frame_magic = 0x43424e31;  // "CBN1"
/// λ of a hundred million rows would be larger; anything above is nonsense.
constexpr std::uint64_t largest_payload = std::uint64_t{1} << 30;

struct FrameHeader {
  std::uint32_t magic;
  std::uint32_t kind;
  std::uint64_t length;
  std::uint64_t checksum;
};

std::uint64_t checksum_of(std::uint32_t kind, std::string_view payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), kind);
}

template <class Archive, class Surveyed>
void transfer_sequence(Archive& archive, Surveyed& surveyed) {
  bool in_sequence = surveyed.position.has_value();
  archive(in_sequence);
  if constexpr (Archive::reading) {
    if (in_sequence) surveyed.position.emplace();
  }
  if (in_sequence) archive(surveyed.position->sequence, surveyed.position->step);
  auto& layout = surveyed.layout;
  archive(layout.joints, layout.limits, layout.intervals, layout.contacts, layout.contact_dimension, layout.normal,
          layout.contact_rows, layout.normals, layout.shifts, layout.contact_identities, layout.limit_identities,
          layout.contact_frames);
}

void pack_record(Packer& packer, const CellRecord& record) {
  CellRecord::fields(packer, record);
  packer.count(record.residuals.size());
  for (const auto& [name, residual] : record.residuals) {
    packer(name);
    ResidualRecord::fields(packer, residual);
  }
  packer.count(record.timed_rounds.size());
  for (const auto& round : record.timed_rounds) RoundRecord::fields(packer, round);
  packer(record.reaction, values_of_trace(record.trace));
}

void unpack_record(Unpacker& unpacker, CellRecord& record) {
  CellRecord::fields(unpacker, record);
  for (std::size_t left = unpacker.count(); left > 0 && unpacker.ok(); --left) {
    std::string name;
    unpacker(name);
    ResidualRecord residual;
    ResidualRecord::fields(unpacker, residual);
    record.residuals.set(name, residual);
  }
  for (std::size_t left = unpacker.count(); left > 0 && unpacker.ok(); --left) {
    RoundRecord::fields(unpacker, record.timed_rounds.emplace_back());
  }
  std::vector<double> points;
  unpacker(record.reaction, points);
  record.trace = trace_of_values(points).value_or(Trace{});
}

template <class Archive, class Surveyed>
void transfer_surveyed(Archive& archive, Surveyed& surveyed) {
  ProblemRecord::fields(archive, surveyed.record);
  archive(surveyed.loaded, surveyed.unsupported, surveyed.killed, surveyed.guess_hash);
  transfer_sequence(archive, surveyed);
  for (auto& value : surveyed.fingerprint.values) archive(value);
  for (auto& value : surveyed.fingerprint.magnitudes) archive(value);
}

template <class Archive, class Claims>
void transfer_claims(Archive& archive, Claims& claims) {
  CellClaim::fields(archive, claims);
  CellTiming::fields(archive, claims);
  archive(claims.status, claims.reason, claims.used, claims.judge_s, claims.cpu_share, claims.switches, claims.busy_s,
          claims.min_probe_s, claims.decision, claims.stopped_at, claims.checks, claims.trace, claims.points,
          claims.reaction);
}

template <class Archive, class Report>
void transfer_certificate(Archive& archive, Report& report) {
  auto& found = report.found;
  archive(report.hash, found.state, found.margin, found.worst_block, found.certificate, found.verdict_bound);
}

template <class Value, class Read>
std::optional<Value> decode_with(std::string_view bytes, Read read) {
  Unpacker unpacker(bytes);
  Value value;
  read(unpacker, value);
  if (!unpacker.done()) return std::nullopt;
  return value;
}

}  // namespace

std::string encode_frame(FrameKind kind, std::string_view payload) {
  const auto number = static_cast<std::uint32_t>(kind);
  const FrameHeader header{frame_magic, number, payload.size(), checksum_of(number, payload)};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += payload;
  return bytes;
}

bool FrameBuffer::fill_from(int descriptor) {
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t count = recv(descriptor, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count > 0) {
      append(chunk.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
}

std::optional<Frame> FrameBuffer::next() {
  if (broken_ || bytes_.size() < sizeof(FrameHeader)) return std::nullopt;
  FrameHeader header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  broken_ = header.magic != frame_magic || header.length > largest_payload;
  if (broken_ || bytes_.size() - sizeof header < header.length) return std::nullopt;
  Frame frame{static_cast<FrameKind>(header.kind), bytes_.substr(sizeof header, header.length)};
  broken_ = checksum_of(header.kind, frame.payload) != header.checksum;
  if (broken_) return std::nullopt;
  bytes_.erase(0, sizeof header + header.length);
  return frame;
}

std::optional<Frame> wait_for_frame(FrameBuffer& received, int descriptor) {
  for (;;) {
    if (auto frame = received.next()) return frame;
    if (received.broken()) return std::nullopt;
    std::array<char, 4096> chunk{};
    const ssize_t count = recv(descriptor, chunk.data(), chunk.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    received.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

std::string encode(const CellClaims& claims) {
  Packer packer;
  transfer_claims(packer, claims);
  return packer.take();
}

std::optional<CellClaims> decode_claims(std::string_view bytes) {
  return decode_with<CellClaims>(bytes,
                                 [](Unpacker& unpacker, CellClaims& claims) { transfer_claims(unpacker, claims); });
}

std::string encode(const SurveyedProblem& surveyed) {
  Packer packer;
  transfer_surveyed(packer, surveyed);
  return packer.take();
}

std::optional<SurveyedProblem> decode_surveyed(std::string_view bytes) {
  return decode_with<SurveyedProblem>(
      bytes, [](Unpacker& unpacker, SurveyedProblem& surveyed) { transfer_surveyed(unpacker, surveyed); });
}

std::string encode(const LoadReport& report) {
  Packer packer;
  packer(report.hash, report.error, report.killed, report.cost.factor_s, report.cost.assemble_s,
         report.cost.diagonal_s);
  return packer.take();
}

std::optional<LoadReport> decode_load_report(std::string_view bytes) {
  return decode_with<LoadReport>(bytes, [](Unpacker& unpacker, LoadReport& report) {
    unpacker(report.hash, report.error, report.killed, report.cost.factor_s, report.cost.assemble_s,
             report.cost.diagonal_s);
  });
}

std::string encode(const SimulationReport& report) {
  Packer packer;
  packer(report.error, report.message);
  return packer.take();
}

std::optional<SimulationReport> decode_simulation_report(std::string_view bytes) {
  return decode_with<SimulationReport>(
      bytes, [](Unpacker& unpacker, SimulationReport& report) { unpacker(report.error, report.message); });
}

std::string encode(const CertificateReport& report) {
  Packer packer;
  transfer_certificate(packer, report);
  return packer.take();
}

std::optional<CertificateReport> decode_certificate_report(std::string_view bytes) {
  return decode_with<CertificateReport>(
      bytes, [](Unpacker& unpacker, CertificateReport& report) { transfer_certificate(unpacker, report); });
}

std::string encode(const CellReport& report) {
  Packer packer;
  packer(report.cell);
  pack_record(packer, report.record);
  packer(report.busy_s, report.min_probe_s, report.terminated_externally, report.trace);
  return packer.take();
}

std::optional<CellReport> decode_cell_report(std::string_view bytes) {
  return decode_with<CellReport>(bytes, [](Unpacker& unpacker, CellReport& report) {
    unpacker(report.cell);
    unpack_record(unpacker, report.record);
    unpacker(report.busy_s, report.min_probe_s, report.terminated_externally, report.trace);
  });
}

std::string encode(const CellOrder& order) {
  Packer packer;
  packer(order.cell, order.start, order.min_probe_s, order.note);
  return packer.take();
}

std::string encode(const ProblemOrder& order) {
  Packer packer;
  packer(order.problem, order.costs_known);
  return packer.take();
}

std::optional<ProblemOrder> decode_problem_order(std::string_view bytes) {
  return decode_with<ProblemOrder>(
      bytes, [](Unpacker& unpacker, ProblemOrder& order) { unpacker(order.problem, order.costs_known); });
}

std::optional<CellOrder> decode_cell_order(std::string_view bytes) {
  return decode_with<CellOrder>(bytes, [](Unpacker& unpacker, CellOrder& order) {
    unpacker(order.cell, order.start, order.min_probe_s, order.note);
  });
}

}  // namespace conebench
