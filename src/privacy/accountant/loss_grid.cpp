// "Connect the dots" ([DGKKM22]): the part of a distribution pair (P,
// Q) whose loss lies between two grid points is replaced by masses on the two points that keep its P-mass and
// its Q-mass. The original follows from the replacement by forgetting which point was drawn, so the
// replacement dominates; its error is of second order in the step. With loss l in [a, a + h], the upper point
// gets
//     integral of P (1 - exp(a - l)) / (1 - exp(-h)),
// and the lower one the rest. The two directions of a pair are mirror images: the Q-mass at a point with loss
// l is exp(-l) times its P-mass, and is the mass of the other direction at -l.
#include "privacy/accountant/loss_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "privacy/accountant/numeric.h"
#include "privacy/accountant/quadrature.h"

namespace dpboost {
namespace {

constexpr double kMaxPoints = 4e6;

// Collects masses of the "remove" direction.
class Collector {
  public:
    Collector(double step, double lowest, double highest) {
        grid_.step = step;
        const double first = std::floor(lowest / step);
        const double last = std::floor(highest / step) + 2;
        CheckInternal(last - first < kMaxPoints, "privacy loss grid is too fine");
        grid_.first = static_cast<int64_t>(first);
        grid_.mass.assign(static_cast<std::size_t>(last - first) + 1, 0.0);
        // A mass comes from a difference of exp(l) - 1 at nearby losses, whose rounding grows with the
        // distance from loss 0 in steps.
        grid_.relative_error += 1e-15 * std::max(std::fabs(first), std::fabs(last));
    }

    int64_t Cell(double loss) const { return static_cast<int64_t>(std::floor(loss / grid_.step)); }

    void Add(int64_t point, double mass) {
        grid_.mass[static_cast<std::size_t>(point - grid_.first)] += mass;
    }

    // An atom of P-mass at a loss.
    void AddAtom(double loss, double mass) {
        const int64_t cell = Cell(loss);
        const double a = static_cast<double>(cell) * grid_.step;
        const double upper = mass * std::min(1.0, std::expm1(a - loss) / std::expm1(-grid_.step));
        Add(cell + 1, upper);
        Add(cell, mass - upper);
    }

    LossGrid& grid() { return grid_; }

    // The other direction of the same pair.
    LossGrid Mirrored() const {
        LossGrid mirrored = grid_;
        mirrored.first = -(grid_.first + static_cast<int64_t>(grid_.mass.size()) - 1);
        const std::size_t n = grid_.mass.size();
        for (std::size_t i = 0; i < n; ++i)
            mirrored.mass[n - 1 - i] = grid_.mass[i] * std::exp(-grid_.Loss(i));
        return mirrored;
    }

  private:
    LossGrid grid_;
};

// Masses on the upper and the lower point of a cell.
struct Split {
    double upper;
    double lower;
    Split operator+(const Split& other) const { return {upper + other.upper, lower + other.lower}; }
    Split operator*(double factor) const { return {upper * factor, lower * factor}; }
};

// The Poisson-sampled Gaussian with unit deviation: y ~ P = (1-g) N(0,1) + g N(1/s,1), Q = N(0,1), loss
// log(P/Q)(y) = log(1 + g expm1(y/s - 1/(2 s^2))), which increases in y. This pair (and its mirror image)
// dominates sampled sums with Gaussian noise of multiplier s under removing (adding) one unit ([ZDW22]
// Thm 11, composed adaptively by its Thm 10; with non-spherical noise after rescaling, [SBDT] Thm 16).
class SampledGaussian {
  public:
    // A rate just below 1 is taken as 1, which has larger losses, because exp(loss) near its lower end 1 - g
    // would lose its digits.
    SampledGaussian(double s, double gamma)
        : s_(s), gamma_(gamma > 0.999 ? 1 : gamma), shift_(1 / (2 * s * s)) {}

    // exp(loss) - 1 at y.
    double RatioMinus1(double y) const { return gamma_ * std::expm1(y / s_ - shift_); }
    double Loss(double y) const { return gamma_ == 1 ? y / s_ - shift_ : std::log1p(RatioMinus1(y)); }
    // The y with this loss; -infinity below the smallest loss, log(1-g).
    double Inverse(double loss) const {
        if (gamma_ == 1)
            return s_ * (loss + shift_);
        const double x = std::expm1(loss) / gamma_;
        return x > -1 ? s_ * (std::log1p(x) + shift_) : -std::numeric_limits<double>::infinity();
    }
    // P(y > t), P(y < t).
    double UpperP(double t) const { return (1 - gamma_) * NormalTail(t) + gamma_ * NormalTail(t - 1 / s_); }
    double LowerP(double t) const { return (1 - gamma_) * NormalTail(-t) + gamma_ * NormalTail(1 / s_ - t); }

