#include "solvers/cascade/few_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/natural_map.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/cascade/row_blocks.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // as in row_blocks.hpp

namespace conebench::cascade {

namespace {

const double half_root = std::sqrt(0.5);

/// y += a x over whole registers from `begin`, a multiple of four, up to `end`, one as well.
[[gnu::always_inline]] inline void add(double a, const double* x, double* y, int begin, int end) {
  for (int k = begin; k < end; k += 4) put_row(row_at(y + k) + a * row_at(x + k), y + k);
}

/// y −= a x for each of `count` columns y, one every `stride`, with a the entry of y that stands `at` from its begin.
template <int Registers>
void subtract_from_columns(const double* x, double* y, int at, int stride, int count) {
  Row4 values[Registers];
  for (int k = 0; k < Registers; ++k) values[k] = row_at(x + 4 * k);
  for (int b = 0; b < count; ++b, y += stride) {
    const double a = y[at];
    if (a == 0.0) continue;  // most of them where few contacts are coupled
    for (int k = 0; k < Registers; ++k) put_row(row_at(y + 4 * k) - a * values[k], y + 4 * k);
  }
}

template <int Registers>
void subtract_from_columns(int registers, const double* x, double* y, int at, int stride, int count) {
  if (registers == Registers) return subtract_from_columns<Registers>(x, y, at, stride, count);
  if constexpr (Registers > 1) subtract_from_columns<Registers - 1>(registers, x, y, at, stride, count);
}

/// factors = column / its entry k below that entry, 0 above, in whole registers. The square of the largest.
double divide_by_pivot(const double* column, int k, int end, double* factors) {
  constexpr Row4 below[4] = {{0.0, 1.0, 1.0, 1.0}, {0.0, 0.0, 1.0, 1.0}, {0.0, 0.0, 0.0, 1.0}, {}};
  const int begin = k / 4 * 4;
  const double inverse = 1.0 / column[k];
  const Row4 first = row_at(column + begin) * inverse * below[k - begin];
  put_row(first, factors + begin);
  Row4 largest = first * first;
  for (int a = begin + 4; a < end; a += 4) {
    const Row4 factor = row_at(column + a) * inverse;
    put_row(factor, factors + a);
    largest = factor * factor > largest ? factor * factor : largest;
  }
  return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

int padded(int rows) { return (rows + 3) / 4 * 4; }

}  // namespace

template <int Dim, bool Limits>
FewNewton<Dim, Limits>::FewNewton(const ContactProblem& problem, const double* inverse_steps, double velocity_scale)
    : problem_(problem),
      inverse_steps_(inverse_steps),
      velocity_scale_(velocity_scale),
      limits_(static_cast<int>(problem.cones().limits())),
      blocks_(static_cast<int>(problem.cones().blocks())),
      rows_(static_cast<int>(problem.rows())),
      stride_(padded(rows_)) {
  scale();
  for (int i = 0; i < blocks_; ++i) {
    Contact& contact = linear_[static_cast<std::size_t>(i)];
    contact.mode = Mode::none;
    contact.normal = is_limit(i) ? i : row(i) + n;
  }
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::scale() {
  const BlockSparseMatrix& matrix = problem_.blocks();
  const double* compliance = problem_.compliance().data();
  const auto weight_of = [](double mean) { return mean > 0.0 ? 1.0 / std::sqrt(mean) : 1.0; };
  for (int i = 0; i < limits(); ++i)
    weights_[static_cast<std::size_t>(i)] = weight_of(*matrix.block_values(matrix.diagonal(i)) + compliance[i]);
  for (int i = limits(); i < blocks_; ++i) {
    const auto diagonal = matrix.block<Dim>(matrix.diagonal(i));
    const double mu = friction(i);
    const double factor = mu > 0.0 ? 1.0 / mu : 1.0;
    double sum = (diagonal(n, n) + compliance[row(i) + n]) * factor * factor;
    if (mu > 0.0) {
      for (int a = 0; a < n; ++a) sum += diagonal(a, a) + compliance[row(i) + a];
      sum /= Dim;
    }
    const double weight = weight_of(sum);
    double* weights = weights_.data() + row(i);
    std::fill_n(weights, n, weight);
    weights[n] = weight * factor;
  }
  for (int k = 0; k < rows_; ++k)
    free_[static_cast<std::size_t>(k)] = problem_.free_term()[k] * weights_[static_cast<std::size_t>(k)];
  std::fill(free_.begin() + rows_, free_.begin() + stride_, 0.0);
  if (matrix.stored_blocks() < static_cast<Index>(blocks_) * blocks_ || stride_ > rows_)
    std::fill_n(matrix_.begin(), rows_ * stride_, 0.0);
  const auto copy = [&]<int Rows, int Columns>(Index k, int first, int other) {
    using Column = Eigen::Matrix<double, Rows, 1>;
    const auto block = matrix.block<Rows, Columns>(k);
    const Eigen::Map<const Column> own(weights_.data() + first);
    for (int b = 0; b < Columns; ++b) {
      Eigen::Map<Column> target(matrix_.data() + stride_ * (other + b) + first);
      target = block.col(b).cwiseProduct(own) * weights_[static_cast<std::size_t>(other + b)];
    }
  };
  for (int i = 0; i < blocks_; ++i) {
    for (Index k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k) {
      const auto j = static_cast<int>(matrix.column(k));
      if (is_limit(i))
        is_limit(j) ? copy.template operator()<1, 1>(k, i, j) : copy.template operator()<1, Dim>(k, i, row(j));
      else
        is_limit(j) ? copy.template operator()<Dim, 1>(k, row(i), j)
                    : copy.template operator()<Dim, Dim>(k, row(i), row(j));
    }
  }
  for (int k = 0; k < rows_; ++k) {
    const double weight = weights_[static_cast<std::size_t>(k)];
    matrix_[static_cast<std::size_t>(k * (stride_ + 1))] += compliance[k] * weight * weight;
  }
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::start_from(const double* impulse) {
  for (int k = 0; k < rows_; ++k) r_[static_cast<std::size_t>(k)] = impulse[k] / weights_[static_cast<std::size_t>(k)];
  for (int i = limits(); i < blocks_; ++i) {
    if (!(friction(i) > 0.0)) std::fill_n(r_.data() + row(i), n, 0.0);
  }
  find_velocity();
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::find_velocity() {
  std::copy_n(free_.begin(), stride_, w_.begin());
  add_product(r_.data(), w_.data());
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::write(double* impulse) const {
  for (int k = 0; k < rows_; ++k) impulse[k] = r_[static_cast<std::size_t>(k)] * weights_[static_cast<std::size_t>(k)];
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::add_product(const double* x, double* sum) const {
  for (int b = 0; b < rows_; ++b) {
    if (x[b] != 0.0) add(x[b], column(b), sum, 0, stride_);
  }
}

template <int Dim, bool Limits>
double FewNewton<Dim, Limits>::measure() {
  find_velocity();
  double worst = 0.0;
  for (int i = 0; i < limits(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double step = w_[at] / (weights_[at] * inverse_steps_[i]);
    const double error = std::abs(natural_map(r_[at] * weights_[at], step)) * inverse_steps_[i];
    if (!(error <= worst)) worst = error;
    if (std::isnan(worst)) return worst;
  }
  for (int i = limits(); i < blocks_; ++i) {
    const Eigen::Map<const Part> weights(weights_.data() + row(i));
    const Part impulse = Eigen::Map<const Part>(r_.data() + row(i)).cwiseProduct(weights);
    Part velocity = Eigen::Map<const Part>(w_.data() + row(i)).cwiseQuotient(weights);
    const double mu = friction(i);
    velocity[n] += mu * tangential_norm<Dim>(velocity);
    const Part step = velocity / inverse_steps_[i];
    const double error = safe_norm<Dim>(natural_map<Dim>(impulse, step, mu)) * inverse_steps_[i];
    if (!(error <= worst)) worst = error;
    if (std::isnan(worst)) break;
  }
  return worst / velocity_scale_;
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::linearise_slip(int i, const Part& y) {
  Contact& contact = linear_[static_cast<std::size_t>(i)];
  const double* r = r_.data() + row(i);
  const double* w = w_.data() + row(i);
  const double length = tangential_norm<Dim>(y);
  const double slip = tangential_norm<Dim>(Part(Eigen::Map<const Part>(w)));
  contact.turned = 0.5 + 0.5 * y[n] / length;
  contact.along[n] = contact.row[n] = half_root;
  double f1 = w[n] + slip;  // f1 and f2 times √2
  double f2 = r[n];
  std::array<double, 2> e{};
  for (int a = 0; a < n; ++a) {
    e[static_cast<std::size_t>(a)] = y[a] / length;
    contact.along[a] = e[static_cast<std::size_t>(a)] * half_root;
    contact.row[a] = contact.along[a] + (slip > 0.0 ? w[a] / slip * half_root : 0.0);
    f1 += e[static_cast<std::size_t>(a)] * w[a];
    f2 -= e[static_cast<std::size_t>(a)] * r[a];
  }
  Part known = contact.along * (f2 * half_root);  // −F_2 f2
  known[n] = -known[n];
  Eigen::Map<Part>(known_.data() + row(i)) = known;
  right_side_[static_cast<std::size_t>(unknowns_)] = -f1 * half_root;
  if constexpr (Dim == 3) {
    contact.across = {-e[1], e[0], 0.0};
    right_side_[static_cast<std::size_t>(unknowns_ + 1)] = e[1] * r[0] - e[0] * r[1];  // across · known = 0
  }
  unknowns_ += n;
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::linearise_normal(Contact& contact) {
  const auto at = static_cast<std::size_t>(contact.normal);
  const bool open = r_[at] <= w_[at];
  contact.mode = open ? Mode::open : Mode::frictionless;
  known_[at] = open ? -r_[at] : 0.0;
  if (!open) right_side_[static_cast<std::size_t>(unknowns_++)] = -w_[at];
}

template <int Dim, bool Limits>
bool FewNewton<Dim, Limits>::linearise() {
  unknowns_ = 0;
  bool same = true;
  for (int i = 0; i < blocks_; ++i) {
    Contact& contact = linear_[static_cast<std::size_t>(i)];
    contact.first = unknowns_;
    const Mode before = contact.mode;
    if (is_limit(i) || !(friction(i) > 0.0)) {
      std::fill(known_.begin() + row(i), known_.begin() + contact.normal, 0.0);
      linearise_normal(contact);
      same = same && contact.mode == before;
      continue;
    }
    const Eigen::Map<const Part> r(r_.data() + row(i));
    const Eigen::Map<const Part> w(w_.data() + row(i));
    Eigen::Map<Part> known(known_.data() + row(i));
    Part y = r - w;
    y[n] -= tangential_norm<Dim>(Part(w));
    const double length = tangential_norm<Dim>(y);
    if (length <= y[n]) {
      contact.mode = Mode::stick;
      known.setZero();
      for (int a = 0; a < Dim; ++a) right_side_[static_cast<std::size_t>(unknowns_++)] = -w[a];
    } else if (length <= -y[n]) {
      contact.mode = Mode::open;
      known = -r;
    } else {
      contact.mode = Mode::slip;
      linearise_slip(i, y);
    }
    same = same && contact.mode == before;
  }
  return same;
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::assemble(double alpha) {
  alignas(64) std::array<double, static_cast<std::size_t>(most_padded)> product{};
  add_product(known_.data(), product.data());

  // G̃ R.
  std::array<const double*, static_cast<std::size_t>(most_rows)> columns;
  double* turned = turned_columns_.data();
  for (int i = 0; i < blocks_; ++i) {
    const Contact& contact = linear_[static_cast<std::size_t>(i)];
    auto place = columns.begin() + contact.first;
    if (contact.mode == Mode::stick) {
      for (int a = 0; a < Dim; ++a) *place++ = column(row(i) + a);
    } else if (contact.mode == Mode::frictionless) {
      *place = column(contact.normal);
    } else if (contact.mode == Mode::slip) {
      for (int unknown = 0; unknown < n; ++unknown, turned += stride_) {
        const Part& combination = unknown == 0 ? contact.along : contact.across;
        std::fill_n(turned, stride_, 0.0);
        for (int a = 0; a < (unknown == 0 ? Dim : n); ++a) add(combination[a], column(row(i) + a), turned, 0, stride_);
        *place++ = turned;
      }
    }
  }

  // L (G̃ R) + B; behind it the right side.
  padded_ = std::max(4, padded(unknowns_));  // where all contacts open there are none
  double* right_side = reduced_.data() + unknowns_ * padded_;
  for (double* column = reduced_.data(); column <= right_side; column += padded_) {
    for (int a = unknowns_; a < padded_; ++a) column[a] = 0.0;
  }
  for (int i = 0; i < blocks_; ++i) {
    const Contact& contact = linear_[static_cast<std::size_t>(i)];
    const int first_row = row(i);
    const double* others = product.data() + first_row;
    const double* given = right_side_.data() + contact.first;
    double* target = reduced_.data() + contact.first;
    double* diagonal = target + contact.first * padded_;
    double* right = right_side + contact.first;
    if (contact.mode == Mode::stick) {
      for (int b = 0; b < unknowns_; ++b, target += padded_) {
        const double* source = columns[static_cast<std::size_t>(b)] + first_row;
        for (int a = 0; a < Dim; ++a) target[a] = source[a];
      }
      for (int a = 0; a < Dim; ++a) {
        diagonal[a * (padded_ + 1)] += alpha;
        right[a] = given[a] - others[a];
      }
    } else if (contact.mode == Mode::frictionless) {
      for (int b = 0; b < unknowns_; ++b, target += padded_)
        *target = columns[static_cast<std::size_t>(b)][contact.normal];
      *diagonal += alpha;
      *right = *given - product[static_cast<std::size_t>(contact.normal)];
    } else if (contact.mode == Mode::slip) {
      const Part row = contact.row;
      const auto along = [&](const double* x) {
        double sum = row[0] * x[0];
        for (int a = 1; a < Dim; ++a) sum += row[a] * x[a];
        return sum;
      };
      double across_x = 0.0;
      double across_y = 0.0;
      if constexpr (Dim == 3) {
        across_x = contact.turned * contact.across[0];
        across_y = contact.turned * contact.across[1];
      }
      for (int b = 0; b < unknowns_; ++b, target += padded_) {
        const double* source = columns[static_cast<std::size_t>(b)] + first_row;
        target[0] = along(source);
        if constexpr (Dim == 3) target[1] = across_x * source[0] + across_y * source[1];
      }
      right[0] = given[0] - along(others) - alpha * along(known_.data() + first_row);
      diagonal[0] += alpha * row.dot(contact.along);
      if constexpr (Dim == 3) {
        right[1] = given[1] - across_x * others[0] - across_y * others[1];
        diagonal[padded_] += alpha * row.dot(contact.across);
        diagonal[padded_ + 1] += alpha * contact.turned + 1.0 - contact.turned;
      }
    }
  }
}

/// Gauss's, by columns, the right side among them. A pivot far below its column's largest entry is exchanged.
template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::eliminate() {
  alignas(64) std::array<double, static_cast<std::size_t>(most_padded)> factors;
  std::array<double, static_cast<std::size_t>(most_rows)> inverse_pivots;
  double* const right_side = reduced_.data() + unknowns_ * padded_;
  double* pivots = reduced_.data();
  for (int k = 0; k < unknowns_; ++k, pivots += padded_) {
    if (!(divide_by_pivot(pivots, k, padded_, factors.data()) <= tuned.pivot_growth * tuned.pivot_growth)) {
      int other = k;
      for (int a = k + 1; a < unknowns_; ++a) {
        if (std::abs(pivots[a]) > std::abs(pivots[other])) other = a;
      }
      for (double* column = pivots; column <= right_side; column += padded_) std::swap(column[k], column[other]);
      if (pivots[k] == 0.0) pivots[k] = std::numeric_limits<double>::epsilon();
      divide_by_pivot(pivots, k, padded_, factors.data());
    }
    inverse_pivots[static_cast<std::size_t>(k)] = 1.0 / pivots[k];
    const int begin = k / 4 * 4;
    subtract_from_columns<most_padded / 4>((padded_ - begin) / 4, factors.data() + begin, pivots + padded_ + begin,
                                           k - begin, padded_, unknowns_ - k);
  }
  for (int k = unknowns_ - 1; k >= 0; --k) {
    pivots -= padded_;
    const double value = right_side[k] * inverse_pivots[static_cast<std::size_t>(k)];
    solution_[static_cast<std::size_t>(k)] = value;
    add(-value, pivots, right_side, 0, padded(k));
  }
}

template <int Dim, bool Limits>
void FewNewton<Dim, Limits>::step(double residual) {
  // Where the modes stay, Newton's step is to be trusted.
  relative_ = linearise() ? tuned.trusted_share * relative_ : tuned.few_relative;
  assemble(std::min(tuned.largest, std::max(tuned.least, relative_ * residual)));
  eliminate();
  for (int k = 0; k < rows_; ++k) r_[static_cast<std::size_t>(k)] += known_[static_cast<std::size_t>(k)];
  for (int i = 0; i < blocks_; ++i) {
    const Contact& contact = linear_[static_cast<std::size_t>(i)];
    const double* z = solution_.data() + contact.first;
    if (contact.mode == Mode::frictionless) {
      r_[static_cast<std::size_t>(contact.normal)] += z[0];
    } else if (contact.mode == Mode::stick) {
      Eigen::Map<Part>(r_.data() + row(i)) += Eigen::Map<const Part>(z);
    } else if (contact.mode == Mode::slip) {
      Eigen::Map<Part> r(r_.data() + row(i));
      r += contact.along * z[0];
      if constexpr (Dim == 3) r += contact.across * z[1];
    }
  }
}

template class FewNewton<2, false>;
template class FewNewton<3, false>;
template class FewNewton<2, true>;
template class FewNewton<3, true>;

}  // namespace conebench::cascade
