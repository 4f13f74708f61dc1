#include "mechanism/parties/roster.h"

#include <sodium.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"

namespace dpboost {

namespace {

constexpr std::string_view kKeyPrefix = "dpbk1:";

}  // namespace

PartyKey PartyKey::Parse(std::string_view text) {
    PartyKey key;
    std::size_t size = 0;
    const std::size_t digits = 2 * key.bytes.size();
    const bool whole = text.size() == kKeyPrefix.size() + digits &&
                       text.substr(0, kKeyPrefix.size()) == kKeyPrefix &&
                       sodium_hex2bin(key.bytes.data(), key.bytes.size(), text.data() + kKeyPrefix.size(),
                                      digits, nullptr, &size, nullptr) == 0 &&
                       size == key.bytes.size();
    if (!whole)
        throw Error(ErrorCode::kInvalidParameter, "invalid key of a party",
                    "A key is \"dpbk1:\" and 64 hexadecimal digits.",
                    "Ask the party's administrator for the result of dpboost_party_key().");
    return key;
}

std::string PartyKey::Text() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text(kKeyPrefix);
    for (const unsigned char byte : bytes) {
        text.push_back(kDigits[byte >> 4]);
        text.push_back(kDigits[byte & 15]);
    }
    return text;
}

Roster::Roster(std::string federation, std::vector<Party> parties, uint32_t colluding, uint32_t per_unit)
    : federation_(std::move(federation)), parties_(std::move(parties)) {
    numbers_.parties = static_cast<uint32_t>(std::min<std::size_t>(parties_.size(), UINT32_MAX));
    numbers_.colluding = colluding;
    numbers_.per_unit = per_unit;
    numbers_.Check();
    std::sort(parties_.begin(), parties_.end(),
              [](const Party& a, const Party& b) { return a.name < b.name; });
    ByteWriter writer;
    writer.Text(federation_);
    writer.U32(numbers_.parties);
    writer.U32(colluding);
    writer.U32(per_unit);
    for (std::size_t i = 0; i < parties_.size(); ++i) {
        const Party& party = parties_[i];
        if (party.name.empty())
            throw Error(ErrorCode::kInvalidParameter, "a party of the federation has no name");
        if (i > 0 && parties_[i - 1].name == party.name)
            throw Error(ErrorCode::kInvalidParameter, "party \"" + party.name + "\" is given more than once");
        for (std::size_t j = 0; j < i; ++j)
            if (parties_[j].key.bytes == party.key.bytes)
                throw Error(ErrorCode::kInvalidParameter, "parties \"" + parties_[j].name + "\" and \"" +
                                                              party.name + "\" have the same key");
        writer.Text(party.name);
        writer.Raw(View(party.key.bytes));
    }
    digest_ = HashOf("roster", writer.bytes());
}

std::size_t Roster::Find(std::string_view name) const {
    for (std::size_t i = 0; i < parties_.size(); ++i)
        if (parties_[i].name == name)
            return i;
    throw Error(ErrorCode::kInvalidParameter,
                "\"" + std::string(name) + "\" is no party of federation \"" + federation_ + "\"");
}

}  // namespace dpboost
