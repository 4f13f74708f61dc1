// The releases of a lifetime, without PostgreSQL: trainings, updates and evaluations of the last model, one after the other,
// charged to accounts on a shelf. Everything goes the product's own way; noise and coins are the caller's.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/training_call.h"
#include "support/units/unit_shelf.h"
#include "training/evaluation/evaluation_core.h"

namespace dpboost {

struct PersonRow {
    int64_t unit;
    double a, b, y;  // from 0 to 1
};

class UnitHistory {
  public:
    UnitHistory(double epsilon, double delta)
        : limit(epsilon, delta, Budget(epsilon, delta).order()), delta_(delta) {}

    // `options` with an epsilon.
    void Train(const std::string& options, const std::vector<PersonRow>& rows, unsigned char seed,
               NoiseSource& noise) {
        trained_ = std::make_unique<Json>(options);
        Run(Call(options), rows, seed, noise);
    }

    void Update(double epsilon, const std::vector<PersonRow>& rows, unsigned char seed, NoiseSource& noise) {
        const Model last = Model::Parse(model);
        TrainingCall call = Call("{}");
        ContinuedModel continued;
        continued.model = &last;
        continued.name = "m";
        continued.version = 1;
        const JsonValue* const method = trained_->get()->Find("method");
        continued.method = method != nullptr ? method->view() : "auto";
        continued.options = trained_->get();
        call.schema().continued = continued;
        call.schema().privacy = Privacy(epsilon);
        Run(std::move(call), rows, seed, noise);
    }

    void Evaluate(double epsilon, const std::vector<PersonRow>& rows, NoiseSource& noise) {
        const Json none("{}");
        EvaluationSchema schema;
        schema.models = {{"m", model, trained_->get()}};
        schema.options = none.get();
        schema.privacy = Privacy(epsilon);
        schema.target = Call("{}").schema().target;
        schema.relation = "t";
        schema.has_units = true;
        schema.unit_limit = limit;
        schema.memory = size_t{1} << 30;
        EvaluationCore core(schema);
        Reserve(core, rows);
        core.EvaluateWith(Cashier::Receipt(core.plan_bytes()), noise, interrupt_);
        answers.push_back(core.stored_json());
    }

    UnitLimit limit;
    UnitShelf shelf;
    std::string model;
    std::vector<std::string> answers;  // all that was released

  private:
    static TrainingCall Call(const std::string& options) {
        TrainingCall call(options);
        const Domain range = Domain::Range("", 0, 1);
        call.Feature("a", ValueKind::kFloat8, range).Feature("b", ValueKind::kFloat8, range);
        call.schema().target.domain = range;
        return call;
    }

    PrivacyArguments Privacy(double epsilon) const {
        PrivacyArguments privacy;
        privacy.given = true;
        privacy.epsilon = epsilon;
        privacy.delta = delta_;
        return privacy;
    }

    template <class Core>
    void Reserve(Core& core, const std::vector<PersonRow>& rows) {
        core.Calibrate({limit.PerRelease().Constraint("table \"t\"")});
        for (const PersonRow& row : rows)
            AppendRow(core, row.y, {row.a, row.b}, row.unit);
        core.FinishRows(interrupt_);
        shelf.LoadInto(&core.account()->Open(shelf.salt, shelf.header, size_t{1} << 30, interrupt_));
        CheckInternal(shelf.Write(core.ReserveUnits(interrupt_)), "a reservation is written whole");
    }

    void Run(TrainingCall call, const std::vector<PersonRow>& rows, unsigned char seed, NoiseSource& noise) {
        call.schema().has_units = true;
        call.schema().unit_limit = limit;
        const std::unique_ptr<TrainingCore> core = call.Begin();
        Reserve(*core, rows);
        ChaChaSource open(ChaChaSource::Seed{seed}), secret(ChaChaSource::Seed{seed, 1});
        Random open_random(open), secret_random(secret);
        PublicRandom structure(open_random);
        PrivateRandom coins(secret_random);
        NoProgress progress;
        core->TrainWith(Cashier::Receipt(core->plan_bytes()), structure, coins, noise, interrupt_, progress);
        if (!core->SettledUnits().empty())
            CheckInternal(shelf.Write(core->SettledUnits()), "a settlement is written whole");
        model = core->model_bytes();
        answers.push_back(model);
    }

    double delta_;
    NoInterrupt interrupt_;
    std::unique_ptr<Json> trained_;
};

}  // namespace dpboost
