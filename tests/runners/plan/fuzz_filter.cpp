#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "runners/plan/filter.hpp"

/// libFuzzer's entry: the text before the first line break is a filter, the rest the texts of a cell. Whatever they
/// are, parse gives a filter or one line of wrong usage, and a filter answers; a cell of which nothing is known fits.

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto line_end = std::min(text.find('\n'), text.size());
  const auto filter = conebench::CellFilter::parse(text.substr(0, line_end));
  if (!filter) {
    require(filter.error().code == conebench::ErrorCode::wrong_usage);
    require(filter.error().message.starts_with("--filter: "));
    return 0;
  }
  require(filter->holds({}));
  conebench::FilterSubject subject;
  subject.family = subject.problem = subject.source = subject.kind = subject.category = subject.solver =
      subject.configuration = text.substr(std::min(line_end + 1, text.size()));
  subject.tolerance = 1e-6;
  subject.contacts = static_cast<double>(size);
  static_cast<void>(filter->holds(subject));
  return 0;
}
