// How a model is named in SQL: `name`, `owner.name`, and with `@version` where an existing one is meant. A name
// belongs to its owner, so that nobody can take another's; whose it is without an owner, postgres/predict says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dpboost {

constexpr size_t kMaxModelName = 200;  // bytes, without owner and version

struct ModelName {
    bool has_owner = false;
    bool owner_is_gone = false;  // written !owner: a role that was dropped
    std::string owner;
    std::string name;
    int32_t version = 0;  // 0: the newest
};

// Reads a name. The owner is what stands before the first dot: an SQL identifier, folded to lower case or in
// double quotes. The name itself is taken as it is; it holds no dot, no @ and no double quote. Throws
// kInvalidName.
ModelName ParseModelName(std::string_view text);

// Throws kInvalidName unless a training may leave a model under this name: it has no version, its owner was
// not written as a dropped role, and it is not too long.
void CheckNewModelName(const ModelName& name, std::string_view text);

}  // namespace dpboost
