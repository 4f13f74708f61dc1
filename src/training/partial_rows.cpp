// Rows that several processes have read for one training.
#include "base/checksum.h"
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

void TrainingCore::AppendPartial(std::string_view fingerprint, std::string_view bytes, Interrupt& interrupt) {
    if (fingerprint != Fingerprint())
        throw Error(ErrorCode::kCorrupted, "parts of a training encode their columns in different ways");
    AppendRows();
    builder_->AppendPartial(bytes, interrupt, [&] { CountMemory(bytes.size()); });
    CountMemory();
}

}  // namespace dpboost
