#include "solvers/gauss_seidel/ellipse_block.hpp"

#include <limits>

#include "solvers/gauss_seidel/slip_angle.hpp"

namespace conebench::gauss_seidel {

namespace {

using Direction = Ellipse3::Direction;

Direction turned(const Direction& e, double cosine, double sine) {
  return {cosine * e[0] - sine * e[1], sine * e[0] + cosine * e[1]};
}

/// Whether e lies on the way from a to b, which are less than half a turn apart.
bool between(const Direction& a, const Direction& e, const Direction& b) {
  const auto cross = [](const Direction& u, const Direction& v) { return u[0] * v[1] - u[1] * v[0]; };
  return cross(a, e) * cross(e, b) >= 0.0 && a.dot(e) >= a.dot(b);
}

/// Newton's steps on the angle of e, |e| about 1. False where they do not settle at once on a direction of least
/// energy.
bool polish(const Ellipse3& c, Direction& e) {
  constexpr double farthest = 0.1;
  constexpr double last = 3e-8;  // the error after a step is about its square
  for (int k = 0; k < 5; ++k) {
    e.normalize();
    const Direction u = c.gradient(e);
    const double across = (e[0] + c.a0) * u[1] - (e[1] + c.a1) * u[0];
    const Direction turning(c.m01 * e[0] - c.m00 * e[1], c.m11 * e[0] - c.m10 * e[1]);  // M e⊥
    const double slope = (e[0] + c.a0) * turning[1] - (e[1] + c.a1) * turning[0] - e.dot(u);
    const double angle = -across / slope;
    if (!(slope > 0.0 && std::abs(angle) <= farthest)) return false;
    e += angle * Direction(-e[1], e[0]);
    if (std::abs(angle) > last) continue;
    e.normalize();
    return c.is_least(e);
  }
  return false;
}

}  // namespace

bool find_least_carefully(const Ellipse3& c, Direction& e) {
  const SlipAngle f{c.p1 * c.a0 - c.p0 * c.a1 + 0.5 * (c.m10 - c.m01), c.p1 + c.m10 * c.a0 - c.m00 * c.a1,
                    -c.p0 + c.m11 * c.a0 - c.m01 * c.a1, 0.5 * (c.m10 + c.m01), 0.5 * (c.m11 - c.m00)};
  double largest = -std::numeric_limits<double>::infinity();
  for_each_root(f, [&](double angle) {
    const Direction candidate(std::cos(angle), std::sin(angle));
    const double height = c.height(candidate);
    const double multiplier = c.outward(candidate) / height;
    if (height > 0.0 && multiplier > largest) {
      largest = multiplier;
      e = candidate;
    }
  });
  return largest >= 0.0;
}

bool Bisection::find(const Ellipse3& ellipse, const ContactVector<3>& outside, const ContactVector<3>&, Direction& e) {
  Direction start = outside.head<2>();
  if (start.isZero(0.0)) start = Direction(-ellipse.p0, -ellipse.p1);
  const double length = start.norm();
  if (!(length > 0.0)) return false;
  e = start / length;
  const double first = ellipse.across(e);
  if (first == 0.0) return ellipse.is_least(e);

  double sine = first > 0.0 ? -0.01 : 0.01;
  double cosine = std::sqrt(1.0 - sine * sine);
  Direction behind = e;
  Direction ahead = turned(e, cosine, sine);
  constexpr double max_step = 0.5;
  for (int k = 0; ellipse.across(ahead) * first > 0.0; ++k) {
    if (k == 20 || !(ellipse.height(ahead) > 0.0)) return false;
    behind = ahead;
    if (std::abs(sine) < max_step) {
      sine *= 2.0 * cosine;
      cosine = std::sqrt(1.0 - sine * sine);
    }
    ahead = turned(behind, cosine, sine);
  }
  constexpr double square_of_near = 0.04;  // Newton's steps settle from here, as a rule
  constexpr double square_of_last = 1e-30;
  bool tried = false;
  while ((ahead - behind).squaredNorm() > square_of_last) {
    e = (ahead + behind).normalized();
    if (!tried && (ahead - behind).squaredNorm() <= square_of_near) {
      Direction root = e;
      tried = true;
      if (polish(ellipse, root) && between(behind, root, ahead)) {
        e = root;
        return true;
      }
    }
    if (e == behind || e == ahead) break;
    (ellipse.across(e) * first > 0.0 ? behind : ahead) = e;
  }
  e = ahead;
  return ellipse.is_least(e);
}

bool Quartic::find(const Ellipse3& c, const ContactVector<3>&, const ContactVector<3>& old, Direction& e) {
  const double edge = c.friction * old[2];
  const double square = old.head<2>().squaredNorm();
  if (edge > 0.0 && std::abs(square - edge * edge) <= 1e-6 * square) {
    e = old.head<2>() / edge;
    if (polish(c, e)) return true;
  }
  // Numerator x² a + x (p + adj(M) a) + adj(M) p, denominator x² + tr(M) x + det(M) of −e(x).
  const double trace = c.m00 + c.m11;
  const double determinant = c.m00 * c.m11 - c.m01 * c.m10;
  const Direction a(c.a0, c.a1);
  const Direction linear(c.p0 + c.m11 * c.a0 - c.m01 * c.a1, c.p1 + c.m00 * c.a1 - c.m10 * c.a0);
  const Direction constant(c.m11 * c.p0 - c.m01 * c.p1, c.m00 * c.p1 - c.m10 * c.p0);
  const double eccentricity = a.norm();
  if (!(eccentricity < 1.0)) return false;

  // Q = denominator² − ‖numerator‖² is negative at low and not at high: ‖u‖ ≤ size, and ‖e + a‖ ≥ 1 − ‖a‖ bounds x.
  const double size = std::hypot(c.p0, c.p1) + std::hypot(std::hypot(c.m00, c.m01), std::hypot(c.m10, c.m11));
  double low = 0.0;
  double high = size / (1.0 - eccentricity);
  if (determinant * determinant > constant.squaredNorm()) return false;
  double x = std::hypot(c.p0, c.p1);
  for (int k = 0; k < 100; ++k) {
    const double denominator = (x + trace) * x + determinant;
    const Direction numerator = (x * a + linear) * x + constant;
    const double value = denominator * denominator - numerator.squaredNorm();
    (value < 0.0 ? low : high) = x;
    const double slope = 2.0 * (denominator * (2.0 * x + trace) - numerator.dot(2.0 * x * a + linear));
    const double next = x - value / slope;
    const bool newton = slope > 0.0 && next > low && next < high;
    const double before = x;
    x = newton ? next : 0.5 * (low + high);
    if (std::abs(x - before) <= 1e-14 * (x + size)) break;
  }
  const double denominator = (x + trace) * x + determinant;
  e = -((x * a + linear) * x + constant) / denominator;
  return polish(c, e);
}

}  // namespace conebench::gauss_seidel
