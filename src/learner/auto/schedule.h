// How the pool is shared out and how far each stage goes, as functions of the objective and of nu = n mu / sqrt(m) (noisy n),
// the signal to noise ratio of the training. All numbers, with their meaning, are in numbers.inc.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "learner/objective/objective.h"

namespace dpboost {

namespace auto_numbers {

#define FIXED(type, name, value) constexpr type name = value;
#include "learner/auto/numbers.inc"

}  // namespace auto_numbers

struct AutoSchedule {
    double nu = 0;
#define NUMBER(name, classes, numbers, counts, tried, meaning, effect) double name = 0;
#include "learner/auto/numbers.inc"
};

// A field that counts something.
inline uint32_t Whole(double number) {
    return static_cast<uint32_t>(std::lround(number));
}

// A number as a function of nu: linear in log(nu) between points, constant outside.
struct NumberPoint {
    double nu;
    double value;
};
struct NumberCurve {
    NumberPoint points[5];  // ascending; those behind the last have nu 0
    double At(double nu) const;
};

// One number of the table.
struct NumberRow {
    const char* name;
    double AutoSchedule::*field;
    NumberCurve logistic, squared, poisson;
    const char* tried;
    const char* meaning;
    const char* effect;  // of halving and doubling it
};
extern const NumberRow kAutoNumbers[];
extern const std::size_t kAutoNumberCount;

// For experiments: a number times a factor. No user can ask for it.
struct NumberChange {
    std::string name;
    double factor = 1;
};

// Where every draw is an exchange between servers: more in each of them, and fewer. A draw of twice as many leaves with twice
// the part of the pool has the same noise in each of them (the root of two times the sensitivity); what is lost is that
// one can look at the result before the next step.
void FitToFewDraws(AutoSchedule& schedule);

// Elsewhere: many columns say much of the same, and the linear stage takes more and shorter steps.
void FitToManyColumns(uint32_t features, AutoSchedule& schedule);

// Where pairs explain much from the start: tables go less far, what is left is for products.
void FitToProducts(AutoSchedule& schedule);

// `classes`: of the softmax loss.
AutoSchedule MakeAutoSchedule(ObjectiveKind objective, double noisy_rows, double mu, uint32_t features,
                              const std::vector<NumberChange>& changes = {}, std::size_t classes = 2);

}  // namespace dpboost
