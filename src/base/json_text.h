// JSON as it is written: literals, and lists of them. What is read is a JsonValue of training/json.h.
#pragma once

#include <string>
#include <string_view>

namespace dpboost {

// A JSON string literal.
std::string JsonString(std::string_view text);

// The shortest text that reads back as the same double; null for what JSON cannot hold.
std::string JsonNumber(double value);

// "key": value pairs and array items, comma-separated; wrap with Object() or Array().
class JsonList {
  public:
    void Add(std::string_view key, const std::string& json) { Append(JsonString(key) + ": " + json); }
    void Append(const std::string& json) { text_ += (text_.empty() ? "" : ", ") + json; }
    std::string Object() const { return "{" + text_ + "}"; }
    std::string Array() const { return "[" + text_ + "]"; }

  private:
    std::string text_;
};

}  // namespace dpboost
