// Rows that several processes have read for one training.
#include "base/checksum.h"
#include "training/call/row_part.h"
#include "training/training.h"

namespace dpboost {

std::string TrainingCore::Fingerprint() const {
    return Checksum(Model(features_.specs, target_.spec, learner_->link()).Serialize());
}

size_t TrainingCore::PartialBytes() {
    AppendRows();
    return builder_->PartialBytes();
}

void TrainingCore::WritePartial(char* out) {
    builder_->WritePartial(out);
    CountMemory();
}

namespace {

[[noreturn]] void ThrowOtherEncoding() {
    throw Error(ErrorCode::kCorrupted, "parts of a training encode their columns in different ways");
}

}  // namespace

void TrainingCore::AppendPartial(std::string_view fingerprint, std::string_view bytes, Interrupt& interrupt) {
    if (fingerprint != Fingerprint())
        ThrowOtherEncoding();
    AppendPart(bytes, interrupt);
}

void TrainingCore::AppendPart(std::string_view rows, Interrupt& interrupt) {
    AppendRows();
    builder_->AppendPartial(rows, interrupt, [&] { CountMemory(rows.size()); });
    CountMemory();
}

std::string TrainingCore::Recipe() const {
    return WriteRecipe(call_specs_, target_, weights_, !buffer_.units.empty());
}

void TrainingCore::TakeRows(TrainingCore* other) {
    CheckInternal(builder_.has_value() && other->builder_.has_value() && builder_->memory_used() == 0 &&
                      buffer_.rows == 0,
                  "rows are taken before there are others");
    if (other->Fingerprint() != Fingerprint() || other->buffer_.units.empty() != buffer_.units.empty() ||
        other->weights_.any() != weights_.any())
        ThrowOtherEncoding();
    other->AppendRows();
    std::swap(*builder_, *other->builder_);
    other->CountMemory();
    CountMemory();
}

}  // namespace dpboost
