#include "postgres/predict/model_cache.h"

#include "postgres/boundary/boundary.h"
#include "postgres/predict/model_lookup.h"

namespace dpboost {

namespace {

constexpr size_t kMaxCachedModels = 64;
constexpr size_t kMaxCachedBytes = size_t{256} << 20;

uint64 model_generation = 0;

// Most recently used last. Never destroyed: it lives as long as the backend.
std::vector<std::shared_ptr<CachedModel>>* cached_models = nullptr;

bool operator==(const ModelKey& a, const ModelKey& b) {
    return a.model_id == b.model_id && a.catalog == b.catalog && a.written_by == b.written_by;
}

// Core side: a model of the cache, or null.
std::shared_ptr<CachedModel> FindCached(const ModelKey& key) {
    if (cached_models == nullptr)
        cached_models = new std::vector<std::shared_ptr<CachedModel>>();
    auto& models = *cached_models;
    for (size_t i = models.size(); i-- > 0;)
        if (models[i]->key == key) {
            std::rotate(models.begin() + i, models.begin() + i + 1, models.end());
            return models.back();
        }
    return nullptr;
}

// Core side: keeps a model, and forgets those that were not used for longest.
void Remember(const std::shared_ptr<CachedModel>& model) {
    cached_models->push_back(model);
    size_t bytes = 0;
    for (size_t i = cached_models->size(); i-- > 0;) {
        bytes += (*cached_models)[i]->memory;
        if (i + 1 < cached_models->size() &&
            (bytes > kMaxCachedBytes || cached_models->size() - i > kMaxCachedModels)) {
            cached_models->erase(cached_models->begin(), cached_models->begin() + i + 1);
            return;
        }
    }
}

}  // namespace

CachedModel::CachedModel(const ModelKey& model_key, std::string_view bytes)
    : key(model_key), model(Model::Parse(bytes, &interrupt_)), predictor(model, BestSimd(), &interrupt_) {
    encoders.reserve(model.features().size());
    for (const FeatureSpec& feature : model.features())
        encoders.emplace_back(feature);
    memory = 2 * bytes.size() + predictor.memory_used() + 1024 * encoders.size();
}

void LoadModelOf(const ModelEntry& entry, std::shared_ptr<CachedModel>* model) {
    const ModelKey key = {entry.catalog, entry.model_id, entry.written_by};
    CallCore([&] { *model = FindCached(key); });
    if (*model != nullptr)
        return;
    struct varlena* content = PG_DETOAST_DATUM_PACKED(entry.content);
    const std::string_view bytes(VARDATA_ANY(content), VARSIZE_ANY_EXHDR(content));
    CallCore([&] {
        *model = std::make_shared<CachedModel>(key, bytes);
        Remember(*model);
    });
}

Explainer& CachedModel::explainer() {
    if (explainer_ == nullptr) {
        explainer_ = std::make_unique<Explainer>(model, interrupt_);
        memory += explainer_->memory_used();
    }
    return *explainer_;
}

const Intervals& CachedModel::intervals() {
    if (intervals_ == nullptr)
        intervals_ = std::make_unique<Intervals>(model);
    return *intervals_;
}

void LoadModel(const char* text, size_t size, std::shared_ptr<CachedModel>* model) {
    ModelText read;
    ModelEntry entry;
    ReadModelText(text, size, NameUse::kRead, &read);
    FindModel(GetUserId(), read, &entry);
    LoadModelOf(entry, model);
    CloseModelEntry(&entry);
}

uint64 ModelGeneration() {
    return model_generation;
}

void ModelsChanged() {
    ++model_generation;
}

}  // namespace dpboost
