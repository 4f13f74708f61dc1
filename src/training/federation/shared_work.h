// What servers do together once all of them have paid: a training, an update or an evaluation, which each of them runs with
// the same structure and the noise of all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "mechanism/chacha_source.h"
#include "mechanism/noise.h"
#include "mechanism/parties/hash.h"
#include "training/evaluation/evaluation_core.h"
#include "training/paid_charge.h"
#include "training/training.h"

namespace dpboost {

// The randomness of one server that trains with others: the structure, which all draw alike from the session, and coins of
// its own, which key noise shares and samples.
class SessionStreams {
  public:
    SessionStreams(const Hash& structure_seed, ChaChaSource::Seed&& own)
        : public_source_(ChaChaSource::Seed(structure_seed)), private_source_(std::move(own)) {}

  private:
    ChaChaSource public_source_;
    ChaChaSource private_source_;
    Random public_random_{public_source_};
    Random private_random_{private_source_};

  public:
    PublicRandom structure{public_random_};
    PrivateRandom coins{private_random_};
    ExactNoise noise{private_random_};
};

// Gives back what all servers end with, byte for byte.
using SharedWork =
    std::function<std::string(PaidCharge&&, SessionStreams&, NoiseSource&, Interrupt&, Progress&)>;

// Both must outlive the work.
inline SharedWork WorkOf(TrainingCore& training) {
    return [&training](PaidCharge&& paid, SessionStreams& streams, NoiseSource& noise, Interrupt& interrupt,
                       Progress& progress) {
        training.TrainWith(std::move(paid), streams.structure, streams.coins, noise, interrupt, progress);
        return training.model_bytes();
    };
}
inline SharedWork WorkOf(EvaluationCore& evaluation) {
    return [&evaluation](PaidCharge&& paid, SessionStreams&, NoiseSource& noise, Interrupt& interrupt,
                         Progress&) {
        evaluation.EvaluateWith(std::move(paid), noise, interrupt);
        return evaluation.stored_json();
    };
}

// The hash by which servers see that they have ended alike.
inline Hash ResultHash(std::string_view bytes) {
    return HashOf("result", bytes);
}

}  // namespace dpboost
