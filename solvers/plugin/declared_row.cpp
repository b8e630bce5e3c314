#include "solvers/plugin/declared_row.hpp"

#include <set>
#include <utility>

namespace conebench {

namespace {

/// `values` over the defaults. Errors: as OptionBinder::assign.
Result<OptionValues> over_defaults(const std::string& id, const std::vector<OptionSpec>& specs,
                                   const OptionValues& values) {
  std::vector<OptionValue> fields;
  fields.reserve(specs.size());  // the binder keeps pointers
  OptionBinder binder;
  for (const OptionSpec& spec : specs) {
    OptionValue& field = fields.emplace_back(spec.default_value);
    const OptionBinder::Details details{spec.minimum, spec.maximum, spec.unit, spec.scale, spec.doc};
    if (auto* real = std::get_if<double>(&field)) binder.real(spec.name, *real, details);
    if (auto* integer = std::get_if<long>(&field)) binder.integer(spec.name, *integer, details);
    if (auto* flag = std::get_if<bool>(&field)) binder.flag(spec.name, *flag, spec.doc);
    if (auto* text = std::get_if<std::string>(&field)) binder.choice(spec.name, *text, spec.choices, spec.doc);
  }
  if (auto assigned = binder.assign(values); !assigned) {
    return Error{assigned.error().code, id + ": " + assigned.error().message};
  }
  return binder.effective();
}

}  // namespace

Result<SolverRow> declared_row(SolverInfo info, std::vector<OptionSpec> options, DeclaredFactory factory) {
  OptionValues defaults;
  for (const OptionSpec& spec : options) {
    if (!defaults.emplace(spec.name, spec.default_value).second) {
      return Error{ErrorCode::bad_input, info.id + ": option '" + spec.name + "' is declared twice"};
    }
  }
  if (const auto checked = over_defaults(info.id, options, defaults); !checked) {
    return Error{ErrorCode::bad_input, checked.error().message + ", which is its default"};
  }
  SolverRow row;
  row.info = info;
  row.options = options;
  row.effective_options = [id = info.id, options](const OptionValues& values) {
    return over_defaults(id, options, values);
  };
  row.make = [info, options, factory](const OptionValues& values) -> Result<std::unique_ptr<Solver>> {
    auto all = over_defaults(info.id, options, values);
    if (!all) return all.error();
    return factory(info, *all);
  };
  return row;
}

}  // namespace conebench
