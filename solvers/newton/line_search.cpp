#include "solvers/newton/line_search.hpp"

namespace conebench::newton {

void declare_options(OptionBinder& bind, LineSearchOptions& o, const std::vector<std::string>& rules) {
  bind.choice("line_search", o.rule, rules, "how far to go along the Newton direction");
  bind.real("decrease", o.decrease,
            {.minimum = 1e-12, .maximum = 0.5, .doc = "c of Armijo's test, and of Goldstein and Price's first one"});
  bind.real("shrink", o.shrink, {.minimum = 0.01, .maximum = 0.99, .doc = "factor between two trials of Armijo's"});
  bind.integer("trials", o.trials, {.minimum = 1, .maximum = 200, .doc = "most trials of one line search"});
}

}  // namespace conebench::newton
