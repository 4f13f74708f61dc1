// The methods that the option "method" can name, the default first. A new one is a file with its MethodInfo and a
// line in methods.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "learner/learner.h"

namespace dpboost {

class MethodList {
  public:
    MethodList(const MethodInfo* const* methods, std::size_t count) : methods_(methods), count_(count) {}

    const MethodInfo* const* begin() const { return methods_; }
    const MethodInfo* const* end() const { return methods_ + count_; }
    std::size_t size() const { return count_; }

    const MethodInfo* Find(const std::string& name) const;  // null if there is none
    std::vector<std::string> Names() const;
    std::vector<std::string> NamesWith(const std::string& option) const;  // of those that have the option
    std::vector<std::string> Keys() const;                                // of all their options, each once

    // The method of a call that names none: the first; or the second, where all is set by hand, if an option is given
    // that the first does not have.
    const MethodInfo* Default(const std::vector<GivenOption>& given) const;

  private:
    const MethodInfo* const* methods_;
    std::size_t count_;
};

MethodList AllMethods();

}  // namespace dpboost
