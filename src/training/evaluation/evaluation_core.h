// One evaluation, or one choice among models, without PostgreSQL: from the call to what the ledger commits. The steps
// are those of a training (training.h): Calibrate, rows into buffer() and AppendRows, FinishRows; then, once the charge is
// paid, Evaluate, which sums rows up unless that was done before. Every step may throw Error; only Evaluate draws.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learner/evaluation/evaluation.h"
#include "mechanism/chacha_source.h"
#include "mechanism/noise.h"
#include "mechanism/parties/noise_share.h"
#include "model/model.h"
#include "training/columns.h"
#include "training/paid_charge.h"
#include "training/result.h"
#include "training/row_buffer.h"
#include "training/units/unit_account.h"

namespace dpboost {

// A model to evaluate, as the catalog has it.
struct EvaluatedModel {
    std::string name;          // as the call gave it
    std::string_view content;  // Model::Serialize
    const JsonValue* options;  // of its training
};

// What is public about an evaluation.
struct EvaluationSchema {
    std::vector<EvaluatedModel> models;  // several: one is chosen
    bool choice = false;
    const JsonValue* options = nullptr;
    PrivacyArguments privacy;
    PublicColumn target;
    std::string relation;  // for messages
    bool has_units = false;
    std::optional<UnitLimit> unit_limit;  // as a training's
    bool unseen = false;
    size_t memory = 0;
    std::optional<NoiseParties> parties = {};  // servers that evaluate together and share the noise
};

class EvaluationCore {
  public:
    explicit EvaluationCore(const EvaluationSchema& schema);
    EvaluationCore(const EvaluationCore&) = delete;
    EvaluationCore& operator=(const EvaluationCore&) = delete;

    // Of all models, one after the other: a column that two of them use is there twice.
    const std::vector<FeatureSpec>& features() const { return features_; }
    const std::vector<Encoder>& encoders() const { return encoders_; }
    const TargetRule& target() const { return *target_; }
    RowBuffer* buffer() { return &*buffer_; }
    double epsilon() const { return epsilon_; }
    double delta() const { return delta_; }

    void Calibrate(const std::vector<BudgetConstraint>& budgets);
    // Instead of Calibrate, at a party of a federation: as a training's.
    void Adopt(std::string_view announced, const std::vector<BudgetConstraint>& budgets);
    void AppendRows();
    void FinishRows(Interrupt& interrupt);

    // As a training's; nothing is given back.
    UnitAccount* account() { return account_ ? &*account_ : nullptr; }
    const std::string& ReserveUnits(Interrupt& interrupt);

    // After ReserveUnits, if there are accounts. May be done while the charge is under way. The rows are gone then.
    void SumUp(Interrupt& interrupt);
    // Draws what the receipt was paid for; throws kInternal without one for plan_bytes(). Wipes the seed.
    void Evaluate(PaidCharge&& paid, ChaChaSource::Seed&& seed, Interrupt& interrupt);
    // The same with noise that the caller chooses: for servers that evaluate together (training/federation), and for tests.
    void EvaluateWith(PaidCharge&& paid, NoiseSource& noise, Interrupt& interrupt);

    const std::string& plan_bytes() const { return plan_bytes_; }
    double noise_multiplier() const;
    const char* task_name() const;
    // For the catalog, as JSON.
    const std::string& stored_json() const { return stored_json_; }
    // Of a choice: which model.
    size_t chosen() const { return chosen_; }
    // The result that the caller sees, as JSON.
    const std::string& Describe(const TrainingResult& result);

  private:
    PlanRequest Request(const std::vector<BudgetConstraint>& budgets) const;
    void TakePlan(Plan&& plan);
    void CountMemory();

    bool choice_;
    std::optional<NoiseParties> parties_;
    std::vector<std::string> names_;
    std::vector<Model> models_;
    double epsilon_ = 0;
    double delta_ = 0;
    double expected_rows_ = 0;
    std::optional<TargetRule> target_;
    std::vector<FeatureSpec> features_;
    std::vector<Encoder> encoders_;
    std::optional<RowBuffer> buffer_;
    std::optional<DatasetBuilder> builder_;  // until FinishRows
    std::optional<Dataset> dataset_;         // from then on until SumUp
    std::optional<EvaluationSums> sums_;     // from then on until Evaluate
    std::optional<UnitAccount> account_;
    std::optional<Plan> plan_;
    HeldMemory held_;
    std::string plan_bytes_;
    std::string figures_json_;
    std::string stored_json_;
    std::string description_;
    size_t chosen_ = 0;
};

}  // namespace dpboost
