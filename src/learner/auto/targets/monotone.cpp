#include "learner/auto/targets/monotone.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "learner/auto/schedule.h"

namespace dpboost {

namespace {

int8_t DirectionOf(double number, const GivenOption& given) {
    if (number != 1 && number != -1)
        RefuseOption(given.key, kMonotoneForm, "It is " + given.shown + ".");
    return static_cast<int8_t>(number);
}

size_t PlaceOf(const std::string& name, const std::vector<FeatureSpec>& features) {
    std::vector<std::string> ordered;
    for (size_t f = 0; f < features.size(); f++) {
        if (features[f].name() == name && features[f].ordered())
            return f;
        if (features[f].name() == name)
            throw Error(ErrorCode::kInvalidParameter,
                        "column " + Quoted(name) + " of option \"monotone\" has no order",
                        "Numbers, dates and timestamps have one.");
        if (features[f].ordered())
            ordered.push_back(features[f].name());
    }
    throw Error(ErrorCode::kInvalidParameter,
                "column " + Quoted(name) + " of option \"monotone\" is not a feature", {},
                NearestHint(name, ordered));
}

}  // namespace

std::vector<int8_t> ReadMonotone(const std::vector<GivenOption>& given,
                                 const std::vector<FeatureSpec>& features) {
    std::vector<int8_t> directions;
    for (const GivenOption& option : given) {
        if (option.key != "monotone")
            continue;
        if (option.kind != GivenOption::kNumbers)
            RefuseOption(option.key, kMonotoneForm, "It is " + option.shown + ".");
        directions.assign(features.size(), 0);
        for (const auto& [name, number] : option.numbers)
            directions[PlaceOf(name, features)] = DirectionOf(number, option);
    }
    return directions;
}

void MonotoneRules::Project(size_t feature, std::vector<double>& table) const {
    if (!Constrains(feature))
        return;
    struct Run {
        double mean;
        double weight;
        size_t cells;
    };
    const double sign = directions_[feature];
    const std::vector<double>& counts = counts_->cells[feature];
    const double least = auto_numbers::kLeastMonotone * counts_->rows;
    std::vector<Run> runs;
    for (size_t cell = 0; cell + 1 < table.size(); cell++) {
        runs.push_back({sign * table[cell], std::max(counts[cell], least), 1});
        while (runs.size() > 1 && runs[runs.size() - 2].mean >= runs.back().mean) {
            const Run last = runs.back();
            runs.pop_back();
            Run& run = runs.back();
            const double weight = run.weight + last.weight;
            run.mean =
                std::clamp(run.mean + (last.mean - run.mean) * (last.weight / weight), last.mean, run.mean);
            run.weight = weight;
            run.cells += last.cells;
        }
    }
    size_t cell = 0;
    for (const Run& run : runs)
        for (size_t i = 0; i < run.cells; i++)
            table[cell++] = sign * run.mean;
}

}  // namespace dpboost
