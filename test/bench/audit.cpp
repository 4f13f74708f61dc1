// Prints what an optimal attacker measures of every method beside what it claims: its audited epsilon is a lower bound at
// 99.9 % from the likelihood ratio of whole trainings on two tables that differ in one unit, so it must not exceed the
// claim; at half the noise it must.
//     audit [TRAININGS]      on each table of a case; 10,000 unless told
#include <cstdio>
#include <cstdlib>

#include "support/audit/audit_cases.h"

int main(int argc, char** argv) {
    using namespace dpboost;
    const int trainings = argc > 1 ? std::atoi(argv[1]) : 10000;
    int broken = 0, loose = 0;
    std::printf("%-48s %8s %8s %9s %9s %12s %10s\n", "method", "claimed", "audited", "of delta", "largest",
                "half noise", "");
    for (const AuditCase& audit : AuditCases()) {
        const AuditResult whole = RunAudit(audit, trainings);
        const AuditResult half = RunAudit(audit, trainings, 0.5);
        const bool above = whole.Above(audit), caught = half.Above(audit);
        std::printf("%-48s %8.3f %8.3f %8.0f%% %9.3f %12.3f %10s\n", audit.name.c_str(), audit.epsilon,
                    whole.epsilon, 100 * whole.delta_share, whole.largest_loss, half.epsilon,
                    above    ? "BROKEN"
                    : caught ? ""
                             : "not tight");
        std::fflush(stdout);
        broken += above ? 1 : 0;
        loose += caught ? 0 : 1;
    }
    std::printf("%d above their claim; %d whose claim the audited tables do not reach at half the noise\n",
                broken, loose);
    return broken == 0 && loose == 0 ? 0 : 1;
}
