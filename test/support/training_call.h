// A training as SQL would call it, without PostgreSQL: columns, options as JSON text, rows of numbers, zero noise.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mechanism/chacha_source.h"
#include "support/cashier.h"
#include "support/json.h"
#include "support/zero_noise.h"
#include "training/training.h"

namespace dpboost {

class TrainingCall {
  public:
    explicit TrainingCall(const std::string& options) : options_(std::make_unique<Json>(options)) {
        schema_.options = options_->get();
        schema_.memory = size_t{1} << 30;
        schema_.target.name = "y";
        schema_.target.kind = ValueKind::kFloat8;
    }

    TrainingSchema& schema() { return schema_; }
    TrainingCall& Feature(const char* name, ValueKind kind, const Domain& domain = {}) {
        PublicColumn column;
        column.name = name;
        column.kind = kind;
        column.domain = domain;
        schema_.features.push_back(column);
        return *this;
    }
    std::unique_ptr<TrainingCore> Begin() const { return std::make_unique<TrainingCore>(schema_); }

  private:
    std::unique_ptr<Json> options_;
    TrainingSchema schema_;
};

// Puts a row into the buffer of a training or an evaluation, as PostgreSQL's side does: numbers as they are, a code for
// everything else.
template <class Core>
void AppendRow(Core& training, double target, const std::vector<double>& values, int64_t unit = 0) {
    RowBuffer* buffer = training.buffer();
    float label = 0;
    if (!training.target().spec.Label(target, &label))
        return;
    for (size_t i = 0; i < values.size(); i++)
        if (buffer->columns[i].numbers != nullptr)
            buffer->columns[i].numbers[buffer->rows] = values[i];
        else
            buffer->columns[i].codes[buffer->rows] = static_cast<uint16_t>(values[i]);
    buffer->labels[buffer->rows] = label;
    if (!buffer->units.empty())
        buffer->units[buffer->rows] = UnitKeyOf(unit);
    if (++buffer->rows == RowBuffer::kRows)
        training.AppendRows();
}

inline Model TrainWithoutNoise(TrainingCore& training, ZeroNoise& noise) {
    ChaChaSource source(ChaChaSource::Seed{1});
    Random random(source);
    PublicRandom structure(random);
    PrivateRandom coins(random);
    NoInterrupt interrupt;
    NoProgress progress;
    training.FinishRows(interrupt);
    training.TrainWith(Cashier::Receipt(training.plan_bytes()), structure, coins, noise, interrupt, progress);
    return Model::Parse(training.model_bytes());
}

}  // namespace dpboost
