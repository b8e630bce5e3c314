#pragma once

#include <rapidcheck.h>

namespace conebench {

/// Components of many sizes, signs and exact zeros.
inline rc::Gen<double> component() {
  return rc::gen::oneOf(rc::gen::just(0.0),
                        rc::gen::map(rc::gen::inRange(-1000000, 1000001), [](int value) { return 1e-5 * value; }),
                        rc::gen::map(rc::gen::inRange(-1000, 1001), [](int value) { return 1e-9 * value; }));
}

inline rc::Gen<double> friction() {
  return rc::gen::oneOf(rc::gen::just(0.0),
                        rc::gen::map(rc::gen::inRange(0, 20000), [](int value) { return 1e-4 * value; }),
                        rc::gen::just(100.0));
}

}  // namespace conebench
