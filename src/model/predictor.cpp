#include "model/predictor.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace dpboost {
namespace {

// Answers by code of levels and subsets take cells * questions bytes; a feature with tens of thousands of
// levels in tens of thousands of splits would take gigabytes. Such models are predicted plainly.
constexpr size_t kMaxAnswerBytes = size_t{16} << 20;

// Trees that are walked down side by side, so that their loads overlap; twelve indices still fit into
// registers. (Gathering with AVX2 instead is several times slower on processors with the Downfall
// mitigation.)
constexpr size_t kLanes = 12;
constexpr size_t kFewLanes = 4;  // of what is left over

// Where a row ends in kCount trees that follow each other: at[lane] is kLeaves more than the number of the leaf.
template <unsigned kDepth, size_t kCount, typename Id>
inline void WalkSideBySide(const Id* nodes, const uint8_t* answers, size_t* at) noexcept {
    constexpr size_t kLeaves = size_t{1} << kDepth;
#pragma GCC unroll 12
    for (size_t lane = 0; lane < kCount; lane++)
        at[lane] = 1;
#pragma GCC unroll 12
    for (unsigned level = 0; level < kDepth; level++) {
#pragma GCC unroll 12
        for (size_t lane = 0; lane < kCount; lane++)
            at[lane] = 2 * at[lane] + answers[nodes[lane * kLeaves + at[lane]]];
    }
}

// Sum of the leaves that a row falls into.
template <unsigned kDepth, size_t kCount, typename Id>
inline int64_t SumSideBySide(const Id* nodes, const int32_t* leaves, const uint8_t* answers) noexcept {
    constexpr size_t kLeaves = size_t{1} << kDepth;
    size_t at[kCount];
    WalkSideBySide<kDepth, kCount>(nodes, answers, at);
    int64_t sum = 0;
#pragma GCC unroll 12
    for (size_t lane = 0; lane < kCount; lane++)
        sum += leaves[lane * kLeaves + at[lane] - kLeaves];
    return sum;
}

template <unsigned kDepth, typename Id>
int64_t SumLeaves(const Id* nodes, const int32_t* leaves, size_t trees, const uint8_t* answers) noexcept {
    constexpr size_t kLeaves = size_t{1} << kDepth;
    int64_t sum = 0;
    size_t tree = 0;
    for (; tree + kLanes <= trees; tree += kLanes)
        sum += SumSideBySide<kDepth, kLanes>(nodes + tree * kLeaves, leaves + tree * kLeaves, answers);
    for (; tree + kFewLanes <= trees; tree += kFewLanes)
        sum += SumSideBySide<kDepth, kFewLanes>(nodes + tree * kLeaves, leaves + tree * kLeaves, answers);
    for (; tree < trees; tree++)
        sum += SumSideBySide<kDepth, 1>(nodes + tree * kLeaves, leaves + tree * kLeaves, answers);
    return sum;
}

// The same with several values per leaf, each added to its score.
template <unsigned kDepth, size_t kCount, typename Id>
inline void AddSideBySide(const Id* nodes, const int32_t* leaves, size_t outputs, const uint8_t* answers,
                          int64_t* scores) noexcept {
    constexpr size_t kLeaves = size_t{1} << kDepth;
    size_t at[kCount];
    WalkSideBySide<kDepth, kCount>(nodes, answers, at);
    for (size_t lane = 0; lane < kCount; lane++) {
        const int32_t* values = leaves + (lane * kLeaves + at[lane] - kLeaves) * outputs;
        for (size_t output = 0; output < outputs; output++)
            scores[output] += values[output];
    }
}

template <unsigned kDepth, typename Id>
void AddLeaves(const Id* nodes, const int32_t* leaves, size_t trees, size_t outputs, const uint8_t* answers,
               int64_t* scores) noexcept {
    constexpr size_t kLeaves = size_t{1} << kDepth;
    size_t tree = 0;
    for (; tree + kLanes <= trees; tree += kLanes)
        AddSideBySide<kDepth, kLanes>(nodes + tree * kLeaves, leaves + tree * kLeaves * outputs, outputs,
                                      answers, scores);
    for (; tree < trees; tree++)
        AddSideBySide<kDepth, 1>(nodes + tree * kLeaves, leaves + tree * kLeaves * outputs, outputs, answers,
                                 scores);
}

// Calls `visit` with the depth as a constant.
template <unsigned kDepth = 1, typename Visit>
auto AtDepth(unsigned depth, const Visit& visit) noexcept {
    if constexpr (kDepth < kMaxDepth) {
        if (depth != kDepth)
            return AtDepth<kDepth + 1>(depth, visit);
    }
    return visit(std::integral_constant<unsigned, kDepth>());
}

}  // namespace

