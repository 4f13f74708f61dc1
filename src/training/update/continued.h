// What an update takes over from the model that it goes on from: its encodings, what it predicts, its method and the
// options of its training. All of it is public or was released.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learner/methods.h"
#include "model/model.h"
#include "training/columns.h"
#include "training/json.h"
#include "training/options.h"

namespace dpboost {

// A model as the catalog has it.
struct ContinuedModel {
    const Model* model = nullptr;
    std::string name;  // as the call gave it
    int version = 0;
    std::string method;
    const JsonValue* options = nullptr;  // of its training
    std::optional<std::string> positive;
};

// The options of an update: `given` are those of the training, `update` those of this call, which hold for it alone. The
// text is that of the training with this epsilon and delta and, as "update", the version and what this call gave. Throws
// Error for a method whose models cannot be continued, naming those that can, for what the model has fixed, and for what
// ParseOptions throws for.
TrainingOptions UpdateOptions(const ContinuedModel& continued, const JsonValue& json,
                              const PrivacyArguments& privacy, const MethodList& methods);

// The model's own target and encodings; throws Error where the relation's columns do not fit them. `governed`: what the
// owner of the relation has declared must not be exceeded, as by options.
TargetRule ContinuedTarget(const ContinuedModel& continued, const PublicColumn& column, bool governed);
FeatureEncodings ContinuedFeatures(const ContinuedModel& continued, const std::vector<PublicColumn>& columns,
                                   bool governed);

// Throws kLimitExceeded if the model would have too many leaves with those of so many more trees.
void CheckGrowth(const Model& model, const Footprint& footprint);

}  // namespace dpboost
