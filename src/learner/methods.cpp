#include "learner/methods.h"

#include <algorithm>
#include <iterator>

#include "learner/auto/auto.h"
#include "learner/boosted/presets.h"
#include "learner/boosted/sbdt.h"
#include "learner/linear/adassp.h"
#include "learner/pure/pure_trees.h"

namespace dpboost {
namespace {

// The one list, the default first.
constexpr const MethodInfo* kMethods[] = {
    &kAuto,        &kSbdt,      &kDpTr,      &kDpTrIh,  &kDpTrIhEbm,   &kDpTrBatch, &kDpEbm,
    &kDpRf,        &kDpPr,      &kFeverless, &kDpXgb,   &kDpXgbCyclic, &kAdassp,    &kAdasspLogistic,
    &kAdasspHinge, &kPureTrees, &kPureSums,  &kPureSeq, &kPurePara,
};

}  // namespace

const MethodInfo* MethodList::Find(const std::string& name) const {
    const auto found =
        std::find_if(begin(), end(), [&](const MethodInfo* info) { return name == info->name; });
    return found == end() ? nullptr : *found;
}

std::vector<std::string> MethodList::Names() const {
    std::vector<std::string> names;
    for (const MethodInfo* method : *this)
        names.emplace_back(method->name);
    return names;
}

std::vector<std::string> MethodList::NamesWith(const std::string& option) const {
    std::vector<std::string> names;
    for (const MethodInfo* method : *this)
        if (method->options.Find(option) != nullptr)
            names.emplace_back(method->name);
    return names;
}

std::vector<std::string> MethodList::Keys() const {
    std::vector<std::string> keys;
    for (const MethodInfo* method : *this)
        for (const OptionRow& row : method->options)
            if (std::find(keys.begin(), keys.end(), row.key) == keys.end())
                keys.emplace_back(row.key);
    return keys;
}

const MethodInfo* MethodList::Default(const std::vector<GivenOption>& given) const {
    const bool fits = std::all_of(given.begin(), given.end(), [&](const GivenOption& option) {
        return methods_[0]->options.Find(option.key) != nullptr;
    });
    return methods_[fits || count_ == 1 ? 0 : 1];
}

MethodList AllMethods() {
    return MethodList(kMethods, std::size(kMethods));
}

}  // namespace dpboost
