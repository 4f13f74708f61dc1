#include "training/call/row_part.h"

#include <utility>

#include "base/bytes.h"
#include "model/model.h"

namespace dpboost {
namespace {

Link AnyLink(const TargetSpec& target) {
    return target.task() == Task::kClasses ? Link::kSoftmax : Link::kIdentity;
}

RowWeights ReadWeights(ByteReader& in, size_t columns, const TargetSpec& target) {
    RowWeights weights;
    weights.column = in.I32();
    weights.least = in.F64();
    weights.most = in.F64();
    weights.classes.resize(in.Count(sizeof(double)));
    for (double& factor : weights.classes)
        factor = in.F64();
    const size_t classes = target.task() == Task::kBinary ? 2 : target.classes().size();
    ByteReader::Require(weights.column >= -1 && weights.column < static_cast<int64_t>(columns) &&
                        weights.least >= 0 && weights.least <= weights.most && weights.most > 0 &&
                        (weights.classes.empty() || weights.classes.size() == classes));
    return weights;
}

}  // namespace

std::string WriteRecipe(const std::vector<FeatureSpec>& columns, const TargetRule& target,
                        const RowWeights& weights, bool has_units) {
    ByteWriter out;
    out.Text(Model(columns, target.spec, AnyLink(target.spec)).Serialize());
    out.U8(target.by_number);
    out.Text(target.positive);
    out.U8(target.classes != nullptr);
    out.U8(has_units);
    out.I32(weights.column);
    out.F64(weights.least);
    out.F64(weights.most);
    out.U32(static_cast<uint32_t>(weights.classes.size()));
    for (const double factor : weights.classes)
        out.F64(factor);
    return out.Take();
}

RowPart::RowPart(std::string_view recipe) : target_{TargetSpec::Binary(), false, {}} {
    ByteReader in(recipe);
    const Model model = Model::Parse(in.Text());
    target_.spec = model.target();
    target_.by_number = in.U8() != 0;
    target_.positive = in.Text();
    if (in.U8() != 0)
        target_.classes =
            std::make_shared<const Encoder>(FeatureSpec::Levels("target", model.target().classes()));
    const bool has_units = in.U8() != 0;
    RowWeights weights = ReadWeights(in, model.features().size(), model.target());
    ByteReader::Require(in.left() == 0);
    std::vector<FeatureSpec> features = model.features();
    for (const FeatureSpec& feature : features)
        encoders_.emplace_back(feature);
    buffer_.emplace(features, has_units, weights);
    if (weights.column >= 0) {
        ByteReader::Require(features[static_cast<size_t>(weights.column)].kind() == FeatureKind::kNumeric);
        features.erase(features.begin() + weights.column);
    }
    builder_.emplace(std::move(features), target_.spec, has_units, DatasetLimits{}, weights.any());
}

std::string_view RowPart::AppendRows(bool last) {
    rows_ += buffer_->rows;
    AppendBuffered(encoders_, &*buffer_, &*builder_, [] {});
    if (rows_ < kBlockRows && (!last || rows_ == 0))
        return {};
    sent_.resize(builder_->PartialBytes());
    builder_->WritePartial(sent_.data());
    rows_ = 0;
    return sent_;
}

}  // namespace dpboost
