#include "scenes/mesh_file.hpp"

#include <Eigen/LU>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <unordered_map>

namespace conebench {

namespace {

constexpr long max_count = 10'000'000;  ///< of nodes, of elements

/// A text's words, line by line; what is wrong is thrown as a text and becomes an Error in read_mesh.
class Words {
 public:
  explicit Words(std::istream& stream) : stream_(stream) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw std::string("line " + std::to_string(line_) + ": " + what);
  }
  /// Begins with the next line that holds a word; false at the end.
  bool next_line() {
    while (std::getline(stream_, text_)) {
      ++line_;
      rest_ = text_;
      if (rest_.find_first_not_of(" \t\r") != std::string_view::npos) return true;
    }
    text_.clear();
    rest_ = text_;
    return false;
  }
  /// The next word, of the line alone or of lines to come; empty where there is none.
  std::string_view word(bool this_line) {
    for (;;) {
      const auto begin = rest_.find_first_not_of(" \t\r");
      if (begin != std::string_view::npos) {
        rest_.remove_prefix(begin);
        const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t\r"));
        rest_.remove_prefix(found.size());
        return found;
      }
      if (this_line || !next_line()) return {};
    }
  }
  template <class Number>
  Number number(const char* what, bool this_line = false) {
    const std::string_view text = word(this_line);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty()) fail(std::string("the file ends, or the line, before ") + what);
    if (error != std::errc{} || end != text.data() + text.size())
      fail(std::string(what) + " is no number: '" + std::string(text.substr(0, 40)) + "'");
    return value;
  }
  double real(const char* what, bool this_line = false) {
    const auto value = number<double>(what, this_line);
    if (!std::isfinite(value)) fail(std::string(what) + " is not finite");
    return value;
  }
  long count(const char* what) {
    const auto value = number<long>(what);
    if (value < 0 || value > max_count)
      fail(std::string(what) + " must be 0 to 10000000, not " + std::to_string(value));
    return value;
  }
  void expect(const std::string& text) {
    const std::string found(word(false));
    if (found != text) fail("expected " + text + ", found '" + found.substr(0, 40) + "'");
  }

 private:
  std::istream& stream_;
  std::string text_;
  std::string_view rest_;
  long line_ = 0;
};

/// The content of a file, nodes by its own numbers.
struct Content {
  std::unordered_map<long, Eigen::Vector3d> nodes;
  std::vector<std::array<long, 4>> tetrahedra;
};

void read_gmsh_nodes(Words& words, Content& content) {
  const long blocks = words.count("the number of node blocks"), all = words.count("the number of nodes");
  words.number<long>("the least node tag");
  words.number<long>("the greatest node tag");
  std::vector<long> tags;
  for (long b = 0; b < blocks; ++b) {
    words.number<long>("an entity's dimension");
    words.number<long>("an entity's tag");
    const bool parametric = words.number<long>("the parametric flag") != 0;
    tags.resize(std::size_t(words.count("a block's number of nodes")));
    if (long(content.nodes.size() + tags.size()) > all) words.fail("the blocks have more nodes than $Nodes says");
    for (long& tag : tags) tag = words.number<long>("a node's tag");
    for (const long tag : tags) {
      if (!words.next_line()) words.fail("the file ends before a node's coordinates");
      const double x = words.real("x", true), y = words.real("y", true), z = words.real("z", true);
      if (!parametric && !words.word(true).empty()) words.fail("more than three coordinates");
      if (!content.nodes.emplace(tag, Eigen::Vector3d(x, y, z)).second)
        words.fail("node " + std::to_string(tag) + " is there twice");
    }
  }
  if (long(content.nodes.size()) != all) words.fail("the blocks have fewer nodes than $Nodes says");
  words.expect("$EndNodes");
}

