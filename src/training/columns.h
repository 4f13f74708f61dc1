// From what is public about columns to the encodings of a training. For each column the options, the declared domain
// and the schema are asked in this order; rows never are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataset/encoder.h"
#include "dataset/feature.h"
#include "dataset/target.h"
#include "training/domain.h"
#include "training/options.h"
#include "training/value_kind.h"

namespace dpboost {

// A column as the schema shows it, with what its owner or the schema says about its values.
struct PublicColumn {
    std::string name;
    ValueKind kind = ValueKind::kUnknown;
    Domain domain;
};

// What is public about a column in the form that "bounds" takes, as JSON; empty if nothing is. Times are written in
// UTC, with `zone` behind them.
std::string DescribeDomain(const PublicColumn& column, const char* zone);

// The encodings of the features, in their order. `governed`: a cap or an allowance is set on a relation that
// is read, so options may only narrow what its owner declared. Columns whose range the training shall find
// itself are listed in `find_private` (by position), with a spec that holds any number. `target`
// is the target's name, which "bounds" may name too; `relation`, if it is not empty, is what an error tells the owner
// to declare ranges for, as SQL names it.
struct FeatureEncodings {
    std::vector<FeatureSpec> specs;
    std::vector<size_t> find_private;
};
FeatureEncodings EncodeFeatures(const std::vector<PublicColumn>& columns, const TrainingOptions& options,
                                bool governed, const std::string& target, const std::string& relation = {});

// Throws Error for an encoding that is wider than what the column's owner declared.
void RequireWithinDeclared(const PublicColumn& column, const FeatureSpec& spec);

// The encoding of a numeric column with that range.
FeatureSpec EncodeRange(const PublicColumn& column, const Domain& range, uint32_t bins);

// How the target's values become labels.
struct TargetRule {
    TargetSpec spec;
    bool by_number;
    std::string positive;  // classification: the positive class as text
    // More than two classes: from the target's texts, enum labels or integers to the number of the class.
    std::shared_ptr<const Encoder> classes = nullptr;
    bool undeclared = false;  // whether rows may have these classes at all stands nowhere
};
TargetRule EncodeTarget(const PublicColumn& column, const TrainingOptions& options, bool governed);
// The rule for these classes of a text, enum or integer column. Throws Error for other columns.
TargetRule ClassesRule(const PublicColumn& column, const std::vector<std::string>& classes);

}  // namespace dpboost
