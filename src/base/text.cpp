#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace dpboost {

std::string Quoted(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

std::string_view Start(std::string_view text, std::size_t most) {
    if (text.size() <= most)
        return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80)
        --most;
    return text.substr(0, most);
}

std::string Listed(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts)
        list += (list.empty() ? "" : ", ") + text;
    return list;
}

std::string QuotedList(const std::vector<std::string>& texts) {
    std::vector<std::string> quoted;
    for (const std::string& text : texts)
        quoted.push_back(Quoted(text));
    return Listed(quoted);
}

std::string SqlLiteral(std::string_view text) {
    std::string literal = "'";
    for (const char c : text)
        literal += c == '\'' ? "''" : std::string(1, c);
    return literal + "'";
}

std::string Printed(double number) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.10g", number);
    std::string text = digits;
    const size_t plus = text.find('+');  // 1e+12
    if (plus != std::string::npos)
        text.erase(plus, 1);
    const size_t zero = text.find("e-0");  // 1e-06
    return zero == std::string::npos ? text : text.erase(zero + 2, 1);
}

namespace {

// To six digits, the nearest; then one more or less in the last if that is on the wrong side.
double Rounded(double number, bool up) {
    if (!(number > 0) || !std::isfinite(number))
        return number;
    char digits[40];
    snprintf(digits, sizeof digits, "%.5e", number);
    const double nearest = strtod(digits, nullptr);
    if (up ? nearest >= number : nearest <= number)
        return nearest;
    const int exponent = atoi(digits + 8);  // d.ddddde+xx
    digits[1] = digits[0];
    digits[7] = '\0';
    const long mantissa = atol(digits + 1);
    if (!up && mantissa == 100000)  // below a power of ten
        snprintf(digits, sizeof digits, "999999e%d", exponent - 6);
    else
        snprintf(digits, sizeof digits, "%lde%d", mantissa + (up ? 1 : -1), exponent - 5);
    return strtod(digits, nullptr);
}

}  // namespace

double RoundedUp(double number) {
    return Rounded(number, true);
}

double RoundedDown(double number) {
    return Rounded(number, false);
}

namespace {

char Lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// How many letters are wrong, missing or too many, two that changed places counting as one; whether they are capital
// does not count. Optimal string alignment, in three rows of its table.
size_t Distance(std::string_view a, std::string_view b) {
    std::vector<size_t> earlier, last, row(b.size() + 1);
    for (size_t j = 0; j < row.size(); ++j)
        row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        earlier = last;
        last = row;
        row[0] = i;
        for (size_t j = 1; j < row.size(); ++j) {
            const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1]))
                row[j] = std::min(row[j], earlier[j - 2] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string Nearest(std::string_view name, const std::vector<std::string>& candidates) {
    constexpr size_t kLongest = 64;  // the distance takes the product of both lengths
    if (name.size() > kLongest)
        return {};
    std::string best;
    // Farther is no near miss, and neither is all of it.
    size_t best_distance = std::min(name.size(), std::max<size_t>(2, name.size() / 2));
    for (const std::string& candidate : candidates) {
        const size_t longer = std::max(name.size(), candidate.size());
        if (longer - std::min(name.size(), candidate.size()) >= best_distance)
            continue;  // too long or too short
        const size_t distance = Distance(name, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string NearestHint(std::string_view name, const std::vector<std::string>& candidates) {
    const std::string near = Nearest(name, candidates);
    return near.empty() ? near : "Perhaps you meant " + Quoted(near) + ".";
}

}  // namespace dpboost
