// The noise of a training on several servers: each of them runs the same learner on its own rows, and wherever one server
// would add noise to its sums, these add up over all servers. After every event all of them hold the same noisy total, and
// so they build the same model; a raw sum leaves no server.
//
// What a party sends for an event, modulo 2^64: its sums, on the finer lattice of noise_share.h, its share of the noise,
// and its masks. Neighbours: add or remove one unit of one honest party. Claim: against the coordinator, the network and
// up to t parties together, computationally, the whole training is as private as its plan, which each party has charged
// for itself before its first answer. Proof: replace the streams between honest parties by uniform bits. Then what an
// honest party sends is uniform and independent of everything, except that the sum over all honest parties with the same
// witness and of all of them is the honest total with the noise of h shares; if one is missing, or was told another
// history or asked another question, their sum is uniform, too. A party answers each event once, and its plan issues no
// more charges than it accounts for. So at most one honest total per event is known, and by the theorem of noise_share.h
// it is post-processing of the Gaussian mechanism that was charged. Totals that the coordinator invents are the
// adversary's choice of the next question, which adaptive composition allows: sums keep their sensitivity whatever the
// totals were, because rows are clipped and rounded after looking at them.
//
// Laplace noise and selections do not add up over servers: refused.
#pragma once

#include <vector>

#include "mechanism/noise.h"
#include "mechanism/parties/noise_share.h"
#include "mechanism/parties/sum_exchange.h"
#include "mechanism/parties/transcript.h"

namespace dpboost {

// The part that parties and coordinator have in common.
class ExchangedNoise : public NoiseSource {
  protected:
    // All must outlive this.
    ExchangedNoise(const NoiseParties& parties, Transcript& transcript, SumExchange& exchange)
        : parties_(parties), transcript_(transcript), exchange_(exchange) {}

    const NoiseParties& parties() const { return parties_; }

  private:
    // Replaces values by what this server sends of a block.
    virtual void Contribute(const NoiseShare& share, const SumBlock& block, std::vector<uint64_t>* sums) = 0;
    virtual void Mask(const Hash& witness, std::vector<uint64_t>* sums) = 0;

    void AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) override;
    // One exchange.
    void AddGaussianBlocks(const std::vector<GaussianBlock>& blocks) override;
    void AddLaplace(LaplaceScale b, int64_t* values, std::size_t n) override;
    std::size_t Select(SelectionScale temperature, const int64_t* utilities, std::size_t n) override;

    const NoiseParties parties_;
    Transcript& transcript_;
    SumExchange& exchange_;
};

// Of a party: its sums, with its share of the noise and its masks.
class SharedNoise final : public ExchangedNoise {
  public:
    // `own` draws this party's shares, from coins that nobody else knows.
    SharedNoise(const NoiseParties& parties, Transcript& transcript, Masks& masks, SumExchange& exchange,
                NoiseSource& own)
        : ExchangedNoise(parties, transcript, exchange), masks_(masks), own_(own) {}

  private:
    void Contribute(const NoiseShare& share, const SumBlock& block, std::vector<uint64_t>* sums) override;
    void Mask(const Hash& witness, std::vector<uint64_t>* sums) override;

    Masks& masks_;
    NoiseSource& own_;
    std::vector<int64_t> noise_;
};

// Of a coordinator, whose learner has no rows: it follows the totals.
class FollowedNoise final : public ExchangedNoise {
  public:
    FollowedNoise(const NoiseParties& parties, Transcript& transcript, SumExchange& exchange)
        : ExchangedNoise(parties, transcript, exchange) {}

  private:
    void Contribute(const NoiseShare& share, const SumBlock& block, std::vector<uint64_t>* sums) override;
    void Mask(const Hash& witness, std::vector<uint64_t>* sums) override;
};

}  // namespace dpboost
