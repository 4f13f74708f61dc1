#include "training/evaluation/shares.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace dpboost {
namespace {

// What is nearer to none, or to all, may be none or all. That a class without rows looks as if it had some: 2e-8.
constexpr double kSigmas = 5.5;

// To as many places as its noise leaves sense in.
double RoundedToNoise(double value, double noise) {
    const double unit = std::pow(10, std::floor(std::log10(noise)) - 1);
    return RoundedDown(std::nearbyint(value / unit) * unit);
}

// Says in words what a wrong "positive" looks like, or a target that is the same everywhere.
std::string Described(const BaseRate& rate, const TargetRule& target) {
    const double share = std::clamp(rate.value, 0.0, 1.0);
    const bool may_be_none = share <= kSigmas * rate.noise, may_be_all = 1 - share <= kSigmas * rate.noise;
    JsonList description;
    description.Add("value", JsonNumber(RoundedToNoise(share, rate.noise)));
    description.Add("noise", JsonNumber(RoundedToNoise(rate.noise, rate.noise)));
    if (may_be_none != may_be_all)
        description.Add(
            "note",
            JsonString("Within its noise, " + std::string(may_be_none ? "no row has" : "every row has") +
                       " the positive class " + Quoted(target.positive) + ". Is it the right one?"));
    return description.Object();
}

// The same of several classes, of which rows with any other are left out.
std::string Described(const ClassShares& shares, const TargetRule& target) {
    const double noise = *std::max_element(shares.noise.begin(), shares.noise.end());
    JsonList description, values;
    std::vector<std::string> none;
    for (size_t k = 0; k < shares.values.size(); k++) {
        const double share = std::clamp(shares.values[k], 0.0, 1.0);
        const std::string& name = target.spec.classes()[k];
        values.Add(name, JsonNumber(RoundedToNoise(share, noise)));
        if (share <= kSigmas * shares.noise[k])
            none.push_back(name);
    }
    description.Add("values", values.Object());
    description.Add("noise", JsonNumber(RoundedToNoise(noise, noise)));
    if (!none.empty() && none.size() < shares.values.size())
        description.Add("note", JsonString("Within its noise, no row has the class" +
                                           std::string(none.size() > 1 ? "es " : " ") + QuotedList(none) +
                                           ". Rows of classes that are not listed are left out. " +
                                           (none.size() > 1 ? "Are they" : "Is it") + " spelt right?"));
    return description.Object();
}

std::string Undeclared(const TargetRule& target) {
    const bool several = target.classes != nullptr;
    JsonList description;
    description.Add(
        "note",
        JsonString("Not known here: this training has released no share of " +
                   (several ? std::string("its classes") : "the positive class " + Quoted(target.positive)) +
                   ". If the target's levels are declared, a misspelt class is an error."));
    return description.Object();
}

}  // namespace

void TargetShares::Add(const TargetRule& target, JsonList* list) const {
    const bool several = target.classes != nullptr;
    if (several && !classes.values.empty())
        list->Add("class_shares", Described(classes, target));
    else if (!several && base_rate.known)
        list->Add("base_rate", Described(base_rate, target));
    else if (target.undeclared)
        list->Add(several ? "class_shares" : "base_rate", Undeclared(target));
}

}  // namespace dpboost
