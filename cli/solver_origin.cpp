#include "cli/solver_origin.hpp"

#include <nlohmann/json.hpp>

namespace conebench::cli {

namespace {

std::string kind_of(const SolverRow& row) {
  const bool foreign = row.info.origin == Origin::foreign;
  if (foreign && row.foreign == conebench::ForeignCode::plugin) return "plug-in";
  if (foreign && row.foreign != conebench::ForeignCode::none) return "program";
  switch (row.info.origin) {
    case Origin::own: return "by Conebench's authors";
    case Origin::paper: return "a paper's";
    case Origin::peer: return "peer";
    case Origin::foreign: return "foreign";
  }
  return "unknown";
}

}  // namespace

void add_origin(nlohmann::json& object, const SolverInfo& info) {
  object["origin"] = to_string(info.origin);
  object["peer_version"] = info.peer.version;
  object["peer_released"] = info.peer.released;
  object["peer_build"] = info.peer.build;
  object["checks"] = checks_are_free(info) ? "free" : "paid";
}

std::string origin_text(const SolverRow& row) {
  const PeerBuild& peer = row.info.peer;
  std::string text = kind_of(row);
  if (!peer.version.empty()) text += " " + peer.version;
  if (!peer.released.empty()) text += " (" + peer.released + ")";
  return text;
}

}  // namespace conebench::cli