void read_gmsh_elements(Words& words, Content& content) {
  const long blocks = words.count("the number of element blocks"), all = words.count("the number of elements");
  words.number<long>("the least element tag");
  words.number<long>("the greatest element tag");
  long read = 0;
  for (long b = 0; b < blocks; ++b) {
    words.number<long>("an entity's dimension");
    words.number<long>("an entity's tag");
    const long type = words.number<long>("an element type"), count = words.count("a block's number of elements");
    read += count;
    if (read > all) words.fail("the blocks have more elements than $Elements says");
    for (long k = 0; k < count; ++k) {
      if (!words.next_line()) words.fail("the file ends before an element");
      words.number<long>("an element's tag", true);
      if (type != 4) continue;
      std::array<long, 4> corners{};
      for (long& corner : corners) corner = words.number<long>("a corner", true);
      content.tetrahedra.push_back(corners);
    }
    while (!words.word(true).empty()) {
    }
  }
  if (read != all) words.fail("the blocks have fewer elements than $Elements says");
  words.expect("$EndElements");
}

Content read_gmsh(Words& words) {
  Content content;
  const std::string version(words.word(false));
  if (version != "4.1")
    words.fail("the format is " + version.substr(0, 40) + "; save it as version 4.1 (gmsh -format msh41)");
  if (words.number<long>("the file type") != 0) words.fail("the file is binary; save it as text (gmsh -bin 0)");
  words.number<long>("the data size");
  words.expect("$EndMeshFormat");
  bool nodes = false, elements = false;
  for (std::string_view section = words.word(false); !section.empty(); section = words.word(false)) {
    if (section == "$Nodes") {
      read_gmsh_nodes(words, content);
      nodes = true;
    } else if (section == "$Elements") {
      read_gmsh_elements(words, content);
      elements = true;
    } else if (section.starts_with("$")) {
      const std::string end = "$End" + std::string(section.substr(1));
      std::string_view skipped = words.word(false);
      while (!skipped.empty() && skipped != end) skipped = words.word(false);
      if (skipped.empty()) words.fail("no " + end);
    } else {
      words.fail("expected a section, found '" + std::string(section.substr(0, 40)) + "'");
    }
  }
  if (!nodes || !elements) words.fail(nodes ? "no $Elements" : "no $Nodes");
  return content;
}

/// After its first line: a title, ASCII, the data set. Both forms of CELLS: counts with corners, and offsets.
Content read_vtk(Words& words) {
  Content content;
  if (!words.next_line()) words.fail("the file ends before its title");
  while (!words.word(true).empty()) {
  }
  const std::string coding(words.word(false));
  if (coding != "ASCII") words.fail("the file is " + coding.substr(0, 40) + ", not ASCII; save it as text");
  words.expect("DATASET");
  words.expect("UNSTRUCTURED_GRID");
  std::vector<std::vector<long>> cells;
  bool typed = false;
  for (std::string_view section = words.word(false); !section.empty(); section = words.word(false)) {
    if (section == "POINTS") {
      const long count = words.count("the number of points");
      words.word(true);  // their type
      for (long k = 0; k < count; ++k) {
        const double x = words.real("x"), y = words.real("y"), z = words.real("z");
        content.nodes.emplace(k, Eigen::Vector3d(x, y, z));
      }
    } else if (section == "CELLS") {
      const long first = words.count("the number of cells"), second = words.count("the size of the cells");
      const std::string word(words.word(false));
      if (word == "OFFSETS") {
        words.word(true);  // their type
        std::vector<long> offsets;
        for (long k = 0; k < first; ++k) offsets.push_back(words.count("an offset"));
        words.expect("CONNECTIVITY");
        words.word(true);
        for (std::size_t k = 1; k < offsets.size(); ++k) {
          if (offsets[k] < offsets[k - 1]) words.fail("offsets fall");
          std::vector<long>& cell = cells.emplace_back(std::size_t(offsets[k] - offsets[k - 1]));
          for (long& corner : cell) corner = words.number<long>("a corner");
        }
        continue;
      }
      long read = 0;
      for (long k = 0; k < first; ++k) {
        long size = 0;
        if (k == 0) {
          if (std::from_chars(word.data(), word.data() + word.size(), size).ec != std::errc{})
            words.fail("a cell's size is no number");
        } else {
          size = words.count("a cell's size");
        }
        read += size + 1;
        if (size < 0 || read > second) words.fail("the cells are more than CELLS says");
        std::vector<long>& cell = cells.emplace_back(std::size_t(size));
        for (long& corner : cell) corner = words.number<long>("a corner");
      }
      if (read != second) words.fail("the cells are fewer than CELLS says");
    } else if (section == "CELL_TYPES") {
      constexpr long tetrahedron = 10;
      const long count = words.count("the number of cell types");
      if (count != long(cells.size()))
        words.fail(std::to_string(count) + " cell types for " + std::to_string(cells.size()) + " cells");
      for (long k = 0; k < count; ++k) {
        if (words.number<long>("a cell type") != tetrahedron) continue;
        const std::vector<long>& cell = cells[std::size_t(k)];
        if (cell.size() != 4) words.fail("a tetrahedron has " + std::to_string(cell.size()) + " corners");
        content.tetrahedra.push_back({cell[0], cell[1], cell[2], cell[3]});
      }
      typed = true;
      break;  // data of cells and points follow
    } else {
      words.fail("expected POINTS, CELLS or CELL_TYPES, found '" + std::string(section.substr(0, 40)) + "'");
    }
  }
  if (!typed) words.fail("no CELL_TYPES");
  return content;
}

