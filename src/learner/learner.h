// One training method, its options read and checked. A learner knows public things only: it says what it will draw,
// what it needs, and trains. MethodInfo is its entry in the list of methods: a new method is one file and one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataset/feature.h"
#include "dataset/target.h"
#include "learner/option_table.h"
#include "learner/run.h"
#include "privacy/plan.h"

namespace dpboost {

// What is public about a training. A column whose range is found privately has another encoding when Train runs, with at
// most as many cells: Train reads the features of run.model, Mechanisms() is for these here.
struct Continued;
struct LearnerContext {
    const std::vector<FeatureSpec>& features;
    const TargetSpec& target;
    double epsilon;
    double delta;
    const Continued* continued = nullptr;  // null: the training begins with an empty model
};

// The model that a training goes on from: run.model is it. Its own options hold for the training that made it, and `given`
// for this one on top.
struct Continued {
    const Model& model;
    const std::vector<GivenOption>& given;
    double old_weight = -1;  // how much the model counts, from 0 to 1; below 0: as the method finds best
};

// What a training takes, whatever the rows; checked in one place (CheckFootprint).
struct Footprint {
    uint64_t trees = 0;  // 0: none, or the method decides by its own noisy results
    unsigned depth = 0;
    std::size_t bytes_per_row = 0;  // trainer state beside the dataset
    std::size_t bytes = 0;          // and once
    std::size_t outputs = 1;        // values of a leaf
};

class Learner {
  public:
    virtual ~Learner() = default;

    // All that Train may draw.
    virtual std::vector<MechanismRequest> Mechanisms() const = 0;
    // The one whose noise multiplier is shown.
    virtual std::string main_mechanism() const = 0;
    // The one whose rounds a Renyi filter charges to each unit, where persons have accounts of their own: Train then
    // begins it where run.unit_rounds says, and settles with it at the end. Empty: each unit pays for all that is drawn.
    virtual std::string rounds_mechanism() const { return {}; }
    virtual Footprint footprint(bool has_units) const = 0;
    virtual Link link() const = 0;

    // Throws, before anything is charged, what the noise of the plan made of Mechanisms() would make Train throw.
    virtual void CheckPlan(const Plan&, std::size_t /*features*/) const {}

    // Grows run.model and takes every charge of the plan made of Mechanisms(). Neighbours: add or remove one unit of
    // run.rows. What it releases is post-processing of run.releaser's noisy sums; the number of steps, messages and
    // progress do not depend on rows.
    virtual void Train(Run& run) const = 0;
};

struct MethodInfo {
    const char* name;
    const char* blocks;       // one line: what it is made of
    const char* paper;        // key in REFERENCES.md, and what it is called there
    const char* when_to_use;  // one line
    bool pure;                // has a proof for delta = 0, which then is its default
    OptionTable options;
    // Reads the given options (each of them is in `options`), throws Error(kInvalidParameter) for values that do not
    // fit, alone or together.
    std::unique_ptr<Learner> (*make)(const MethodInfo& method, const LearnerContext& context,
                                     const std::vector<GivenOption>& given);
    bool classes = false;    // can tell more than two apart
    bool continues = false;  // can go on from a model of its own (LearnerContext::continued)
};

}  // namespace dpboost
