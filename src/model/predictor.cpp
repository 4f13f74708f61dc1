#include "model/predictor.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace dpboost {
namespace {

// Answers by code of levels and subsets take cells * questions bytes; a feature with tens of thousands of
// levels in tens of thousands of splits would take gigabytes. Such models are predicted plainly.
constexpr size_t kMaxAnswerBytes = size_t{64} << 20;

// Sum of the leaves that a row falls into. Four trees at a time, so that their loads overlap.
template <unsigned kDepth, typename Id>
int64_t SumLeaves(const Id* nodes, const int32_t* leaves, size_t trees, const uint8_t* answers) noexcept {
    constexpr size_t kLeaves = size_t{1} << kDepth;
    int64_t sum = 0;
    size_t tree = 0;
    for (; tree + 4 <= trees; tree += 4, nodes += 4 * kLeaves, leaves += 4 * kLeaves) {
        size_t a = 1, b = 1, c = 1, d = 1;
        for (unsigned level = 0; level < kDepth; level++) {
            a = 2 * a + answers[nodes[a]];
            b = 2 * b + answers[nodes[kLeaves + b]];
            c = 2 * c + answers[nodes[2 * kLeaves + c]];
            d = 2 * d + answers[nodes[3 * kLeaves + d]];
        }
        sum += int64_t{leaves[a - kLeaves]} + leaves[b] + leaves[kLeaves + c] + leaves[2 * kLeaves + d];
    }
    for (; tree < trees; tree++, nodes += kLeaves, leaves += kLeaves) {
        size_t a = 1;
        for (unsigned level = 0; level < kDepth; level++)
            a = 2 * a + answers[nodes[a]];
        sum += leaves[a - kLeaves];
    }
    return sum;
}

}  // namespace

// Collects the distinct questions of a model's trees and lays out the arrays above.
class Predictor::Compiler {
  public:
    Compiler(const Model& model, Predictor* out) : model_(model), out_(out), features_(model.features()) {}

    // False if the answers would take too much memory.
    bool Run() {
        Collect();
        size_t answer_bytes = 0;
        for (size_t i = 0; i < features_.size(); i++)
            answer_bytes += features_[i].cells() * (levels_[i].size() + subsets_[i].size());
        if (answer_bytes > kMaxAnswerBytes)
            return false;
        for (size_t i = 0; i < features_.size(); i++)
            if (!thresholds_[i].empty() || !levels_[i].empty() || !subsets_[i].empty())
                LayOutQuestions(i);
        size_t widest = 0;
        for (const Questions& questions : out_->questions_)
            widest = std::max<size_t>(widest, questions.thresholds);
        out_->window_.assign(2 * widest, 0);
        std::fill_n(out_->window_.begin(), widest, 1);
        out_->answers_.assign(question_count_, 0);
        LayOutTrees();
        return true;
    }

  private:
    using Threshold = std::pair<uint16_t, bool>;  // threshold, missing_left
    using Subset = std::vector<uint64_t>;

    void Collect() {
        thresholds_.resize(features_.size());
        levels_.resize(features_.size());
        subsets_.resize(features_.size());
        for (const Tree& tree : model_.trees())
            for (const Split& split : tree.splits)
                Number(tree, split) = 0;
    }

    // The place where a split's question number is kept.
    uint32_t& Number(const Tree& tree, const Split& split) {
        if (split.kind == SplitKind::kThreshold)
            return thresholds_[split.feature][{split.threshold, split.missing_left}];
        if (split.kind == SplitKind::kLevel)
            return levels_[split.feature][split.threshold];
        auto begin = tree.subset_words.begin() + split.subset;
        return subsets_[split.feature][Subset(begin, begin + SubsetWords(features_[split.feature].cells()))];
    }

    void LayOutQuestions(size_t feature) {
        const FeatureSpec& spec = features_[feature];
        Questions questions{};
        questions.feature = static_cast<uint32_t>(feature);
        questions.missing = spec.missing();
        questions.begin = question_count_;
        questions.thresholds = static_cast<uint32_t>(thresholds_[feature].size());
        questions.others = static_cast<uint32_t>(levels_[feature].size() + subsets_[feature].size());
        questions.rank_offset = out_->ranks_.size();
        questions.missing_offset = out_->missing_answers_.size();
        questions.other_offset = out_->other_answers_.size();
        for (auto& [threshold, number] : thresholds_[feature]) {
            number = question_count_++;
            out_->missing_answers_.push_back(threshold.second ? 0 : 1);
        }
        if (questions.thresholds > 0)
            LayOutRanks(feature);
        for (auto& [level, number] : levels_[feature])
            number = question_count_++;
        for (auto& [subset, number] : subsets_[feature])
            number = question_count_++;
        for (uint32_t code = 0; code < spec.cells() && questions.others > 0; code++) {
            for (const auto& [level, number] : levels_[feature])
                out_->other_answers_.push_back(code != level);
            for (const auto& [subset, number] : subsets_[feature])
                out_->other_answers_.push_back(((subset[code / 64] >> (code % 64)) & 1) == 0);
        }
        out_->questions_.push_back(questions);
    }

