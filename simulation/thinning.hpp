#pragma once

#include "simulation/engine.hpp"

namespace conebench::simulation {

/// Of contacts of the same two bodies that are less than `distance` [m] apart only the deepest stays, with its rows of
/// J (Yamane V-A, its δ). Contacts that stay keep their order.
void thin_contacts(Mechanics& mechanics, double distance);

}  // namespace conebench::simulation
