// Old: what views say about a method, for methods that have no MethodInfo yet. To be deleted with the last of them.
#pragma once

namespace dpboost {

struct MethodPreset {
    const char* name;
    const char* parts;
    const char* paper;
    const char* when_to_use;
};

}  // namespace dpboost
