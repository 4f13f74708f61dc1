// Gaussian differential privacy in closed form ([ADASSP] Cor 1.1): a full-batch Gaussian of noise
// multiplier s is exactly 1/s-GDP, and mu^2 adds up. Neighbours: add or remove one unit.
#pragma once

namespace dpboost {

// The smallest delta such that mu-GDP implies (epsilon, delta)-DP. epsilon >= 0, mu > 0.
double GdpDelta(double mu, double epsilon);
// The smallest epsilon >= 0 such that mu-GDP implies (epsilon, delta)-DP. delta in (0, 1).
double GdpEpsilon(double mu, double delta);
// A bound just above it, for views that show many: within 1e-12 plus 1e-13 in epsilon, about a microsecond.
double GdpEpsilonAbove(double mu, double delta);
// The largest mu such that mu-GDP implies (epsilon, delta)-DP. epsilon > 0, delta in (0, 1).
double GdpMu(double epsilon, double delta);

}  // namespace dpboost
