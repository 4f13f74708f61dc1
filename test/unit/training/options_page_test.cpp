// doc/options.md's table of options is what the option tables say. Tests run in the project's folder.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "training/options.h"

namespace dpboost {
namespace {

// Methods that share a table stand as the first of them, with dots.
std::string Family(const MethodInfo* method) {
    const MethodInfo* first = nullptr;
    int count = 0;
    for (const MethodInfo* other : AllMethods())
        if (other->options.begin() == method->options.begin()) {
            first = first == nullptr ? other : first;
            count++;
        }
    return "`" + std::string(first->name) + (count > 1 ? "...`" : "`");
}

void AddOnce(const std::string& text, std::vector<std::string>* list) {
    if (std::find(list->begin(), list->end(), text) == list->end())
        list->push_back(text);
}

// The methods whose row for the key allows and says the same.
std::string MethodsWith(const OptionRow& row) {
    std::vector<std::string> families;
    for (const MethodInfo* method : AllMethods())
        if (const OptionRow* other = method->options.Find(row.key))
            if (Allowed(*other) == Allowed(row) && other->help == std::string(row.help))
                AddOnce(Family(method), &families);
    return Listed(families);
}

std::string Line(const OptionRow& row, const std::string& methods) {
    return "| `" + std::string(row.key) + "` | " + Allowed(row) + " | " + row.help + " | " + methods + " |";
}

std::string Table() {
    std::vector<std::string> lines = {"| option | values | meaning | methods |", "| --- | --- | --- | --- |"};
    for (const OptionRow& row : CommonOptions())
        lines.push_back(Line(row, "all"));
    for (const std::string& key : AllMethods().Keys())
        for (const MethodInfo* method : AllMethods())
            if (const OptionRow* row = method->options.Find(key))
                AddOnce(Line(*row, MethodsWith(*row)), &lines);
    std::string table;
    for (const std::string& line : lines)
        table += line + "\n";
    return table;
}

TEST(OptionsPageTest, TheTableOfOptions) {
    std::ifstream file("doc/options.md");
    ASSERT_TRUE(file) << "run the tests in the project's folder";
    std::stringstream page;
    page << file.rdbuf();
    const std::string text = page.str();
    const size_t begin = text.find("| option | values | meaning | methods |\n");
    ASSERT_NE(begin, std::string::npos);
    const std::string shown = text.substr(begin, text.find("\n\n", begin) + 1 - begin);
    EXPECT_TRUE(shown == Table()) << "doc/options.md should have\n" << Table();
}

}  // namespace
}  // namespace dpboost
