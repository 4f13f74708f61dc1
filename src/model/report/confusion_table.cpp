#include "model/report/confusion_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/report/svg.h"

namespace dpboost {
namespace {

constexpr size_t kMostClasses = 12;  // of a whole table
constexpr size_t kMostMistakes = 12;
constexpr size_t kLabel = 40;

// A class of which noise leaves less cannot be said to be taken for anything.
constexpr double kFewSds = 4;

double RowsOf(const ReportConfusion& confusion, size_t classes, size_t truth) {
    const auto begin = confusion.rows.begin() + static_cast<ptrdiff_t>(truth * classes);
    return std::accumulate(begin, begin + static_cast<ptrdiff_t>(classes), 0.0);
}

std::string PercentOf(double part) {
    return Compact(std::round(100 * std::clamp(part, 0.0, 1.0))) + " %";
}

std::string Cell(double part, bool right) {
    const double shade = std::round(100 * 0.55 * std::clamp(part, 0.0, 1.0)) / 100;
    return "<td class=\"c\">" +
           (shade >= 0.01 ? std::string("<i") + (right ? "" : " class=\"x\"") +
                                " style=\"opacity:" + Compact(shade) + "\"></i>"
                          : "") +
           "<span>" + PercentOf(part) + "</span></td>";
}

std::string WholeTable(const std::vector<std::string>& classes, const ReportConfusion& confusion) {
    const size_t count = classes.size();
    std::string html = "<div class=\"scroll\"><table class=\"confusion\"><tr><th>really</th>";
    for (const std::string& label : classes)
        html += "<th class=\"p\">" + Shortened(label, kLabel) + "</th>";
    html += "<th class=\"p\">rows, about</th></tr>\n";
    for (size_t truth = 0; truth < count; truth++) {
        const double rows = RowsOf(confusion, count, truth);
        html += "<tr><th class=\"r\">" + Shortened(classes[truth], kLabel) + "</th>";
        const bool known = rows >= kFewSds * confusion.sd * std::sqrt(static_cast<double>(count));
        for (size_t said = 0; said < count; said++)
            html += known ? Cell(confusion.rows[truth * count + said] / rows, truth == said)
                          : "<td class=\"c\"><span>&#8211;</span></td>";
        html += "<td class=\"c\">" + (known ? About(rows) : "too few") + "</td></tr>\n";
    }
    return html + "</table></div>\n";
}

std::string Mistakes(const std::vector<std::string>& classes, const ReportConfusion& confusion) {
    const size_t count = classes.size();
    std::vector<size_t> order;
    for (size_t i = 0; i < count * count; i++)
        if (i / count != i % count && confusion.rows[i] >= kFewSds * confusion.sd)
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return confusion.rows[a] > confusion.rows[b]; });
    order.resize(std::min(order.size(), kMostMistakes));
    std::string html = "<table><tr><th>really</th><th>taken for</th><th>of 100 such rows</th></tr>\n";
    for (const size_t i : order) {
        const double rows = RowsOf(confusion, count, i / count);
        html += "<tr><td>" + Shortened(classes[i / count], kLabel) + "</td><td>" +
                Shortened(classes[i % count], kLabel) + "</td><td>" +
                (rows > 0 ? Compact(std::round(100 * std::clamp(confusion.rows[i] / rows, 0.0, 1.0))) : "") +
                "</td></tr>\n";
    }
    return html + "</table>\n";
}

}  // namespace

std::string ConfusionTable(const std::vector<std::string>& classes, const ReportConfusion& confusion) {
    if (classes.size() < 2 || confusion.rows.size() != classes.size() * classes.size())
        return "";
    const bool whole = classes.size() <= kMostClasses;
    return std::string("<h3>what it takes for what</h3><p class=\"mute\">") +
           (whole
                ? "Each line is a class: of the rows that really are of it, so many the model takes for the "
                  "class of the column. Blue: right, red: wrong."
                : "The most frequent mistakes.") +
           "</p>" + (whole ? WholeTable(classes, confusion) : Mistakes(classes, confusion));
}

}  // namespace dpboost
