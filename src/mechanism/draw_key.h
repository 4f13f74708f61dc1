// The key that opens a sampler. Only ExactNoise can make one, so the samplers cannot be used around the
// charges of a Plan; tests have a maker of their own in test/support.
#pragma once

namespace dpboost {

class DrawKey {
    friend class ExactNoise;
    friend struct TestDrawKey;
    DrawKey() {}
};

}  // namespace dpboost
