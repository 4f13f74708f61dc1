// Reads the public datasets of ../shared/data for benchmarks, with column ranges from the sets' own
// documentation, never from rows.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/encoder.h"

namespace dpboost {

struct CsvTable {
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> rows;  // an empty field is NULL

    size_t Column(const std::string& name) const {
        for (size_t i = 0; i < names.size(); i++) {
            if (names[i] == name)
                return i;
        }
        throw Error(ErrorCode::kUndefinedObject, "no column \"" + name + "\"");
    }
};

inline std::string DataFolder() {
    const char* folder = std::getenv("DPBOOST_DATA");
    return folder != nullptr ? folder : "../shared/data";
}

inline CsvTable ReadCsv(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw Error(ErrorCode::kUndefinedObject, "could not open " + path, {},
                    "Set DPBOOST_DATA to the folder of the datasets.");
    CsvTable table;
    std::string line, field;
    const auto split = [&](std::vector<std::string>* out) {
        std::istringstream fields(line);
        while (std::getline(fields, field, ','))
            out->push_back(field);
        if (!line.empty() && line.back() == ',')
            out->emplace_back();
    };
    std::getline(file, line);
    split(&table.names);
    while (std::getline(file, line)) {
        table.rows.emplace_back();
        split(&table.rows.back());
    }
    return table;
}

inline FeatureSpec NumericFeature(const std::string& name, double lower, double upper, Scale scale,
                                  uint32_t bins, double decades = 4) {
    return FeatureSpec::Numeric(name, {lower, upper, scale, bins, false, decades});
}

inline std::vector<FeatureSpec> AbaloneFeatures() {
    std::vector<FeatureSpec> features{FeatureSpec::Levels("sex", {"F", "I", "M"})};
    const std::pair<const char*, double> columns[] = {
        {"length", 1},           {"diameter", 1},       {"height", 0.5},    {"whole_weight", 3},
        {"shucked_weight", 1.5}, {"viscera_weight", 1}, {"shell_weight", 1}};
    for (const auto& column : columns)
        features.push_back(NumericFeature(column.first, 0, column.second, Scale::kLinear, 64));
    return features;
}

// Category lists as the census documentation (adult.names) gives them.
inline std::vector<std::string> AdultCountries() {
    return {"United-States",
            "Cambodia",
            "England",
            "Puerto-Rico",
            "Canada",
            "Germany",
            "Outlying-US(Guam-USVI-etc)",
            "India",
            "Japan",
            "Greece",
            "South",
            "China",
            "Cuba",
            "Iran",
            "Honduras",
            "Philippines",
            "Italy",
            "Poland",
            "Jamaica",
            "Vietnam",
            "Mexico",
            "Portugal",
            "Ireland",
            "France",
            "Dominican-Republic",
            "Laos",
            "Ecuador",
            "Taiwan",
            "Haiti",
            "Columbia",
            "Hungary",
            "Guatemala",
            "Nicaragua",
            "Scotland",
            "Thailand",
            "Yugoslavia",
            "El-Salvador",
            "Trinadad&Tobago",
            "Peru",
            "Hong",
            "Holand-Netherlands"};
}

inline std::vector<FeatureSpec> AdultFeatures() {
    const std::vector<std::string> workclass{"Private",   "Self-emp-not-inc", "Self-emp-inc", "Federal-gov",
                                             "Local-gov", "State-gov",        "Without-pay",  "Never-worked"};
    const std::vector<std::string> education{"Bachelors",   "Some-college", "11th",      "HS-grad",
                                             "Prof-school", "Assoc-acdm",   "Assoc-voc", "9th",
                                             "7th-8th",     "12th",         "Masters",   "1st-4th",
                                             "10th",        "Doctorate",    "5th-6th",   "Preschool"};
    const std::vector<std::string> marital{"Married-civ-spouse", "Divorced", "Never-married",
                                           "Separated",          "Widowed",  "Married-spouse-absent",
                                           "Married-AF-spouse"};
    const std::vector<std::string> occupation{
        "Tech-support",     "Craft-repair",      "Other-service",     "Sales",        "Exec-managerial",
        "Prof-specialty",   "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing",
        "Transport-moving", "Priv-house-serv",   "Protective-serv",   "Armed-Forces"};
    const std::vector<std::string> relationship{"Wife",          "Own-child",      "Husband",
                                                "Not-in-family", "Other-relative", "Unmarried"};
    const std::vector<std::string> race{"White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other",
                                        "Black"};
    return {NumericFeature("age", 17, 91, Scale::kLinear, 74),
            FeatureSpec::Levels("workclass", workclass),
            NumericFeature("fnlwgt", 0, 1.5e6, Scale::kLog, 64, 2),
            FeatureSpec::Levels("education", education),
            NumericFeature("education_num", 0.5, 16.5, Scale::kLinear, 16),
            FeatureSpec::Levels("marital_status", marital),
            FeatureSpec::Levels("occupation", occupation),
            FeatureSpec::Levels("relationship", relationship),
            FeatureSpec::Levels("race", race),
            FeatureSpec::Levels("sex", {"Female", "Male"}),
            NumericFeature("capital_gain", 0, 1e5, Scale::kLog, 64, 3),
            NumericFeature("capital_loss", 0, 5e3, Scale::kLog, 64, 2),
            NumericFeature("hours_per_week", 0, 100, Scale::kLinear, 50),
            FeatureSpec::Levels("native_country", AdultCountries())};
}

inline std::vector<FeatureSpec> SpambaseFeatures(const CsvTable& table) {
    std::vector<FeatureSpec> features;
    for (const std::string& name : table.names) {
        if (name == "spam")
            continue;
        if (name.rfind("capital_run_length", 0) == 0)
            features.push_back(NumericFeature(name, 1, name.find("total") != std::string::npos ? 2e4 : 1e4,
                                              Scale::kLog, 32));
        else
            features.push_back(NumericFeature(name, 0, 100, Scale::kLog, 32));
    }
    return features;
}

// Rows of a table as codes and target values, so that folds can be built without parsing again.
struct EncodedTable {
    std::vector<FeatureSpec> features;
    TargetSpec target = TargetSpec::Binary();
    std::vector<uint16_t> codes;  // row-major
    std::vector<double> values;   // of the target

