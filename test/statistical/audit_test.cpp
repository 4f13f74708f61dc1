// Audits every method with the best possible test: its real epsilon must not exceed the claim, and the same audit must
// fire at half the noise. `make audit` runs longer and prints a table.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/audit/audit_cases.h"

namespace dpboost {
namespace {

constexpr int kTrainings = 400;

TEST(Audit, CoversEveryMethod) {
    std::set<std::string> audited;
    for (const AuditCase& audit : AuditCases())
        audited.insert(audit.method->name);
    for (const MethodInfo* method : AllMethods())
        EXPECT_TRUE(audited.count(method->name) == 1) << method->name;
}

TEST(Audit, NoTrainingIsLessPrivateThanItClaims) {
    for (const AuditCase& audit : AuditCases()) {
        const AuditResult result = RunAudit(audit, kTrainings);
        EXPECT_LE(result.epsilon, audit.epsilon) << audit.name;
        if (audit.delta == 0) {
            EXPECT_LE(result.largest_loss, audit.epsilon * (1 + 1e-9)) << audit.name;
        }
    }
}

// Half the noise has about twice the epsilon. Where the claim is loose for the audited tables (the row that stands for
// a unit, exponential splits, the filter) the audit sees less of it; those must still see more than at full noise.
TEST(Audit, HalfTheNoiseIsCaught) {
    int caught = 0, cases = 0;
    for (const AuditCase& audit : AuditCases()) {
        const AuditResult whole = RunAudit(audit, kTrainings);
        const AuditResult half = RunAudit(audit, kTrainings, 0.5);
        cases++;
        caught += half.epsilon > audit.epsilon || (audit.delta == 0 && half.largest_loss > audit.epsilon);
        EXPECT_GT(half.epsilon + half.largest_loss, 1.3 * (whole.epsilon + whole.largest_loss)) << audit.name;
    }
    EXPECT_GE(caught, 3 * cases / 5);
}

}  // namespace
}  // namespace dpboost
