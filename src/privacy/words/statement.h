// The privacy statement: what releases, or all that limits let through, may tell about a person, as a text for people
// who do not read epsilons. Built from what was proven and set; nothing here depends on rows.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "privacy/words/in_words.h"

namespace dpboost {

// One paragraph of it.
struct StatedLoss {
    std::string subject;  // a sentence: what it is about, with its epsilon and delta
    std::string person;   // a sentence: who one is
    ProvenLoss loss;
    bool is_limit = false;  // else it is one release
    bool by_unit =
        false;            // of a limit: each person has it to herself, and what was spent says nothing of one
    bool renews = false;  // of a limit: what was spent is that of its present window
    int64_t releases = 0;      // of a limit: so far
    double spent_epsilon = 0;  // of a limit: what they have cost,
    double spent_delta = 0;    // at this delta
    // Of a limit: finite if all of them have Gaussian noise over all rows. Chosen in the light of earlier ones they are
    // mu-Gaussian-DP under a limit of mu^2 that was fixed before, as the epsilon is ([ST22]).
    double spent_mu = std::numeric_limits<double>::infinity();
};

// Who a person is, by the column that identifies one; empty: each row is one.
std::string PersonInWords(const std::string& unit);

// Paragraphs, and whom none of it protects. For limits of several groups of tables also what a person loses who is in all
// of them: `all_together` is the pair by basic composition, epsilon 0: left out.
std::string WriteStatement(const std::vector<StatedLoss>& stated, const LossPoint& all_together);

}  // namespace dpboost
