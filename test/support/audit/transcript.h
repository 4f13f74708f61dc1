// A training seen through its noise: every draw with what went in and what came out. Replaying a transcript while
// training on a neighbouring table gives what would have gone in there along the same path; both together give the
// exact privacy loss of that transcript, and how much of each charge a unit really uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "mechanism/exponential.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/noise.h"
#include "privacy/plan.h"
#include "support/draw_key.h"

namespace dpboost {

struct SeenDraw {
    enum Kind { kGaussian, kLaplace, kSelection };
    Kind kind;
    double scale;  // as charged: sigma, b or the temperature, in lattice steps
    double drawn;  // as the noise really had it
    std::vector<int64_t> raw;
    std::vector<int64_t> answer;  // noisy values; of a selection the chosen place alone
    uint64_t parts_left = 0;      // of the pool of a watched plan, after the draw's charge
};

// Exact noise at `factor` times the scale asked for (1/2 plays a broken implementation), kept draw by draw.
class Tape final : public NoiseSource {
  public:
    explicit Tape(Random& random, double factor = 1) : random_(random), factor_(factor) {}
    // Notes what each draw takes of the plan's pool, its mechanism 0.
    void Watch(const Plan& plan) { plan_ = &plan; }
    std::vector<SeenDraw> draws;

  private:
    void AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) override {
        Keep(SeenDraw::kGaussian, sigma.steps(), values, n);
        GaussianSampler<>(TestDrawKey::Make(), random_, GaussianScale::FromSteps(sigma.steps() * factor_))
            .AddTo(values, n);
        draws.back().answer.assign(values, values + n);
    }
    void AddLaplace(LaplaceScale b, int64_t* values, std::size_t n) override {
        Keep(SeenDraw::kLaplace, b.steps(), values, n);
        LaplaceSampler(TestDrawKey::Make(), random_, LaplaceScale::FromSteps(b.steps() * factor_))
            .AddTo(values, n);
        draws.back().answer.assign(values, values + n);
    }
    std::size_t Select(SelectionScale temperature, const int64_t* utilities, std::size_t n) override {
        Keep(SeenDraw::kSelection, temperature.steps(), utilities, n);
        const std::size_t chosen =
            ExponentialSampler(TestDrawKey::Make(), random_,
                               SelectionScale::FromSteps(temperature.steps() * factor_))
                .Draw(utilities, n, &bars_);
        draws.back().answer = {static_cast<int64_t>(chosen)};
        return chosen;
    }
    void Keep(SeenDraw::Kind kind, double scale, const int64_t* values, std::size_t n) {
        const uint64_t left = plan_ != nullptr ? plan_->PartsLeft(0) : 0;
        draws.push_back({kind, scale, scale * factor_, {values, values + n}, {}, left});
    }

    Random& random_;
    double factor_;
    const Plan* plan_ = nullptr;
    std::vector<uint64_t> bars_;
};

// Gives the answers of a transcript and keeps what would have gone into each.
class Replay final : public NoiseSource {
  public:
    explicit Replay(const std::vector<SeenDraw>& draws) : draws_(draws) {}
    std::vector<std::vector<int64_t>> raw;
    bool SawAll() const { return raw.size() == draws_.size(); }

  private:
    const SeenDraw& Next(SeenDraw::Kind kind, const int64_t* values, std::size_t n) {
        const std::size_t place = raw.size();
        if (place == draws_.size() || draws_[place].kind != kind || draws_[place].raw.size() != n)
            throw std::logic_error("the training took another path");
        raw.emplace_back(values, values + n);
        return draws_[place];
    }
    void AddGaussian(GaussianScale, int64_t* values, std::size_t n) override {
        const SeenDraw& draw = Next(SeenDraw::kGaussian, values, n);
        std::copy(draw.answer.begin(), draw.answer.end(), values);
    }
    void AddLaplace(LaplaceScale, int64_t* values, std::size_t n) override {
        const SeenDraw& draw = Next(SeenDraw::kLaplace, values, n);
        std::copy(draw.answer.begin(), draw.answer.end(), values);
    }
    std::size_t Select(SelectionScale, const int64_t* utilities, std::size_t n) override {
        return static_cast<std::size_t>(Next(SeenDraw::kSelection, utilities, n).answer[0]);
    }

    const std::vector<SeenDraw>& draws_;
};

// How far two inputs of a draw lie apart, in the measure that its proof uses and at the scale that was charged: squared L2 norm over sigma^2 (mu^2 of
// Gaussian DP), L1 norm over b (epsilon), range of the difference over the temperature (epsilon of bounded range).
inline double Distance(const SeenDraw& draw, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    double sum = 0, least = 0, most = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
        const double change = static_cast<double>(a[i] - b[i]) / draw.scale;
        least = i == 0 ? change : std::min(least, change);
        most = i == 0 ? change : std::max(most, change);
        sum += draw.kind == SeenDraw::kGaussian ? change * change : std::fabs(change);
    }
    return draw.kind == SeenDraw::kSelection ? most - least : sum;
}

// log P(answer | a) of a selection, up to rounding.
inline double LogChance(const std::vector<int64_t>& utilities, int64_t chosen, double temperature) {
    const double top =
        static_cast<double>(*std::max_element(utilities.begin(), utilities.end())) / temperature;
    double sum = 0;
    for (const int64_t utility : utilities)
        sum += std::exp(static_cast<double>(utility) / temperature - top);
    return static_cast<double>(utilities[static_cast<std::size_t>(chosen)]) / temperature - top -
           std::log(sum);
}

// log of the likelihood ratio of the draw's answer: had a gone in over had b.
inline double Loss(const SeenDraw& draw, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    if (draw.kind == SeenDraw::kSelection)
        return LogChance(a, draw.answer[0], draw.drawn) - LogChance(b, draw.answer[0], draw.drawn);
    double loss = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
        const double from_a = static_cast<double>(draw.answer[i] - a[i]) / draw.drawn;
        const double from_b = static_cast<double>(draw.answer[i] - b[i]) / draw.drawn;
        loss += draw.kind == SeenDraw::kGaussian ? (from_b * from_b - from_a * from_a) / 2
                                                 : std::fabs(from_b) - std::fabs(from_a);
    }
    return loss;
}

}  // namespace dpboost
