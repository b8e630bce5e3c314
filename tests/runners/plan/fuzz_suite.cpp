#include <cstdint>
#include <cstdlib>
#include <string>

#include "runners/plan/suite.hpp"
#include "simulation/sampled_scenes.hpp"

/// libFuzzer's entry: whatever the text, parse_suite gives a suite or one line of wrong usage; and a suite that it
/// gives has a name that is no path, and is read again from its own text as the same.

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto suite = conebench::parse_suite(text, "folder/fuzzed.json", conebench::simulation::sampled_scenes());
  if (!suite) {
    const conebench::Error& error = suite.error();
    require(error.code == conebench::ErrorCode::wrong_usage || error.code == conebench::ErrorCode::unsupported);
    require(error.message.starts_with("folder/fuzzed.json: ") && error.message.find('\n') == std::string::npos);
    return 0;
  }
  require(!suite->name.empty() && suite->name.find('/') == std::string::npos && suite->name.front() != '.');
  require(!suite->problems.empty() && !suite->tolerances.empty() && !suite->starts.empty());
  std::size_t points = 0;
  for (const auto& entry : suite->problems) points += entry.options.size() * entry.seeds.size();
  require(points <= 100'000);
  const auto again = conebench::parse_suite(suite->text, "folder/fuzzed.json", conebench::simulation::sampled_scenes());
  require(again.ok() && again->name == suite->name && again->solvers.size() == suite->solvers.size());
  return 0;
}
