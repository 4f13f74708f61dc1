#include "training/domain.h"

#include <cmath>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "dataset/feature.h"
#include "learner/option_table.h"

namespace dpboost {

namespace {

constexpr char kForms[] =
    "A column's bounds are [lower, upper], [lower, upper, \"linear\" or \"log\"], a list of levels such as "
    "[\"F\", \"M\"], or \"private\".";
constexpr char kOtherForm[] = "The value has another form.";

[[noreturn]] void Refuse(const std::string& what, const std::string& detail, const char* hint = "") {
    throw Error(ErrorCode::kInvalidParameter, "invalid " + what, detail, hint);
}

Domain ReadRange(const std::string& what, const JsonValue& value) {
    const bool fits = value.count >= 2 && value.count <= 3 && value.items[0].has_number() &&
                      value.items[1].has_number() &&
                      (value.count == 2 || value.items[2].kind == JsonValue::kString);
    if (!fits)
        Refuse(what, kOtherForm);
    return Domain::Range(what, value.items[0].number, value.items[1].number,
                         value.count == 3 ? value.items[2].view() : "auto");
}

Domain ReadLevels(const std::string& what, const JsonValue& value) {
    CheckLevelCount(what, static_cast<size_t>(value.count));
    std::vector<std::string> levels;
    for (int i = 0; i < value.count; ++i) {
        if (value.items[i].kind != JsonValue::kString)
            Refuse(what, "A list of levels holds strings only.");
        levels.emplace_back(value.items[i].view());
    }
    return Domain::Levels(what, std::move(levels));
}

Domain ReadForm(const std::string& what, const JsonValue& value) {
    if (value.IsText("private")) {
        Domain domain;
        domain.kind = DomainKind::kPrivate;
        return domain;
    }
    if (value.kind != JsonValue::kArray || value.count == 0)
        Refuse(what, kOtherForm);
    return value.items[0].kind == JsonValue::kString ? ReadLevels(what, value) : ReadRange(what, value);
}

// An array or object that a message can hold.
bool IsShort(const JsonValue& value) {
    constexpr int kMostItems = 6, kMostLetters = 30;
    if ((value.kind != JsonValue::kArray && value.kind != JsonValue::kObject) || value.count == 0 ||
        value.count > kMostItems)
        return false;
    for (int i = 0; i < value.count; ++i) {
        const JsonValue& item = value.items[i];
        const bool is_text = item.kind == JsonValue::kString || item.kind == JsonValue::kTime ||
                             item.kind == JsonValue::kNumber;
        if (item.kind == JsonValue::kArray || item.kind == JsonValue::kObject ||
            (is_text && item.text_length > kMostLetters) ||
            (value.kind == JsonValue::kObject && std::string_view(value.keys[i]).size() > kMostLetters))
            return false;
    }
    return true;
}

// Reading cannot be interrupted, so what is beyond any use is refused before it is read.
void CheckSize(const JsonValue& bounds) {
    constexpr int kMaxColumns = static_cast<int>(kMaxFeatures) + 1;  // and the target
    constexpr int64_t kMaxAllLevels = 1'000'000;
    int64_t levels = 0;
    for (int i = 0; i < bounds.count && bounds.count <= kMaxColumns; ++i)
        levels += bounds.items[i].count;
    if (bounds.count > kMaxColumns || levels > kMaxAllLevels)
        throw Error(ErrorCode::kLimitExceeded, "option \"bounds\" is too long",
                    "It may hold 65536 columns, with 1000000 levels together.");
}

}  // namespace

Scale ScaleNamed(const std::string& what, std::string_view name) {
    if (name == "auto")
        return Scale::kAuto;
    if (name == "linear")
        return Scale::kLinear;
    if (name != "log")
        Refuse(what, "The scale must be \"linear\", \"log\" or \"auto\".");
    return Scale::kLog;
}

Domain Domain::Range(const std::string& what, double lower, double upper, std::string_view scale) {
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper))
        Refuse(what, "The lower bound must be below the upper one, and both finite.");
    Domain domain;
    domain.kind = DomainKind::kRange;
    domain.lower = lower;
    domain.upper = upper;
    domain.scale = ScaleNamed(what, scale);
    return domain;
}

void CheckLevelCount(const std::string& what, size_t count) {
    if (count == 0)
        Refuse(what, "The list of levels is empty.");
    if (count > kMaxBins)
        Refuse(what, "There are more than " + std::to_string(kMaxBins) + " levels.",
               "Leave the levels out, so that texts are hashed to buckets.");
}

Domain Domain::Levels(const std::string& what, std::vector<std::string> levels) {
    CheckLevelCount(what, levels.size());
    std::unordered_set<std::string_view> seen;
    for (const std::string& level : levels)
        if (!seen.insert(level).second)
            Refuse(what, "Level " + Quoted(Start(level, 80)) + " is listed twice.");
    Domain domain;
    domain.kind = DomainKind::kLevels;
    domain.levels = std::move(levels);
    return domain;
}

const Domain* BoundsOption::Find(const std::string& name, size_t position) const {
    const auto found = named.find(name);
    if (found != named.end())
        return &found->second;
    return position < listed.size() ? &listed[position] : nullptr;
}

Domain ReadDomain(const std::string& what, const JsonValue& value) {
    try {
        return ReadForm(what, value);
    } catch (const Error& error) {
        throw Error(error.code(), error.message(), error.detail(),
                    error.hint().empty() ? kForms : error.hint());
    }
}

int CountListed(const JsonValue& bounds) noexcept {
    const bool listed = bounds.kind == JsonValue::kArray && bounds.count > 0 && !bounds.items[0].has_number();
    return listed ? bounds.count : -1;
}

BoundsOption ReadBounds(const JsonValue& value) {
    CheckSize(value);
    BoundsOption option;
    if (value.kind == JsonValue::kObject) {
        for (int i = 0; i < value.count; ++i)
            option.named.emplace(value.keys[i],
                                 ReadDomain("bounds for column " + Quoted(value.keys[i]), value.items[i]));
    } else if (CountListed(value) >= 0) {
        for (int i = 0; i < value.count; ++i)
            option.listed.push_back(
                ReadDomain("bounds for feature number " + std::to_string(i + 1), value.items[i]));
    } else if (value.kind == JsonValue::kArray || value.IsText("private")) {
        option.all = ReadDomain("bounds for all columns", value);
    } else {
        RefuseOption("bounds", "an object, an array or \"private\"", "It is " + Shown(value) + ".");
    }
    return option;
}

std::string Shown(const JsonValue& value) {
    if (IsShort(value))
        return JsonText(value);
    if (value.kind == JsonValue::kArray)
        return "an array of " + std::to_string(value.count) + (value.count == 1 ? " item" : " items");
    if (value.kind == JsonValue::kObject)
        return "an object";
    if (value.kind == JsonValue::kString || value.kind == JsonValue::kTime)
        return "the string " + Quoted(Start(value.view(), 80));
    return std::string(Start(JsonText(value), 40));
}

}  // namespace dpboost
