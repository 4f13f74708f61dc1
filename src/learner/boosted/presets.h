// The named methods of the framework, for views and documentation; FrameworkOptions::Preset makes the options of
// one.
#pragma once

#include <cstddef>

namespace dpboost {

struct MethodPreset {
    const char* name;
    const char* parts;        // one line: structure, leaf, candidates, features, updates
    const char* paper;        // file in papers/ and what it is called there
    const char* when_to_use;  // one line
};

extern const MethodPreset kFrameworkPresets[];
extern const std::size_t kFrameworkPresetCount;

// Names of the parts as options give them, in the order of the enums of method_options.h.
constexpr const char* kStructureNames[] = {"totally_random", "partially_random", "noisy_histogram",
                                           "exponential"};
constexpr const char* kLeafNames[] = {"averaging", "gradient", "newton"};
constexpr const char* kCandidateNames[] = {"uniform", "log", "iterative_hessian", "whole_range"};
constexpr const char* kFeatureNames[] = {"all", "cyclic", "random"};

}  // namespace dpboost