// Collects the distinct questions of a model's trees, numbers them by feature and lays out the arrays.
class Predictor::Compiler {
  public:
    Compiler(const std::vector<FeatureSpec>& features, const std::vector<const Tree*>& trees,
             Polling* polling, Predictor* out)
        : features_(features), trees_(trees), polling_(polling), out_(out) {}

    // False if the answers would take too much memory.
    bool Run() {
        asked_.resize(features_.size());
        for (const Tree* tree : trees_) {
            polling_->BeforeTree();
            for (const Split& split : tree->splits)
                Number(*tree, split) = kAsked;
        }
        if (OtherAnswerBytes() > kMaxAnswerBytes)
            return false;
        size_t widest = 0;
        for (size_t i = 0; i < features_.size(); i++)
            widest = std::max(widest, LayOutQuestions(i));
        out_->window_.assign(2 * widest, 0);
        std::fill_n(out_->window_.begin(), widest, 1);
        out_->answers_.assign(question_count_, 0);
        LayOutTrees();
        return true;
    }

  private:
    static constexpr uint32_t kNotAsked = 0xffffffff;
    static constexpr uint32_t kAsked = 0xfffffffe;

    // Question numbers of one feature.
    struct Asked {
        std::vector<uint32_t> thresholds;  // [2 * threshold + missing_left]
        std::vector<uint32_t> levels;
        std::map<std::vector<uint64_t>, uint32_t> subsets;
    };

    // The place where a split's question number is kept. Thresholds and levels beyond all codes are one.
    uint32_t& Number(const Tree& tree, const Split& split) {
        const FeatureSpec& feature = features_[split.feature];
        Asked& asked = asked_[split.feature];
        if (split.kind == SplitKind::kThreshold) {
            if (asked.thresholds.empty())
                asked.thresholds.assign(2 * feature.cells(), kNotAsked);
            return asked
                .thresholds[2 * std::min<uint32_t>(split.threshold, feature.bins()) + split.missing_left];
        }
        if (split.kind == SplitKind::kLevel) {
            if (asked.levels.empty())
                asked.levels.assign(feature.cells() + 1, kNotAsked);
            return asked.levels[std::min<uint32_t>(split.threshold, feature.cells())];
        }
        auto begin = tree.subset_words.begin() + split.subset;
        return asked.subsets[std::vector<uint64_t>(begin, begin + SubsetWords(feature.cells()))];
    }

    size_t OtherAnswerBytes() const {
        size_t bytes = 0;
        for (size_t i = 0; i < features_.size(); i++) {
            size_t levels = asked_[i].levels.size();
            levels -=
                static_cast<size_t>(std::count(asked_[i].levels.begin(), asked_[i].levels.end(), kNotAsked));
            bytes += features_[i].cells() * (levels + asked_[i].subsets.size());
        }
        return bytes;
    }

