#pragma once

#include "problems/cones/coulomb.hpp"
#include "problems/cones/limit.hpp"
