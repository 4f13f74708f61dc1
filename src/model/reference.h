// What a training released beside the scores: how its rows spread, and how far noise may have moved what the model says.
// Stored with the model so that it can be explained without a row; all of it is public or was released with noise and
// paid for. The presence and the length of every part follow from the method, its options, the schema and what was
// released, never from rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "dataset/feature.h"

namespace dpboost {

// The noisy histogram of one feature, in coarse cells: neighbouring codes each, the missing code alone in the last.
struct Marginal {
    std::vector<uint16_t> last_codes;  // of each cell, ascending
    std::vector<float> counts;         // of each cell, >= 0, cleaned up
    float count_sd = 0;                // of the noise in a count
};

struct Reference {
    double rows = 0;  // noisy number of rows
    double rows_sd = 0;
    std::vector<Marginal> marginals;  // one per feature
};

// A noisy histogram of what the final model leaves over, label - prediction on the label's scale, in even bins.
struct ResidualHistogram {
    double lower = -2;
    double upper = 2;
    std::vector<float> counts;  // as released: may be negative
    float count_sd = 0;
};

enum class NoiseKind : uint8_t {
    kUnstated = 0,
    kGaussian = 1  // all noise was full-batch Gaussian: the model is mu-GDP
};

struct Evidence {
    std::optional<Reference> reference;
    // Standard deviation, by noise alone, of a table's entry minus the table's mean over the reference: per feature,
    // for each cell and output in the order of the table; empty for a feature (or for all) where it is not known.
    std::vector<std::vector<float>> bands;
    NoiseKind noise = NoiseKind::kUnstated;
    double mu = 0;  // of kGaussian
    std::optional<ResidualHistogram> residuals;
};

// Whether all of it fits the features and outputs, finite and in range.
bool IsValid(const Evidence& evidence, const std::vector<FeatureSpec>& features, size_t outputs) noexcept;

void Write(const Evidence& evidence, const std::vector<FeatureSpec>& features, ByteWriter& out);
// Throws Error(kCorrupted) on anything that Write cannot have produced of valid evidence.
Evidence ReadEvidence(const std::vector<FeatureSpec>& features, size_t outputs, ByteReader& in);

}  // namespace dpboost