    // Numbers the questions about a feature; gives the number of its thresholds.
    size_t LayOutQuestions(size_t feature) {
        Asked& asked = asked_[feature];
        Questions questions{};
        questions.feature = static_cast<uint32_t>(feature);
        questions.missing = features_[feature].missing();
        questions.begin = question_count_;
        questions.rank_offset = out_->ranks_.size();
        questions.missing_offset = out_->missing_answers_.size();
        questions.other_offset = out_->other_answers_.size();
        NumberThresholds(&asked.thresholds);
        questions.thresholds = question_count_ - questions.begin;
        for (uint32_t& number : asked.levels)
            if (number == kAsked)
                number = question_count_++;
        for (auto& [subset, number] : asked.subsets)
            number = question_count_++;
        questions.others = question_count_ - questions.begin - questions.thresholds;
        if (questions.others > 0)
            AnswerOthers(feature);
        if (question_count_ > questions.begin)
            out_->questions_.push_back(questions);
        return questions.thresholds;
    }

    // In ascending order; the rank of a code is the number of those below it.
    void NumberThresholds(std::vector<uint32_t>* thresholds) {
        uint32_t first = question_count_;
        for (size_t i = 0; i < thresholds->size(); i++) {
            if (i % 2 == 0)
                out_->ranks_.push_back(question_count_ - first);
            if ((*thresholds)[i] == kNotAsked)
                continue;
            (*thresholds)[i] = question_count_++;
            out_->missing_answers_.push_back(i % 2 == 1 ? 0 : 1);
        }
    }

    void AnswerOthers(size_t feature) {
        const Asked& asked = asked_[feature];
        std::vector<uint32_t> levels;
        for (uint32_t level = 0; level < asked.levels.size(); level++)
            if (asked.levels[level] != kNotAsked)
                levels.push_back(level);
        for (uint32_t code = 0; code < features_[feature].cells(); code++) {
            for (uint32_t level : levels)
                out_->other_answers_.push_back(code != level);
            for (const auto& [subset, number] : asked.subsets)
                out_->other_answers_.push_back(((subset[code / 64] >> (code % 64)) & 1) == 0);
        }
    }

    void LayOutTrees() {
        bool narrow = question_count_ <= 65536;
        for (unsigned depth = 1; depth <= kMaxDepth; depth++) {
            Forest forest{depth, 0, narrow ? out_->narrow_nodes_.size() : out_->wide_nodes_.size(),
                          out_->leaves_.size()};
            for (const Tree* tree : trees_) {
                if (tree->depth != depth)
                    continue;
                polling_->BeforeTree();
                forest.trees++;
                AddNode(narrow, 0);
                for (const Split& split : tree->splits)
                    AddNode(narrow, Number(*tree, split));
                out_->leaves_.insert(out_->leaves_.end(), tree->leaves.begin(), tree->leaves.end());
            }
            if (forest.trees > 0)
                out_->forests_.push_back(forest);
        }
    }

    void AddNode(bool narrow, uint32_t number) {
        if (narrow)
            out_->narrow_nodes_.push_back(static_cast<uint16_t>(number));
        else
            out_->wide_nodes_.push_back(number);
    }

    const std::vector<FeatureSpec>& features_;
    const std::vector<const Tree*>& trees_;
    Polling* polling_;
    Predictor* out_;
    std::vector<Asked> asked_;
    uint32_t question_count_ = 0;
};

Predictor::Predictor(const Model& model, Simd simd, Interrupt* interrupt)
    : link_(model.link()), target_(model.target()) {
    for (size_t output = 0; output < model.outputs(); output++)
        bases_.push_back(model.base(output));
    for (size_t i = 0; i < model.features().size(); i++) {
        if (model.table(i).empty())
            continue;
        tables_.push_back({static_cast<uint32_t>(i), model.features()[i].missing(), table_values_.size()});
        table_values_.insert(table_values_.end(), model.table(i).begin(), model.table(i).end());
    }
    Polling polling(interrupt);
    Compile(model, simd, &polling);
}

void Predictor::Compile(const Model& model, Simd simd, Polling* polling) {
    std::vector<const Tree*> trees;
    for (const Tree& tree : model.trees())
        trees.push_back(&tree);
    if (trees.empty())
        return;
    grids_.emplace(model, &trees, polling);
    bytes_ = ByteForest::Of(model, trees, simd, polling);
    if (!bytes_ && !Compiler(model.features(), trees, polling, this).Run()) {
        grids_.reset();
        plain_.emplace(model);
    }
}

