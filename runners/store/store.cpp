#include "runners/store/store.hpp"
