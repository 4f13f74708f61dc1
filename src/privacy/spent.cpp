// Adds up costs, rounding up, and says what the sum is worth. Layout of the bytes, little-endian: "DPBS", u8
// version, u8 flags (1: Gaussian first, 2: others known), u16 number of others, u64 releases, f64 mu^2, the
// other events, the curve, the checksum (ledger_bytes.h).
#include "privacy/spent.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/gdp.h"
#include "privacy/accountant/kinds.h"
#include "privacy/ledger_bytes.h"

namespace dpboost {
namespace {

constexpr std::string_view kSpentMagic = "DPBS";
constexpr uint8_t kSpentVersion = 1;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Two counts of the same releases in different orders: each of up to 1e6 additions rounds by 2^-52.
constexpr double kAgreement = 1e-9;

// At least the true sum of two numbers that are not negative: the nearest double is within half a step of it, and
// the next one has the next bits. (std::nextafter does the same in a call for each of the curve's orders.)
double AddUp(double a, double b) {
    const double sum = a + b;
    if (a == 0 || b == 0 || !(sum < kInfinity))
        return sum;
    uint64_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    ++bits;
    double next;
    std::memcpy(&next, &bits, sizeof next);
    return next;
}

bool IsGaussian(const Event& event) {
    return IsGaussianFullBatch({event});
}

// Division and square round by 2^-53 each; noise beyond all measure must not make it 0.
double EventMuSquared(const Event& event) {
    return std::max(EffectiveMuSquared(event) * (1 + 1e-15), 1e-300);
}

bool SameMechanism(const Event& a, const Event& b) {
    return a.kind == b.kind && a.parameter == b.parameter && a.sampling_rate == b.sampling_rate &&
           a.filtered == b.filtered;
}

void AddOther(Spent& spent, const Event& event) {
    if (!spent.others_known)
        return;
    auto known = std::find_if(spent.others.begin(), spent.others.end(),
                              [&](const Event& other) { return SameMechanism(event, other); });
    if (known == spent.others.end()) {
        spent.others.push_back(event);
        known = spent.others.end() - 1;
    } else {
        known->count += event.count;
    }
    spent.others_known = spent.others.size() <= Spent::kMaxOthers && known->count <= kMaxEventCount;
    if (!spent.others_known)
        spent.others.clear();
}

void AddCurve(RdpCurve& curve, const RdpCurve& other) {
    for (std::size_t i = 0; i < kOrderCount; ++i)
        curve.rho[i] = AddUp(curve.rho[i], other.rho[i]);
    curve.pure_epsilon = AddUp(curve.pure_epsilon, other.pure_epsilon);
}

bool Close(double a, double b) {
    return a == b || std::fabs(a - b) <= kAgreement * std::max(a, b);
}

}  // namespace

double GaussianMuSquared(const std::vector<Event>& events) {
    if (!IsGaussianFullBatch(events))
        return kInfinity;
    double sum = 0;
    for (const Event& event : events)
        sum = AddUp(sum, EventMuSquared(event));
    return sum;
}

// Neither the first release nor a Gaussian one: case (b) of budget.h with nothing spent.
BudgetSpent BudgetSpent::ByUnit() {
    return {1, 0, kInfinity, false, true};
}

void BudgetSpent::Add(const Cost& cost, uint32_t order) {
    if (by_unit)
        return;
    const double cost_mu_squared = GaussianMuSquared(cost.events);
    if (releases == 0)
        gaussian_first = std::isfinite(cost_mu_squared);
    ++releases;
    rho = AddUp(rho, cost.curve.At(order));
    mu_squared = AddUp(mu_squared, cost_mu_squared);
}

bool BudgetSpent::operator==(const BudgetSpent& other) const {
    return releases == other.releases && rho == other.rho && mu_squared == other.mu_squared &&
           gaussian_first == other.gaussian_first && by_unit == other.by_unit;
}

void Spent::Add(const Cost& cost) {
    if (releases == 0)
        gaussian_first = IsGaussianFullBatch(cost.events);
    ++releases;
    AddCurve(curve, cost.curve);
    for (const Event& event : cost.events) {
        if (dpboost::IsGaussian(event))
            mu_squared = AddUp(mu_squared, EventMuSquared(event));
        else
            AddOther(*this, event);
    }
}

void Spent::Add(const Spent& later) {
    if (releases == 0)
        gaussian_first = later.gaussian_first;
    releases += later.releases;
    AddCurve(curve, later.curve);
    mu_squared = AddUp(mu_squared, later.mu_squared);
    for (const Event& event : later.others)
        AddOther(*this, event);
    if (!later.others_known) {
        others_known = false;
        others.clear();
    }
}

BudgetSpent Spent::At(uint32_t order) const {
    return {static_cast<int64_t>(releases), curve.At(order), IsGaussian() ? mu_squared : kInfinity,
            gaussian_first, false};
}

bool Spent::Agrees(const Spent& recounted) const {
    bool same = releases == recounted.releases && gaussian_first == recounted.gaussian_first &&
                others_known == recounted.others_known && others.size() == recounted.others.size() &&
                Close(mu_squared, recounted.mu_squared) &&
                Close(curve.pure_epsilon, recounted.curve.pure_epsilon);
    for (std::size_t i = 0; i < kOrderCount; ++i)
        same &= Close(curve.rho[i], recounted.curve.rho[i]);
    return same;
}

std::string Spent::Serialize() const {
    CheckInternal(others.size() <= kMaxOthers, "a sum of charges has too many events");
    ByteWriter writer;
    writer.Raw(kSpentMagic);
    writer.U8(kSpentVersion);
    writer.U8(static_cast<uint8_t>((gaussian_first ? 1 : 0) | (others_known ? 2 : 0)));
    writer.U16(static_cast<uint16_t>(others.size()));
    writer.U64(releases);
    writer.F64(mu_squared);
    for (const Event& event : others)
        WriteEvent(writer, event);
    WriteCurve(writer, curve);
    static_assert(4 + 4 + 16 + 22 * kMaxOthers + 8 * (kOrderCount + 1) + 8 <= kMaxBytes, "fits a buffer");
    return SealLedgerBytes(writer);
}

Spent Spent::Parse(std::string_view bytes) {
    LedgerReader reader(bytes, kSpentMagic);
    if (reader.U8() != kSpentVersion)
        ThrowCorruptedCharge("It was written by an unknown version.");
    const uint8_t flags = reader.U8();
    const uint16_t count = reader.U16();
    if (flags > 3 || count > kMaxOthers || (count > 0 && (flags & 2) == 0))
        ThrowCorruptedCharge("It has unknown flags or too many events.");
    Spent spent;
    spent.gaussian_first = (flags & 1) != 0;
    spent.others_known = (flags & 2) != 0;
    spent.releases = reader.U64();
    spent.mu_squared = reader.Amount();
    for (uint16_t i = 0; i < count; ++i)
        spent.others.push_back(ReadEvent(reader));
    spent.curve = ReadCurve(reader);
    reader.CheckEnd();
    if (spent.releases == 0 || spent.releases > INT64_MAX)
        ThrowCorruptedCharge("It counts no releases.");
    return spent;
}

double QuickEpsilon(const Spent& spent, double delta) {
    if (spent.releases == 0)
        return 0;
    if (delta > 0 && spent.IsGaussian())
        return GdpEpsilonAbove(std::sqrt(spent.mu_squared), delta);
    return CurveToEpsilon(spent.curve, delta).epsilon;
}

double ComposedEpsilon(const Spent& spent, double delta) {
    const double quick = QuickEpsilon(spent, delta);
    if (spent.releases == 0 || delta == 0 || spent.IsGaussian() || !spent.others_known ||
        !PldApplies(spent.others))
        return quick;
    std::vector<Event> events = spent.others;
    if (spent.mu_squared > 0)
        events.push_back(Event::Gdp(std::sqrt(spent.mu_squared) * (1 + 1e-15), 1));
    return std::min(quick, ProvenEpsilon(events, delta));
}

}  // namespace dpboost
