// Pictures and text of a report, by hand: five shapes, ticks at round numbers, and escaping. Everything that comes from a
// model or a catalog goes through Escaped or Shortened, and nothing else may.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dpboost {

// As content or attribute of HTML and XML alike; control characters are shown as a replacement character.
std::string Escaped(std::string_view text);
// Escaped, and cut after about `most` characters with an ellipsis.
std::string Shortened(std::string_view text, size_t most);

// For axes and labels: 12.3k, 1.5M, 0.25; with a sign: +2.
std::string Compact(double value);
std::string Signed(double value);
// Like "48,910": a whole number with separators, rounded to a multiple of the power of ten `unit`.
std::string Separated(double value, double unit);
// Like "48,900": about three digits of a noisy number, so that it looks like what it is.
std::string About(double rows);

// Round numbers within [from, to], about `most` of them.
std::vector<double> NiceTicks(double from, double to, int most);

using Points = std::vector<std::pair<double, double>>;

// A picture that scales with its box. Classes are names of the page's styles.
class Svg {
  public:
    Svg(double width, double height, std::string_view label);

    void Line(const char* style, double x1, double y1, double x2, double y2);
    void Rect(const char* style, double x, double y, double width, double height);
    // The same with less colour, opacity from 0 to 1, and explained when pointed at.
    void Tile(const char* style, double x, double y, double width, double height, double opacity,
              const std::string& escaped_title);
    void Circle(const char* style, double x, double y, double radius);
    void Polyline(const char* style, const Points& points);
    void Polygon(const char* style, const Points& points);
    // anchor: start, middle or end. The text must be escaped.
    void Text(const char* style, double x, double y, const char* anchor, const std::string& escaped);
    // The same, rising to the right, with its end at the point.
    void SlantedText(const char* style, double x, double y, const std::string& escaped);
    // What stands between them is explained by a text when pointed at.
    void Open(const std::string& escaped_title);
    void Close();

    std::string Take();

  private:
    void Start(const char* element, const char* style);
    void Attribute(const char* name, double value);
    void End() { text_ += "/>"; }

    std::string text_;
};

}  // namespace dpboost
