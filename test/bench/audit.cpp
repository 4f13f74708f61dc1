// Prints what an optimal attacker measures of every method beside what it claims, from the likelihood ratio of whole trainings
// on two tables that differ in one unit: a lower bound of its epsilon at the claimed delta, and its delta at the claimed
// epsilon, as parts of the claim: the estimate, and within which bounds the truth is (audit.h: kAuditSigmas). Where a claim is
// exact, the estimate is above 100 % half the time; no lower bound may be. At half the noise one must.
//     audit [TRAININGS] [WORDS]      on each table of a case, 10,000 unless told; only cases with these words in their name
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

#include "support/audit/audit_cases.h"

namespace dpboost {
namespace {

struct Audits {
    AuditResult whole, half;
};

Audits RunBoth(const AuditCase& audit, int trainings) {
    // Half the noise is far off: a few trainings show it.
    return {RunAudit(audit, trainings), RunAudit(audit, std::max(trainings / 10, 400), 0.5)};
}

int RunAll(int trainings, const std::string& words) {
    std::vector<AuditCase> cases = AuditCases();
    cases.erase(
        std::remove_if(cases.begin(), cases.end(),
                       [&](const AuditCase& audit) { return audit.name.find(words) == std::string::npos; }),
        cases.end());
    int broken = 0, loose = 0;
    std::printf("%-48s %8s %8s %9s %14s %9s %11s\n", "method", "claimed", "audited", "of delta", "within",
                "largest", "half noise");
    std::vector<std::future<Audits>> running;
    const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t next = 0; next < cases.size(); next++) {
        while (running.size() < std::min(cases.size(), next + threads))
            running.push_back(
                std::async(std::launch::async, RunBoth, std::cref(cases[running.size()]), trainings));
        const AuditCase& audit = cases[next];
        const Audits both = running[next].get();
        const bool above = both.whole.Above(audit), caught = both.half.Above(audit);
        std::printf("%-48s %8.3f %8.3f %8.0f%% %6.0f .. %3.0f%% %9.3f %11.3f %s\n", audit.name.c_str(),
                    audit.epsilon, both.whole.epsilon, 100 * both.whole.delta_share,
                    100 * both.whole.least_share, 100 * both.whole.most_share, both.whole.largest_loss,
                    both.half.epsilon,
                    above    ? "BROKEN"
                    : caught ? ""
                             : "not tight");
        std::fflush(stdout);
        broken += above ? 1 : 0;
        loose += caught ? 0 : 1;
    }
    std::printf(
        "%zu cases: %d above their claim; %d whose claim the audited tables do not reach at half the "
        "noise\n",
        cases.size(), broken, loose);
    return broken == 0 && loose == 0 && !cases.empty() ? 0 : 1;
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    return dpboost::RunAll(argc > 1 ? std::atoi(argv[1]) : 10000, argc > 2 ? argv[2] : "");
}