void Predictor::Answer(const uint16_t* codes) noexcept {
    for (const Questions& questions : questions_) {
        uint16_t code = std::min(codes[questions.feature], questions.missing);
        uint8_t* answers = answers_.data() + questions.begin;
        // Thresholds below the code say right: a window on 1...10...0 that begins with as many 1s.
        const uint8_t* thresholds =
            code == questions.missing ? missing_answers_.data() + questions.missing_offset
                                      : window_.data() + window_.size() / 2 -
                                            (questions.thresholds ? ranks_[questions.rank_offset + code] : 0);
        if (questions.thresholds > 0)
            std::memcpy(answers, thresholds, questions.thresholds);
        if (questions.others > 0)
            std::memcpy(answers + questions.thresholds,
                        other_answers_.data() + questions.other_offset + size_t{code} * questions.others,
                        questions.others);
    }
}

template <typename Id>
int64_t Predictor::SumForest(const Forest& forest, const Id* nodes) const noexcept {
    return AtDepth(forest.depth, [&](auto depth) {
        return SumLeaves<depth()>(nodes + forest.node_offset, leaves_.data() + forest.leaf_offset,
                                  forest.trees, answers_.data());
    });
}

template <typename Id>
void Predictor::AddForest(const Forest& forest, const Id* nodes, int64_t* scores) const noexcept {
    AtDepth(forest.depth, [&](auto depth) {
        AddLeaves<depth()>(nodes + forest.node_offset, leaves_.data() + forest.leaf_offset, forest.trees,
                           outputs(), answers_.data(), scores);
    });
}

int64_t Predictor::Score(const uint16_t* codes) noexcept {
    if (plain_)
        return plain_->Score(codes);
    int64_t score = bases_[0];
    for (const Table& table : tables_)
        score += table_values_[table.offset + std::min(codes[table.feature], table.missing)];
    if (grids_)
        grids_->AddValues(codes, &score);
    if (bytes_)
        bytes_->AddLeaves(codes, &score);
    if (forests_.empty())
        return score;
    Answer(codes);
    for (const Forest& forest : forests_)
        score += narrow_nodes_.empty() ? SumForest(forest, wide_nodes_.data())
                                       : SumForest(forest, narrow_nodes_.data());
    return score;
}

void Predictor::Scores(const uint16_t* codes, int64_t* scores) noexcept {
    const size_t k = outputs();
    if (plain_)
        return plain_->Scores(codes, scores);
    if (k == 1) {
        scores[0] = Score(codes);
        return;
    }
    std::copy(bases_.begin(), bases_.end(), scores);
    for (const Table& table : tables_) {
        const int32_t* values =
            table_values_.data() + table.offset + k * std::min(codes[table.feature], table.missing);
        for (size_t output = 0; output < k; output++)
            scores[output] += values[output];
    }
    if (grids_)
        grids_->AddValues(codes, scores);
    if (bytes_)
        bytes_->AddLeaves(codes, scores);
    if (forests_.empty())
        return;
    Answer(codes);
    for (const Forest& forest : forests_) {
        if (narrow_nodes_.empty())
            AddForest(forest, wide_nodes_.data(), scores);
        else
            AddForest(forest, narrow_nodes_.data(), scores);
    }
}

size_t Predictor::memory_used() const noexcept {
    size_t trees = (grids_ ? grids_->memory_used() : 0) + (bytes_ ? bytes_->memory_used() : 0);
    if (plain_)
        for (const Tree& tree : plain_->trees())
            trees +=
                tree.splits.size() * sizeof(Split) + tree.leaves.size() * 4 + tree.subset_words.size() * 8;
    return trees + table_values_.size() * 4 + ranks_.size() * 4 + window_.size() + missing_answers_.size() +
           other_answers_.size() + answers_.size() + narrow_nodes_.size() * 2 + wide_nodes_.size() * 4 +
           leaves_.size() * 4;
}

}  // namespace dpboost
