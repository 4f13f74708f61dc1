// One training, from checked options to the bytes that the ledger worker will commit; the core's half of
// training.h. Every step may throw Error and calls no PostgreSQL. Only Train draws.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/encoder.h"
#include "mechanism/chacha_source.h"
#include "postgres/train/methods.h"
#include "postgres/train/public_columns.h"
#include "privacy/plan.h"

namespace dpboost {

// What is public about a training, as plain data.
struct TrainingSchema {
    const JsonValue* options;
    PrivacyArguments privacy;
    SourceColumn target;
    ColumnDomain target_domain;
    SourceColumns features;
    const ColumnDomain* feature_domains;
    bool governed;
    bool has_units;
    // With rows that the caller may not see: then the limit is for this training alone. What the caller holds
    // besides must not decide whether the rows still fit, or he could count them.
    bool unseen;
};

// Rows on their way into the dataset, kept by column so that a column's values are encoded in one go: numbers
// as they are (NaN: missing), everything else as codes. The caller fills row after row and calls AppendRows.
struct RowBuffer {
    static constexpr size_t kRows = 128;

    size_t rows = 0;
    std::vector<double> numbers;  // kRows per numeric feature
    std::vector<uint16_t> codes;  // kRows per other feature
    std::vector<float> labels;
    std::vector<UnitKey> units;  // empty without privacy units
    // Where each feature's values begin; one of the two is null.
    struct Column {
        double* numbers;
        uint16_t* codes;
    };
    std::vector<Column> columns;

    size_t bytes() const;
};

class TrainingCore {
  public:
    // Reads the options and decides the encodings. `memory` is dpboost.max_memory, which all trainings of a
    // backend share (GROUP BY has one per group).
    TrainingCore(const TrainingSchema& schema, size_t memory, int threads);
    ~TrainingCore();
    TrainingCore(const TrainingCore&) = delete;
    TrainingCore& operator=(const TrainingCore&) = delete;

    const TrainingOptions& options() const { return options_; }
    const TargetRule& target() const { return target_; }
    const std::vector<Encoder>& encoders() const { return encoders_; }
    RowBuffer* buffer() { return &buffer_; }

    // Fixes the noise; throws kBudgetExhausted if a budget does not allow it.
    void Calibrate(const std::vector<BudgetConstraint>& budgets);

    // Takes the buffered rows into the dataset. Throws kOutOfMemory beyond dpboost.max_memory.
    void AppendRows();

    // After the last row: makes the dataset. What could fail for want of memory or by the schema has failed
    // then.
    void FinishRows(Interrupt& interrupt);

    // Call it once the charge for plan_bytes is committed. Consumes the rows. What a method leaves of its
    // plan is charged all the same. Wipes the seed.
    void Train(ChaChaSource::Seed&& seed, Interrupt& interrupt, Progress& progress);

    const std::string& plan_bytes() const { return plan_bytes_; }
    const std::string& model_bytes() const { return model_bytes_; }
    const std::string& features_json() const { return features_json_; }
    const char* task_name() const;

    // The result that the caller sees. `model` is null for an estimate; `remaining` is JSON.
    const std::string& Describe(const char* model, const char* owner, int version, int64_t release_id,
                                const char* remaining);

  private:
    void MakeBuffer(bool has_units);
    void CountMemory();
    void FindPrivateBounds(Dataset* dataset, NoiseSource& noise, Interrupt& interrupt);

    TrainingOptions options_;
    TargetRule target_;
    FeatureEncodings features_;
    std::vector<bool> whole_numbers_;
    DatasetLimits limits_;
    std::unique_ptr<TrainingMethod> method_;
    std::vector<Encoder> encoders_;
    std::optional<DatasetBuilder> builder_;
    std::optional<Dataset> dataset_;
    RowBuffer buffer_;
    std::optional<Plan> plan_;
    size_t counted_bytes_ = 0;
    bool alone_;
    std::string plan_bytes_;
    std::string model_bytes_;
    std::string features_json_;
    std::string result_;
};

}  // namespace dpboost
