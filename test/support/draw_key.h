// Lets tests and benchmarks open the samplers without a charge. Never included from src/.
#pragma once

#include "mechanism/draw_key.h"

namespace dpboost {

struct TestDrawKey {
    static DrawKey Make() { return DrawKey(); }
};

}  // namespace dpboost
