#include "reports/page_shell.hpp"

#include <fmt/format.h>

#include "reports/page_assets.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// The template with every "{{name}}" replaced by what `value_of` has for the name.
template <class ValueOf>
std::string fill(std::string_view page, ValueOf value_of) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{");
    const std::size_t close = open == std::string_view::npos ? open : page.find("}}", open);
    if (close == std::string_view::npos) return out.append(page);
    out.append(page.substr(0, open));
    out.append(value_of(page.substr(open + 2, close - open - 2)));
    page.remove_prefix(close + 2);
  }
}

std::string links(std::span<const PageSection> sections) {
  std::string out;
  for (const PageSection& one : sections) out += fmt::format("    <a href=\"#{}\">{}</a>\n", one.id, one.label);
  return out;
}

std::string elements(std::span<const PageSection> sections) {
  std::string out;
  for (const PageSection& one : sections) {
    const bool first = &one == sections.data();
    out += fmt::format(
        "  <section id=\"{0}\" {1}></section>\n", one.id,
        first ? fmt::format("aria-label=\"{}\"", one.label) : fmt::format("aria-labelledby=\"{}-title\"", one.id));
  }
  return out;
}

}  // namespace

std::string html_shell(const PageParts& parts) {
  const auto value_of = [&](auto& self, std::string_view name) -> std::string {
    const auto nested = [&](std::string_view asset) {
      return fill(page_asset(asset), [&](std::string_view inner) { return self(self, inner); });
    };
    if (name == "title") return html(parts.title);
    if (name == "second_id") return std::string(parts.sections[1].id);
    if (name == "second_label") return std::string(parts.sections[1].label);
    if (name == "text_files") return std::string(parts.text_files);
    if (name == "links") return links(parts.sections);
    if (name == "sections") return elements(parts.sections);
    if (name == "style") return std::string(page_asset("page.css"));
    if (name == "body") return nested("frame.html");
    if (name == "brand") return nested("brand.html");
    if (name == "data") return script_json(parts.data);
    if (name == "more_data" && !parts.pictures.empty()) {
      return fmt::format("<script type=\"application/json\" id=\"pictures\">{}</script>\n",
                         script_json(parts.pictures));
    }
    if (name == "plotly") return std::string(page_asset("plotly.js"));
    if (name != "scripts") return {};
    std::string all;
    for (const auto script : parts.scripts) all.append(page_asset(script)).append("\n");
    return all;
  };
  return fill(page_asset("page.html"), [&](std::string_view name) { return value_of(value_of, name); });
}

}  // namespace conebench::reports
