#include "model/report/svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace dpboost {
namespace {

constexpr const char* kReplacement = "&#65533;";
constexpr const char* kEllipsis = "&#8230;";

bool StartsCharacter(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// A place far outside every picture: where a forged model's values would lie.
constexpr double kFarAway = 1e6;

long Tenths(double value) {
    return std::lround(10 * (std::isnan(value) ? 0 : std::clamp(value, -kFarAway, kFarAway)));
}

// One digit after the point, without zeros that say nothing.
void AppendTenths(long tenths, std::string* text) {
    char digits[32];
    const long size = std::labs(tenths);
    if (tenths < 0)
        *text += '-';
    if (size >= 10 || size == 0)
        text->append(digits, std::to_chars(digits, digits + sizeof digits, size / 10).ptr);
    if (size % 10 != 0) {
        *text += '.';
        *text += static_cast<char>('0' + size % 10);
    }
}

void AppendNumber(double value, std::string* text) {
    AppendTenths(Tenths(value), text);
}

// An exponent as short as it can be: 2e-6, 1e9.
std::string Format(const char* format, double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, format, value);
    std::string text = digits;
    if (const size_t e = text.find('e'); e != std::string::npos) {
        const size_t sign = text[e + 1] == '-' ? e + 2 : e + 1;
        text.erase(sign, text.find_first_not_of("+0", sign) - sign);
    }
    return text;
}

}  // namespace

std::string Escaped(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text) {
        if (c == '&')
            escaped += "&amp;";
        else if (c == '<')
            escaped += "&lt;";
        else if (c == '>')
            escaped += "&gt;";
        else if (c == '"')
            escaped += "&quot;";
        else if (c == '\'')
            escaped += "&#39;";
        else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
            escaped += kReplacement;
        else
            escaped += c;
    }
    return escaped;
}

// Characters of the far east, and those beyond the first plane, are as wide as two.
std::string Shortened(std::string_view text, size_t most) {
    size_t width = 0;
    for (size_t i = 0; i < text.size(); i++) {
        if (i > 8 * most)  // bytes that are no characters
            return Escaped(dpboost::Start(text, 8 * most)) + kEllipsis;
        if (!StartsCharacter(text[i]))
            continue;
        width += static_cast<unsigned char>(text[i]) >= 0xe3 ? 2 : 1;
        if (width > most)
            return Escaped(text.substr(0, i)) + kEllipsis;
    }
    return Escaped(text);
}

std::string Compact(double value) {
    const double size = std::fabs(value);
    if (size >= 999.5e6)
        return Format("%.3g", value);
    if (size >= 999.5e3)
        return Format("%.3g", value / 1e6) + "M";
    if (size >= 9999.5)
        return Format("%.3g", value / 1e3) + "k";
    if (size >= 99.95)
        return Format("%.0f", value);
    return Format("%.3g", size < 1e-12 ? 0 : value);
}

std::string Signed(double value) {
    const std::string text = Compact(value);
    return value > 0 && text != "0" ? "+" + text : text;
}

std::string Separated(double value, double unit) {
    std::string digits = Format("%.0f", std::round(value / unit) * unit + 0.0);
    const size_t first = digits[0] == '-' ? 1 : 0;
    for (size_t place = digits.size(); place > first + 3;) {
        place -= 3;
        digits.insert(place, ",");
    }
    return digits;
}

std::string About(double rows) {
    if (!(rows >= 1))
        return "0";
    return Separated(rows, std::pow(10.0, std::max(0.0, std::floor(std::log10(rows)) - 2)));
}

std::vector<double> NiceTicks(double from, double to, int most) {
    std::vector<double> ticks;
    if (!(to > from) || !std::isfinite(to - from))
        return ticks;
    double step = std::pow(10.0, std::floor(std::log10((to - from) / most)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0})
        if ((to - from) / (step * factor) <= most + 1e-9) {
            step *= factor;
            break;
        }
    for (double tick = std::ceil(from / step - 1e-9); tick * step <= to + 1e-9 * step && ticks.size() < 100;
         tick++)
        ticks.push_back(tick * step);
    return ticks;
}