    LossGridPair Discretise(const GridOptions& options) const;

  private:
    double Top(const GridOptions& options) const;
    void AddCell(int64_t cell, double from, double to, Collector& collector) const;

    double s_;
    double gamma_;
    double shift_;
};

// Adds the mass of y in [from, to], whose losses lie in the cell. Pieces of at most 1/8 of the shorter of the
// two lengths on which the integrand changes (1 and s) with 5 nodes, or 1/64 with 3, are integrated with a
// relative error below 1e-12 for |y| <= 9 (error term of Gauss-Legendre, derivatives of the normal density).
void SampledGaussian::AddCell(int64_t cell, double from, double to, Collector& collector) const {
    const double h = collector.grid().step;
    const double a = static_cast<double>(cell) * h;
    const double low = std::expm1(a);
    const double high = std::expm1(a + h);
    const double scale = std::min(1.0, s_);
    // The Q-mass at y goes to the upper point by (exp(loss) - exp(a))/(exp(a+h) - exp(a)), to the lower one
    // by the rest; without sampling the loss itself is known more precisely than its exponential.
    auto split = [&](double y) {
        const double density = std::exp(-0.5 * y * y);
        if (gamma_ == 1) {
            const double x = std::min(h, std::max(0.0, Loss(y) - a));
            return Split{density * std::expm1(x), density * std::exp(x) * std::expm1(h - x)};
        }
        const double ratio = RatioMinus1(y);
        return Split{density * std::max(0.0, ratio - low), density * std::max(0.0, high - ratio)};
    };
    const double width = to - from;
    Split sum{0, 0};
    if (width <= scale / 64) {
        sum = Integrate3(from, to, split);
    } else {
        const int pieces = static_cast<int>(std::ceil(width / (scale / 8)));
        for (int piece = 0; piece < pieces; ++piece)
            sum = sum + Integrate5(from + width * piece / pieces, from + width * (piece + 1) / pieces, split);
    }
    const double normal = 1 / (std::sqrt(2 * M_PI) * (gamma_ == 1 ? std::expm1(h) : high - low));
    collector.Add(cell + 1, sum.upper * normal * std::exp(a + h));
    collector.Add(cell, sum.lower * normal * std::exp(a));
}

// The y above which a loss may as well be infinite. Either all uses together have less than 1e-8 delta there,
// or their losses are so far above epsilon that counting exp(epsilon - loss) of the mass too much changes
// delta by less than 1e-6.
double SampledGaussian::Top(const GridOptions& options) const {
    // NormalTail(k) <= exp(-k^2/2)/2.
    double top = 1 / s_ + std::sqrt(-2 * std::log(std::min(0.5, 2e-8 * options.delta / options.uses)));
    double low = std::min(Inverse(options.epsilon), top);
    if (!(Loss(top) > options.epsilon) || !(low < top))
        return top;
    for (int iteration = 0; iteration < 40; ++iteration) {
        const double middle = 0.5 * (low + top);
        const double loss = Loss(middle);
        const bool far =
            loss > options.epsilon + 30 ||
            options.uses * UpperP(middle) * std::exp(options.epsilon - loss) < 1e-6 * options.delta;
        (far ? top : low) = middle;
    }
    return top;
}

LossGridPair SampledGaussian::Discretise(const GridOptions& options) const {
    const double top = Top(options);
    const double bottom = gamma_ == 1
                              ? 1 / s_ - top
                              : -std::sqrt(-2 * std::log(std::min(0.5, 2e-8 * options.delta / options.uses)));
    Collector collector(options.step, Loss(bottom), Loss(top));
    collector.grid().relative_error *= gamma_ == 1 ? 1 : 1 / (1 - gamma_);
    const int64_t first = collector.Cell(Loss(bottom));
    const int64_t last = collector.Cell(Loss(top));
    double from = bottom;
    // Far below the shifted component only the other is left: exp(loss) is 1 - g to within g exp(-45), and a
    // wide range of y has one loss.
    const double alone = std::min(top, s_ * (shift_ - 45));
    if (gamma_ < 1 && alone > bottom) {
        collector.AddAtom(std::log1p(-gamma_), (1 - gamma_) * (NormalTail(-alone) - NormalTail(-bottom)));
        from = alone;
    }
    for (int64_t cell = first; cell <= last; ++cell) {
        const double edge = Inverse(static_cast<double>(cell + 1) * options.step);
        const double to = cell == last ? top : std::min(top, std::max(edge, from));
        if (to > from)
            AddCell(cell, from, to, collector);
        from = to;
    }
    // What was cut off: at the top of each direction it counts as infinite, at the bottom it is moved up to a
    // point that is not below it.
    LossGridPair pair{collector.grid(), collector.Mirrored()};
    pair.remove.infinite_mass = UpperP(top);
    pair.remove.mass[static_cast<std::size_t>(first + 1 - pair.remove.first)] += LowerP(bottom);
    pair.add.infinite_mass = NormalTail(-bottom);
    pair.add.mass[static_cast<std::size_t>(-last - pair.add.first)] += NormalTail(top);
    return pair;
}

// P-density factor * exp((loss - epsilon)/2) on [-epsilon, epsilon].
void AddHalfExponential(double epsilon, double factor, Collector& collector) {
    const double h = collector.grid().step;
    for (int64_t cell = collector.Cell(-epsilon); cell <= collector.Cell(epsilon); ++cell) {
        const double a = static_cast<double>(cell) * h;
        const double from = std::max(a, -epsilon);
        const double to = std::min(a + h, epsilon);
        if (to <= from)
            continue;
        const double whole = 2 * std::exp((from - epsilon) / 2) * std::expm1((to - from) / 2);
        const double upper =
            Integrate5(from, to, [&](double l) { return std::exp((l - epsilon) / 2) * -std::expm1(a - l); }) /
            -std::expm1(-h);
        collector.Add(cell + 1, factor * upper);
        collector.Add(cell, factor * std::max(0.0, whole - upper));
    }
}

}  // namespace

LossGridPair DiscretiseGaussian(const Event& event, const GridOptions& options) {
    return SampledGaussian(event.parameter, event.sampling_rate).Discretise(options);
}

LossGridPair DiscretiseGdp(const Event& event, const GridOptions& options) {
    return SampledGaussian(1 / event.parameter, 1).Discretise(options);
}

// Laplace against Laplace shifted by epsilon scales: atoms at the ends, exponential between.
LossGridPair DiscretiseLaplace(const Event& event, const GridOptions& options) {
    const double epsilon = event.parameter;
    Collector collector(options.step, -epsilon, epsilon);
    collector.AddAtom(epsilon, 0.5);
    collector.AddAtom(-epsilon, 0.5 * std::exp(-epsilon));
    AddHalfExponential(epsilon, 0.25, collector);
    return {collector.grid(), collector.Mirrored()};
}

// For each pair of neighbours some generalised randomized response with t in [0, epsilon] ([DPXGB] Lemma 2) gives the
// loss. The supremum of their hockey-stick curves over t, reached at t = (epsilon + x)/2, is
// (1 - exp((x - epsilon)/2))^2 / (1 - exp(-epsilon)); being convex in exp(x) it is the curve of a pair, which dominates
// each of them and therefore any adaptive composition. That pair has loss density
// exp((l - epsilon)/2) / (2 (1 - exp(-epsilon))).
LossGridPair DiscretiseBoundedRange(const Event& event, const GridOptions& options) {
    const double epsilon = event.parameter;
    Collector collector(options.step, -epsilon, epsilon);
    AddHalfExponential(epsilon, -0.5 / std::expm1(-epsilon), collector);
    return {collector.grid(), collector.Mirrored()};
}

// Randomized response dominates every epsilon-DP mechanism.
LossGridPair DiscretisePure(const Event& event, const GridOptions& options) {
    const double epsilon = event.parameter;
    Collector collector(options.step, -epsilon, epsilon);
    const double p = 1 / (1 + std::exp(-epsilon));
    collector.AddAtom(epsilon, p);
    collector.AddAtom(-epsilon, 1 - p);
    return {collector.grid(), collector.Mirrored()};
}

}  // namespace dpboost
