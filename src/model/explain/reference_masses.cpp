#include "model/explain/reference_masses.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/bytes.h"

namespace dpboost {
namespace {

std::vector<double> EvenMasses(const FeatureSpec& feature) {
    std::vector<double> masses(feature.cells(), 1.0 / feature.bins());
    masses.back() = 0;
    return masses;
}

// A cell's count is spread evenly over its codes.
std::vector<double> MassesOf(const Marginal& marginal, const FeatureSpec& feature) {
    double total = 0;
    for (const float count : marginal.counts)
        total += static_cast<double>(count);
    if (!(total > 0))
        return EvenMasses(feature);
    std::vector<double> masses;
    masses.reserve(feature.cells());
    for (size_t cell = 0; cell < marginal.counts.size(); cell++) {
        const size_t codes = marginal.last_codes[cell] + size_t{1} - masses.size();
        masses.insert(masses.end(), codes,
                      static_cast<double>(marginal.counts[cell]) / total / static_cast<double>(codes));
    }
    return masses;
}

constexpr size_t kRowsOfKey = 64;

// A number of what the model says, the same wherever it is read: it need not be hard to find another model with the same.
uint64_t SeedOf(const Model& model) {
    uint64_t seed = model.features().size();
    const auto add = [&](int64_t value) {
        seed = (seed ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15U;
        seed ^= seed >> 29;
    };
    for (size_t output = 0; output < model.outputs(); output++)
        add(model.base(output));
    for (size_t f = 0; f < model.features().size(); f++)
        for (const int32_t value : model.table(f))
            add(value);
    for (const Tree& tree : model.trees())
        for (const int32_t value : tree.leaves)
            add(value);
    return seed;
}

}  // namespace

ReferenceMasses::ReferenceMasses(const Model& model) : released_(model.evidence().reference.has_value()) {
    for (size_t f = 0; f < model.features().size(); f++)
        masses_.push_back(released_ ? MassesOf(model.evidence().reference->marginals[f], model.features()[f])
                                    : EvenMasses(model.features()[f]));
    for (const std::vector<double>& masses : masses_) {
        below_.emplace_back(1, 0.0);
        for (const double mass : masses)
            below_.back().push_back(below_.back().back() + mass);
    }
}

// Numbers in [0, 1), [row * features + feature].
std::vector<double> ReferenceMasses::Fractions(const Model& model, size_t rows, Interrupt& interrupt) const {
    const size_t features = masses_.size();
    const uint64_t seed = SeedOf(model);
    std::vector<double> fractions;
    fractions.reserve(rows * features);
    std::string bits(kRowsOfKey * features * sizeof(uint64_t), '\0');
    for (size_t row = 0; row < rows; row += kRowsOfKey) {
        interrupt.Poll();
        ByteWriter name;
        name.U64(row);
        name.U64(seed);
        std::array<unsigned char, randombytes_SEEDBYTES> key;
        crypto_generichash(key.data(), key.size(),
                           reinterpret_cast<const unsigned char*>(name.bytes().data()), name.bytes().size(),
                           nullptr, 0);
        randombytes_buf_deterministic(bits.data(), bits.size(), key.data());
        for (size_t i = 0; i < std::min(rows - row, kRowsOfKey) * features; i++)
            fractions.push_back(static_cast<double>(LittleWord(bits.data() + i * sizeof(uint64_t)) >> 11) *
                                0x1.0p-53);
    }
    return fractions;
}

std::vector<uint16_t> ReferenceMasses::CodesOf(const std::vector<double>& fractions) const {
    const size_t features = masses_.size();
    std::vector<uint16_t> codes(fractions.size());
    for (size_t i = 0; i < codes.size(); i++) {
        // below_ begins with the 0 before the first code.
        const std::vector<double>& below = below_[i % features];
        const auto found = std::upper_bound(below.begin() + 1, below.end(), fractions[i] * below.back());
        const auto code = static_cast<size_t>(found - below.begin()) - 1;
        codes[i] = static_cast<uint16_t>(std::min(code, below.size() - 2));
    }
    return codes;
}

std::vector<uint16_t> ReferenceMasses::Draw(const Model& model, size_t rows, Interrupt& interrupt) const {
    return CodesOf(Fractions(model, rows, interrupt));
}

std::vector<uint16_t> ReferenceMasses::DrawEvenly(const Model& model, size_t rows,
                                                  Interrupt& interrupt) const {
    std::vector<double> fractions = Fractions(model, rows, interrupt);
    const size_t features = masses_.size();
    std::vector<std::pair<double, size_t>> order(rows);
    for (size_t f = 0; f < features; f++) {
        for (size_t row = 0; row < rows; row++)
            order[row] = {fractions[row * features + f], row};
        std::sort(order.begin(), order.end());
        for (size_t rank = 0; rank < rows; rank++)
            fractions[order[rank].second * features + f] =
                (static_cast<double>(rank) + 0.5) / static_cast<double>(rows);
    }
    return CodesOf(fractions);
}

}  // namespace dpboost
