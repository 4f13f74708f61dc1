// Noise sources that watch a whole training, for tests of privacy. A transcript is the list of its draws: raw
// sums, scale and noisy results. Replaying it while training on a neighbouring table gives the raw sums that
// the other table would have had along the same path, hence the exact privacy loss of that transcript.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "mechanism/gaussian.h"
#include "mechanism/noise.h"
#include "support/audit/transcript.h"
#include "support/draw_key.h"

namespace dpboost {

// Answers every draw with the transcript's result and sums up how far apart the two tables were.
class ReplayingNoise final : public NoiseSource {
  public:
    explicit ReplayingNoise(const std::vector<SeenDraw>& draws) : draws_(draws) {}

    double distance_squared = 0;  // sum of |raw - raw'|^2 / sigma^2: the mu^2 that the two tables use up
    double log_ratio = 0;         // of the transcript's densities: recorded table over this one
    bool SawAll() const { return next_ == draws_.size(); }

  private:
    void AddGaussian(GaussianScale, int64_t* values, std::size_t n) override {
        if (next_ == draws_.size() || draws_[next_].raw.size() != n)
            throw std::logic_error("the training took another path");
        const SeenDraw& draw = draws_[next_++];
        for (std::size_t i = 0; i < n; i++) {
            const double shift = static_cast<double>(draw.raw[i] - values[i]) / draw.drawn;
            const double noise = static_cast<double>(draw.answer[i] - draw.raw[i]) / draw.drawn;
            distance_squared += shift * shift;
            log_ratio += shift * (noise + shift / 2);
            values[i] = draw.answer[i];
        }
    }
    void AddLaplace(LaplaceScale, int64_t*, std::size_t) override { throw std::logic_error("not Gaussian"); }
    std::size_t Select(SelectionScale, const int64_t*, std::size_t) override {
        throw std::logic_error("not Gaussian");
    }

    const std::vector<SeenDraw>& draws_;
    std::size_t next_ = 0;
};

// Replaces every noisy sum by a number that depends on its place in the transcript only: what a training that
// reads rows through charged draws alone makes of it cannot depend on rows.
class ScriptedNoise final : public NoiseSource {
  public:
    explicit ScriptedNoise(int64_t spread) : spread_(spread) {}

  private:
    void AddGaussian(GaussianScale, int64_t* values, std::size_t n) override {
        for (std::size_t i = 0; i < n; i++) {
            state_ = state_ * 6364136223846793005U + 1442695040888963407U;
            values[i] = static_cast<int64_t>(state_ >> 33) % spread_ - spread_ / 4;
        }
    }
    void AddLaplace(LaplaceScale, int64_t* values, std::size_t n) override {
        AddGaussian(GaussianScale::FromSteps(1), values, n);
    }
    std::size_t Select(SelectionScale, const int64_t*, std::size_t) override { return 0; }

    int64_t spread_;
    uint64_t state_ = 1;
};

}  // namespace dpboost
