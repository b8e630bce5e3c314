#include "solvers/gauss_seidel/contact_order.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace conebench::gauss_seidel {

namespace {

using Neighbours = std::vector<std::vector<int>>;

/// Contacts that act on each other through G or Gᵀ.
Neighbours contact_graph(const ContactProblem& problem) {
  const BlockSparseMatrix& matrix = problem.blocks();
  const Index first = problem.cones().first_contact_row();
  Neighbours graph(static_cast<std::size_t>(problem.cones().contacts()));
  for (Index b = first; b < matrix.block_rows(); ++b) {
    for (Index k = matrix.row_begin(b); k < matrix.row_begin(b + 1); ++k) {
      const Index c = matrix.column(k);
      if (c < first || c == b) continue;
      graph[static_cast<std::size_t>(b - first)].push_back(static_cast<int>(c - first));
      graph[static_cast<std::size_t>(c - first)].push_back(static_cast<int>(b - first));
    }
  }
  return graph;
}

/// The lowest colour that no neighbour has, contact by contact.
std::vector<int> greedy_colours(const Neighbours& graph) {
  std::vector<int> colours(graph.size(), -1);
  std::vector<int> taken_by(graph.size() + 1, -1);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (const int j : graph[i]) {
      const int colour = colours[static_cast<std::size_t>(j)];
      if (colour >= 0) taken_by[static_cast<std::size_t>(colour)] = static_cast<int>(i);
    }
    int colour = 0;
    while (taken_by[static_cast<std::size_t>(colour)] == static_cast<int>(i)) ++colour;
    colours[i] = colour;
  }
  return colours;
}

}  // namespace

std::vector<std::string> contact_order_names() { return {"given", "random", "coloured"}; }

ContactOrder contact_order(const ContactProblem& problem, const std::string& name, std::uint64_t seed) {
  ContactOrder result;
  std::vector<int>& order = result.contacts;
  order.resize(static_cast<std::size_t>(problem.cones().contacts()));
  std::iota(order.begin(), order.end(), 0);
  if (name == "given") return result;
  if (name == "random") {
    // Fisher–Yates by hand: std::shuffle's draws differ between standard libraries.
    std::mt19937_64 generator(seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[generator() % i]);
    return result;
  }
  if (name != "coloured") throw std::invalid_argument("unknown order of contacts '" + name + "'");
  const std::vector<int> colours = greedy_colours(contact_graph(problem));
  const auto colour = [&](int contact) { return colours[static_cast<std::size_t>(contact)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return colour(a) < colour(b); });
  for (std::size_t i = 1; i <= order.size(); ++i) {
    if (i == order.size() || colour(order[i]) != colour(order[i - 1])) result.colour_ends.push_back(i);
  }
  return result;
}

}  // namespace conebench::gauss_seidel
