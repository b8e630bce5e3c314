#include "runners/execute/wire.hpp"

#include <sys/socket.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <map>
#include <span>

#include "runners/store/record_fields.hpp"

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

/// Appends plain values; also a visitor for record_fields.hpp.
class Packer {
 public:
  std::string take() { return std::move(bytes_); }

  template <class Value>
  requires std::is_arithmetic_v<Value>
  void put(Value value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  template <class Value>
  requires std::is_arithmetic_v<Value>
  void put(const std::vector<Value>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  }
  void put(const std::vector<std::string>& texts) {
    put(static_cast<std::uint64_t>(texts.size()));
    for (const auto& text : texts) put(text);
  }
  void put(const std::map<std::string, double>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    for (const auto& [name, value] : values) {
      put(name);
      put(value);
    }
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) put(*value);
  }

  template <class Value>
  void operator()(const char*, const Value& value) {
    put(value);
  }
  template <class Fields>
  void group(const char*, Fields fields) {
    fields(*this);
  }

 private:
  std::string bytes_;
};

/// Reads what Packer wrote. Too few bytes give zeros and ok() == false.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool done() const { return ok_ && bytes_.empty(); }

  template <class Value>
  requires std::is_arithmetic_v<Value>
  void get(Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      char byte = 0;
      take(&byte, 1);
      value = byte != 0;
    } else {
      take(&value, sizeof value);
    }
  }
  void get(std::string& text) {
    text.assign(count(1), '\0');
    take(text.data(), text.size());
  }
  template <class Value>
  requires std::is_arithmetic_v<Value>
  void get(std::vector<Value>& values) {
    values.assign(count(sizeof(Value)), Value{});
    take(values.data(), values.size() * sizeof(Value));
  }
  void get(std::vector<std::string>& texts) {
    texts.assign(count(sizeof(std::uint64_t)), {});
    for (auto& text : texts) get(text);
  }
  void get(std::map<std::string, double>& values) {
    values.clear();
    for (std::size_t left = count(sizeof(std::uint64_t) + sizeof(double)); left > 0 && ok_; --left) {
      std::string name;
      get(name);
      get(values[name]);
    }
  }
  template <class Value>
  void get(std::optional<Value>& value) {
    bool given = false;
    get(given);
    if (given) get(value.emplace());
  }

  template <class Value>
  void operator()(const char*, Value& value) {
    get(value);
  }
  template <class Fields>
  void group(const char*, Fields fields) {
    fields(*this);
  }

 private:
  void take(void* target, std::size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_ || size == 0) return;
    std::memcpy(target, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  /// A length that can be true.
  std::size_t count(std::size_t size_of_one) {
    std::uint64_t number = 0;
    get(number);
    ok_ = ok_ && number <= bytes_.size() / size_of_one;
    return ok_ ? static_cast<std::size_t>(number) : 0;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

void pack_sequence(Packer& packer, const SurveyedProblem& surveyed) {
  packer.put(surveyed.place.has_value());
  if (surveyed.place) {
    packer.put(surveyed.place->sequence);
    packer.put(surveyed.place->step);
  }
  const ImpulseLayout& layout = surveyed.layout;
  for (const Index count : {layout.joints, layout.limits, layout.contacts}) packer.put(count);
  packer.put(layout.contact_dimension);
  packer.put(layout.contact_identities);
  packer.put(layout.limit_identities);
  packer.put(layout.contact_frames);
}

void unpack_sequence(Unpacker& unpacker, SurveyedProblem& surveyed) {
  bool placed = false;
  unpacker.get(placed);
  if (placed) {
    unpacker.get(surveyed.place.emplace().sequence);
    unpacker.get(surveyed.place->step);
  }
  ImpulseLayout& layout = surveyed.layout;
  for (Index* count : {&layout.joints, &layout.limits, &layout.contacts}) unpacker.get(*count);
  unpacker.get(layout.contact_dimension);
  unpacker.get(layout.contact_identities);
  unpacker.get(layout.limit_identities);
  unpacker.get(layout.contact_frames);
}

void pack_record(Packer& packer, const CellRecord& record) {
  visit_cell(packer, record);
  packer.put(static_cast<std::uint64_t>(record.residuals.size()));
  for (const auto& [name, residual] : record.residuals) {
    packer.put(name);
    visit_residual(packer, residual);
  }
  packer.put(static_cast<std::uint64_t>(record.timed_rounds.size()));
  for (const auto& round : record.timed_rounds) visit_round(packer, round);
  packer.put(record.reaction);
}

void unpack_record(Unpacker& unpacker, CellRecord& record) {
  visit_cell(unpacker, record);
  std::uint64_t residuals = 0;
  unpacker.get(residuals);
  for (std::uint64_t i = 0; i < residuals && unpacker.ok(); ++i) {
    std::string name;
    unpacker.get(name);
    ResidualRecord residual;
    visit_residual(unpacker, residual);
    record.residuals.set(name, residual);
  }
  std::uint64_t rounds = 0;
  unpacker.get(rounds);
  for (std::uint64_t i = 0; i < rounds && unpacker.ok(); ++i) {
    visit_round(unpacker, record.timed_rounds.emplace_back());
  }
  unpacker.get(record.reaction);
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

std::string encode(const CellRun& run) {
  Packer packer;
  pack_record(packer, run.record);
  packer.put(run.busy_s);
  packer.put(run.trace);
  packer.put(run.least_probe_s);
  return packer.take();
}

std::optional<CellRun> decode_cell_run(std::string_view bytes) {
  return decode_with<CellRun>(bytes, [](Unpacker& unpacker, CellRun& run) {
    unpack_record(unpacker, run.record);
    unpacker.get(run.busy_s);
    unpacker.get(run.trace);
    unpacker.get(run.least_probe_s);
  });
}

std::string encode(const SurveyedProblem& surveyed) {
  Packer packer;
  visit_problem(packer, surveyed.record);
  packer.put(surveyed.loaded);
  packer.put(surveyed.unsupported);
  packer.put(surveyed.killed);
  packer.put(surveyed.guess_hash);
  pack_sequence(packer, surveyed);
  for (const double value : surveyed.signature.values) packer.put(value);
  for (const double value : surveyed.signature.magnitudes) packer.put(value);
  return packer.take();
}

std::optional<SurveyedProblem> decode_surveyed(std::string_view bytes) {
  return decode_with<SurveyedProblem>(bytes, [](Unpacker& unpacker, SurveyedProblem& surveyed) {
    visit_problem(unpacker, surveyed.record);
    unpacker.get(surveyed.loaded);
    unpacker.get(surveyed.unsupported);
    unpacker.get(surveyed.killed);
    unpacker.get(surveyed.guess_hash);
    unpack_sequence(unpacker, surveyed);
    for (double& value : surveyed.signature.values) unpacker.get(value);
    for (double& value : surveyed.signature.magnitudes) unpacker.get(value);
  });
}

std::string encode(const LoadReport& report) {
  Packer packer;
  packer.put(report.hash);
  packer.put(report.error);
  packer.put(report.killed);
  return packer.take();
}

std::optional<LoadReport> decode_load_report(std::string_view bytes) {
  return decode_with<LoadReport>(bytes, [](Unpacker& unpacker, LoadReport& report) {
    unpacker.get(report.hash);
    unpacker.get(report.error);
    unpacker.get(report.killed);
  });
}

std::string encode(const SimulationReport& report) {
  Packer packer;
  packer.put(report.error);
  packer.put(report.message);
  return packer.take();
}

std::optional<SimulationReport> decode_simulation_report(std::string_view bytes) {
  return decode_with<SimulationReport>(bytes, [](Unpacker& unpacker, SimulationReport& report) {
    unpacker.get(report.error);
    unpacker.get(report.message);
  });
}

std::string encode(const CellReport& report) {
  Packer packer;
  packer.put(report.cell);
  pack_record(packer, report.record);
  packer.put(report.busy_s);
  packer.put(report.least_probe_s);
  packer.put(report.killed_from_outside);
  return packer.take();
}

std::optional<CellReport> decode_cell_report(std::string_view bytes) {
  return decode_with<CellReport>(bytes, [](Unpacker& unpacker, CellReport& report) {
    unpacker.get(report.cell);
    unpack_record(unpacker, report.record);
    unpacker.get(report.busy_s);
    unpacker.get(report.least_probe_s);
    unpacker.get(report.killed_from_outside);
  });
}

std::string encode(const CellOrder& order) {
  Packer packer;
  packer.put(order.cell);
  packer.put(order.start);
  packer.put(order.least_probe_s);
  packer.put(order.note);
  return packer.take();
}

std::optional<CellOrder> decode_cell_order(std::string_view bytes) {
  return decode_with<CellOrder>(bytes, [](Unpacker& unpacker, CellOrder& order) {
    unpacker.get(order.cell);
    unpacker.get(order.start);
    unpacker.get(order.least_probe_s);
    unpacker.get(order.note);
  });
}

}  // namespace conebench
