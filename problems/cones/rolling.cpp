#include "problems/cones/rolling.hpp"

namespace conebench {

bool RollingCone::in_polar(const Block& x) const {
  return friction * norm_of_two(x[0], x[1]) + rolling * norm_of_two(x[3], x[4]) <= -x[normal];
}

RollingCone::Pieces RollingCone::pieces(const Block& x) const {
  const double a = norm_of_two(x[0], x[1]);
  const double b = norm_of_two(x[3], x[4]);
  const double slide = a - friction * x[normal];  // > 0 where the tangents are too long for x_n
  const double roll = b - rolling * x[normal];
  if (slide <= 0.0 && roll <= 0.0) return {a, b, 0.0, 0.0, 0.0, false, false};
  // What is cut off follows from slide and roll, not from a − mu s: that loses mu² times as many digits.
  // One of the two bounds alone raises s so far that the other holds.
  const double slide_square = friction * friction + 1.0;
  const double by_slide = friction * slide / slide_square;
  if (slide > 0.0 && roll <= rolling * by_slide) return {a, b, by_slide, slide / slide_square, 0.0, true, false};
  const double roll_square = rolling * rolling + 1.0;
  const double by_roll = rolling * roll / roll_square;
  if (roll > 0.0 && slide <= friction * by_roll) return {a, b, by_roll, 0.0, roll / roll_square, false, true};
  const double square = friction * friction + roll_square;
  const double coupling = friction * rolling;
  return {a,
          b,
          (friction * slide + rolling * roll) / square,
          (roll_square * slide - coupling * roll) / square,
          (slide_square * roll - coupling * slide) / square,
          true,
          true};
}

RollingCone::Block RollingCone::outside(const Block& x) const {
  if (in_polar(x)) return x;
  const Pieces p = pieces(x);
  Block difference = Block::Zero();
  difference[normal] = -p.raised;
  if (p.tangential > 0.0) difference.head<2>() = x.head<2>() * (p.tangential_cut / p.tangential);
  if (p.moment > 0.0) difference.tail<2>() = x.tail<2>() * (p.moment_cut / p.moment);
  return difference;
}

RollingMatrix RollingCone::derivative(const Block& x) const {
  if (in_polar(x)) return RollingMatrix::Zero();
  Pieces p = pieces(x);
  p.slides = p.slides || friction == 0.0;
  p.rolls = p.rolls || rolling == 0.0;
  if (!p.slides && !p.rolls) return RollingMatrix::Identity();
  // s = (x_n + Σ mu a) / (1 + Σ mu²) over the bounds that hold; x_T → mu s x_T / a.
  const double s = x[normal] + p.raised;
  Block along = Block::Zero();  // mu e_T, 1, mu_r e_M over those bounds
  along[normal] = 1.0;
  Eigen::Vector2d e_t = Eigen::Vector2d::Zero();
  Eigen::Vector2d e_m = Eigen::Vector2d::Zero();
  if (p.slides && p.tangential > 0.0) e_t = x.head<2>() / p.tangential;
  if (p.rolls && p.moment > 0.0) e_m = x.tail<2>() / p.moment;
  along.head<2>() = friction * e_t;
  along.tail<2>() = rolling * e_m;
  const double square = 1.0 + (p.slides ? friction * friction : 0.0) + (p.rolls ? rolling * rolling : 0.0);
  RollingMatrix result = along * along.transpose() / square;
  if (!p.slides) {
    result.topLeftCorner<2, 2>().setIdentity();
  } else if (p.tangential > 0.0) {
    result.topLeftCorner<2, 2>() += friction * s / p.tangential * (Eigen::Matrix2d::Identity() - e_t * e_t.transpose());
  }
  if (!p.rolls) {
    result.bottomRightCorner<2, 2>().setIdentity();
  } else if (p.moment > 0.0) {
    result.bottomRightCorner<2, 2>() += rolling * s / p.moment * (Eigen::Matrix2d::Identity() - e_m * e_m.transpose());
  }
  return result;
}

}  // namespace conebench
