#include "base/text.h"

#include <algorithm>
#include <cstdio>

namespace dpboost {

std::string Quoted(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

std::string Printed(double number) {
    char text[32];
    snprintf(text, sizeof text, "%.10g", number);
    return text;
}

std::string Nearest(std::string_view name, const std::vector<std::string>& candidates) {
    constexpr size_t kLongest = 64;  // the distance takes the product of both lengths
    if (name.size() > kLongest)
        return {};
    std::string best;
    size_t best_distance = std::max<size_t>(2, name.size() / 2);  // farther is no near miss
    std::vector<size_t> row;
    for (const std::string& candidate : candidates) {
        row.resize(candidate.size() + 1);
        for (size_t j = 0; j < row.size(); ++j)
            row[j] = j;
        for (size_t i = 1; i <= name.size(); ++i) {
            size_t diagonal = row[0];
            row[0] = i;
            for (size_t j = 1; j < row.size(); ++j) {
                const size_t substituted = diagonal + (name[i - 1] != candidate[j - 1] ? 1 : 0);
                diagonal = row[j];
                row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
            }
        }
        if (row.back() < best_distance) {
            best_distance = row.back();
            best = candidate;
        }
    }
    return best;
}

}  // namespace dpboost
