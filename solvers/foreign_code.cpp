#include "solvers/foreign_code.hpp"

#include <map>
#include <utility>

namespace conebench {

namespace {

std::map<std::string, ForeignRun>& runs() {
  static std::map<std::string, ForeignRun> all;
  return all;
}

}  // namespace

const ForeignRun& foreign_run(const std::string& id) {
  static const ForeignRun none;
  const auto found = runs().find(id);
  return found == runs().end() ? none : found->second;
}

void set_foreign_run(const std::string& id, ForeignRun run) { runs().insert_or_assign(id, std::move(run)); }

}  // namespace conebench
