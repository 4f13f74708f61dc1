#include "model/report/evaluation_plot.h"

#include <algorithm>
#include <cmath>

#include "model/report/svg.h"

namespace dpboost {
namespace {

constexpr double kWidth = 320, kHeight = 258;
constexpr double kLeft = 36, kRight = 312, kTop = 8, kBottom = 222;

double X(double part) {
    return kLeft + (kRight - kLeft) * std::clamp(part, 0.0, 1.0);
}

double Y(double part) {
    return kBottom - (kBottom - kTop) * std::clamp(part, 0.0, 1.0);
}

// A square from 0 to 1, with the diagonal.
Svg Square(const char* label, const char* across) {
    Svg svg(kWidth, kHeight, label);
    for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        svg.Line("g", X(tick), kTop, X(tick), kBottom);
        svg.Line("g", kLeft, Y(tick), kRight, Y(tick));
        const std::string percent = Compact(100 * tick) + " %";
        svg.Text("t", X(tick), kBottom + 13, tick == 1 ? "end" : "middle", percent);
        if (tick > 0)
            svg.Text("t", kLeft - 4, Y(tick) + 3, "end", percent);
    }
    svg.Line("z", X(0), Y(0), X(1), Y(1));
    svg.Text("t", (kLeft + kRight) / 2, kBottom + 29, "middle", across);
    return svg;
}

}  // namespace

// Noise may take a step back; a curve that counts rows cannot, so it is drawn without.
std::string RocPlot(const std::vector<ReportBin>& bins) {
    Svg svg = Square("ROC", "negative rows above a limit of the score");
    double across = 0, up = 0;
    Points line{{X(0), Y(0)}};
    for (size_t i = bins.size(); i-- > 0;) {
        if (std::isnan(bins[i].true_positive_rate) || std::isnan(bins[i].false_positive_rate))
            continue;
        across = std::max(across, bins[i].false_positive_rate);
        up = std::max(up, bins[i].true_positive_rate);
        line.emplace_back(X(across), Y(up));
    }
    line.emplace_back(X(1), Y(1));
    Points area = line;
    area.emplace_back(X(1), Y(0));
    svg.Polygon("b", area);
    svg.Polyline("l", line);
    return svg.Take();
}

std::string CalibrationPlot(const std::vector<ReportBin>& bins) {
    Svg svg = Square("calibration", "predicted");
    for (const ReportBin& bin : bins) {
        if (std::isnan(bin.observed) || std::isnan(bin.low) || std::isnan(bin.high))
            continue;
        svg.Line("e", X(bin.predicted), Y(bin.low), X(bin.predicted), Y(bin.high));
        svg.Circle("d", X(bin.predicted), Y(bin.observed), 3);
    }
    return svg.Take();
}

}  // namespace dpboost
