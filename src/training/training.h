// One training without PostgreSQL, from the call's options to the bytes that the ledger commits. Its steps are
// apart, so that the charge can be committed between them: Calibrate, rows into buffer() and AppendRows, FinishRows;
// then, once the charge is paid, Train. Every step may throw Error; only Train draws.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learner/evaluation/evaluation.h"
#include "mechanism/chacha_source.h"
#include "mechanism/parties/noise_share.h"
#include "training/call/weights.h"
#include "training/columns.h"
#include "training/evaluation/shares.h"
#include "training/paid_charge.h"
#include "training/result.h"
#include "training/row_buffer.h"
#include "training/units/active_count.h"
#include "training/units/unit_account.h"
#include "training/update/continued.h"

namespace dpboost {

// What is public about a training.
struct TrainingSchema {
    const JsonValue* options = nullptr;
    PrivacyArguments privacy;
    PublicColumn target;
    std::vector<PublicColumn> features;
    std::string relation;  // as SQL names it; empty for a query
    bool governed = false;
    bool has_units = false;
    std::optional<ContinuedModel> continued;  // of an update; its model is only read while the core is made
    std::optional<UnitLimit> unit_limit;      // every person has an account of its own; needs units
    bool estimate = false;                    // nothing will be trained
    bool unseen = false;  // the caller may not see the rows: HeldMemory counts this training alone
    size_t memory = 0;    // dpboost.max_memory
    int threads = 1;
    MethodList methods = AllMethods();
    std::optional<NoiseParties> parties = {};  // servers that train together and share the noise
};

// Leaves that a model may have: it is stored as one value and held by every session that predicts.
constexpr unsigned kMaxLeafBits = 24;
constexpr uint64_t kMaxModelLeaves = uint64_t{1} << kMaxLeafBits;

class TrainingCore {
  public:
    // Reads the options and decides the encodings.
    explicit TrainingCore(const TrainingSchema& schema);
    TrainingCore(const TrainingCore&) = delete;
    TrainingCore& operator=(const TrainingCore&) = delete;

    const TrainingOptions& options() const { return options_; }
    const TargetRule& target() const { return target_; }
    // Of the columns of the call, in their order: the features, and among them the weights if there are any.
    const std::vector<Encoder>& encoders() const { return encoders_; }
    const std::vector<FeatureSpec>& features() const { return features_.specs; }
    RowBuffer* buffer() { return &buffer_; }

    // Fixes the noise; throws kBudgetExhausted if a budget does not allow it.
    void Calibrate(const std::vector<BudgetConstraint>& budgets);

    // Instead of Calibrate, at a party of a federation: takes the plan that another server has announced, with its noise,
    // and proves it here (Plan::FromRelease). Throws kInvalidParameter if it is not one of this training.
    void Adopt(std::string_view announced, const std::vector<BudgetConstraint>& budgets);

    // Takes the buffered rows into the dataset. Throws kOutOfMemory beyond dpboost.max_memory.
    void AppendRows();

    // Where several processes read rows: what one has read, for another with the same call. PartialBytes takes the
    // buffered rows too; WritePartial writes so many bytes, and frees the rows. AppendPartial throws kCorrupted for bytes
    // that were not written so, or by another encoding, whose fingerprint of 16 bytes differs.
    std::string Fingerprint() const;
    size_t PartialBytes();
    void WritePartial(char* out);
    void AppendPartial(std::string_view fingerprint, std::string_view bytes, Interrupt& interrupt);
    // Where other processes read rows as they are told, without the call: what a RowPart is made of, and its rows.
    std::string Recipe() const;
    void AppendPart(std::string_view rows, Interrupt& interrupt);
    // Takes the rows of a training of the same call, which began only to collect them, without a copy. Before any row of its
    // own; throws kCorrupted if the other encodes rows in another way.
    void TakeRows(TrainingCore* other);