    void LayOutRanks(size_t feature) {
        auto next = thresholds_[feature].begin(), end = thresholds_[feature].end();
        uint32_t below = 0;
        for (uint32_t code = 0; code < features_[feature].bins(); code++) {
            for (; next != end && next->first.first < code; next++)
                below++;
            out_->ranks_.push_back(below);
        }
    }

    void LayOutTrees() {
        bool narrow = question_count_ <= 65536;
        for (unsigned depth = 1; depth <= kMaxDepth; depth++) {
            Forest forest{depth, 0, narrow ? out_->narrow_nodes_.size() : out_->wide_nodes_.size(),
                          out_->leaves_.size()};
            for (const Tree& tree : model_.trees()) {
                if (tree.depth != depth)
                    continue;
                forest.trees++;
                AddNode(narrow, 0);
                for (const Split& split : tree.splits)
                    AddNode(narrow, Number(tree, split));
                out_->leaves_.insert(out_->leaves_.end(), tree.leaves.begin(), tree.leaves.end());
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

    const Model& model_;
    Predictor* out_;
    const std::vector<FeatureSpec>& features_;
    std::vector<std::map<Threshold, uint32_t>> thresholds_;
    std::vector<std::map<uint16_t, uint32_t>> levels_;
    std::vector<std::map<Subset, uint32_t>> subsets_;
    uint32_t question_count_ = 0;
};

Predictor::Predictor(const Model& model) : link_(model.link()), target_(model.target()), base_(model.base()) {
    for (size_t i = 0; i < model.features().size(); i++) {
        if (model.table(i).empty())
            continue;
        tables_.push_back({static_cast<uint32_t>(i), model.features()[i].missing(), table_values_.size()});
        table_values_.insert(table_values_.end(), model.table(i).begin(), model.table(i).end());
    }
    if (!Compiler(model, this).Run())
        plain_.emplace(model);
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
        std::memcpy(answers, thresholds, questions.thresholds);
        if (questions.others > 0)
            std::memcpy(answers + questions.thresholds,
                        other_answers_.data() + questions.other_offset + size_t{code} * questions.others,
                        questions.others);
    }
}

template <typename Id>
int64_t Predictor::SumForest(const Forest& forest, const Id* nodes) const noexcept {
    nodes += forest.node_offset;
    const int32_t* leaves = leaves_.data() + forest.leaf_offset;
    const uint8_t* answers = answers_.data();
    switch (forest.depth) {
        case 1:
            return SumLeaves<1>(nodes, leaves, forest.trees, answers);
        case 2:
            return SumLeaves<2>(nodes, leaves, forest.trees, answers);
        case 3:
            return SumLeaves<3>(nodes, leaves, forest.trees, answers);
        case 4:
            return SumLeaves<4>(nodes, leaves, forest.trees, answers);
        case 5:
            return SumLeaves<5>(nodes, leaves, forest.trees, answers);
        case 6:
            return SumLeaves<6>(nodes, leaves, forest.trees, answers);
        case 7:
            return SumLeaves<7>(nodes, leaves, forest.trees, answers);
        case 8:
            return SumLeaves<8>(nodes, leaves, forest.trees, answers);
        case 9:
            return SumLeaves<9>(nodes, leaves, forest.trees, answers);
        case 10:
            return SumLeaves<10>(nodes, leaves, forest.trees, answers);
        case 11:
            return SumLeaves<11>(nodes, leaves, forest.trees, answers);
        default:
            return SumLeaves<kMaxDepth>(nodes, leaves, forest.trees, answers);
    }
}

int64_t Predictor::Score(const uint16_t* codes) noexcept {
    if (plain_)
        return plain_->Score(codes);
    int64_t score = base_;
    for (const Table& table : tables_)
        score += table_values_[table.offset + std::min(codes[table.feature], table.missing)];
    if (forests_.empty())
        return score;
    Answer(codes);
    for (const Forest& forest : forests_)
        score += narrow_nodes_.empty() ? SumForest(forest, wide_nodes_.data())
                                       : SumForest(forest, narrow_nodes_.data());
    return score;
}

void Predictor::PredictRows(const uint16_t* codes, size_t rows, size_t stride, double* out) noexcept {
    for (size_t row = 0; row < rows; row++)
        out[row] = Predict(codes + row * stride);
}

size_t Predictor::memory_used() const noexcept {
    size_t trees = 0;
    if (plain_)
        for (const Tree& tree : plain_->trees())
            trees +=
                tree.splits.size() * sizeof(Split) + tree.leaves.size() * 4 + tree.subset_words.size() * 8;
    return trees + table_values_.size() * 4 + ranks_.size() * 4 + window_.size() + missing_answers_.size() +
           other_answers_.size() + answers_.size() + narrow_nodes_.size() * 2 + wide_nodes_.size() * 4 +
           leaves_.size() * 4;
}

}  // namespace dpboost