    size_t rows() const { return values.size(); }
    const uint16_t* Row(size_t row) const { return codes.data() + row * features.size(); }

    Dataset Build(const std::vector<uint32_t>& rows_to_take) const {
        DatasetBuilder builder(features, target, false);
        for (const uint32_t row : rows_to_take) {
            if (builder.Full())
                builder.Grow();
            for (size_t column = 0; column < features.size(); column++)
                builder.SetCode(column, Row(row)[column]);
            float label = 0;
            target.Label(values[row], &label);
            builder.AppendRow(label);
        }
        NoInterrupt interrupt;
        return builder.Finish(interrupt);
    }
};

inline void EncodeRow(const std::vector<std::string>& row, const std::vector<Encoder>& encoders,
                      const std::vector<size_t>& columns, EncodedTable* out) {
    for (size_t i = 0; i < encoders.size(); i++) {
        const std::string& field = row[columns[i]];
        if (field.empty())
            out->codes.push_back(encoders[i].Missing());
        else if (encoders[i].kind() == FeatureKind::kNumeric)
            out->codes.push_back(encoders[i].Number(std::strtod(field.c_str(), nullptr)));
        else
            out->codes.push_back(encoders[i].Text(field.data(), field.size()));
    }
}

// name: "abalone", "spambase", "adult" (all 48,842 rows) or "adult_complete" (the 30,162 training rows
// without NULL). `regrid`: makes other features of the documented ones.
using Regrid = std::vector<FeatureSpec> (*)(const std::vector<FeatureSpec>& documented);
inline EncodedTable LoadTable(const std::string& name, Regrid regrid = nullptr) {
    const bool adult = name.rfind("adult", 0) == 0;
    const CsvTable table = ReadCsv(DataFolder() + "/" + (adult ? "adult" : name) + ".csv");
    EncodedTable out;
    out.features = adult ? AdultFeatures() : name == "abalone" ? AbaloneFeatures() : SpambaseFeatures(table);
    if (regrid != nullptr)
        out.features = regrid(out.features);
    if (name == "abalone")
        out.target = TargetSpec::Regression(1, 29);
    std::vector<Encoder> encoders;
    std::vector<size_t> columns;
    for (const FeatureSpec& spec : out.features) {
        encoders.emplace_back(spec);
        columns.push_back(table.Column(spec.name()));
    }
    const size_t target = table.Column(adult ? "income" : name == "abalone" ? "rings" : "spam");
    const size_t is_test = adult ? table.Column("is_test") : 0;
    for (const std::vector<std::string>& row : table.rows) {
        if (name == "adult_complete") {
            bool complete = row[is_test] == "0";
            for (const size_t column : columns)
                complete = complete && !row[column].empty();
            if (!complete)
                continue;
        }
        EncodeRow(row, encoders, columns, &out);
        out.values.push_back(adult ? (row[target] == ">50K") : std::strtod(row[target].c_str(), nullptr));
    }
    return out;
}

}  // namespace dpboost
