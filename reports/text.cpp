#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace conebench::reports {

namespace {

/// `text` in one line, each ASCII character of `special` replaced by its escape.
std::string escape(std::string_view text, const std::map<char, std::string_view>& special) {
  std::string out;
  each_code_point(one_line(text), [&](const CodePoint& point) {
    const auto found = point.value < 0x80 ? special.find(static_cast<char>(point.value)) : special.end();
    out += found == special.end() ? point.bytes : found->second;
  });
  return out;
}

std::vector<std::string> split_words(const std::string& label) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= label.size();) {
    const std::size_t end = std::min(label.find(' ', begin), label.size());
    words.push_back(label.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

std::vector<std::string> short_labels(const std::vector<std::string>& labels, std::size_t width) {
  constexpr std::size_t longest = 100;
  std::map<std::string, std::map<std::string, std::size_t>> uses;  // solver → word → labels with it
  for (const std::string& label : labels) {
    auto words = split_words(label);
    const std::string solver = words.front();
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::string& word : words) ++uses[solver][word];
  }
  std::vector<std::string> shown;
  std::map<std::string, std::size_t> cut;
  for (const std::string& label : labels) {
    const auto words = split_words(label);
    const auto& of_solver = uses.at(words.front());
    const std::size_t configurations = of_solver.at(words.front());
    std::string text = words.front();
    bool skipped = false;
    for (std::size_t k = 1; k < words.size(); ++k) {
      const bool shared = configurations > 1 && of_solver.at(words[k]) == configurations;
      if (!shared || !skipped) text += shared ? " …" : " " + words[k];
      skipped = shared;
    }
    shown.push_back(display_width(label) > width ? text : label);
    ++cut[shorten(shown.back(), longest)];
  }
  for (std::string& label : shown) {
    if (std::string text = shorten(label, longest); cut.at(text) == 1) label = std::move(text);
  }
  return shown;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    if (text.compare(end, 2, " %") == 0) end = std::min(text.find(' ', end + 1), text.size());  // a number and its unit
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (column > indent && column + 1 + display_width(word) > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += display_width(word);
  }
  return out;
}

std::string human_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "–" : value > 0 ? "∞" : "−∞";
  const double size = std::abs(value);
  if (size == 0.0) return "0";
  if (size < 1e-3 || size >= 1e7) return fmt::format("{:.2e}", value);
  if (size >= 999.5) return fmt::format("{:.0f}", value);
  const int decimals = size >= 99.95   ? 0
                       : size >= 9.995 ? 1
                                       : 2 + (size < 0.9995) + (size < 0.09995) + (size < 0.009995);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string human_time(double seconds) {
  if (!std::isfinite(seconds)) return "–";
  if (seconds == 0.0) return "0";
  if (seconds < 0.9995e-6) return human_number(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return human_number(seconds * 1e6) + " µs";
  if (seconds < 0.9995) return human_number(seconds * 1e3) + " ms";
  return human_number(seconds) + " s";
}

std::string human_time(const std::optional<double>& seconds) { return seconds ? human_time(*seconds) : "–"; }

std::string human_tolerance(double tolerance) {
  std::string text = fmt::format("{:e}", tolerance);
  const std::size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (mantissa.find('.') != std::string::npos) {
    while (mantissa.back() == '0') mantissa.pop_back();
    if (mantissa.back() == '.') mantissa.pop_back();
  }
  return fmt::format("{}e{}", mantissa, std::stoi(text.substr(e + 1)));
}

std::string human_share(double share) {
  const double percent = 100.0 * share;
  if (percent <= 0.0) return "0 %";
  if (percent >= 100.0 - 1e-9) return "100 %";
  return fmt::format("{:.1f} %", std::clamp(percent, 0.1, 99.9));
}

std::string human_residual(const std::optional<double>& value) {
  if (!value) return "–";
  return std::isfinite(*value) ? fmt::format("{:.1e}", *value) : "∞";
}

std::string bound_text(double verdict_bound) {
  const std::string digits = fmt::format("{:.17e}", verdict_bound);
  const double rounded_down = std::strtod((digits.substr(0, 3) + digits.substr(digits.find('e'))).c_str(), nullptr);
  return fmt::format("no λ reaches a verdict below {}", human_tolerance(rounded_down));
}

std::string noise_text(const NoiseRecord& noise) {
  switch (noise.kind) {
    case NoiseKind::stolen: return fmt::format("the hypervisor took {:.0f} % of the processor time", 100 * noise.value);
    case NoiseKind::throttled: return fmt::format("throttled {:.0f} times because of heat", noise.value);
    case NoiseKind::governor:
      return fmt::format("the processor's governor is {}not performance",
                         noise.text + (noise.text.empty() ? "" : ", "));
    case NoiseKind::workers: return fmt::format("{:.0f} workers ran side by side", noise.value);
    case NoiseKind::loaded:
      return fmt::format(
          "loaded ({:.0f} % of the cells of 5 ms or more took over a tenth longer in the median than at best): other "
          "processes ran meanwhile",
          100 * noise.value);
    case NoiseKind::joined: return "joined from stores of " + (noise.text.empty() ? "several kinds" : noise.text);
  }
  throw std::logic_error("unknown kind of noise");
}

std::vector<std::string> noise_texts(const std::vector<NoiseRecord>& noise) {
  std::vector<std::string> texts;
  for (const NoiseRecord& one : noise) texts.push_back(noise_text(one));
  return texts;
}

std::string exact(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

std::string many_groups(const std::string& group) {
  const auto word = std::min(group.find(' '), group.size());
  return plural(2, group.substr(0, word)).substr(2) + group.substr(word);
}

std::string count_groups(long count, const std::string& group) {
  return fmt::format("{} {}", count, count == 1 ? group : many_groups(group));
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string csv_field(std::string_view text) {
  // An apostrophe of its own is marked, too, so that whoever takes one off has the text again.
  const bool marked = !text.empty() && std::string_view("=+-@'\t\r\n").find(text[0]) != std::string_view::npos;
  std::string out = marked ? "'" : "";
  bool quoted = false;
  const std::string valid = valid_utf8(text);
  each_code_point(valid, [&](const CodePoint& point) {
    quoted =
        quoted || (point.value < 0x80 && std::string_view(",;\"\t\r\n").find(point.bytes) != std::string_view::npos);
    out += point.bytes == "\"" ? "\"\"" : point.bytes;
  });
  return quoted ? '"' + out + '"' : out;
}

std::string markdown(std::string_view text) {
  const std::string escaped = escape(text, {{'|', "\\|"},
                                            {'\\', "\\\\"},
                                            {'*', "\\*"},
                                            {'_', "\\_"},
                                            {'`', "\\`"},
                                            {'[', "\\["},
                                            {']', "\\]"},
                                            {'#', "\\#"},
                                            {'~', "\\~"},
                                            {'$', "<span>$</span>"},
                                            {'<', "&lt;"},
                                            {'>', "&gt;"},
                                            {'&', "&amp;"}});
  // Forges look for mentions (@name) and issues (#1) in what is left of Markdown: an escape hides neither, a space of
  // no width does. The span is GitHub's own way to a dollar that begins no formula.
  std::string out;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    out += escaped[i];
    const auto next = i + 1 < escaped.size() ? static_cast<unsigned char>(escaped[i + 1]) : 0U;
    if ((escaped[i] == '@' || escaped[i] == '#') && std::isalnum(next) != 0) out += "&#8203;";
  }
  return out;
}

std::string html(std::string_view text) {
  return escape(text, {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}});
}

std::string latex(std::string_view text) {
  static const std::map<char, std::string_view> ascii{{'\\', "\\textbackslash{}"},
                                                      {'{', "\\{"},
                                                      {'}', "\\}"},
                                                      {'$', "\\$"},
                                                      {'&', "\\&"},
                                                      {'#', "\\#"},
                                                      {'%', "\\%"},
                                                      {'_', "\\_"},
                                                      {'~', "\\textasciitilde{}"},
                                                      {'^', "\\textasciicircum{}"},
                                                      {'<', "\\textless{}"},
                                                      {'>', "\\textgreater{}"},
                                                      {'|', "\\textbar{}"},
                                                      {'"', "\\textquotedbl{}"},
                                                      {'\'', "\\textquotesingle{}"},
                                                      {'`', "\\textasciigrave{}"}};
  static const std::map<std::uint32_t, std::string_view> known{{0xB1, "\\ensuremath{\\pm}"},
                                                               {0xB5, "\\textmu{}"},
                                                               {0x3BC, "\\textmu{}"},
                                                               {0x3B7, "\\ensuremath{\\eta}"},
                                                               {0x3C1, "\\ensuremath{\\rho}"},
                                                               {0x3C9, "\\ensuremath{\\omega}"},
                                                               {0x3BB, "\\ensuremath{\\lambda}"},
                                                               {0x3C4, "\\ensuremath{\\tau}"},
                                                               {0x221E, "\\ensuremath{\\infty}"},
                                                               {0x2013, "--"},
                                                               {0x2014, "---"},
                                                               {0x2212, "\\ensuremath{-}"},
                                                               {0xD7, "\\ensuremath{\\times}"},
                                                               {0x2264, "\\ensuremath{\\le}"},
                                                               {0x2265, "\\ensuremath{\\ge}"},
                                                               {0x2026, "\\ldots{}"},
                                                               {0x202F, "\\,"},
                                                               {0xA0, "~"}};
  std::string out;
  each_code_point(one_line(text), [&](const CodePoint& point) {
    if (point.value == '-' && out.ends_with('-')) out += "{}";  // no ligature
    if (point.value < 0x80) {
      const auto found = ascii.find(static_cast<char>(point.value));
      out += found == ascii.end() ? point.bytes : found->second;
    } else if (const auto found = known.find(point.value); found != known.end()) {
      out += found->second;
    } else {
      out += fmt::format("[U+{:04X}]", point.value);
    }
  });
  return out;
}

std::string shell(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) return std::string(text);
  bool has_control = false;
  for (const char c : text) has_control = has_control || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  std::string out = has_control ? "$'" : "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (has_control && (byte < 0x20 || byte == 0x7F)) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (c == '\'') {
      out += has_control ? "\\'" : "'\\''";
    } else if (has_control && c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string script_json(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    switch (c) {
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace conebench::reports
