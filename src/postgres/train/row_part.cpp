#include "postgres/train/row_part.h"

#include "training/call/row_part.h"

#include "postgres/reading/parallel_scan.h"
#include "postgres/train/training.h"

extern "C" {
PGDLLEXPORT void dpboost_read_part(dsm_segment* segment, shm_toc* toc);
}

namespace dpboost {
namespace {

struct PartColumn {
    Oid type;
    ValueKind kind;
};

// The head of a description; `features` columns and the core's recipe follow.
struct PartHead {
    int features;
    PartColumn target;
    Oid unit_type;
};

bytea* DescribeTraining(RowSink* sink) {
    const auto* training = static_cast<Training*>(sink);
    const TrainingCall& call = training->call;
    struct varlena* recipe = nullptr;
    CallCore([&] {
        const std::string bytes = (*training->core)->Recipe();
        CallPostgres([&]() noexcept {
            recipe = reinterpret_cast<struct varlena*>(
                cstring_to_text_with_len(bytes.data(), static_cast<int>(bytes.size())));
        });
    });
    const Size columns_size = sizeof(PartColumn) * training->features;
    const Size size = VARHDRSZ + sizeof(PartHead) + columns_size + VARSIZE(recipe) - VARHDRSZ;
    auto* description = static_cast<bytea*>(palloc0(size));
    SET_VARSIZE(description, size);
    const PartHead head = {training->features,
                           {call.target.type, call.target.kind},
                           training->has_units ? call.unit_type : InvalidOid};
    char* at = VARDATA(description);
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (int i = 0; i < training->features; ++i, at += sizeof(PartColumn)) {
        const PartColumn column = {call.features.columns[i].type, call.features.columns[i].kind};
        memcpy(at, &column, sizeof column);
    }
    memcpy(at, VARDATA(recipe), VARSIZE(recipe) - VARHDRSZ);
    return description;
}

void TakePart(RowSink* sink, const char* bytes, size_t size) {
    auto* training = static_cast<Training*>(sink);
    CallCore([&] {
        PgInterrupt interrupt;
        (*training->core)->AppendPart({bytes, size}, interrupt);
    });
}

// ---- in a worker ----

struct PartSink : RowSink {
    CoreState<RowPart>* part;
};

void Flush(RowSink* sink, bool last) {
    auto* part = static_cast<PartSink*>(sink);
    std::string_view rows;
    CallCore([&] { rows = (*part->part)->AppendRows(last); });
    if (!rows.empty() && !SendRows(rows.data(), rows.size()))
        ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED), errmsg("nobody waits for the rows any more")));
}

void FlushFull(RowSink* sink) {
    Flush(sink, false);
}
void FlushLast(RowSink* sink) {
    Flush(sink, true);
}

PartSink* MakePartSink(const bytea* description) {
    const char* at = VARDATA_ANY(description);
    const char* end = at + VARSIZE_ANY_EXHDR(description);
    PartHead head;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    const auto* columns = reinterpret_cast<const PartColumn*>(at);
    at += sizeof(PartColumn) * head.features;
    auto* sink = static_cast<PartSink*>(palloc0(sizeof(PartSink)));
    sink->part = CoreState<RowPart>::Make(CurrentMemoryContext, std::string_view(at, end - at));
    sink->buffer = (*sink->part)->buffer();
    sink->columns = sink->buffer->columns.data();
    sink->features = head.features;
    sink->flush = FlushFull;
    sink->readers = static_cast<ColumnReader*>(palloc0(sizeof(ColumnReader) * (head.features + 1)));
    for (int i = 0; i < head.features; ++i)
        MakeColumnReader(columns[i].type, columns[i].kind, &(*sink->part)->encoders()[i], &sink->readers[i]);
    SourceColumn target = {"", head.target.type, head.target.kind, InvalidOid, 0};
    MakeTargetReader((*sink->part)->target(), target, &sink->target);
    MakeUnitReader(OidIsValid(head.unit_type) ? "" : nullptr, head.unit_type, sink);
    return sink;
}

}  // namespace

const RowSharing kTrainingSharing = {DescribeTraining, TakePart};

}  // namespace dpboost

using namespace dpboost;

// Where a parallel worker begins.
void dpboost_read_part(dsm_segment* segment, shm_toc* toc) {
    PartSink* sink = MakePartSink(DescriptionOfPart(toc));
    ReadPart(segment, toc, sink, FlushLast);
    sink->part->Release();
}
