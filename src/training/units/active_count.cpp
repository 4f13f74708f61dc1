#include "training/units/active_count.h"

#include <algorithm>
#include <cmath>

#include "base/json_text.h"

namespace dpboost {
namespace {

constexpr char kActiveMechanism[] = "active";
constexpr int64_t kSteps = 1 << 16;  // of the lattice, to one person

}  // namespace

MechanismRequest ActiveRequest(double share) {
    MechanismRequest request;
    request.name = kActiveMechanism;
    request.kind = EventKind::kGaussian;
    request.share = share;
    request.dimensions = {{static_cast<double>(kSteps), 1.0, 1}};
    return request;
}

ActiveCount ReleaseActive(const Dataset& rows, Releaser& releaser) {
    const NoisySums noisy =
        releaser.Release(releaser.Find(kActiveMechanism),
                         RawSums({static_cast<int64_t>(rows.units()) * kSteps}, static_cast<double>(kSteps)));
    return {std::max(0.0, std::round(static_cast<double>(noisy.values[0]) / kSteps)), noisy.sigma / kSteps};
}

std::string ActiveObject(const ActiveCount& active) {
    JsonList list;
    list.Add("persons", JsonNumber(active.persons));
    list.Add("deviation", JsonNumber(std::ceil(10 * active.deviation) / 10));
    return list.Object();
}

}  // namespace dpboost
