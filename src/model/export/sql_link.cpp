#include "model/export/sql_link.h"

#include <algorithm>
#include <cmath>

#include "base/json_text.h"

namespace dpboost {
namespace {

constexpr int64_t kOne = int64_t{1} << kFixedBits;
constexpr int64_t kLargestExponent = 700 * kOne;  // exp of more is an error in some databases

}  // namespace

Around Limited(const std::string& lower, const std::string& upper) {
    return {"LEAST(GREATEST(", ", " + lower + "), " + upper + ")"};
}

LinkRange RangeOf(const Model& model) {
    const TargetSpec& target = model.target();
    if (model.link() == Link::kLogistic)
        return {-kLargestExponent, kLargestExponent, "0", "1"};
    if (model.link() == Link::kIdentity)
        return {-kOne, kOne, JsonNumber(target.lower()), JsonNumber(target.upper())};
    const auto score = [&](double prediction) {
        const double value = prediction - LogOffset(target);
        return value > 0 ? std::clamp<int64_t>(std::llround(std::log(value) * kFixedScale), -kLargestExponent,
                                               kLargestExponent)
                         : -kLargestExponent;
    };
    LinkRange range = {score(target.lower()), score(target.upper()), JsonNumber(target.lower()),
                       JsonNumber(target.upper())};
    while (model.Respond(range.lower_score) > target.lower() && range.lower_score > -kLargestExponent)
        range.lower_score--;
    while (model.Respond(range.upper_score) < target.upper() && range.upper_score < kLargestExponent)
        range.upper_score++;
    return range;
}

Around InUnits() {
    return {"CAST(", " AS double precision) / " + std::to_string(kOne)};
}

Around LinkOf(const Model& model) {
    const TargetSpec& target = model.target();
    if (model.link() == Link::kLogistic)
        return InUnits().Within({"1 / (1 + exp(-", "))"});
    if (model.link() == Link::kLog)
        return InUnits().Within(
            {"exp(", target.logarithmic() ? ") + " + JsonNumber(LogOffset(target)) : ")"});
    return InUnits().Within(
        {JsonNumber(target.lower()) + " + " + JsonNumber(target.upper() - target.lower()) + " * ((",
         " + 1) / 2)"});
}

}  // namespace dpboost
