#include "postgres/predict/object_features.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace dpboost {
namespace {

Jsonb* ReadObject(Oid type, Datum argument) {
    if (type == JSONBOID)
        return DatumGetJsonbP(argument);
    const char* json =
        type == JSONOID ? text_to_cstring(DatumGetTextPP(argument)) : DatumGetCString(argument);
    return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
}

const std::string& NameOf(const Binding& binding, int feature) {
    return binding.model->model.features()[feature].name();
}

[[noreturn]] void RefuseValue(const Binding& binding, int feature) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the object's \"%s\" must be a number, a text, true, false or null",
                           NameOf(binding, feature).c_str())));
    pg_unreachable();
}

// Of a feature that was trained on numbers.
Datum NumberOf(const Binding& binding, int feature, const JsonbValue& value) {
    double number = 0;
    if (value.type == jbvNumeric) {
        number = ReadNumber(ValueKind::kNumeric, NumericGetDatum(value.val.numeric));
    } else if (value.type == jbvBool) {
        number = value.val.boolean ? 1 : 0;
    } else if (value.type == jbvString) {
        const char* text = pnstrdup(value.val.string.val, value.val.string.len);
        char* end;
        number = strtod(text, &end);
        if (end == text || *end != '\0')
            ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                            errmsg("invalid number for feature \"%s\": \"%s\"",
                                   NameOf(binding, feature).c_str(), text),
                            errhint("Pass dates as columns or in a row.")));
    } else {
        RefuseValue(binding, feature);
    }
    return Float8GetDatum(number);
}

// Of a feature that was trained on texts, an enum or a boolean.
Datum TextOf(const Binding& binding, int feature, const JsonbValue& value) {
    if (value.type == jbvString)
        return PointerGetDatum(cstring_to_text_with_len(value.val.string.val, value.val.string.len));
    if (value.type == jbvBool)
        return CStringGetTextDatum(value.val.boolean ? "true" : "false");
    if (value.type == jbvNumeric)
        return CStringGetTextDatum(
            DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value.val.numeric))));
    RefuseValue(binding, feature);
}

// The keys of an object, and nullptr. Palloc'ed.
const char* const* KeysOf(Jsonb* object) {
    const int count = JsonContainerSize(&object->root);
    auto* keys = static_cast<const char**>(palloc0(sizeof(char*) * (count + 1)));
    JsonbIterator* iterator = JsonbIteratorInit(&object->root);
    JsonbValue value;
    JsonbIteratorToken token;
    for (int i = 0; (token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE;)
        if (token == WJB_KEY && i < count)
            keys[i++] = pnstrdup(value.val.string.val, value.val.string.len);
    return keys;
}

// What is missing, and which of the given names is no feature but nearly one of these.
void Compare(const Binding& binding, const char* const* given, std::string* missing, std::string* near) {
    constexpr size_t kShown = 20;
    std::vector<std::string> names, others;
    for (; *given != nullptr; ++given)
        others.emplace_back(*given);
    for (int i = 0; i < binding.features; ++i) {
        const auto found = std::find(others.begin(), others.end(), NameOf(binding, i));
        if (found != others.end())
            others.erase(found);
        else
            names.push_back(NameOf(binding, i));
    }
    for (size_t i = 0; i < names.size() && near->empty(); ++i)
        *near = Nearest(names[i], others);
    const bool more = names.size() > kShown, one = names.size() == 1;
    names.resize(std::min(names.size(), kShown));
    *missing = std::string(OidIsValid(binding.object_type) ? ""
                           : one                           ? "column "
                                                           : "columns ") +
               QuotedList(names) + (more ? ", ..." : "") +
               (one ? ", which is a feature of" : ", which are features of");
}

}  // namespace

void RaiseMissingFeatures(const Binding& binding, const char* const* given) {
    const bool object = OidIsValid(binding.object_type);
    auto* missing = CoreState<std::string>::Make(CurrentMemoryContext);
    auto* near = CoreState<std::string>::Make(CurrentMemoryContext);
    CallCore([&] { Compare(binding, given, &**missing, &**near); });
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_COLUMN),
             errmsg("the %s has no %s model \"%s\"", object ? "object" : "row", (*missing)->c_str(),
                    binding.name),
             !(*near)->empty() ? errdetail("Its \"%s\" is no feature of the model.", (*near)->c_str()) : 0,
             object ? errhint("Pass null for a value that is missing.") : 0));
    pg_unreachable();
}

bool IsObject(Oid type, const NullableDatum& argument) {
    if (type != UNKNOWNOID || argument.isnull)
        return type == JSONBOID || type == JSONOID;
    const char* text = DatumGetCString(argument.value);
    return text[strspn(text, " \t\n\r")] == '{';
}

void BindObject(Binding* binding) {
    const size_t count = binding->features + 1;
    binding->values = static_cast<Datum*>(palloc0(sizeof(Datum) * count));
    binding->nulls = static_cast<bool*>(palloc0(sizeof(bool) * count));
    for (int i = 0; i < binding->features; ++i) {
        const Encoder* encoder = &binding->model->encoders[i];
        const bool number = encoder->kind() == FeatureKind::kNumeric;
        MakeColumnReader(number ? FLOAT8OID : TEXTOID, number ? ValueKind::kFloat8 : ValueKind::kText,
                         encoder, &binding->readers[i]);
    }
}

FeatureValues TakeObjectApart(Binding* binding, Datum argument) {
    Jsonb* object = ReadObject(binding->object_type, argument);
    if (!JB_ROOT_IS_OBJECT(object))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("features must be a JSON object, as in {\"age\": 44}")));
    for (int i = 0; i < binding->features; ++i) {
        const std::string& name = NameOf(*binding, i);
        JsonbValue found;
        if (getKeyJsonValueFromContainer(&object->root, name.data(), static_cast<int>(name.size()), &found) ==
            nullptr)
            RaiseMissingFeatures(*binding, KeysOf(object));
        binding->nulls[i] = found.type == jbvNull;
        if (!binding->nulls[i])
            binding->values[i] =
                binding->readers[i].as_number ? NumberOf(*binding, i, found) : TextOf(*binding, i, found);
    }
    return {binding->values, binding->nulls, nullptr};
}

}  // namespace dpboost
