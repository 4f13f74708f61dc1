// What a training does to privacy, as the accountant sees it: a list of events, each a mechanism with its
// strength and how often it is used. Events hold no data and no options, only the figures that the proofs
// need, so that a ledger can store them and anyone can replay the proof.
#pragma once

#include <cstdint>
#include <vector>

namespace dpboost {

// Neighbours throughout: two inputs of which one has one more privacy unit (add or remove one unit).
enum class EventKind : uint8_t {
    kGaussian = 1,     // parameter: noise multiplier s = sigma / L2 sensitivity; Poisson-sampled if rate < 1
    kLaplace = 2,      // parameter: epsilon = L1 sensitivity / scale of a (continuous) Laplace mechanism
    kExponential = 3,  // parameter: epsilon of an epsilon-bounded-range mechanism ([DPXGB] Thm 1)
    kPure = 4,         // parameter: epsilon of any epsilon-DP mechanism
    kGdp = 5           // parameter: mu of any mu-Gaussian-DP mechanism ([ADASSP] Def 1.3)
};

// The leaf-balanced Gaussian ([SBDT] Thm 16) is kGaussian with s = sigma_leaf / sqrt(D), D = 2 for leaves.
struct Event {
    EventKind kind = EventKind::kGaussian;
    double parameter = 0;
    double sampling_rate = 1;  // the probability with which a unit takes part; only kGaussian may be below 1
    uint64_t count = 1;        // composed this many times
    bool filtered =
        false;  // more rounds were run under a Renyi filter that certifies `count` of them; RDP only

    static Event Gaussian(double noise_multiplier, uint64_t count, double sampling_rate = 1);
    static Event Laplace(double epsilon, uint64_t count);
    static Event Exponential(double epsilon, uint64_t count);
    static Event Pure(double epsilon, uint64_t count);
    static Event Gdp(double mu, uint64_t count);

    bool operator==(const Event& other) const;
};

constexpr uint64_t kMaxEventCount = 10'000'000;

// Throws kInvalidParameter for a parameter that is not positive and finite, a rate outside (0, 1], a count of
// 0 or above 1e7; kUnsupported for sampling of anything but a Gaussian: [SBDT] Lemma 15 needs equality of
// the Renyi divergence, so Thm 14 does not hold for Laplace or the exponential mechanism.
void CheckEvent(const Event& event);
void CheckEvents(const std::vector<Event>& events);

// Throws kInvalidParameter unless epsilon is positive and finite and delta in [0, 1).
void CheckEpsilonDelta(double epsilon, double delta);

// Whether a privacy loss distribution describes the events: not under a Renyi filter, whose charge differs
// between units and is proven order by order.
bool PldApplies(const std::vector<Event>& events);

// Whether all events are full-batch Gaussian, so that the total is exactly mu-Gaussian-DP.
bool IsGaussianFullBatch(const std::vector<Event>& events);

// The sum of the pure epsilons, infinite if one of the events has none. Basic composition, rounded up.
double PureEpsilon(const std::vector<Event>& events);

}  // namespace dpboost
