// Walks a jsonb once and copies it into the plain tree of training/json.h. Depth is limited by the stack check
// of jsonb's own iterator; sizes were checked by jsonb's input.
#include "postgres/train/json_reader.h"

namespace dpboost {

namespace {

char* CopyText(const char* bytes, int length) {
    char* copy = static_cast<char*>(palloc(length + 1));
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

void ReadScalar(const JsonbValue& from, JsonValue* to) {
    switch (from.type) {
        case jbvNull:
            to->kind = JsonValue::kNull;
            break;
        case jbvBool:
            to->kind = JsonValue::kBoolean;
            to->boolean = from.val.boolean;
            break;
        case jbvNumeric:
            to->kind = JsonValue::kNumber;
            to->number = DatumGetFloat8(
                DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(from.val.numeric)));
            to->text = numeric_normalize(from.val.numeric);
            to->text_length = static_cast<int>(strlen(to->text));
            break;
        case jbvString:
            to->kind = JsonValue::kString;
            to->text = CopyText(from.val.string.val, from.val.string.len);
            to->text_length = from.val.string.len;
            break;
        default:
            elog(ERROR, "unexpected jsonb value type %d", static_cast<int>(from.type));
    }
}

// Reads the container that the iterator has just entered.
void ReadContainer(JsonbIterator** iterator, const JsonbValue& head, JsonValue* to) {
    check_stack_depth();
    const bool is_object = head.type == jbvObject;
    const int count = is_object ? head.val.object.nPairs : head.val.array.nElems;
    const char** keys = is_object ? static_cast<const char**>(palloc0(sizeof(char*) * (count + 1))) : nullptr;
    to->kind = is_object ? JsonValue::kObject : JsonValue::kArray;
    to->count = count;
    to->items = static_cast<JsonValue*>(palloc0(sizeof(JsonValue) * (count + 1)));
    to->keys = keys;
    for (int filled = 0;;) {
        CHECK_FOR_INTERRUPTS();
        JsonbValue value;
        CHECK_FOR_INTERRUPTS();
        switch (JsonbIteratorNext(iterator, &value, false)) {
            case WJB_KEY:
                keys[filled] = CopyText(value.val.string.val, value.val.string.len);
                break;
            case WJB_VALUE:
            case WJB_ELEM:
                ReadScalar(value, &to->items[filled++]);
                break;
            case WJB_BEGIN_ARRAY:
            case WJB_BEGIN_OBJECT:
                ReadContainer(iterator, value, &to->items[filled++]);
                break;
            default:  // the container's end
                return;
        }
    }
}

}  // namespace

JsonValue* ReadJson(Jsonb* jsonb) {
    auto* root = static_cast<JsonValue*>(palloc0(sizeof(JsonValue)));
    JsonbIterator* iterator = JsonbIteratorInit(&jsonb->root);
    JsonbValue head;
    JsonbIteratorNext(&iterator, &head, false);
    const bool is_scalar = head.type == jbvArray && head.val.array.rawScalar;
    ReadContainer(&iterator, head, root);
    if (is_scalar)
        return &root->items[0];
    return root;
}

int CountListedBounds(Jsonb* options) {
    const JsonValue* bounds = ReadJson(options)->Find("bounds");
    return bounds == nullptr ? -1 : CountListed(*bounds);
}

Datum JsonTextToDatum(const char* text) {
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
}

}  // namespace dpboost
