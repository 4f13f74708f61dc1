// The composition of discretised privacy losses by FFT, in one direction (add or remove). Internal to the PLD
// accountant: from it delta can be read at many epsilons near the one it was made for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "privacy/accountant/fft.h"
#include "privacy/accountant/loss_grid.h"

namespace dpboost {

struct GridUse {
    const LossGrid* grid;
    uint64_t count;
};

class Composition {
  public:
    // Composes so that deltas of the magnitude `delta` are accurate around `epsilon`. `lambda_hint` is where
    // the search for the tilt starts. All grids must have the same step. If more than max_size points are
    // needed it composes nothing and size() says how many: take a coarser step.
    Composition(const std::vector<GridUse>& uses, double epsilon, double delta, double lambda_hint,
                std::size_t max_size);

    bool TooLarge() const { return suffix_.empty(); }
    std::size_t size() const { return size_; }
    double lambda() const { return lambda_; }

    // Upper bound of delta at any epsilon >= 0.
    double Delta(double epsilon) const;
    // The smallest epsilon >= 0 for which Delta is at most delta; infinite if there is none in the window.
    double Epsilon(double delta) const;
    // Whether Delta(epsilon) is not only sound there but also accurate.
    bool Accurate(double epsilon) const;

  private:
    struct Cumulants {
        double lambda;
        double log_mgf;
        double mean;
        double variance;
    };
    struct Suffix {
        double delta = 0;   // at this point's loss, without what was lost
        double q_mass = 0;  // sum of mass * exp(this loss - its loss), at this point and above
    };

    using Uses = std::vector<GridUse>;

    Cumulants At(const Uses& uses, double lambda) const;
    void ChooseTilt(const Uses& uses, double lambda_hint);
    double ChernoffEnd(const Uses& uses, double lambda, const Cumulants& at, int direction,
                       double drop) const;
    void ChooseWindow(const Uses& uses, double delta);
    Spectrum Tilted(const GridUse& use, double* log_mgf) const;
    void Convolve(const Uses& uses);
    void AccumulateSuffixes(const std::vector<double>& tilted, double error);

    double step_;
    double center_;  // the epsilon it was made for
    double lambda_ = 0;
    Cumulants tilt_{};
    double bottom_ = 0;  // the window in which losses are distinguished
    double top_ = 0;
    std::size_t size_ = 0;
    int64_t first_ = 0;     // grid point of suffix_[0]
    double lost_ = 0;       // mass that may lie above the window, and infinite losses
    double inflation_ = 1;  // numerical error of the masses, compounded
    std::vector<Suffix> suffix_;
};

}  // namespace dpboost
