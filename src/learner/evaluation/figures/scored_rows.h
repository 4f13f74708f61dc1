// Rows of either class at scores, known exactly or from noisy counts: what the figures of a classifier are computed from.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "learner/evaluation/figures/figure.h"
#include "learner/evaluation/figures/score_masses.h"

namespace dpboost {

struct ScorePoint {
    double odds;  // log p / (1 - p)
    double p;     // prediction
    bool above_half;
};

struct ScoredRows {
    std::vector<ScorePoint> points;      // ascending
    ByClass masses;                      // rows at each, possibly negative where there is noise
    const ScoreMasses* noisy = nullptr;  // none: exact

    double reach() const { return noisy != nullptr ? kNoisyReach : kNormal95; }
    // Of a sum over the rows of `terms`, one for each point: its variance by noise, by what counts cannot tell, and by the
    // chance by which rows are these.
    double Variance(const ByClass& terms) const {
        double chance = 0;
        for (const bool positive : {false, true})
            for (size_t i = 0; i < points.size(); i++)
                chance += masses.of(positive)[i] * terms.of(positive)[i] * terms.of(positive)[i];
        return (noisy != nullptr ? noisy->Doubt(terms) : 0) + std::max(0.0, chance);
    }
};

// The slope b of log odds of the truth = a + b log odds of the model, by maximum likelihood on the masses as they are: 1 is
// calibrated, less is over-confident. Unknown where noise makes the curvature vanish; an end of its interval may be open.
Figure CalibrationSlope(const ScoredRows& rows);

}  // namespace dpboost
