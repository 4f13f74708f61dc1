#include "model/report/shape_plot.h"

#include <algorithm>
#include <cmath>

#include "model/report/svg.h"

namespace dpboost {
namespace {

constexpr double kWidth = 330;
constexpr double kHeight = 196;
constexpr double kLeft = 34;
constexpr double kRight = 8;
constexpr double kTop = 8;
constexpr double kBottom = 50;
constexpr double kHistogram = 16;   // height of the tallest bar of rows
constexpr double kSeenMass = 1e-3;  // missing values that are rarer are not drawn
constexpr size_t kLabel = 19;       // characters of a name in a picture
constexpr size_t kTitle = 120;      // ... of what is shown when pointed at
constexpr size_t kLevels = 12;

// Whether values are missing, as far as noise lets one tell.
bool HasMissing(const ReportShape& shape) {
    return shape.masses.back() > kSeenMass && shape.cells.back().enough_rows;
}

double BandOf(const ShapeCell& cell) {
    return std::isnan(cell.sd) ? 0 : kBandSds * cell.sd;
}

std::string WithSign(double value) {
    return Signed(std::round(value * 100) / 100);
}

std::string TitleOf(const ShapeCell& cell) {
    std::string title = Shortened(cell.label, kTitle) + ": " + WithSign(cell.contribution);
    if (!std::isnan(cell.sd))
        title += " &#177; " + Compact(std::round(BandOf(cell) * 100) / 100);
    if (!std::isnan(cell.rows))
        title += ", about " + About(cell.rows) + " rows";
    return title;
}

// The picture of a numeric feature while it is drawn.
class NumericPicture {
  public:
    NumericPicture(const FeatureSpec& feature, const ReportShape& shape, double scale, TimeColumn time);
    std::string Draw();

  private:
    double X(size_t edge) const;
    double Y(double value) const {
        return kTop + (kHeight - kTop - kBottom) *
                          (1 - (std::clamp(value, -scale_, scale_) + scale_) / (2 * scale_));
    }
    void DrawAxes();
    void DrawRows();
    void DrawCurve();
    void DrawMissing();
    void DrawTicks();

