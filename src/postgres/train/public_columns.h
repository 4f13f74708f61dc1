// From what is public to the encodings of a training. For each column the options, the declared domain and
// the schema are asked in this order; rows never are. Core side: throws Error, calls no PostgreSQL.
#pragma once

#include <string>
#include <vector>

#include "dataset/feature.h"
#include "dataset/target.h"
#include "postgres/columns/domain.h"
#include "postgres/columns/source_column.h"
#include "postgres/train/options.h"

namespace dpboost {

// The encodings of the features, in their order. `governed`: a cap or an allowance is set on a relation that
// is read, so options may only narrow what its owner declared. Columns whose range the training shall find
// itself are listed in `find_private` (by position), with a spec that holds any number. `target`
// is the target's name, which "bounds" may name too.
struct FeatureEncodings {
    std::vector<FeatureSpec> specs;
    std::vector<size_t> find_private;
};
FeatureEncodings EncodeFeatures(const SourceColumns& columns, const ColumnDomain* domains,
                                const TrainingOptions& options, bool governed, const std::string& target);

// How the target's values become labels; the texts belong to this object.
struct TargetRule {
    TargetSpec spec;
    bool by_number;
    std::string positive;  // classification: the positive class as text
};
TargetRule EncodeTarget(const SourceColumn& column, const ColumnDomain& domain,
                        const TrainingOptions& options, bool governed);

}  // namespace dpboost
