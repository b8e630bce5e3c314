#include "reports/recording/recording_page.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/page_shell.hpp"

namespace conebench::reports {

namespace {

constexpr std::array<PageSection, 4> recording_sections{
    {{"headline", "Verdict"}, {"summary", "Answers"}, {"charts", "Over the steps"}, {"steps", "Worst steps"}}};
constexpr std::array<std::string_view, 7> recording_scripts{"format.js",  "looks.js",  "widgets.js",  "theme.js",
                                                            "figures.js", "charts.js", "recording.js"};

}  // namespace

std::string recording_page(const nlohmann::json& judged) {
  return html_shell({.title = "Conebench recording: " + judged.value("recording", std::string()),
                     .sections = recording_sections,
                     .text_files = "the tables that `conebench judge RECORDING --answers` prints",
                     .data = judged.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                     .pictures = {},
                     .scripts = recording_scripts});
}

}  // namespace conebench::reports
