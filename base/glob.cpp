#include "base/glob.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "base/utf8.hpp"

namespace conebench {

namespace fs = std::filesystem;

namespace {

bool has_wildcards(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// Matches `c` against the class that begins after '[' at `at`; moves `at` behind the ']'. A class without an end is a
/// plain '['.
bool matches_class(const std::string& pattern, std::size_t& at, char c) {
  const std::size_t first = at + 1;
  const bool negated = first < pattern.size() && (pattern[first] == '!' || pattern[first] == '^');
  std::size_t k = first + (negated ? 1 : 0);
  const std::size_t end = pattern.find(']', k + 1);
  if (end == std::string::npos) {
    ++at;
    return c == '[';
  }
  bool found = false;
  for (; k < end; ++k) {
    if (k + 2 < end && pattern[k + 1] == '-') {
      found = found || (pattern[k] <= c && c <= pattern[k + 2]);
      k += 2;
    } else {
      found = found || pattern[k] == c;
    }
  }
  at = end + 1;
  return found != negated;
}

/// Limits on nested folders and on entries: more is a disk, not a set of problems.
constexpr int deepest_folder = 64;
constexpr std::size_t max_entries = 1'000'000;
constexpr std::size_t max_components = 64;
constexpr std::size_t max_pattern = 4096;

class Traversal {
 public:
  explicit Traversal(std::vector<std::string> components) : components_(std::move(components)) {}

  void visit(const fs::path& folder, std::size_t at, int depth = 0) {  // NOLINT(misc-no-recursion)
    if (!refusal.empty()) return;
    if (depth > deepest_folder) {
      refusal = "matches folders nested more than " + std::to_string(deepest_folder) + " deep";
      return;
    }
    // Two ** in one pattern lead to the same folder in many ways.
    if (!visited_.emplace(folder, at).second) return;
    const std::string& component = components_[at];
    const bool last = at + 1 == components_.size();
    if (component == "**") {
      if (!last) visit(folder, at + 1, depth);
      for (const auto& entry : list(folder)) {
        std::error_code ignored;
        if (last && entry.is_regular_file(ignored)) found.insert(entry.path());
        if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) visit(entry.path(), at, depth + 1);
      }
      return;
    }
    if (!has_wildcards(component)) {
      take(folder / component, last, at, depth);
      return;
    }
    for (const auto& entry : list(folder)) {
      if (matches_wildcards(component, entry.path().filename().string())) take(entry.path(), last, at, depth);
    }
  }

  std::set<fs::path> found;
  std::string refusal;  ///< why it was given up; else empty

 private:
  void take(const fs::path& path, bool last, std::size_t at, int depth) {  // NOLINT(misc-no-recursion)
    std::error_code ignored;
    if (last) {
      if (fs::is_regular_file(path, ignored)) found.insert(path);
    } else if (fs::is_directory(path, ignored)) {
      visit(path, at + 1, depth + 1);
    }
  }
  std::vector<fs::directory_entry> list(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator it(folder.empty() ? fs::path(".") : folder, error), end; !error && it != end;
         it.increment(error)) {
      if (++entries_ > max_entries) {
        refusal = "goes through more than " + std::to_string(max_entries) + " files and folders";
        return {};
      }
      if (it->path().filename().string().front() != '.') entries.push_back(*it);
    }
    return entries;
  }

  std::set<std::pair<fs::path, std::size_t>> visited_;
  std::size_t entries_ = 0;
  std::vector<std::string> components_;
};

}  // namespace

bool matches_wildcards(const std::string& pattern, const std::string& name) {
  if (!name.empty() && name.front() == '.' && (pattern.empty() || pattern.front() != '.')) return false;
  // The usual greedy match that comes back to the last star.
  std::size_t p = 0, n = 0, star = std::string::npos, star_n = 0;
  while (n < name.size()) {
    std::size_t next = p;
    bool matched = false;
    if (p < pattern.size()) {
      if (pattern[p] == '*') {
        star = p++;
        star_n = n;
        continue;
      }
      if (pattern[p] == '[') {
        matched = matches_class(pattern, next, name[n]);
      } else {
        matched = pattern[p] == '?' || pattern[p] == name[n];
        next = p + 1;
      }
    }
    if (matched) {
      p = next;
      ++n;
    } else if (star != std::string::npos) {
      p = star + 1;
      n = ++star_n;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<std::vector<fs::path>> glob_files(const fs::path& base, const std::string& pattern) {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::bad_input,
                 "'" + shorten(one_line(pattern), 80) + "' " + why + "; write a narrower pattern"};
  };
  if (pattern.size() > max_pattern) return refuse("has more than " + std::to_string(max_pattern) + " bytes");
  const fs::path path(pattern);
  std::vector<std::string> components;
  for (const auto& part : path.relative_path()) {
    const bool repeated = part == "**" && !components.empty() && components.back() == "**";  // matches what one does
    if (!part.empty() && part != "." && !repeated) components.push_back(part.string());
  }
  if (components.size() > max_components) {
    return refuse("has more than " + std::to_string(max_components) + " folders");
  }
  if (components.empty()) return std::vector<fs::path>{};
  Traversal traversal(std::move(components));
  traversal.visit(path.is_absolute() ? path.root_path() : base, 0);
  if (!traversal.refusal.empty()) return refuse(traversal.refusal);
  std::vector<fs::path> files;
  for (const auto& file : traversal.found) {
    files.push_back(path.is_absolute() || base.empty() ? file : file.lexically_relative(base));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace conebench
