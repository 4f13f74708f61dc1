// One training, from checked options to the bytes that the ledger worker will commit; the core's half of
// training.h. Every step may throw Error and calls no PostgreSQL.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/encoder.h"
#include "mechanism/chacha_source.h"
#include "postgres/methods.h"
#include "postgres/public_columns.h"
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
    DatasetBuilder* builder() { return &*builder_; }

    // Fixes the noise; throws kBudgetExhausted if a budget does not allow it.
    void Calibrate(const std::vector<BudgetConstraint>& budgets);

    // Makes room for rows; an estimate never calls it.
    void Grow();

    // Consumes the rows and takes all charges of the plan. Wipes the seed.
    void Train(ChaChaSource::Seed&& seed, Interrupt& interrupt, Progress& progress);

    const std::string& plan_bytes() const { return plan_bytes_; }
    const std::string& model_bytes() const { return model_bytes_; }
    const std::string& features_json() const { return features_json_; }
    const char* task_name() const;

    // The result that the caller sees. `model` is null for an estimate; `remaining` is JSON.
    const std::string& Describe(const char* model, int version, const char* remaining);

  private:
    void FindPrivateBounds(Dataset* dataset, NoiseSource& noise, Interrupt& interrupt);

    TrainingOptions options_;
    TargetRule target_;
    FeatureEncodings features_;
    std::vector<bool> whole_numbers_;
    DatasetLimits limits_;
    std::unique_ptr<Method> method_;
    std::vector<Encoder> encoders_;
    std::optional<DatasetBuilder> builder_;
    std::optional<Plan> plan_;
    size_t counted_bytes_ = 0;
    std::string plan_bytes_;
    std::string model_bytes_;
    std::string features_json_;
    std::string result_;
};

}  // namespace dpboost
