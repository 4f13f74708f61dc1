// A model on its way to another server: its bytes, and what the server that trained it says about its privacy. Nobody can
// check that elsewhere, so an importing server shows it as a claim.
#pragma once

#include <string>
#include <string_view>

#include "model/model.h"

namespace dpboost {

struct ExportedModel {
    std::string encoding;  // of all texts, also of the model's names and levels
    std::string method;
    double epsilon = 0;
    double delta = 0;
    std::string model;  // Model::Serialize
};

constexpr size_t kMaxExportedModel = size_t{64} << 20;
constexpr size_t kMaxExportedBins = size_t{1} << 23;  // and levels, of all features together

std::string Pack(const ExportedModel& exported);

// Throws Error(kInvalidParameter) unless the bytes are what Pack makes of some model, Error(kUnsupported) for versions
// that this code does not know, Error(kLimitExceeded) above kMaxExportedModel bytes or kMaxExportedBins.
struct ImportedModel {
    ExportedModel claims;
    Model model;
};
ImportedModel Unpack(std::string_view bytes, Interrupt* interrupt = nullptr);

// Few bytes can say that there are very many bins, and Model::Parse would make room for them: throws
// Error(kLimitExceeded) for more than `most`, Error(kCorrupted) where the bytes make no sense.
void CheckBins(std::string_view model_bytes, size_t most);

// Every text in it, each on a line, to be checked by who knows encodings.
std::string TextsOf(const ImportedModel& imported);

// The features and their encodings as a JSON array, as dpboost_models shows them. `types`: what numbers stand for, "date" or
// "timestamp", per feature; empty texts, or none at all, for numbers that are numbers.
std::string DescribeFeatures(const std::vector<FeatureSpec>& features,
                             const std::vector<std::string>& types = {});

}  // namespace dpboost
