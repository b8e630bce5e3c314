#include "runners/plan/peer_programs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/glob.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "solvers/registry.hpp"

namespace conebench {

extern const std::string_view peers_json;  // of peers_json.cpp.in

namespace {

namespace fs = std::filesystem;

/// The peer's module, and what modules share.
std::vector<fs::path> code_of(const PeerProgram& peer, const fs::path& folder) {
  std::vector<fs::path> files = {folder / (peer.module + ".py")};
  if (const auto shared = glob_files(folder, "_[!_]*.py")) {
    for (const fs::path& file : *shared) files.push_back(folder / file);
  }
  return files;
}

Result<void> add(const std::string& id) {
  const PeerProgram& peer = *find_peer_program(id);
  if (const auto package = python_package()) {
    const fs::path folder = *package / "peers";
    return add_peer(peer, {peer_python(), folder / "__main__.py", id}, code_of(peer, folder));
  }
  return add_peer(peer, {peer_python(), "-m", "conebench.peers", id}, {});
}

std::vector<PeerProgram> read_table() {
  std::vector<PeerProgram> table;
  const auto rows = nlohmann::ordered_json::parse(peers_json);
  for (const auto& [id, row] : rows.items()) {
    PeerProgram peer{id, row.at("module"), row.at("extra"), {}};
    for (const auto& [package, module] : row.at("packages").items()) peer.packages.push_back(package);
    table.push_back(std::move(peer));
  }
  return table;
}

}  // namespace

std::string peer_python() {
  const char* const named = std::getenv("CONEBENCH_PYTHON");
  return named == nullptr || *named == '\0' ? "python3" : named;
}

std::optional<fs::path> python_package() {
  std::error_code failed;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", failed).parent_path().parent_path();
  std::vector<fs::path> folders = {prefix, prefix / "python/conebench"};
  if (const auto files = glob_files(prefix, "lib/python3*/*-packages/conebench/peers/__main__.py")) {
    for (const fs::path& file : *files) folders.push_back(prefix / file.parent_path().parent_path());
  }
  const auto found = std::ranges::find_if(
      folders, [&](const fs::path& folder) { return fs::is_regular_file(folder / "peers/__main__.py", failed); });
  return found == folders.end() ? std::nullopt : std::optional(*found);
}

const std::vector<PeerProgram>& peer_programs() {
  static const std::vector<PeerProgram> table = read_table();
  return table;
}

const PeerProgram* find_peer_program(const std::string& id) {
  const auto found = std::ranges::find(peer_programs(), id, &PeerProgram::id);
  return found == peer_programs().end() ? nullptr : &*found;
}

void offer_peer_programs() {
  SolverOffer offer{{}, add};
  for (const PeerProgram& peer : peer_programs()) offer.ids.push_back(peer.id);
  offer_solvers(std::move(offer));
}

}  // namespace conebench
