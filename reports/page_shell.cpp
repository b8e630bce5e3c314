#include "reports/page_shell.hpp"

#include <fmt/format.h>

#include "reports/packed_text.hpp"
#include "reports/page_assets.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// The template, with what `value` writes for a name in place of every "{{name}}".
template <class WriteValue>
void fill(std::string_view page, const ByteSink& sink, WriteValue value) {
  while (true) {
    const std::size_t open = page.find("{{");
    const std::size_t close = open == std::string_view::npos ? open : page.find("}}", open);
    if (close == std::string_view::npos) return sink(page);
    sink(page.substr(0, open));
    value(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
}

std::string links(std::span<const PageSection> listed) {
  std::string out;
  for (const PageSection& one : listed) out += fmt::format("    <a href=\"#{}\">{}</a>\n", one.id, one.label);
  return out;
}

std::string elements(std::span<const PageSection> listed) {
  std::string out;
  for (const PageSection& one : listed) {
    const bool first = &one == listed.data();
    out += fmt::format(
        "  <section id=\"{0}\" {1}></section>\n", one.id,
        first ? fmt::format("aria-label=\"{}\"", one.label) : fmt::format("aria-labelledby=\"{}-title\"", one.id));
  }
  return out;
}

}  // namespace

void html_shell(const PageParts& parts, const ByteSink& sink) {
  const auto write = [&](auto& self, std::string_view name) -> void {
    if (name == "title") sink(html(parts.title));
    if (name == "home" && !parts.home.empty()) {
      sink(fmt::format("<a class=\"home\" href=\"{}\">All results</a>", html(parts.home)));
    }
    if (name == "second_id") sink(parts.sections[1].id);
    if (name == "second_label") sink(parts.sections[1].label);
    if (name == "text_files") sink(parts.text_files);
    if (name == "links") sink(links(parts.sections));
    if (name == "sections") sink(elements(parts.sections));
    if (name == "style") sink(page_asset("page.css"));
    if (name == "body" || name == "brand") {
      fill(page_asset(name == "body" ? "frame.html" : "brand.html"), sink,
           [&](std::string_view inner) { self(self, inner); });
    }
    if (name == "data" && !parts.large_data) sink(script_json(parts.data));
    if (name == "packed" && parts.large_data) sink(" data-packed");
    if (name == "data" && parts.large_data) write_packed(parts.large_data, sink);
    if (name == "more_data" && !parts.pictures.empty()) {
      sink(fmt::format("<script type=\"application/json\" id=\"pictures\">{}</script>\n", script_json(parts.pictures)));
    }
    if (name == "more_data" && !parts.since.empty()) {
      sink(fmt::format("<script type=\"application/json\" id=\"since\">{}</script>\n", script_json(parts.since)));
    }
    if (const auto library = page_asset("plotly.js"); name == "plotly" && !library.empty()) {
      write_packed([&](const ByteSink& text) { text(library); }, sink);
    }
    if (name != "scripts") return;
    for (const auto script : parts.scripts) {
      sink(page_asset(script));
      sink("\n");
    }
  };
  fill(page_asset("page.html"), sink, [&](std::string_view name) { write(write, name); });
}

std::string html_shell(const PageParts& parts) {
  return collected([&](const ByteSink& sink) { html_shell(parts, sink); });
}

}  // namespace conebench::reports