    // After the last row: makes the dataset. What could fail by the schema or for want of memory has failed then.
    void FinishRows(Interrupt& interrupt);

    // Where persons have accounts: null, if they have none. When the rows are there and what is stored was loaded into
    // the account's book, ReserveUnits leaves out those who cannot pay and returns what must be committed with the
    // charge; once trained, SettledUnits is what must be committed with the model, empty if that is nothing.
    UnitAccount* account() { return account_ ? &*account_ : nullptr; }
    const std::string& ReserveUnits(Interrupt& interrupt);
    const std::string& SettledUnits() const { return settled_units_; }

    // Draws what the receipt was paid for; throws kInternal without one for plan_bytes(). Consumes the rows. What a
    // method leaves of its plan is charged all the same. Wipes the seed.
    void Train(PaidCharge&& paid, ChaChaSource::Seed&& seed, Interrupt& interrupt, Progress& progress);

    // The same with randomness that the caller chooses: for servers that train together (training/federation), and for
    // tests, which have sources of their own.
    void TrainWith(PaidCharge&& paid, PublicRandom& structure, PrivateRandom& coins, NoiseSource& noise,
                   Interrupt& interrupt, Progress& progress);

    const std::string& plan_bytes() const { return plan_bytes_; }
    const std::string& model_bytes() const { return model_bytes_; }
    const std::string& features_json() const { return features_json_; }
    // What the hold-out's evaluation found, as JSON for the catalog; empty without a hold-out.
    const std::string& evaluation_json() const { return evaluation_json_; }
    const char* task_name() const;
    double noise_multiplier() const;  // of the main mechanism

    // Instead of Calibrate, for an estimate: as it does if the training fits, else as if there were no limits, and
    // Describe then says that it does not fit, and what would. `most` and `most_reason`: a limit for single trainings.
    void Consider(const std::vector<BudgetConstraint>& budgets, double most, const char* most_reason);
    bool fits() const { return outlook_.fits; }

    // The result that the caller sees, as JSON.
    const std::string& Describe(const TrainingResult& result);
    // Of one of several groups: an object with what was released about its classes, or without anything.
    const std::string& DescribeShares();

  private:
    struct Outlook {
        bool known = false;
        bool fits = true;
        std::string reason;
        double would_fit = 0;
        bool limited = false;
        int trainings_left = 0;
    };

    PlanRequest Request(const std::vector<BudgetConstraint>& budgets) const;
    void TakePlan(Plan&& plan);
    void CountMemory(size_t besides = 0);
    void CheckHoldout(const std::vector<MechanismRequest>& mechanisms) const;
    void FindPrivateBounds(Dataset* dataset, HeldOut* held_out, Releaser& releaser, Interrupt& interrupt);
    std::string DescribeTogether() const;

    TrainingOptions options_;
    std::optional<Model> continued_;  // of an update, until Train
    int continued_version_;           // or 0
    TargetRule target_;
    std::vector<PublicColumn> columns_;
    FeatureEncodings features_;
    std::vector<FeatureSpec> call_specs_;  // features, and the weights among them
    RowWeights weights_;
    std::unique_ptr<Learner> learner_;
    Footprint footprint_;
    DatasetLimits limits_;
    std::optional<NoiseParties> parties_;
    TrainingSettings settings_;
    std::vector<Encoder> encoders_;
    RowBuffer buffer_;
    std::optional<DatasetBuilder> builder_;  // until FinishRows
    std::optional<Dataset> dataset_;         // from then on until Train
    std::optional<UnitAccount> account_;
    std::optional<Plan> plan_;
    HeldMemory held_;
    Outlook outlook_;
    std::string plan_bytes_;
    std::string model_bytes_;
    std::string features_json_;
    TargetShares shares_;
    std::optional<Evaluation> evaluation_;
    std::string evaluation_json_;
    std::optional<ActiveCount> active_;
    std::string settled_units_;
    std::string description_, shares_description_;
};

}  // namespace dpboost
