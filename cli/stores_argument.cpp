#include "cli/stores_argument.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/output.hpp"
#include "reports/text.hpp"
#include "runners/plan/peer_programs.hpp"
#include "solvers/registry.hpp"
#include "store/merge.hpp"
#include "store/store.hpp"
#include "store/suite_scope.hpp"

namespace conebench::cli {

Result<StoreContents> read_joined(const std::vector<std::string>& stores, bool all_cells) {
  CONEBENCH_CHECK(check_named_once(std::vector<std::filesystem::path>(stores.begin(), stores.end())));
  std::vector<StoreContents> read;
  for (const auto& file : stores) {
    CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
    CONEBENCH_TRY(auto contents, store.read());
    read.push_back(all_cells ? std::move(contents) : present_contents(std::move(contents)));
  }
  CONEBENCH_CHECK(check_disjoint(read, stores));
  return join_contents(std::move(read));
}

UnsolvedList unsolved_list(const std::vector<std::string>& stores) {
  UnsolvedList list;
  list.colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  list.columns = static_cast<std::size_t>(output_columns());
  list.command = "conebench report";
  for (const std::string& store : stores) list.command += " " + reports::shell(store);
  list.command += " --failed";
  if (stores.size() == 1) list.explain = "conebench explain " + reports::shell(stores.front());
  return list;
}

std::set<std::string> public_solvers() {
  std::set<std::string> names;
  for (const PeerProgram& peer : peer_programs()) names.insert(peer.id);
  for (const SolverRow& row : solver_catalogue()) {
    if (!row.content_hash.empty()) continue;
    names.insert(row.info.id);
    for (const OptionSpec& option : row.all_options()) names.insert(option.choices.begin(), option.choices.end());
  }
  return names;
}

}  // namespace conebench::cli