TetrahedralMesh mesh_of(const Content& content) {
  if (content.tetrahedra.empty()) throw std::string("no tetrahedron in it");
  TetrahedralMesh mesh;
  std::map<long, Index> number;
  for (const auto& corners : content.tetrahedra) {
    for (const long corner : corners) {
      if (!content.nodes.contains(corner))
        throw "a tetrahedron has the node " + std::to_string(corner) + ", which is not there";
      number.emplace(corner, 0);
    }
  }
  for (auto& [tag, index] : number) {
    index = Index(mesh.nodes.size());
    mesh.nodes.push_back(content.nodes.at(tag));
  }
  for (const auto& corners : content.tetrahedra) {
    std::array<Index, 4> at{};
    for (std::size_t k = 0; k < 4; ++k) at[k] = number[corners[k]];
    Eigen::Matrix3d edges;
    for (std::size_t k = 1; k < 4; ++k)
      edges.col(Index(k) - 1) = mesh.nodes[std::size_t(at[k])] - mesh.nodes[std::size_t(at[0])];
    const double scale = edges.colwise().norm().maxCoeff();
    if (!(std::abs(edges.determinant()) > 1e-12 * scale * scale * scale)) {
      throw "the tetrahedron of the nodes " + std::to_string(corners[0]) + ", " + std::to_string(corners[1]) + ", " +
          std::to_string(corners[2]) + ", " + std::to_string(corners[3]) + " has no volume";
    }
    mesh.tetrahedra.push_back(at);
  }
  return mesh;
}

}  // namespace

Result<TetrahedralMesh> read_mesh(const std::string& file) {
  const auto bad = [&](const std::string& what) { return Error{ErrorCode::bad_input, "mesh " + file + ": " + what}; };
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return bad("cannot be read");
  Words words(stream);
  try {
    if (!words.next_line()) return bad("is empty");
    const std::string first(words.word(true));
    if (first == "$MeshFormat") return mesh_of(read_gmsh(words));
    if (first == "#" && words.word(true) == "vtk") {
      while (!words.word(true).empty()) {
      }
      return mesh_of(read_vtk(words));
    }
    return bad("is neither Gmsh's .msh 4.1 nor VTK's legacy form as text");
  } catch (const std::string& what) {
    return bad(what);
  }
}

}  // namespace conebench
