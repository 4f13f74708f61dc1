// Reads the tables of test/reference; a table that is not there is a failure.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace dpboost {

using ReferenceRows = std::vector<std::vector<double>>;

// The rows of a table, without its header. Tests run in the project's folder.
inline ReferenceRows LoadReference(const std::string& file) {
    std::ifstream in("test/reference/" + file);
    ReferenceRows rows;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream cells(line);
        std::string cell;
        rows.emplace_back();
        while (std::getline(cells, cell, ','))
            rows.back().push_back(std::strtod(cell.c_str(), nullptr));
    }
    EXPECT_FALSE(rows.empty()) << "test/reference/" << file << " could not be read";
    return rows;
}

// Expects what a function makes of each row of a table, up to a relative error, in the row's third cell.
template <typename Function>
void ExpectReference(const std::string& file, double tolerance, const Function& function) {
    for (const std::vector<double>& row : LoadReference(file))
        EXPECT_NEAR(function(row) / row[2], 1, tolerance) << file << ": " << row[0] << " " << row[1];
}

}  // namespace dpboost

// Expects a statement to throw an Error of the code.
#define EXPECT_ERROR(statement, expected)                                          \
    try {                                                                          \
        (void)(statement);                                                         \
        ADD_FAILURE() << "no error from " #statement;                              \
    } catch (const ::dpboost::Error& caught) {                                     \
        EXPECT_EQ(caught.code(), ::dpboost::ErrorCode::expected) << caught.what(); \
    }
