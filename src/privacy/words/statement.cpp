// Puts sentences together.
#include "privacy/words/statement.h"

#include "base/text.h"

namespace dpboost {
namespace {

void AddItem(std::string& text, const std::string& sentence) {
    if (!sentence.empty())
        text += "- " + sentence + "\n";
}

void AddWords(std::string& text, const ProvenLoss& loss) {
    const LossInWords words = InWords(loss);
    AddItem(text, words.odds);
    AddItem(text, words.belief);
    AddItem(text, words.failure);
    AddItem(text, words.guess);
    AddItem(text, words.attack);
    AddItem(text, words.family);
}

std::string SoFar(const StatedLoss& stated) {
    if (stated.releases == 0)
        return stated.renews ? "Nothing was released since it was renewed." : "Nothing was released so far.";
    if (stated.by_unit)
        return "So far there " +
               (stated.releases == 1 ? "was 1 release"
                                     : "were " + PrintedUp(stated.releases, 0) + " releases") +
               ". Whoever has used up the limit is left out of what follows.";
    const std::string count =
        stated.releases == 1 ? "1 release has" : PrintedUp(stated.releases, 0) + " releases have";
    ProvenLoss spent = ProvenLoss::OfPair(stated.spent_epsilon, stated.spent_delta);
    spent.mu = stated.spent_mu;
    return (stated.renews ? "Since it was renewed " : "So far ") + count + " cost epsilon " +
           PrintedUp(stated.spent_epsilon, 4) + ": the best guess is right in at most " +
           PrintedUp(100 * GuessSuccess(spent), 1) + " of 100 cases.";
}

}  // namespace

std::string PersonInWords(const std::string& unit) {
    return unit.empty() ? "A person is one row." : "A person is all rows with the same " + Quoted(unit) + ".";
}

std::string WriteStatement(const std::vector<StatedLoss>& stated, const LossPoint& all_together) {
    std::string text;
    for (const StatedLoss& one : stated) {
        text += one.subject + "\n";
        text += one.person + "\n";
        text += one.is_limit ? "\nWhat all that may ever be released can tell about a person:\n"
                             : "\nWhat it can tell about a person:\n";
        AddWords(text, one.loss);
        if (one.is_limit)
            AddItem(text, SoFar(one));
        text += "\n";
    }
    if (all_together.epsilon > 0) {
        text += "All of these together, for someone who is in all of the tables: at most epsilon " +
                PrintedUp(all_together.epsilon, 4) + ".\n";
        AddWords(text, ProvenLoss::OfPair(all_together.epsilon, all_together.delta));
        text += "\n";
    }
    text += "Who can still be harmed:\n";
    for (const std::string& sentence : StillAtRisk())
        AddItem(text, sentence);
    return text;
}

}  // namespace dpboost
