// The key that opens a sampler. ExactNoise makes one, so the samplers cannot be used around the charges of a Plan, and so
// does UnitRooms, whose noise a part of every limit pays that no Plan gets; tests have a maker of their own in test/support.
#pragma once

namespace dpboost {

class DrawKey {
    friend class ExactNoise;
    friend class UnitRooms;  // training/units/unit_rooms.h
    friend struct TestDrawKey;
    DrawKey() {}
};

}  // namespace dpboost
