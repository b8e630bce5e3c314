#pragma once

#include "problems/cone_product.hpp"
#include "solvers/registry.hpp"

namespace conebench {

/// De Saxcé's term s = Γ(σ), held while a method for the cone problem goes on with g + s in place of g: its fixed
/// points solve the NCP.
class HeldTerm {
 public:
  /// The option `held`: iterations with one s.
  static void declare(OptionBinder& bind, long& iterations) {
    bind.integer("held", iterations,
                 {.minimum = 1, .maximum = 1e6, .doc = "iterations after which De Saxce's term is renewed"});
  }

  explicit HeldTerm(long iterations) : iterations_(iterations) {}
  /// Allocates. s = 0 until it is renewed.
  void prepare(Index rows) {
    term_.setZero(rows);
    change_.setZero(rows);
  }
  void reset() {
    term_.setZero();
    age_ = 0;
  }

  const Vector& term() const { return term_; }
  /// Asked after every iteration.
  bool is_due() { return ++age_ >= iterations_; }
  /// s ← Γ(σ); returns by how much it changes. No allocation.
  const Vector& renew(const ConeProduct& cones, const Vector& sigma) {
    add_de_saxce(cones, sigma, change_);
    change_ -= sigma;
    change_ -= term_;
    term_ += change_;
    age_ = 0;
    return change_;
  }

 private:
  long iterations_;
  long age_ = 0;
  Vector term_, change_;
};

}  // namespace conebench
