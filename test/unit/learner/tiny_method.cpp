// A whole method in one file: "mean" predicts the noisy mean label, whatever the features. It is here to show what a
// method needs, and that it needs nothing else: its options, what it draws, its size, its training, its MethodInfo.
#include <algorithm>
#include <cmath>

#include "dataset/dataset.h"
#include "learner/learner.h"

namespace dpboost {
namespace tiny_method {

constexpr double kSteps = 65536;  // lattice steps of a label, and of a count

struct Options {
    double shrink = 1;  // added to the count
};
constexpr OptionRow kRows[] = {Number<&Options::shrink>("shrink", 0, 1000, "pulls the mean towards 0")};

class Mean final : public Learner {
  public:
    explicit Mean(const Options& options) : options_(options) {}

    // Neighbours: add or remove one unit. It adds one label of at most 1 and one count: L2 norm sqrt(2).
    std::vector<MechanismRequest> Mechanisms() const override {
        MechanismRequest request;
        request.name = main_mechanism();
        request.rest = 1;
        request.dimensions = {{Sensitivity(), 1, 2}};
        return {request};
    }
    std::string main_mechanism() const override { return "mean"; }
    Footprint footprint(bool) const override { return {}; }
    Link link() const override { return Link::kIdentity; }

    void Train(Run& run) const override {
        const Dataset& rows = run.rows;
        std::vector<int64_t> sums(2, 0);
        for (size_t unit = 0; unit < rows.units(); unit++) {
            const size_t row = rows.has_units() ? rows.unit_rows()[rows.unit_begin()[unit]] : unit;
            sums[0] += std::lround(kSteps * std::clamp(rows.Label(row), -1.0f, 1.0f));
            sums[1] += std::lround(kSteps);
        }
        const NoisySums noisy =
            run.releaser.Release(run.releaser.Find("mean"), RawSums(std::move(sums), Sensitivity()));
        const double count = std::max(1.0, static_cast<double>(noisy.values[1]) / kSteps + options_.shrink);
        run.model.AddToBase(ToFixed(static_cast<double>(noisy.values[0]) / kSteps / count));
    }

  private:
    static double Sensitivity() { return kSteps * std::sqrt(2.0) * (1 + 1e-12); }
    Options options_;
};

inline std::unique_ptr<Learner> Make(const MethodInfo& method, const LearnerContext&,
                                     const std::vector<GivenOption>& given) {
    Options options;
    method.options.Apply(given, &options);
    return std::make_unique<Mean>(options);
}

}  // namespace tiny_method

constexpr MethodInfo kMean = {"mean",
                              "one noisy mean",
                              "none",
                              "a test of the list of methods",
                              false,
                              tiny_method::kRows,
                              &tiny_method::Make};

}  // namespace dpboost
