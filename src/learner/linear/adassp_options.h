// Options of method `adassp` ([ADASSP] Alg 2) and the plan that they ask for: boosted ridge
// regressions on noisy X'X and X'g, all full-batch Gaussian. Everything here is public: it depends on the
// call and the column encodings, never on rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/feature.h"
#include "dataset/target.h"
#include "learner/old_preset.h"
#include "privacy/plan.h"

namespace dpboost {

enum class LinearLoss { kSquared, kLogistic, kHinge };

// What an ordered feature becomes. Levels are always one indicator each, missing values always an indicator.
enum class NumericBasis {
    kValue,     // its value, the public range scaled to [-1, 1]
    kGrid,      // its place in the public grid, scaled to [-1, 1]: the logarithm on a log grid
    kIntervals  // indicators of equally many bins each, as in the paper's version of Adult (a9a)
};

struct AdasspOptions {
    Task task = Task::kBinary;
    LinearLoss loss = LinearLoss::kSquared;
    uint32_t rounds = 100;       // T, 1 to 100000
    double learning_rate = 1;    // eta; 1 in the paper
    double gradient_clip = 1;    // z; 1 for the hinge loss, whose gradient is -1, 0 or 1
    double product_weight = 1;   // a: mu of X'X,
    double gradient_weight = 3;  // b: of all X'g together,
    double lambda_weight = 1;    // c: and of the smallest eigenvalue of X'X; 0: take it for 0
    double ridge = 1;            // multiple of AdaSSP's lambda
    NumericBasis basis = NumericBasis::kIntervals;
    uint32_t intervals = 8;  // of kIntervals, 2 to 256
    bool average = true;     // the model is the mean over the second half of the rounds, not the last one

    static AdasspOptions Defaults(Task task, double epsilon);
    // "adassp", "adassp_logistic" or "adassp_hinge". Throws kInvalidParameter for another name.
    static AdasspOptions Preset(const std::string& name, Task task, double epsilon);

    // Throws kInvalidParameter that names the option and its range.
    void Check() const;
};

extern const MethodPreset kAdasspPresets[];
extern const std::size_t kAdasspPresetCount;

extern const char kAdasspProductsMechanism[];   // X'X, once
extern const char kAdasspGradientsMechanism[];  // X'g, once per round
extern const char kAdasspLambdaMechanism[];     // lambda_min(X'X), once, if it can be above 0

// mu^2 in the ratio a^2 : b^2 : c^2, b^2 over all rounds together (Alg 2; the GDP of Gaussians adds up in
// squares, Cor 2.1), calibrated in closed form. Where the columns are linearly dependent whatever the rows,
// the smallest eigenvalue is 0 and its part goes to the others. Throws what Check throws, kUnsupported for
// delta = 0 (Gaussian noise has no pure DP), kLimitExceeded for more columns than kMaxAdasspColumns.
PlanRequest BuildAdasspPlan(const AdasspOptions& options, const std::vector<FeatureSpec>& features,
                            double epsilon, double delta);

// Columns of X: their square is released, and solving takes their cube.
constexpr std::size_t kMaxAdasspColumns = 1024;
// Above so many columns the smallest eigenvalue is taken for 0: finding it would take too long.
constexpr std::size_t kMaxEigenvalueColumns = 200;

}  // namespace dpboost
