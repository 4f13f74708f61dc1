// What the ledger keeps of a training: its events, its Renyi curve, and the (epsilon, delta) that was proven.
// The bytes are versioned and checksummed, and Replay proves the figures again from the events alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/accountant/rdp.h"
#include "privacy/events.h"

namespace dpboost {

// Which proof set the noise.
enum class CalibratedBy : uint8_t { kPld = 1, kRdp = 2, kGdp = 3, kBudget = 4, kPure = 5 };
const char* CalibratedByName(CalibratedBy by);  // "pld", "rdp", "gdp", "budget", "pure"

struct Cost {
    double epsilon = 0;  // proven at delta; at most what was asked for
    double delta = 0;
    CalibratedBy calibrated_by = CalibratedBy::kPld;
    std::vector<Event> events;
    RdpCurve curve;
    // One Gaussian on units that none of the events saw, and no less private than all of them together: it costs
    // nothing more (Plan::Calibrate has the proof). Replay checks it.
    std::optional<Event> aside = {};

    bool PldApplies() const { return dpboost::PldApplies(events); }

    // Little-endian, about 550 bytes.
    std::string Serialize() const;
    // Throws kCorrupted for anything that Serialize could not have written. Does not recompute
    // (microseconds).
    static Cost Parse(std::string_view bytes);
    // Parses, and computes curve and epsilon again from the events; throws kCorrupted if the bytes claim
    // less. `proven_epsilon` (optional) is what the events prove at the stored delta, also if that is more.
    static Cost Replay(std::string_view bytes, double* proven_epsilon = nullptr);

    bool operator==(const Cost& other) const;
};

}  // namespace dpboost
