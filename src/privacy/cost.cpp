// Layout, little-endian: "DPBR", u8 version, u8 calibrated_by, u16 number of events, f64 epsilon, f64 delta;
// per event u8 kind, u8 flags (1: filtered), f64 parameter, f64 sampling rate, u32 count; 65 f64 of the curve
// (the 64 orders, then infinity); u64 FNV-1a of all bytes before. A change of any one byte changes the
// checksum, because each of its steps is a bijection of the state.
#include "privacy/cost.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"

namespace dpboost {
namespace {

constexpr char kMagic[4] = {'D', 'P', 'B', 'R'};
constexpr uint8_t kVersion = 1;
constexpr std::size_t kMaxEvents = 65535;

[[noreturn]] void ThrowCorrupted(const char* what) {
    throw Error(ErrorCode::kCorrupted, "stored privacy charge is corrupted", what);
}

uint64_t Checksum(std::string_view bytes) {
    uint64_t state = 14695981039346656037u;
    for (char byte : bytes)
        state = (state ^ static_cast<unsigned char>(byte)) * 1099511628211u;
    return state;
}

class Writer {
  public:
    void Integer(uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i)
            out_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
    void Number(double value) {
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        Integer(bits, 8);
    }
    std::string& out() { return out_; }

  private:
    std::string out_;
};

class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    uint64_t Integer(int bytes) {
        if (bytes_.size() < static_cast<std::size_t>(bytes))
            ThrowCorrupted("It ends too early.");
        uint64_t value = 0;
        for (int i = 0; i < bytes; ++i)
            value |= uint64_t{static_cast<unsigned char>(bytes_[static_cast<std::size_t>(i)])} << (8 * i);
        bytes_.remove_prefix(static_cast<std::size_t>(bytes));
        return value;
    }
    double Number() {
        const uint64_t bits = Integer(8);
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    bool AtEnd() const { return bytes_.empty(); }

  private:
    std::string_view bytes_;
};

Event ReadEvent(Reader& reader) {
    Event event;
    event.kind = static_cast<EventKind>(reader.Integer(1));
    const uint64_t flags = reader.Integer(1);
    event.parameter = reader.Number();
    event.sampling_rate = reader.Number();
    event.count = reader.Integer(4);
    if (flags > 1)
        ThrowCorrupted("An event has unknown flags.");
    event.filtered = flags == 1;
    try {
        CheckEvent(event);
    } catch (const Error&) {
        ThrowCorrupted("An event is out of range.");
    }
    return event;
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
           events == other.events && curve.rho == other.curve.rho &&
           curve.pure_epsilon == other.curve.pure_epsilon;
}

std::string Cost::Serialize() const {
    CheckInternal(!events.empty() && events.size() <= kMaxEvents, "a release has no or too many events");
    Writer writer;
    writer.out().append(kMagic, sizeof kMagic);
    writer.Integer(kVersion, 1);
    writer.Integer(static_cast<uint8_t>(calibrated_by), 1);
    writer.Integer(events.size(), 2);
    writer.Number(epsilon);
    writer.Number(delta);
    for (const Event& event : events) {
        writer.Integer(static_cast<uint8_t>(event.kind), 1);
        writer.Integer(event.filtered ? 1 : 0, 1);
        writer.Number(event.parameter);
        writer.Number(event.sampling_rate);
        writer.Integer(event.count, 4);
    }
    for (double rho : curve.rho)
        writer.Number(rho);
    writer.Number(curve.pure_epsilon);
    writer.Integer(Checksum(writer.out()), 8);
    return std::move(writer.out());
}

Cost Cost::Parse(std::string_view bytes) {
    if (bytes.size() < sizeof kMagic + 8 || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
        ThrowCorrupted("It does not begin like one.");
    const std::string_view body = bytes.substr(0, bytes.size() - 8);
    if (Reader(bytes.substr(body.size())).Integer(8) != Checksum(body))
        ThrowCorrupted("Its checksum is wrong.");
    Reader reader(body.substr(sizeof kMagic));
    if (reader.Integer(1) != kVersion)
        ThrowCorrupted("It was written by an unknown version.");
    Cost release;
    release.calibrated_by = static_cast<CalibratedBy>(reader.Integer(1));
    if (release.calibrated_by < CalibratedBy::kPld || release.calibrated_by > CalibratedBy::kPure)
        ThrowCorrupted("It has an unknown kind of calibration.");
    const uint64_t event_count = reader.Integer(2);
    if (event_count == 0)
        ThrowCorrupted("It has no events.");
    release.epsilon = reader.Number();
    release.delta = reader.Number();
    if (!(release.epsilon > 0) || !std::isfinite(release.epsilon) ||
        !(release.delta >= 0 && release.delta < 1))
        ThrowCorrupted("Its epsilon or delta is out of range.");
    for (uint64_t i = 0; i < event_count; ++i)
        release.events.push_back(ReadEvent(reader));
    for (double& rho : release.curve.rho) {
        rho = reader.Number();
        if (!(rho >= 0))
            ThrowCorrupted("Its curve is out of range.");
    }
    release.curve.pure_epsilon = reader.Number();
    if (!(release.curve.pure_epsilon >= 0) || !reader.AtEnd())
        ThrowCorrupted("Its curve is out of range, or bytes follow it.");
    return release;
}

// Machines may differ in the last digits of exp and log, so that "less" means by more than a billionth (of
// the curve) or a ten-thousandth (of epsilon, which grids are within).
Cost Cost::Replay(std::string_view bytes) {
    Cost release = Parse(bytes);
    const RdpCurve curve = EventsCurve(release.events);
    auto agree = [](double stored, double computed) {
        return stored == computed ||
               (std::isfinite(computed) && std::fabs(stored - computed) <= 1e-9 * computed);
    };
    for (std::size_t i = 0; i < kOrderCount; ++i)
        if (!agree(release.curve.rho[i], curve.rho[i]))
            ThrowCorrupted("Its curve does not follow from its events.");
    if (!agree(release.curve.pure_epsilon, curve.pure_epsilon))
        ThrowCorrupted("Its pure epsilon does not follow from its events.");
    if (!(ProvenEpsilon(release.events, release.delta) <= release.epsilon * (1 + 1e-4)))
        ThrowCorrupted("Its events spend more than the epsilon it claims.");
    return release;
}

}  // namespace dpboost
