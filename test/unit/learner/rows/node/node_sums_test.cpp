// Sums over nodes against plain ones, and who takes part: a unit does by one of its rows.
#include "learner/rows/node/node_sums.h"

#include <gtest/gtest.h>

#include "learner/boosted/framework_plan.h"
#include "support/open_sums.h"
#include "unit/learner/search_bench.h"

namespace dpboost {
namespace {

TEST(NodeSums, RootHessiansAreAHistogramWithoutMissingValues) {
    SearchBench bench(SearchOptions(StructurePart::kTotallyRandom));
    const std::vector<uint16_t> ordered = RefinedFeatures(bench.dataset.features());
    EXPECT_EQ(ordered, (std::vector<uint16_t>{0, 1}));  // the third has two bins, the others levels
    bench.Begin(NodeSums::Weight::kHessian);
    const std::vector<int64_t> raw =
        OpenSums(bench.sums.RootHessians(bench.candidates, ordered, bench.interrupt));
    std::vector<int64_t> expected;
    for (const uint16_t feature : ordered) {
        const size_t first = expected.size();
        expected.resize(first + bench.candidates.Cells(feature) - 1);
        for (size_t row = 0; row < bench.dataset.rows(); row++) {
            const size_t cell = bench.candidates.CellOfCode(feature)[bench.dataset.Code(row, feature)];
            if (cell + 1 < bench.candidates.Cells(feature))
                expected[first + cell] += bench.rows.hessians[row];
        }
    }
    EXPECT_EQ(raw, expected);
}

TEST(NodeSums, ThreadsChangeNothing) {
    SearchBench bench(SearchOptions(StructurePart::kExponential));
    WorkerPool threads(3);
    NodeSums parallel(bench.dataset, threads);
    const Tree root = Tree::OfDepth(1);
    const std::vector<NodeCandidates> live{LiveCandidates(bench.candidates, bench.chosen, root, 0)};
    std::vector<std::vector<int64_t>> found;
    for (NodeSums* sums : {&bench.sums, &parallel}) {
        sums->Begin(bench.rows, NodeSums::Weight::kRow, SamplingRate::All(), bench.coins, bench.interrupt);
        std::vector<RawSums> raw = sums->Utilities(0, live, bench.candidates, kClipSteps, bench.interrupt);
        ASSERT_EQ(raw.size(), 1U);
        found.push_back(OpenSums(std::move(raw[0])));
    }
    EXPECT_EQ(found[0].size(), live[0].size());
    EXPECT_EQ(found[0], found[1]);
}

TEST(NodeRows, AUnitTakesPartByOneOfItsRows) {
    DataShape shape;
    shape.units = 40;
    const Dataset dataset = RandomDataset(shape);
    ChaChaSource source = TestSource(4);
    Random random(source);
    PrivateRandom coins(random);
    NoInterrupt interrupt;
    std::vector<uint32_t> rows;
    std::vector<int> times(dataset.rows());
    for (int trial = 0; trial < 400; trial++) {
        DrawParticipants(dataset, SamplingRate::All(), coins, interrupt, &rows);
        ASSERT_EQ(rows.size(), dataset.units());
        for (size_t unit = 0; unit < rows.size(); unit++) {
            EXPECT_EQ(dataset.Unit(rows[unit]), unit);
            times[rows[unit]]++;
        }
    }
    for (const int count : times)  // each of about 12 rows of its unit comes up
        EXPECT_GT(count, 0);
    size_t sampled = 0;
    for (int trial = 0; trial < 400; trial++) {
        DrawParticipants(dataset, SamplingRate::FromProbability(0.25), coins, interrupt, &rows);
        sampled += rows.size();
    }
    EXPECT_NEAR(static_cast<double>(sampled), 4000, 330);  // six deviations
}

}  // namespace
}  // namespace dpboost
