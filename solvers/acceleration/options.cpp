#include "solvers/acceleration/options.hpp"

#include <algorithm>

namespace conebench {

void declare_acceleration(OptionBinder& bind, AccelerationOptions& o, const std::vector<std::string>& methods,
                          const std::string& doc) {
  bind.choice("acceleration", o.method, methods, doc);
  bind.integer("capacity", o.capacity,
               {.minimum = 1, .maximum = 100, .doc = "acceleration=anderson: differences that it keeps"});
  bind.real("safeguard", o.safeguard,
            {.minimum = 0.01,
             .maximum = 1e12,
             .scale = OptionScale::logarithmic,
             .doc = "acceleration=anderson: an extrapolated point whose residual is more than this times the least "
                    "before is given up for the plain step"});
}

SolverRow with_acceleration_left_out(SolverRow row) {
  const OptionValue none = std::string("none"), anderson = std::string("anderson");
  const auto spec = std::ranges::find(row.options, "acceleration", &OptionSpec::name);
  const bool none_by_default = spec != row.options.end() && spec->default_value == none;
  row.effective_options = [=, effective = row.effective_options](const OptionValues& values) {
    auto all = effective(values);
    if (!all) return all;
    const OptionValue method = all->at("acceleration");
    if (method == none && none_by_default) all->erase("acceleration");
    if (method != anderson) {
      all->erase("capacity");
      all->erase("safeguard");
    }
    return all;
  };
  return row;
}

}  // namespace conebench
