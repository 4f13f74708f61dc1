// Reads the tables of ../shared/reference in full; tests skip, visibly, where the folder is absent.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "unit/privacy/reference_values.h"

namespace dpboost {

// The rows of a table, without its header; empty if the folder is nowhere to be found.
inline ReferenceRows LoadReference(const std::string& file) {
    std::vector<std::string> folders = {"../shared", "../../shared", "/work/shared"};
    if (const char* folder = std::getenv("DPBOOST_SHARED"))
        folders.insert(folders.begin(), folder);
    ReferenceRows rows;
    for (const std::string& folder : folders) {
        std::ifstream in(folder + "/reference/" + file);
        std::string line;
        if (!std::getline(in, line))
            continue;
        while (std::getline(in, line)) {
            std::istringstream cells(line);
            std::string cell;
            rows.emplace_back();
            while (std::getline(cells, cell, ','))
                rows.back().push_back(std::strtod(cell.c_str(), nullptr));
        }
        break;
    }
    return rows;
}

}  // namespace dpboost

// In a test body: the rows of a table in full, or a visible skip.
#define LOAD_REFERENCE_OR_SKIP(rows, file)                                \
    const ::dpboost::ReferenceRows rows = ::dpboost::LoadReference(file); \
    if ((rows).empty())                                                   \
    GTEST_SKIP() << "../shared/reference/" << file                        \
                 << " is absent (set DPBOOST_SHARED): only the embedded values were checked"

// Expects a statement to throw an Error of the code.
#define EXPECT_ERROR(statement, expected)                                          \
    try {                                                                          \
        (void)(statement);                                                         \
        ADD_FAILURE() << "no error from " #statement;                              \
    } catch (const ::dpboost::Error& caught) {                                     \
        EXPECT_EQ(caught.code(), ::dpboost::ErrorCode::expected) << caught.what(); \
    }