    const ReportShape& shape_;
    double scale_;
    TimeColumn time_;
    size_t bins_;
    std::vector<double> edges_;
    bool to_scale_;
    bool has_missing_;
    double from_ = kLeft + 2;
    double to_ = 0;
    Svg svg_;
};

NumericPicture::NumericPicture(const FeatureSpec& feature, const ReportShape& shape, double scale,
                               TimeColumn time)
    : shape_(shape),
      scale_(scale),
      time_(time),
      bins_(shape.cells.size() - 1),
      svg_(kWidth, kHeight, feature.name()) {
    double widest = 0, narrowest = feature.upper() - feature.lower();
    edges_.push_back(feature.lower());
    for (size_t i = 0; i < bins_; i++) {
        edges_.push_back(i + 1 < bins_ ? feature.grid().edges[i] : feature.upper());
        widest = std::max(widest, edges_[i + 1] - edges_[i]);
        narrowest = std::min(narrowest, edges_[i + 1] - edges_[i]);
    }
    to_scale_ = widest <= 20 * std::max(narrowest, 1e-12 * widest);
    has_missing_ = HasMissing(shape);
    to_ = kWidth - kRight - (has_missing_ ? 26 : 0);
}

double NumericPicture::X(size_t edge) const {
    const double place = to_scale_ ? (edges_[edge] - edges_[0]) / (edges_[bins_] - edges_[0])
                                   : static_cast<double>(edge) / static_cast<double>(bins_);
    return from_ + (to_ - from_) * place;
}

void NumericPicture::DrawAxes() {
    for (const double tick : NiceTicks(-scale_, scale_, 5)) {
        svg_.Line(std::fabs(tick) < 1e-9 * scale_ ? "z" : "g", kLeft, Y(tick), kWidth - kRight, Y(tick));
        svg_.Text("t", kLeft - 4, Y(tick) + 3, "end", Signed(tick));
    }
}

// One outline: bars side by side would show seams.
void NumericPicture::DrawRows() {
    if (std::isnan(shape_.cells[0].rows))
        return;
    std::vector<double> heights(bins_);
    for (size_t i = 0; i < bins_; i++)
        heights[i] = shape_.masses[i] / std::max(X(i + 1) - X(i), 1e-9);
    const double tallest = *std::max_element(heights.begin(), heights.end());
    if (!(tallest > 0))
        return;
    const double floor = kHeight - kBottom + 2 + kHistogram;
    Points outline{{X(0), floor}};
    for (size_t i = 0, j; i < bins_; i = j) {
        for (j = i + 1; j < bins_ && std::fabs(heights[j] - heights[i]) < 1e-3 * tallest;)
            j++;
        const double top = floor - kHistogram * heights[i] / tallest;
        outline.insert(outline.end(), {{X(i), top}, {X(j), top}});
    }
    outline.emplace_back(X(bins_), floor);
    svg_.Polygon("h", outline);
}

void NumericPicture::DrawCurve() {
    const auto same = [this](size_t a, size_t b) {
        const ShapeCell &left = shape_.cells[a], &right = shape_.cells[b];
        return left.contribution == right.contribution && BandOf(left) == BandOf(right) &&
               left.enough_rows == right.enough_rows;
    };
    Points upper, lower;
    std::vector<std::pair<bool, Points>> curves;  // whether there are enough rows
    for (size_t i = 0, j; i < bins_; i = j) {
        for (j = i + 1; j < bins_ && same(i, j);)
            j++;
        const ShapeCell& cell = shape_.cells[i];
        const double high = Y(cell.contribution + BandOf(cell)), low = Y(cell.contribution - BandOf(cell));
        upper.insert(upper.end(), {{X(i), high}, {X(j), high}});
        lower.insert(lower.end(), {{X(i), low}, {X(j), low}});
        if (curves.empty() || curves.back().first != cell.enough_rows) {
            const Points joint = curves.empty() ? Points() : Points{curves.back().second.back()};
            curves.emplace_back(cell.enough_rows, joint);
        }
        Points& curve = curves.back().second;
        curve.insert(curve.end(), {{X(i), Y(cell.contribution)}, {X(j), Y(cell.contribution)}});
    }
    if (!std::isnan(shape_.cells[0].sd)) {
        upper.insert(upper.end(), lower.rbegin(), lower.rend());
        svg_.Polygon("b", upper);
    }
    for (const auto& [enough, points] : curves)
        svg_.Polyline(enough ? "l" : "l f", points);
}

void NumericPicture::DrawMissing() {
    if (!has_missing_)
        return;
    const ShapeCell& cell = shape_.cells[bins_];
    const double x = kWidth - kRight - 10;
    svg_.Open(TitleOf(cell));
    svg_.Line("e", x, Y(cell.contribution - BandOf(cell)), x, Y(cell.contribution + BandOf(cell)));
    svg_.Circle(cell.enough_rows ? "d" : "d f", x, Y(cell.contribution), 3);
    svg_.Close();
    svg_.Text("t", x, kHeight - 18, "middle", "null");
}

void NumericPicture::DrawTicks() {
    const double right = has_missing_ ? kWidth - kRight - 26 : kWidth - kRight;  // "null" stands there
    if (to_scale_) {
        std::vector<std::pair<double, std::string>> ticks;
        if (time_ != TimeColumn::kNone)
            ticks = TimeTicks(edges_[0], edges_[bins_], 6, time_);
        else
            for (const double tick : NiceTicks(edges_[0], edges_[bins_], 6))
                ticks.emplace_back(tick, Compact(tick));
        for (const auto& [tick, name] : ticks) {
            const double x = from_ + (to_ - from_) * (tick - edges_[0]) / (edges_[bins_] - edges_[0]);
            const double half = 2.9 * static_cast<double>(name.size());  // about its width
            svg_.Text("t", std::max(std::min(x, right - half), half), kHeight - 18, "middle", name);
        }
        return;
    }
    const auto name = [this](double edge) {
        return time_ == TimeColumn::kNone ? Compact(edge) : TimeText(edge, time_);
    };
    const double apart = time_ == TimeColumn::kNone ? 58 : 100;
    double last = -200;
    for (size_t i = 0; i <= bins_; i++) {
        const bool is_end = i == 0 || i == bins_;
        if (!is_end && (X(i) - last < apart || X(bins_) - X(i) < 0.8 * apart))
            continue;
        last = X(i);
        svg_.Text("t", X(i), kHeight - 18, i == 0 ? "start" : i == bins_ ? "end" : "middle", name(edges_[i]));
    }
    svg_.Text("t u", (from_ + to_) / 2, kHeight - 4, "middle", "bins of the grid, not to scale");
}

std::string NumericPicture::Draw() {
    DrawAxes();
    DrawRows();
    DrawCurve();
    DrawMissing();
    DrawTicks();
    return svg_.Take();
}

// The most frequent levels in the order of what they add, and how many are left out. Buckets of hashed text are shown where
// there are rows: nobody knows what else they could mean.
struct ShownLevels {
    std::vector<size_t> codes;
    size_t left_out = 0;
    double left_out_mass = 0;
};

ShownLevels ChooseLevels(const FeatureSpec& feature, const ReportShape& shape) {
    const size_t missing = shape.cells.size() - 1;
    ShownLevels shown;
    for (size_t code = 0; code < missing; code++)
        shown.codes.push_back(code);
    if (HasMissing(shape))
        shown.codes.push_back(missing);
    std::stable_sort(shown.codes.begin(), shown.codes.end(),
                     [&](size_t a, size_t b) { return shape.masses[a] > shape.masses[b]; });
    size_t most = std::min(shown.codes.size(), kLevels);
    while (feature.kind() == FeatureKind::kHashed && most > 1 &&
           !shape.cells[shown.codes[most - 1]].enough_rows)
        most--;
    for (size_t i = most; i < shown.codes.size(); i++) {
        shown.left_out++;
        shown.left_out_mass += shape.masses[shown.codes[i]];
    }
    shown.codes.resize(most);
    std::stable_sort(shown.codes.begin(), shown.codes.end(), [&](size_t a, size_t b) {
        return shape.cells[a].contribution < shape.cells[b].contribution;
    });
    return shown;
}

}  // namespace

double ShapeReach(const ReportShape& shape, double keep) {
    std::vector<std::pair<double, double>> reach;
    for (size_t i = 0; i < shape.cells.size(); i++)
        reach.emplace_back(std::fabs(shape.cells[i].contribution) + BandOf(shape.cells[i]), shape.masses[i]);
    std::sort(reach.begin(), reach.end());
    double sum = 0;
    for (const auto& [size, mass] : reach)
        if ((sum += mass) >= keep)
            return size;
    return reach.back().first;
}

double CommonScale(const std::vector<ReportShape>& shapes) {
    std::vector<double> reach;
    for (const ReportShape& shape : shapes)
        reach.push_back(ShapeReach(shape, 0.97));
    std::sort(reach.begin(), reach.end());
    const double widest = reach.empty() ? 1 : reach[reach.size() < 2 ? 0 : reach.size() - 2];
    if (!(widest > 1e-9))
        return 1;
    const double step = std::pow(10.0, std::floor(std::log10(widest))) / 2;
    return std::ceil(widest / step - 1e-9) * step;
}

double ScaleFor(const ReportShape& shape, double common, bool* own) {
    double top = 0;
    for (size_t i = 0; i < shape.cells.size(); i++)
        if (shape.masses[i] > 2e-4)
            top = std::max(top, std::fabs(shape.cells[i].contribution));
    *own = top > 1.05 * common;
    return *own ? 1.15 * top : common;
}

std::string NumericPlot(const FeatureSpec& feature, const ReportShape& shape, double scale, TimeColumn time) {
    return NumericPicture(feature, shape, scale, time).Draw();
}

std::string LevelsPlot(const FeatureSpec& feature, const ReportShape& shape, double scale) {
    const ShownLevels shown = ChooseLevels(feature, shape);
    const double row = 15, label = 150, from = label + 8, to = kWidth - 14;
    const double foot = shown.left_out > 0 ? 36 : 22;  // ticks, and how many are left out
    const double height = static_cast<double>(shown.codes.size()) * row + 4 + foot;
    const auto x = [&](double value) {
        return from + (to - from) * (std::clamp(value, -scale, scale) + scale) / (2 * scale);
    };
    Svg svg(kWidth, height, feature.name());
    for (const double tick : NiceTicks(-scale, scale, 4)) {
        svg.Line(std::fabs(tick) < 1e-9 * scale ? "z" : "g", x(tick), 4, x(tick), height - foot + 2);
        svg.Text("t", x(tick), height - foot + 14, "middle", Signed(tick));
    }
    double most = 0;
    for (const size_t code : shown.codes)
        most = std::max(most, shape.masses[code]);
    double y = 4 + row / 2;
    for (const size_t code : shown.codes) {
        const ShapeCell& cell = shape.cells[code];
        svg.Open(TitleOf(cell));
        if (!std::isnan(cell.rows) && most > 0)
            svg.Rect("h", label - 22 * shape.masses[code] / most, y - 5, 22 * shape.masses[code] / most, 10);
        svg.Text("t n", label - 26, y + 3, "end", Shortened(cell.label, kLabel));
        svg.Line("e", x(cell.contribution - BandOf(cell)), y, x(cell.contribution + BandOf(cell)), y);
        svg.Circle(cell.enough_rows ? "d" : "d f", x(cell.contribution), y, 3);
        svg.Close();
        y += row;
    }
    if (shown.left_out > 0) {
        std::string rest =
            "and " + std::to_string(shown.left_out) + (shown.left_out == 1 ? " other" : " others");
        if (!std::isnan(shape.cells[0].rows))
            rest += ", together about " + Compact(std::round(100 * shown.left_out_mass)) + " % of the rows";
        svg.Text("t u", kWidth / 2, height - 6, "middle", rest);
    }
    return svg.Take();
}

}  // namespace dpboost
