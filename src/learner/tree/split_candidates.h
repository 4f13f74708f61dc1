// Split candidates ([FEDGBDT] 4.5): where the trees may cut each feature. They start from public
// ranges alone; the iterative Hessian then moves them by noisy histograms, which is post-processing. Ordered
// features have thresholds between the bins of the public grid, levels are split one against the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/feature.h"
#include "model/tree.h"

namespace dpboost {

// Where ordered features may be cut (C3 of [FEDGBDT]). Levels are always split one against the rest.
enum class CandidatePart {
    kUniform,           // equally far apart in the feature's range
    kLog,               // equally far apart in the magnitude of the distance to the range's lower end
    kIterativeHessian,  // uniform at first, then refined by noisy Hessian histograms
    kWholeRange         // between any two bins of the public grid
};

class SplitCandidates {
  public:
    // At most `count` thresholds per ordered feature, but for kWholeRange, which has all. The features must
    // outlive the candidates.
    SplitCandidates(const std::vector<FeatureSpec>& features, CandidatePart part, uint32_t count);

    const std::vector<FeatureSpec>& features() const { return features_; }

    // Ordered features: threshold t sends codes <= t to the left; ascending, each below the last bin.
    const std::vector<uint16_t>& thresholds(size_t feature) const { return thresholds_[feature]; }

    // A histogram over the candidates of a feature. Ordered: thresholds + 1 cells in order, then one for
    // missing values. Levels: one per code.
    size_t Cells(size_t feature) const {
        return features_[feature].ordered() ? thresholds_[feature].size() + 2 : features_[feature].cells();
    }
    // The cell of every code of the feature.
    const std::vector<uint16_t>& CellOfCode(size_t feature) const { return cell_of_code_[feature]; }

    // Splits of a feature: one per cell but the last: "this cell or one before it, missing values right" for
    // ordered features (the last of which is "missing or not"), "this level or any other" for levels.
    size_t Count(size_t feature) const { return Cells(feature) - 1; }
    Split At(size_t feature, size_t index) const;

    // At most so many cells a feature can have with these settings, now or after refinement.
    static size_t MaxCells(const FeatureSpec& feature, CandidatePart part, uint32_t count);
    // The same for all features together.
    static size_t MaxCells(const std::vector<FeatureSpec>& features, CandidatePart part, uint32_t count);

    // One round of the iterative Hessian ([FEDGBDT] 4.5.2) on an ordered feature, given its noisy
    // Hessian histogram (thresholds + 1 values) and the deviation of its noise. With share = total / Q:
    // merge neighbours that together hold less than half a share; split what holds more than a share in the
    // middle, heaviest first; fill up to Q by halving the widest. "Middle" is by grid bins, where the paper
    // halves the value range: public grids already follow the scale of a column. A total that noise could
    // have made changes nothing.
    void Refine(size_t feature, const std::vector<double>& noisy_hessians, double sigma);

  private:
    void SetThresholds(size_t feature, std::vector<uint16_t> thresholds);

    const std::vector<FeatureSpec>& features_;
    const uint32_t count_;
    std::vector<std::vector<uint16_t>> thresholds_;
    std::vector<std::vector<uint16_t>> cell_of_code_;
};

// Where the cells of the chosen features lie in the sums of one node: one feature behind the other.
struct CellLayout {
    CellLayout(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen);

    std::vector<size_t> offset;  // per chosen feature
    size_t cells = 0;            // of all of them
};

}  // namespace dpboost
