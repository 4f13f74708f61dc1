// How the ledger's bytes begin and end, and how an event is written in them: little-endian, four letters that
// say what they are, a checksum at the end. A change of any one byte changes the checksum (FNV-1a by words of
// eight bytes, each folded once), because each of its steps is a bijection of the state. Internal to cost.cpp
// and spent.cpp.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "privacy/accountant/rdp.h"
#include "privacy/events.h"

namespace dpboost {

[[noreturn]] inline void ThrowCorruptedCharge(const char* what) {
    throw Error(ErrorCode::kCorrupted, "stored privacy charge is corrupted", what);
}

inline uint64_t LedgerChecksum(std::string_view bytes) {
    uint64_t state = 14695981039346656037u;
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
        state = (state ^ LittleWord(bytes.data() + i)) * 1099511628211u;
        state ^= state >> 32;
    }
    for (; i < bytes.size(); ++i)
        state = (state ^ static_cast<unsigned char>(bytes[i])) * 1099511628211u;
    return state;
}

// Appends the checksum.
inline std::string SealLedgerBytes(ByteWriter& writer) {
    writer.U64(LedgerChecksum(writer.bytes()));
    return writer.Take();
}

// A reader that knows how far it may go: ThrowCorruptedCharge where a ByteReader would speak of a model.
class LedgerReader {
  public:
    // Checks `magic` and the checksum; what follows the one and precedes the other is read.
    LedgerReader(std::string_view bytes, std::string_view magic) : reader_({}) {
        if (bytes.size() < magic.size() + 8 || bytes.substr(0, magic.size()) != magic)
            ThrowCorruptedCharge("It does not begin like one.");
        const std::string_view body = bytes.substr(0, bytes.size() - 8);
        if (ByteReader(bytes.substr(body.size())).U64() != LedgerChecksum(body))
            ThrowCorruptedCharge("Its checksum is wrong.");
        reader_ = ByteReader(body.substr(magic.size()));
    }

    uint8_t U8() { return Need(1).U8(); }
    uint16_t U16() { return Need(2).U16(); }
    uint32_t U32() { return Need(4).U32(); }
    uint64_t U64() { return Need(8).U64(); }
    double F64() { return Need(8).F64(); }
    // A number that only grows: not negative, perhaps infinite.
    double Amount() {
        const double value = F64();
        if (!(value >= 0))
            ThrowCorruptedCharge("One of its figures is out of range.");
        return value;
    }
    void CheckEnd() const {
        if (reader_.left() > 0)
            ThrowCorruptedCharge("Bytes follow it.");
    }

  private:
    ByteReader& Need(std::size_t bytes) {
        if (reader_.left() < bytes)
            ThrowCorruptedCharge("It ends too early.");
        return reader_;
    }

    ByteReader reader_;
};

// u8 kind, u8 flags (1: filtered), f64 parameter, f64 sampling rate, u32 count.
inline void WriteEvent(ByteWriter& writer, const Event& event) {
    writer.U8(static_cast<uint8_t>(event.kind));
    writer.U8(event.filtered ? 1 : 0);
    writer.F64(event.parameter);
    writer.F64(event.sampling_rate);
    writer.U32(static_cast<uint32_t>(event.count));
}

inline Event ReadEvent(LedgerReader& reader) {
    Event event;
    event.kind = static_cast<EventKind>(reader.U8());
    const uint8_t flags = reader.U8();
    event.parameter = reader.F64();
    event.sampling_rate = reader.F64();
    event.count = reader.U32();
    if (flags > 1)
        ThrowCorruptedCharge("An event has unknown flags.");
    event.filtered = flags == 1;
    try {
        CheckEvent(event);
    } catch (const Error&) {
        ThrowCorruptedCharge("An event is out of range.");
    }
    return event;
}

// 65 f64: the 64 orders, then infinity.
inline void WriteCurve(ByteWriter& writer, const RdpCurve& curve) {
    for (double rho : curve.rho)
        writer.F64(rho);
    writer.F64(curve.pure_epsilon);
}

inline RdpCurve ReadCurve(LedgerReader& reader) {
    RdpCurve curve;
    for (double& rho : curve.rho)
        rho = reader.Amount();
    curve.pure_epsilon = reader.Amount();
    return curve;
}

}  // namespace dpboost
