// Tables for the benchmarks of `auto` by name: the public datasets of csv_data.h with round ranges from their
// documentation and default grids, variants of them, and generated ones (synthetic.h).
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "bench/csv_data.h"
#include "bench/synthetic.h"

namespace dpboost {

// A column of a public dataset: its range, or none for texts that are listed.
struct TableColumn {
    const char* name;
    double lower;
    double upper;
    bool integer;
};

inline const std::vector<TableColumn>& MagicColumns() {
    static const std::vector<TableColumn> columns = {
        {"flength", 0, 400, false},    {"fwidth", 0, 400, false},      {"fsize", 0, 10, false},
        {"fconc", 0, 1, false},        {"fconc1", 0, 1, false},        {"fasym", -600, 600, false},
        {"fm3long", -400, 400, false}, {"fm3trans", -400, 400, false}, {"falpha", 0, 90, false},
        {"fdist", 0, 500, false}};
    return columns;
}

inline std::vector<TableColumn> CreditColumns() {
    std::vector<TableColumn> columns = {{"limit_bal", 0, 1e6, false},
                                        {"sex", 1, 2, true},
                                        {"education", 0, 6, true},
                                        {"marriage", 0, 3, true},
                                        {"age", 18, 100, true}};
    for (const char* name : {"pay_0", "pay_2", "pay_3", "pay_4", "pay_5", "pay_6"})
        columns.push_back({name, -2, 9, true});
    for (const char* name : {"bill_amt1", "bill_amt2", "bill_amt3", "bill_amt4", "bill_amt5", "bill_amt6"})
        columns.push_back({name, -2e6, 2e6, false});
    for (const char* name : {"pay_amt1", "pay_amt2", "pay_amt3", "pay_amt4", "pay_amt5", "pay_amt6"})
        columns.push_back({name, 0, 2e6, false});
    return columns;
}

inline std::vector<TableColumn> CaliforniaColumns() {
    return {{"longitude", -125, -114, false},      {"latitude", 32, 42, false},
            {"housing_median_age", 0, 100, false}, {"total_rooms", 0, 50000, false},
            {"total_bedrooms", 0, 50000, false},   {"population", 0, 50000, false},
            {"households", 0, 50000, false},       {"median_income", 0, 15, false}};
}

// How a name's variant changes what is declared.
struct Variant {
    double column_factor = 1;
    double target_factor = 1;
    int noise_columns = 0;
};

inline FeatureSpec PublicFeature(const TableColumn& column, double factor) {
    NumericRange range;
    range.lower = column.lower * (column.lower < 0 ? factor : 1);
    range.upper = column.upper * factor;
    range.integer = column.integer;
    return FeatureSpec::Numeric(column.name, range);
}

// The documented ranges with the default grid.
inline std::vector<FeatureSpec> WithDefaultGrids(const std::vector<FeatureSpec>& expert) {
    std::vector<FeatureSpec> features;
    for (const FeatureSpec& spec : expert) {
        if (spec.kind() != FeatureKind::kNumeric) {
            features.push_back(spec);
            continue;
        }
        const std::string& name = spec.name();
        const bool integer = name == "age" || name == "fnlwgt" || name == "education_num" ||
                             name == "capital_gain" || name == "capital_loss" || name == "hours_per_week" ||
                             name == "capital_run_length_longest" || name == "capital_run_length_total";
        TableColumn column{name.c_str(), spec.lower(), spec.upper(), integer};
        if (name == "education_num") {
            column.lower = 1;
            column.upper = 16;
        }
        features.push_back(PublicFeature(column, 1));
    }
    return features;
}

struct PublicTable {
    std::vector<FeatureSpec> features;
    const char* target;
    const char* positive;  // the text of a positive label, or nullptr: a number
};

inline PublicTable DescribeTable(const std::string& name, const CsvTable& table, const Variant& variant) {
    const auto numeric = [&](const std::vector<TableColumn>& columns) {
        std::vector<FeatureSpec> features;
        for (const TableColumn& column : columns)
            features.push_back(PublicFeature(column, variant.column_factor));
        return features;
    };
    if (name == "magic")
        return {numeric(MagicColumns()), "class", "g"};
    if (name == "credit2")
        return {numeric(CreditColumns()), "default_payment", nullptr};
    if (name == "california_housing") {
        std::vector<FeatureSpec> features = numeric(CaliforniaColumns());
        features.push_back(FeatureSpec::Levels("ocean_proximity",
                                               {"<1H OCEAN", "INLAND", "ISLAND", "NEAR BAY", "NEAR OCEAN"}));
        return {features, "median_house_value", nullptr};
    }
    if (name == "adult")
        return {WithDefaultGrids(AdultFeatures()), "income", ">50K"};
    if (name == "abalone")
        return {WithDefaultGrids(AbaloneFeatures()), "rings", nullptr};
    return {WithDefaultGrids(SpambaseFeatures(table)), "spam", nullptr};
}

inline EncodedTable LoadPublic(const std::string& name, const Variant& variant = {}) {
    const CsvTable table = ReadCsv(DataFolder() + "/" + name + ".csv");
    const PublicTable about = DescribeTable(name, table, variant);
    EncodedTable out;
    out.features = about.features;
    if (name == "abalone")
        out.target = TargetSpec::Regression(1, 1 + 28 * variant.target_factor);
    if (name == "california_housing")  // in thousands
        out.target = TargetSpec::Regression(0, 500.001 * variant.target_factor);
    std::vector<Encoder> encoders;
    std::vector<size_t> columns;
    for (const FeatureSpec& spec : out.features) {
        encoders.emplace_back(spec);
        columns.push_back(table.Column(spec.name()));
    }
    std::vector<Encoder> noise;
    for (int k = 0; k < variant.noise_columns; k++) {
        NumericRange range;
        range.lower = -4;
        range.upper = 4;
        out.features.push_back(FeatureSpec::Numeric("noise" + std::to_string(k), range));
        noise.emplace_back(out.features.back());
    }
    Synthetic random(99);
    const size_t target = table.Column(about.target);
    for (const std::vector<std::string>& row : table.rows) {
        EncodeRow(row, encoders, columns, &out);
        for (const Encoder& encoder : noise)
            out.codes.push_back(encoder.Number(random.Normal()));
        out.values.push_back(about.positive != nullptr ? (row[target] == about.positive)
                                                       : std::strtod(row[target].c_str(), nullptr));
        if (name == "california_housing")
            out.values.back() /= 1000;
    }
    return out;
}

// "magic", "magic+100noise", "credit2/columns*10", "california_housing/target*1000", or a generated table.
inline EncodedTable LoadNamed(const std::string& name) {
    const size_t end = name.find_first_of("/+");
    Variant variant;
    const size_t columns = name.find("columns*"), target = name.find("target*"), plus = name.find('+');
    if (columns != std::string::npos)
        variant.column_factor = std::strtod(name.c_str() + columns + std::strlen("columns*"), nullptr);
    if (target != std::string::npos)
        variant.target_factor = std::strtod(name.c_str() + target + std::strlen("target*"), nullptr);
    if (plus != std::string::npos)
        variant.noise_columns = std::atoi(name.c_str() + plus + 1);
    if (IsSynthetic(name.substr(0, end)))
        return MakeSynthetic(name.substr(0, end));
    return LoadPublic(name.substr(0, end), variant);
}

}  // namespace dpboost
