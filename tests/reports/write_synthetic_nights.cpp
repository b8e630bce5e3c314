#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "reports/history/history.hpp"
#include "store/store.hpp"
#include "tests/reports/synthetic_nights.hpp"

/// write_synthetic_nights DIR NIGHTS PROBLEMS CONFIGURATIONS TOLERANCES: stores of nights, S2 slower by 3 % from two
/// thirds on, and their history in DIR/history.
int main(int argc, char** argv) {
  using namespace conebench;
  if (argc != 6) {
    std::cerr << "usage: write_synthetic_nights DIR NIGHTS PROBLEMS CONFIGURATIONS TOLERANCES\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const auto number = [&](int i) { return std::strtoul(argv[i], nullptr, 10); };
  testing::NightPlan plan{.problems = number(3), .configurations = number(4), .tolerances = {}};
  plan.slower_from = 2 * number(2) / 3;
  for (unsigned long i = 0; i < number(5); ++i)
    plan.tolerances.push_back(std::pow(10.0, -4.0 - static_cast<double>(i)));
  std::filesystem::create_directories(folder);
  for (std::size_t night = 0; night < number(2); ++night) {
    const StoreContents contents = testing::synthetic_night(plan, night);
    const std::string name = contents.runs[0].started_utc.substr(0, 10) + ".sqlite";
    auto store = Store::open(folder / name, Store::Mode::read_write);
    if (!store || !store->begin_run(contents.runs[0])) return 1;
    for (const auto& problem : contents.problems) {
      if (!store->put_problem(problem)) return 1;
    }
    for (const auto& configuration : contents.configurations) {
      if (!store->put_configuration(configuration)) return 1;
    }
    for (auto cell : contents.cells) {
      cell.reaction = {0.0};  // without an answer nothing is solved
      if (!store->put_cell(cell)) return 1;
    }
  }
  const auto history = reports::read_history({folder});
  if (!history || !reports::write_history(*history, folder / "history")) return 1;
}
