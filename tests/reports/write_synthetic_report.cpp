// write_synthetic_report small|others|grids|wide|LARGE_PROBLEMS OUT (others: small without own methods; wide: 50
// configurations): a report of a synthetic store, for the tests that need files. write_synthetic_report since OUT: a
// report of a night that says what changed since the night before. write_synthetic_report compare OUT: a comparison of
// two synthetic nights. write_synthetic_report store PROBLEMS NIGHT OUT.sqlite [SHARDS]: a night as a store, 30 cells a
// problem; with SHARDS as OUT.sqlite.K, each with every SHARDS-th cell.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/content_address.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/report.hpp"
#include "reports/write_files.hpp"
#include "store/store.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace {

using namespace conebench;

int failed(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 3;
}

int write_comparison(const std::string& folder) {
  using namespace conebench::reports;
  const auto night = testing::large_store(60, 8);
  const Comparison comparison =
      compare(make_side("monday.sqlite", testing::another_night(night, 1)),
              make_side("tuesday.sqlite", testing::changed_night(testing::another_night(night, 2))), {});
  const auto written = write_files(folder, {{"index.html", comparison_page(comparison)},
                                            {"comparison.md", comparison_markdown(comparison)},
                                            {"comparison.xml", comparison_junit(comparison)},
                                            {"comparison.json", comparison_json(comparison)}});
  if (!written.ok()) return failed(written.error());
  std::fputs(comparison_terminal(comparison, true).c_str(), stdout);
  return 0;
}

/// Some λ, as long as a real one.
std::vector<double> answer(std::int64_t rows, double scale) {
  std::vector<double> values;
  for (std::int64_t row = 1; row <= rows; ++row) values.push_back(scale / static_cast<double>(row));
  return values;
}

/// A night with hashes as long as real ones.
StoreContents stored_night(std::size_t problems, std::uint64_t night) {
  auto contents = testing::another_night(testing::large_store(problems, 10), night);
  for (ProblemRecord& problem : contents.problems) problem.hash = content_address({problem.hash});
  for (ConfigurationRecord& configuration : contents.configurations)
    configuration.hash = content_address({configuration.hash});
  for (CellRecord& cell : contents.cells) {
    for (std::string* hash : {&cell.key, &cell.problem, &cell.configuration}) *hash = content_address({*hash});
  }
  return testing::as_stored(std::move(contents));
}

/// Those of the cells whose index is `first` plus a multiple of `step`, and the problems that they are of.
int write_cells(StoreContents& contents, const std::string& file, std::size_t first, std::size_t step) {
  auto store = Store::open(file, Store::Mode::read_write);
  if (!store.ok()) return failed(store.error());
  const auto run = store->begin_run(contents.runs.front());
  if (!run.ok()) return failed(run.error());
  std::set<std::string> wanted;
  for (std::size_t i = first; i < contents.cells.size(); i += step) wanted.insert(contents.cells[i].problem);
  std::map<std::string, std::int64_t> contacts;
  for (const ProblemRecord& problem : contents.problems) {
    if (!wanted.contains(problem.hash)) continue;
    contacts[problem.hash] = problem.contacts;
    if (const auto put = store->put_problem(problem); !put.ok()) return failed(put.error());
  }
  for (const ConfigurationRecord& configuration : contents.configurations) {
    if (const auto put = store->put_configuration(configuration); !put.ok()) return failed(put.error());
  }
  for (std::size_t i = first; i < contents.cells.size(); i += step) {
    CellRecord& cell = contents.cells[i];
    if (cell.verdict_value) cell.reaction = answer(3 * contacts[cell.problem], *cell.verdict_value);
    if (const auto put = store->put_cell(cell); !put.ok()) return failed(put.error());
    cell.reaction = {};
  }
  RunRecord record = contents.runs.front();
  record.id = *run;
  if (const auto finished = store->finish_run(record); !finished.ok()) return failed(finished.error());
  return 0;
}

int write_store(std::size_t problems, std::uint64_t night, const std::string& file, std::size_t shards) {
  auto contents = stored_night(problems, night);
  if (shards == 0) return write_cells(contents, file, 0, 1);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const int code = write_cells(contents, file + "." + std::to_string(shard + 1), shard, shards);
    if (code != 0) return code;
  }
  return 0;
}

int write_report_since(const char* folder) {
  const auto night = testing::large_store(30, 8);
  const auto tuesday = testing::changed_night(testing::another_night(night, 2));
  ReportOptions options;
  options.since = changes_since(testing::another_night(night, 1), tuesday);
  const auto written = write_report(tuesday, folder, options);
  return written.ok() ? 0 : failed(written.error());
}

int write_synthetic_report(const std::string& what, const char* folder) {
  const auto store = what == "small"    ? testing::small_store()
                     : what == "others" ? without_own(testing::small_store())
                     : what == "grids"  ? testing::grid_store()
                     : what == "wide"   ? testing::large_store(18, 50)
                                        : testing::large_store(std::strtoul(what.c_str(), nullptr, 10), 12);
  const auto written = write_report(store, folder, {});
  if (!written.ok()) return failed(written.error());
  std::fputs(terminal_ranking(store, true).c_str(), stdout);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (count == 3 && what == "compare") return write_comparison(words[2]);
  if (count == 3 && what == "since") return write_report_since(words[2]);
  if ((count == 5 || count == 6) && what == "store") {
    return write_store(std::strtoul(words[2], nullptr, 10), std::strtoul(words[3], nullptr, 10), words[4],
                       count == 6 ? std::strtoul(words[5], nullptr, 10) : 0);
  }
  return count == 3 ? write_synthetic_report(what, words[2]) : 2;
}
