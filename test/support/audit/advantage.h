// How well the best test, of the likelihood ratio of everything that was drawn, tells two tables apart.
#pragma once

#include <utility>

#include "dataset/dataset.h"
#include "mechanism/chacha_source.h"
#include "mechanism/random.h"
#include "support/audit/transcript.h"
#include "support/audit/transcript_noise.h"

namespace dpboost {

// How often the transcript of a run on one of the tables looks more like `first` than like `second`. draw(table, random,
// noise) runs once; both runs of a pair have the same randomness but for the noise.
template <typename Draw>
double LooksLikeFirst(const Dataset& first, const Dataset& second, bool on_first, double noise_factor,
                      unsigned char key, int runs, const Draw& draw) {
    ChaChaSource::Seed noise_seed{};
    noise_seed[0] = key;
    ChaChaSource noise_source(std::move(noise_seed));
    Random noise_random(noise_source);
    int hits = 0;
    for (int i = 0; i < runs; i++) {
        ChaChaSource::Seed seed{};
        seed[0] = static_cast<unsigned char>(i);
        seed[1] = static_cast<unsigned char>(i >> 8);
        seed[2] = key;
        ChaChaSource::Seed copy = seed;
        ChaChaSource structure(std::move(seed)), again(std::move(copy));
        Random random(structure), same(again);
        Tape recorder(noise_random, noise_factor);
        draw(on_first ? first : second, random, recorder);
        ReplayingNoise replay(recorder.draws);
        draw(on_first ? second : first, same, replay);
        hits += (on_first ? replay.log_ratio : -replay.log_ratio) > 0 ? 1 : 0;
    }
    return static_cast<double>(hits) / runs;
}

// The difference of the probabilities of "more like the first" under the two tables; k mu-Gaussian-DP allows 2 Phi(k mu / 2) - 1.
template <typename Draw>
double Advantage(const Dataset& first, const Dataset& second, double noise_factor, int runs,
                 const Draw& draw) {
    return LooksLikeFirst(first, second, true, noise_factor, 1, runs, draw) -
           LooksLikeFirst(first, second, false, noise_factor, 2, runs, draw);
}

}  // namespace dpboost
