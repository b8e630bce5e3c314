#pragma once

#include "problems/cones/coulomb.hpp"
