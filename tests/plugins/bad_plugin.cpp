// A plug-in on solver_plugin.hpp that goes wrong on request, by its option `mode`.
#include <conebench/solver_plugin.hpp>

#include <stdexcept>

namespace {

using namespace conebench::plugin;

struct BadOptions {
  std::string mode = "none";
  long count = 3;
  bool loud = true;
};

void declare_options(OptionBinder& bind, BadOptions& options) {
  static const char* const modes[] = {"none", "throw-in-prepare", "throw-in-solve", "refuse", nullptr};
  bind.choice("mode", options.mode, modes, "what goes wrong");
  bind.integer("count", options.count, {.minimum = 1, .maximum = 9, .doc = "an integer"});
  bind.flag("loud", options.loud, "a flag");
}

class Bad {
 public:
  explicit Bad(const BadOptions& options) : options_(options) {}
  std::optional<std::string> unsupported_reason(Problem) const {
    if (options_.mode == "refuse") return "not this one";
    return std::nullopt;
  }
  std::optional<std::string> prepare(Problem problem) {
    if (options_.mode == "throw-in-prepare") throw std::runtime_error("no set-up today");
    rows_ = problem.rows();
    return std::nullopt;
  }
  long rows() const { return rows_; }
  Summary solve(std::span<const double>, const StopRule&, Monitor&, std::span<double>) {
    if (options_.mode == "throw-in-solve") throw std::runtime_error("no answer today");
    return {};
  }

 private:
  BadOptions options_;
  long rows_ = 0;
};

}  // namespace

CONEBENCH_PLUGIN(row<Bad, BadOptions>({.id = "BAD-CPP", .name = "Goes wrong on request"}))

const conebench_peer* conebench_plugin_peer(size_t) {
  static const conebench_peer peer = {"1.2", "2024-05-06", nullptr};
  return &peer;
}
