// Private evaluation of a model: one Gaussian vector over rows that the model need not know, and every figure that it
// gives. Which sums, and where their bins lie, follows from the model and the noise, both public.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "learner/evaluation/figures/class_figures.h"
#include "learner/evaluation/figures/figure.h"
#include "mechanism/releaser.h"
#include "model/model.h"

namespace dpboost {

class Dataset;
class HeldOut;

struct Evaluation {
    std::vector<Figure> figures;
    std::vector<DrawnBin> bins;                    // of a classifier of two classes
    std::vector<double> confusion;                 // of several (ConfusionCounts)
    std::optional<ResidualHistogram> residuals{};  // if they were asked for
};

// The one draw. Without share or rest: the caller says what pays for it.
// `residuals`: of a regression, also what predictions leave over.
MechanismRequest EvaluationRequest(const TargetSpec& target, bool residuals = false);

// What an evaluation draws, before its noise.
struct EvaluationSums {
    std::optional<ScoreBins> bins;  // of a classifier of two classes
    RawSums sums;
};

// Neighbours: add or remove one unit of `rows`. Sensitivity: evaluation_rows.h. `expected_rows`: about how many rows there
// are, a public guess that decides the number of bins alone; 0: as many as the model was trained on, or 10,000. Draws nothing.
EvaluationSums SumUp(const Model& model, double expected_rows, const Dataset& rows, const Plan& plan,
                     Interrupt& interrupt);
// Charge: one event of the plan, that of EvaluationRequest's name; all figures are post-processing.
Evaluation Evaluate(const Model& model, EvaluationSums&& sums, Releaser& releaser);
// Both.
inline Evaluation Evaluate(const Model& model, double expected_rows, const Dataset& rows, Releaser& releaser,
                           Interrupt& interrupt) {
    return Evaluate(model, SumUp(model, expected_rows, rows, releaser.plan(), interrupt), releaser);
}
// The same of a hold-out, with the plan's charge for it (Plan::Calibrate). `share`: of all rows, by which the model's
// own number of rows is known to differ.
Evaluation Evaluate(const Model& model, double expected_rows, const HeldOut& rows, double share,
                    Releaser& releaser, Interrupt& interrupt, bool residuals = false);

}  // namespace dpboost
