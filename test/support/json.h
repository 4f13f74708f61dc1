// JSON text as the JsonValue that PostgreSQL's side would make of it: keys sorted and without duplicates, as jsonb
// keeps them. For texts that a test writes; anything that is no JSON throws.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "training/json.h"

namespace dpboost {

class Json {
  public:
    explicit Json(std::string text) : text_(std::move(text)) {
        root_ = Value();
        Space();
        if (at_ != text_.size())
            throw std::invalid_argument("text after JSON: " + text_.substr(at_));
    }
    Json(const Json&) = delete;
    Json& operator=(const Json&) = delete;

    const JsonValue& operator*() const { return root_; }
    const JsonValue* operator->() const { return &root_; }
    const JsonValue* get() const { return &root_; }
    JsonValue* get() { return &root_; }

  private:
    void Space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
            at_++;
    }
    bool Take(const std::string& token) {
        Space();
        if (text_.compare(at_, token.size(), token) != 0)
            return false;
        at_ += token.size();
        return true;
    }
    void Need(const std::string& token) {
        if (!Take(token))
            throw std::invalid_argument("no " + token + " at: " + text_.substr(at_));
    }
    const std::string& String() {
        Need("\"");
        std::string text;
        for (; text_.at(at_) != '"'; at_++)
            text += text_[at_] == '\\' ? text_.at(++at_) : text_[at_];
        at_++;
        strings_.push_back(text);
        return strings_.back();
    }
    static void SetText(const std::string& text, JsonValue* value) {
        value->text = text.c_str();
        value->text_length = static_cast<int>(text.size());
    }

    JsonValue Value() {
        JsonValue value{};
        if (Take("null"))
            return value;
        value.kind = JsonValue::kBoolean;
        value.boolean = Take("true");
        if (value.boolean || Take("false"))
            return value;
        if (Take("["))
            return Array();
        if (Take("{"))
            return Object();
        if (text_.at(at_) == '"') {
            value.kind = JsonValue::kString;
            SetText(String(), &value);
            return value;
        }
        value.kind = JsonValue::kNumber;
        char* end = nullptr;
        value.number = std::strtod(text_.c_str() + at_, &end);
        const size_t size = static_cast<size_t>(end - (text_.c_str() + at_));
        if (size == 0)
            throw std::invalid_argument("no value at: " + text_.substr(at_));
        strings_.push_back(text_.substr(at_, size));
        at_ += size;
        SetText(strings_.back(), &value);
        return value;
    }

    JsonValue Array() {
        JsonValue value{};
        value.kind = JsonValue::kArray;
        std::vector<JsonValue> items;
        while (!Take("]")) {
            if (!items.empty())
                Need(",");
            items.push_back(Value());
        }
        arrays_.push_back(std::move(items));
        value.items = arrays_.back().data();
        value.count = static_cast<int>(arrays_.back().size());
        return value;
    }

    JsonValue Object() {
        JsonValue value{};
        value.kind = JsonValue::kObject;
        std::map<std::pair<size_t, std::string>, JsonValue> members;
        for (bool first = true; !Take("}"); first = false) {
            if (!first)
                Need(",");
            const std::string key = String();
            Need(":");
            members[{key.size(), key}] = Value();
        }
        std::vector<JsonValue> items;
        std::vector<const char*> keys;
        for (const auto& [key, member] : members) {
            strings_.push_back(key.second);
            keys.push_back(strings_.back().c_str());
            items.push_back(member);
        }
        arrays_.push_back(std::move(items));
        keys_.push_back(std::move(keys));
        value.items = arrays_.back().data();
        value.keys = keys_.back().data();
        value.count = static_cast<int>(arrays_.back().size());
        return value;
    }

    std::string text_;
    size_t at_ = 0;
    std::deque<std::string> strings_;
    std::deque<std::vector<JsonValue>> arrays_;
    std::deque<std::vector<const char*>> keys_;
    JsonValue root_{};
};

}  // namespace dpboost
