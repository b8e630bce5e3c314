#include "cli/grid_argument.hpp"

#include <fmt/format.h>

#include "base/option_parsing.hpp"

namespace conebench::cli {

Result<std::map<std::string, std::vector<OptionValue>>> parse_grid(const std::vector<std::string>& texts,
                                                                   const SolverRow& row) {
  std::map<std::string, std::vector<OptionValue>> axes;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return Error{ErrorCode::wrong_usage, fmt::format("--grid {}: must be option=value,value,…", text)};
    }
    const std::string option = text.substr(0, equals);
    if (axes.contains(option)) {
      return Error{ErrorCode::wrong_usage, fmt::format("--grid {}: option {} is given twice", text, option)};
    }
    std::string rest = text.substr(equals + 1) + ",";
    for (auto comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
      const std::vector<std::string> word{option + "=" + rest.substr(0, comma)};
      CONEBENCH_TRY(const auto value,
                    parse_options(word, row.all_options(), row.info.id, "").within(fmt::format("--grid {}", text)));
      axes[option].push_back(value.at(option));
      rest.erase(0, comma + 1);
    }
  }
  return axes;
}

}  // namespace conebench::cli
