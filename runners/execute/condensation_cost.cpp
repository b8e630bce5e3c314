#include "runners/execute/condensation_cost.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text_file.hpp"
#include "metrics/statistics.hpp"
#include "runners/execute/timing.hpp"

namespace conebench {

namespace {

constexpr int repeats = 3;
/// What takes longer is measured once: three factorizations of an elastic body would outlast its solve.
constexpr double seconds_worth_repeating = 2.0;

template <class Work>
double seconds_of(Work work) {
  const double begin = processor_seconds();
  work();
  return processor_seconds() - begin;
}

/// `first`: how long it took once already.
template <class Work>
double median_of(double first, Work work) {
  std::vector<double> times = {first};
  while (times.size() < repeats && first < seconds_worth_repeating) times.push_back(seconds_of(work));
  return *median(times);
}

std::filesystem::path file_of(const ContactProblem& problem, const std::filesystem::path& folder) {
  return folder / ("diagonal-" + problem.content_hash() + ".bin");
}

/// What the file holds behind the checksum of it all, in this machine's order of bytes: another's has another checksum.
std::vector<double> contents_of(double seconds, const std::vector<double>& values) {
  std::vector<double> contents = {seconds};
  contents.insert(contents.end(), values.begin(), values.end());
  return contents;
}

XXH64_hash_t checksum_of(const std::vector<double>& contents) {
  return XXH3_64bits(contents.data(), contents.size() * sizeof(double));
}

std::optional<double> read_diagonal(const ContactProblem& problem, const std::filesystem::path& folder) {
  DiagonalBlocks blocks(problem.cones());
  std::vector<double> contents(blocks.values().size() + 1);
  const std::size_t bytes = contents.size() * sizeof(double);
  const auto text = read_text_file(file_of(problem, folder), bytes + sizeof(XXH64_hash_t));
  if (!text || text->size() != bytes + sizeof(XXH64_hash_t)) return std::nullopt;
  XXH64_hash_t checksum = 0;
  std::memcpy(&checksum, text->data(), sizeof checksum);
  std::memcpy(contents.data(), text->data() + sizeof checksum, bytes);
  if (checksum != checksum_of(contents)) return std::nullopt;
  if (blocks.count() > 0) std::copy(contents.begin() + 1, contents.end(), blocks.values(0));
  if (!problem.take_diagonal(std::move(blocks))) return std::nullopt;
  return contents.front();
}

void write_diagonal(const ContactProblem& problem, double seconds, const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const std::vector<double> contents = contents_of(seconds, problem.diagonal().values());
  const XXH64_hash_t checksum = checksum_of(contents);
  std::string bytes(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  bytes.append(reinterpret_cast<const char*>(contents.data()), contents.size() * sizeof(double));
  static_cast<void>(write_text_file(file_of(problem, folder), bytes));  // without it, it is made again
}

}  // namespace

std::optional<double> seconds_of_use(const CondensationCost& cost, UsedParts used) {
  if (!cost.factor_s || used == UsedParts::unknown) return std::nullopt;
  if (used == UsedParts::primal || used == UsedParts::none) return 0.0;
  const auto& more = used == UsedParts::delassus   ? cost.assemble_s
                     : used == UsedParts::products ? std::optional(0.0)
                                                   : cost.diagonal_s;
  return more ? std::optional(*cost.factor_s + *more) : std::nullopt;
}

std::optional<double> make_diagonal(const ContactProblem& problem, const std::filesystem::path& folder) {
  if (problem.condenses_sparsely()) return std::nullopt;
  if (const auto kept = read_diagonal(problem, folder)) return kept;
  const double seconds = seconds_of([&] { problem.diagonal(); });
  write_diagonal(problem, seconds, folder);
  return seconds;
}

CondensationCost measure_condensation(const ContactProblem& problem, bool matrix, std::optional<double> diagonal_s) {
  CondensationCost cost;
  const PrimalForm& primal = *problem.primal();
  const ConeProduct& cones = problem.cones();
  std::optional<Result<std::shared_ptr<const DelassusOperator>>> made;
  const auto factor = [&] { made.emplace(make_factored_delassus(primal.mass, primal.jacobian)); };
  cost.factor_s = median_of(seconds_of(factor), factor);
  if (!*made) return cost;
  const DelassusOperator& product = ***made;
  const auto diagonal = [&] { static_cast<void>(product.diagonal(cones)); };
  cost.diagonal_s = diagonal_s ? diagonal_s : median_of(seconds_of(diagonal), diagonal);
  if (!matrix) return cost;
  const auto assemble = [&] { static_cast<void>(product.assemble(cones)); };
  cost.assemble_s = median_of(seconds_of([&] { problem.blocks(); }), assemble);
  return cost;
}

}  // namespace conebench
