#include "model/report/heat_map.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/report/svg.h"

namespace dpboost {
namespace {

constexpr double kWidth = 330;
constexpr double kLeft = 112;
constexpr double kRight = 324;
constexpr size_t kLabel = 15;  // characters beside the picture
constexpr size_t kBelow = 13;  // ... and below it,
constexpr size_t kEnd = 19;    // where only two stand there
constexpr size_t kTitle = 60;  // ... where it is pointed at
constexpr double kSeenMass =
    1e-3;  // missing values that are rarer are not drawn, nor are those that may be noise

// Numbers in a bin's label with the digits that a picture has room for.
std::string WithShortNumbers(const std::string& label) {
    std::string shorter;
    for (size_t i = 0; i < label.size();) {
        const size_t end = std::min(label.find_first_not_of("0123456789.", i), label.size());
        if (end - i > 5)
            shorter += Compact(std::strtod(label.substr(i, end - i).c_str(), nullptr));
        else
            shorter.append(label, i, std::max(end, i + 1) - i);
        i = std::max(end, i + 1);
    }
    return shorter;
}

bool SeesMissing(const Model& model, const ReferenceMasses& masses, size_t feature) {
    const std::optional<Reference>& reference = model.evidence().reference;
    if (reference && reference->marginals[feature].counts.back() < 2 * reference->marginals[feature].count_sd)
        return false;
    return masses.of(feature)[model.features()[feature].missing()] > kSeenMass;
}

// The first day of a range of times.
std::string StartOf(const std::string& label) {
    const size_t begin = label.find_first_of("0123456789");
    return begin == std::string::npos ? label : "from " + label.substr(begin, 10);
}

// One feature's parts, escaped, without missing where that is rare.
struct Axis {
    std::string name;
    std::vector<std::string> labels;
    size_t all;  // parts with missing

    std::vector<std::string> shown;  // where there is little room
    bool ordered = false;

    Axis(const Model& model, const ReferenceMasses& masses, const Interaction& interaction, size_t place,
         TimeColumn time) {
        const size_t index = interaction.features[place];
        const FeatureSpec& feature = model.features()[index];
        name = feature.name();
        for (const std::string& label : interaction.parts[place]) {
            labels.push_back(time != TimeColumn::kNone ? WithTimes(label, time)
                             : feature.ordered()       ? WithShortNumbers(label)
                                                       : label);
            shown.push_back(time != TimeColumn::kNone ? StartOf(labels.back()) : labels.back());
        }
        ordered = feature.ordered();
        all = labels.size();
        if (all > 1 && !SeesMissing(model, masses, index))
            labels.pop_back();
    }
    size_t size() const { return labels.size(); }
    // Below the picture each level has its name, slanted; of numbers the first and the last range.
    double foot() const {
        size_t longest = 0;
        for (const std::string& label : labels)
            longest = std::max(longest, std::min(label.size(), kBelow));
        return ordered ? 18 : 14 + 3.4 * static_cast<double>(longest);
    }
};

using Fields = std::vector<double>;  // by row, then by column

void DrawGrid(Svg* svg, double top, double height, const Axis& down, const Axis& across, const Fields& grid,
              double largest) {
    const double width = (kRight - kLeft) / static_cast<double>(across.size());
    const double tall = height / static_cast<double>(down.size());
    for (size_t row = 0; row < down.size(); row++) {
        const double y = top + tall * static_cast<double>(row);
        svg->Text("t n", kLeft - 4, y + tall / 2 + 3, "end", Shortened(down.shown[row], kLabel));
        for (size_t column = 0; column < across.size(); column++) {
            const double value = grid[row * across.size() + column];
            const double opacity = largest > 0 ? std::round(100 * std::fabs(value) / largest) / 100 : 0;
            if (opacity > 0.02)
                svg->Tile(value < 0 ? "neg" : "pos", kLeft + width * static_cast<double>(column), y, width,
                          tall, opacity,
                          Shortened(down.labels[row], kTitle) + ", " +
                              Shortened(across.labels[column], kTitle) + ": " +
                              Signed(std::round(value * 100) / 100));
        }
    }
    for (size_t column = 0; column < across.size() && !across.ordered; column++)
        svg->SlantedText("t", kLeft + width * (static_cast<double>(column) + 0.5) + 3, top + height + 10,
                         Shortened(across.shown[column], kBelow));
    if (!across.ordered)
        return;
    svg->Text("t", kLeft, top + height + 12, "start", Shortened(across.shown.front(), kEnd));
    svg->Text("t", kRight, top + height + 12, "end", Shortened(across.shown[across.size() - 1], kEnd));
}

}  // namespace

HeatPicture HeatMap(const Model& model, const ReferenceMasses& masses, const Interaction& interaction,
                    const std::vector<TimeColumn>& times) {
    const auto axis = [&](size_t place) {
        const size_t feature = interaction.features[place];
        return Axis(model, masses, interaction, place,
                    feature < times.size() ? times[feature] : TimeColumn::kNone);
    };
    const Axis down = axis(0), across = axis(1);
    const bool triple = interaction.features.size() > 2;
    const Axis third = axis(triple ? 2 : 1);
    const size_t depth = triple ? third.all : 1, shown = triple ? third.size() : 1;
    const size_t pictures = std::min(shown, kPicturesOfThree);
    std::vector<Fields> grids(pictures, Fields(down.size() * across.size()));
    double largest = 0;
    for (size_t i = 0; i < pictures; i++)
        for (size_t cell = 0; cell < grids[i].size(); cell++) {
            const size_t begin = i * shown / pictures, end = (i + 1) * shown / pictures;
            const size_t place = (cell / across.size()) * across.all + cell % across.size();
            for (size_t part = begin; part < end; part++)
                grids[i][cell] +=
                    interaction.contributions[place * depth + part] / static_cast<double>(end - begin);
            largest = std::max(largest, std::fabs(grids[i][cell]));
        }
    const double height = std::max(24.0, 12.0 * static_cast<double>(down.size()));
    const double step = height + across.foot() + (triple ? 18 : 2);
    Svg svg(kWidth, step * static_cast<double>(pictures) + 2, down.name + " and " + across.name);
    for (size_t i = 0; i < pictures; i++) {
        double top = step * static_cast<double>(i) + 2;
        if (triple) {
            const size_t begin = i * shown / pictures, end = (i + 1) * shown / pictures;
            const std::string to = end - begin > 1 ? " to " + Shortened(third.labels[end - 1], kLabel) : "";
            svg.Text("t n", kLeft, top + 10, "start",
                     Shortened(third.name, kLabel) + ": " + Shortened(third.labels[begin], kLabel) + to);
            top += 14;
        }
        DrawGrid(&svg, top, height, down, across, grids[i], largest);
    }
    return {svg.Take(), largest};
}

}  // namespace dpboost