Svg::Svg(double width, double height, std::string_view label) {
    text_ = "<svg viewBox=\"0 0 ";
    AppendNumber(width, &text_);
    text_ += ' ';
    AppendNumber(height, &text_);
    text_ += "\" role=\"img\" aria-label=\"" + Shortened(label, 100) + "\">";
}

void Svg::Start(const char* element, const char* style) {
    text_ += '<';
    text_ += element;
    text_ += " class=\"";
    text_ += style;
    text_ += '"';
}

void Svg::Attribute(const char* name, double value) {
    text_ += ' ';
    text_ += name;
    text_ += "=\"";
    AppendNumber(value, &text_);
    text_ += '"';
}

void Svg::Line(const char* style, double x1, double y1, double x2, double y2) {
    Start("line", style);
    Attribute("x1", x1);
    Attribute("y1", y1);
    Attribute("x2", x2);
    Attribute("y2", y2);
    End();
}

void Svg::Rect(const char* style, double x, double y, double width, double height) {
    Start("rect", style);
    Attribute("x", x);
    Attribute("y", y);
    Attribute("width", width);
    Attribute("height", height);
    End();
}

void Svg::Tile(const char* style, double x, double y, double width, double height, double opacity,
               const std::string& escaped_title) {
    Start("rect", style);
    Attribute("x", x);
    Attribute("y", y);
    Attribute("width", width);
    Attribute("height", height);
    text_ += " fill-opacity=\"" + Format("%.2g", opacity) + "\"><title>" + escaped_title + "</title></rect>";
}

void Svg::Circle(const char* style, double x, double y, double radius) {
    Start("circle", style);
    Attribute("cx", x);
    Attribute("cy", y);
    Attribute("r", radius);
    End();
}

// Most lines are steps, so a point is named by the one coordinate that moves, and by how far it moves: that is shorter.
void Svg::Polyline(const char* style, const Points& points) {
    Start("path", style);
    text_ += " d=\"";
    long before[2] = {0, 0};
    for (size_t i = 0; i < points.size(); i++) {
        const long now[] = {Tenths(points[i].first), Tenths(points[i].second)};
        const long moves[] = {now[0] - before[0], now[1] - before[1]};
        if (i == 0 || (moves[0] != 0 && moves[1] != 0)) {
            text_ += i == 0 ? 'M' : 'l';
            AppendTenths(moves[0], &text_);
            text_ += ' ';
            AppendTenths(moves[1], &text_);
        } else if (moves[0] != 0 || moves[1] != 0) {
            text_ += moves[0] != 0 ? 'h' : 'v';
            AppendTenths(moves[0] != 0 ? moves[0] : moves[1], &text_);
        }
        std::copy(now, now + 2, before);
    }
    text_ += '"';
    End();
}

void Svg::Polygon(const char* style, const Points& points) {
    Points closed = points;
    if (!points.empty())
        closed.push_back(points.front());
    Polyline(style, closed);
}

void Svg::Text(const char* style, double x, double y, const char* anchor, const std::string& escaped) {
    Start("text", style);
    Attribute("x", x);
    Attribute("y", y);
    text_ += std::string(" text-anchor=\"") + anchor + "\">" + escaped + "</text>";
}

void Svg::SlantedText(const char* style, double x, double y, const std::string& escaped) {
    Start("text", style);
    text_ += " text-anchor=\"end\" transform=\"translate(";
    AppendNumber(x, &text_);
    text_ += ' ';
    AppendNumber(y, &text_);
    text_ += ") rotate(-35)\">" + escaped + "</text>";
}

void Svg::Open(const std::string& escaped_title) {
    text_ += "<g><title>" + escaped_title + "</title>";
}

void Svg::Close() {
    text_ += "</g>";
}

std::string Svg::Take() {
    return std::move(text_) + "</svg>";
}

}  // namespace dpboost
