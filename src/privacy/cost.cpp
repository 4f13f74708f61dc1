// Layout, little-endian: "DPBR", u8 version, u8 calibrated_by, u16 number of events, f64 epsilon, f64 delta, the
// events, the curve, in version 2 the event aside, the checksum (ledger_bytes.h).
#include "privacy/cost.h"

#include <cmath>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/ledger_bytes.h"
#include "privacy/spent.h"

namespace dpboost {
namespace {

constexpr std::string_view kMagic = "DPBR";
constexpr uint8_t kVersion = 1;
constexpr uint8_t kVersionWithAside = 2;
constexpr std::size_t kMaxEvents = 65535;

void CheckAside(const Event& aside, const std::vector<Event>& events) {
    std::vector<Event> alone{aside};
    if (!IsGaussianFullBatch(events) || !IsGaussianFullBatch(alone) ||
        !(GaussianMuSquared(alone) <= GaussianMuSquared(events)))
        ThrowCorruptedCharge("Its draw aside is not covered by its events.");
}

}  // namespace

const char* CalibratedByName(CalibratedBy by) {
    switch (by) {
        case CalibratedBy::kPld:
            return "pld";
        case CalibratedBy::kRdp:
            return "rdp";
        case CalibratedBy::kGdp:
            return "gdp";
        case CalibratedBy::kBudget:
            return "budget";
        case CalibratedBy::kPure:
            return "pure";
    }
    throw Error(ErrorCode::kInternal, "unknown kind of calibration");
}

bool Cost::operator==(const Cost& other) const {
    return epsilon == other.epsilon && delta == other.delta && calibrated_by == other.calibrated_by &&
           events == other.events && aside == other.aside && curve.rho == other.curve.rho &&
           curve.pure_epsilon == other.curve.pure_epsilon;
}

std::string Cost::Serialize() const {
    CheckInternal(!events.empty() && events.size() <= kMaxEvents, "a release has no or too many events");
    ByteWriter writer;
    writer.Raw(kMagic);
    writer.U8(aside ? kVersionWithAside : kVersion);
    writer.U8(static_cast<uint8_t>(calibrated_by));
    writer.U16(static_cast<uint16_t>(events.size()));
    writer.F64(epsilon);
    writer.F64(delta);
    for (const Event& event : events)
        WriteEvent(writer, event);
    WriteCurve(writer, curve);
    if (aside)
        WriteEvent(writer, *aside);
    return SealLedgerBytes(writer);
}

Cost Cost::Parse(std::string_view bytes) {
    LedgerReader reader(bytes, kMagic);
    const uint8_t version = reader.U8();
    if (version != kVersion && version != kVersionWithAside)
        ThrowCorruptedCharge("It was written by an unknown version.");
    Cost release;
    release.calibrated_by = static_cast<CalibratedBy>(reader.U8());
    if (release.calibrated_by < CalibratedBy::kPld || release.calibrated_by > CalibratedBy::kPure)
        ThrowCorruptedCharge("It has an unknown kind of calibration.");
    const uint16_t event_count = reader.U16();
    if (event_count == 0)
        ThrowCorruptedCharge("It has no events.");
    release.epsilon = reader.F64();
    release.delta = reader.F64();
    if (!(release.epsilon > 0) || !std::isfinite(release.epsilon) ||
        !(release.delta >= 0 && release.delta < 1))
        ThrowCorruptedCharge("Its epsilon or delta is out of range.");
    for (uint16_t i = 0; i < event_count; ++i)
        release.events.push_back(ReadEvent(reader));
    release.curve = ReadCurve(reader);
    if (version == kVersionWithAside)
        release.aside = ReadEvent(reader);
    reader.CheckEnd();
    return release;
}

// Machines may differ in the last digits of exp and log, so that "less" means by more than a billionth (of
// the curve) or a ten-thousandth (of epsilon, which grids are within).
Cost Cost::Replay(std::string_view bytes, double* proven_epsilon) {
    Cost release = Parse(bytes);
    const double proven = ProvenEpsilon(release.events, release.delta);
    if (proven_epsilon != nullptr)
        *proven_epsilon = proven;
    const RdpCurve curve = EventsCurve(release.events);
    auto agree = [](double stored, double computed) {
        return stored == computed ||
               (std::isfinite(computed) && std::fabs(stored - computed) <= 1e-9 * computed);
    };
    for (std::size_t i = 0; i < kOrderCount; ++i)
        if (!agree(release.curve.rho[i], curve.rho[i]))
            ThrowCorruptedCharge("Its curve does not follow from its events.");
    if (!agree(release.curve.pure_epsilon, curve.pure_epsilon))
        ThrowCorruptedCharge("Its pure epsilon does not follow from its events.");
    if (!(proven <= release.epsilon * (1 + 1e-4)))
        ThrowCorruptedCharge("Its events spend more than the epsilon it claims.");
    if (release.aside)
        CheckAside(*release.aside, release.events);
    return release;
}

}  // namespace dpboost
