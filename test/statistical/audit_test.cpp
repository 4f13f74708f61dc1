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
        EXPECT_FALSE(result.Above(audit))
            << audit.name << ": " << result.epsilon << ", " << result.largest_loss;
    }
}

// Half the noise has about twice the epsilon, and every case is close enough to its claim to see that.
TEST(Audit, HalfTheNoiseIsCaught) {
    for (const AuditCase& audit : AuditCases())
        EXPECT_TRUE(RunAudit(audit, kTrainings, 0.5).Above(audit)) << audit.name;
}

}  // namespace
}  // namespace dpboost
