#include "model/model_name.h"

#include <limits>

#include "base/error.h"

namespace dpboost {

namespace {

constexpr char kGoneMark = '!';

[[noreturn]] void Refuse(std::string_view text, const char* detail) {
    throw Error(ErrorCode::kInvalidName, "invalid model name \"" + std::string(text) + "\"", detail);
}

[[noreturn]] void Refuse(std::string_view text) {
    Refuse(text,
           "A model is named name or owner.name, and with @version when it is read; a name holds no dot, no "
           "@ and "
           "no double quote.");
}

bool StartsIdentifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool ContinuesIdentifier(char c) {
    return StartsIdentifier(c) || (c >= '0' && c <= '9') || c == '$';
}

// From behind the opening quote; returns what follows the closing one.
std::string_view ReadQuoted(std::string_view rest, std::string_view text, std::string* owner) {
    for (size_t i = 0; i < rest.size(); ++i) {
        const bool quote = rest[i] == '"';
        if (quote && (i + 1 == rest.size() || rest[i + 1] != '"'))
            return rest.substr(i + 1);
        owner->push_back(rest[i]);
        i += quote;
    }
    Refuse(text);
}

std::string_view ReadPlain(std::string_view rest, std::string* owner) {
    size_t size = 0;
    while (size < rest.size() && (size == 0 ? StartsIdentifier(rest[0]) : ContinuesIdentifier(rest[size]))) {
        const char c = rest[size++];
        owner->push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    return rest.substr(size);
}

// Returns what follows the owner's dot, or the whole text if there is no owner.
std::string_view ReadOwner(std::string_view text, ModelName* name) {
    const bool gone = !text.empty() && text[0] == kGoneMark;
    std::string_view rest = text.substr(gone);
    const bool quoted = !rest.empty() && rest[0] == '"';
    if (!quoted && rest.find('.') == std::string_view::npos)
        return text;
    rest = quoted ? ReadQuoted(rest.substr(1), text, &name->owner) : ReadPlain(rest, &name->owner);
    if (name->owner.empty() || rest.empty() || rest[0] != '.')
        Refuse(text);
    name->has_owner = true;
    name->owner_is_gone = gone;
    return rest.substr(1);
}

int32_t ReadVersion(std::string_view digits, std::string_view text) {
    int64_t version = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9' || version > std::numeric_limits<int32_t>::max())
            Refuse(text);
        version = version * 10 + (c - '0');
    }
    if (version < 1 || version > std::numeric_limits<int32_t>::max())
        Refuse(text);
    return static_cast<int32_t>(version);
}

}  // namespace

ModelName ParseModelName(std::string_view text) {
    ModelName name;
    const std::string_view rest = ReadOwner(text, &name);
    const size_t at = rest.find('@');
    name.name = rest.substr(0, at);
    if (at != std::string_view::npos)
        name.version = ReadVersion(rest.substr(at + 1), text);
    if (name.name.empty())
        throw Error(ErrorCode::kInvalidName, "model name is empty");
    if (name.name.find_first_of(".\"") != std::string::npos)
        Refuse(text);
    return name;
}

void CheckNewModelName(const ModelName& name, std::string_view text) {
    if (name.version != 0)
        Refuse(text, "A name followed by @ and a version refers to a model that exists.");
    if (name.owner_is_gone)
        Refuse(text, "A role that was dropped trains no models.");
    if (name.name.size() > kMaxModelName)
        throw Error(ErrorCode::kInvalidName,
                    "a model's name must have between 1 and " + std::to_string(kMaxModelName) + " bytes");
}

}  // namespace dpboost
