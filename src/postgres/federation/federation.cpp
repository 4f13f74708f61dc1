// dpboost_party_key, dpboost_create_federation, dpboost_drop_federation: what the administrators of servers that train
// together set up. Keys of the others are pinned here; whatever a coordinator says later is checked against them.
#include "postgres/federation/federation.h"

#include "base/json_text.h"
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/limits/protect.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_party_key);
PG_FUNCTION_INFO_V1(dpboost_create_federation);
PG_FUNCTION_INFO_V1(dpboost_drop_federation);
}

namespace dpboost {

namespace {

int federation_timeout_ms;

// Who may say whom this database trusts: its owner, and superusers.
void CheckAdministers(Oid caller) {
    if (superuser_arg(caller))
        return;
    CatalogRead("SELECT datdba FROM pg_database WHERE datname = current_database()", {}, 1);
    if (!has_privs_of_role(caller, DatumGetObjectId(CatalogValue(0, 1))))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of the database to set up federations")));
}

// Inside a catalog scope. False: there is no key yet.
bool ReadSeed(Hash* seed) {
    if (CatalogRead("SELECT seed FROM dpboost.party_key", {}, 1) == 0)
        return false;
    const bytea* stored = DatumGetByteaPP(CatalogValue(0, 1));
    if (VARSIZE_ANY_EXHDR(stored) != seed->size())
        elog(ERROR, "the key of this database is damaged");
    memcpy(seed->data(), VARDATA_ANY(stored), seed->size());
    return true;
}

void MakeSeed(Hash* seed) {
    if (!pg_strong_random(seed->data(), seed->size()))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    bytea* value = MakeBytea(reinterpret_cast<const char*>(seed->data()), seed->size());
    CatalogWrite("INSERT INTO dpboost.party_key (seed) VALUES ($1)", {{BYTEAOID, PointerGetDatum(value)}});
}

// The text of the public half. Wipes the seed.
const char* PublicKeyOf(Hash* seed) {
    char* text = static_cast<char*>(palloc0(128));
    CallCore([&] {
        const SigningKey key{Secret(*seed)};
        snprintf(text, 128, "%s", key.public_key().Text().c_str());
        Secret wipe(*seed);
        seed->fill(0);
    });
    return text;
}

void ReadParties(Jsonb* parties, Jsonb* servers, Federation* federation) {
    federation->count = static_cast<int>(CatalogRead(
        "SELECT key, value, $2 ->> key FROM jsonb_each_text($1) ORDER BY key COLLATE \"C\"",
        {{JSONBOID, JsonbPGetDatum(parties)}, {JSONBOID, JsonbPGetDatum(servers), servers == nullptr}}));
    federation->parties =
        static_cast<FederationParty*>(palloc0(sizeof(FederationParty) * (federation->count + 1)));
    for (int i = 0; i < federation->count; ++i) {
        bool no_key, no_server;
        federation->parties[i].name = TextDatumGetCString(CatalogValue(i, 1));
        const Datum key = CatalogValue(i, 2, &no_key);
        const Datum server = CatalogValue(i, 3, &no_server);
        federation->parties[i].key = no_key ? "" : TextDatumGetCString(key);
        federation->parties[i].server = no_server ? nullptr : TextDatumGetCString(server);
        if (servers != nullptr && no_server)
            ereport(ERROR,
                    (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                     errmsg("party \"%s\" has no server", federation->parties[i].name),
                     errhint("A coordinator reaches all parties, itself included, by foreign servers.")));
    }
}

// A party must be in the roster with the key that this database has.
void CheckMyself(const Federation& federation) {
    Hash seed;
    LoadPartySeed(&seed);
    const char* key = PublicKeyOf(&seed);
    for (int i = 0; i < federation.count; ++i)
        if (strcmp(federation.parties[i].name, federation.myself) == 0) {
            if (strcmp(federation.parties[i].key, key) == 0)
                return;
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("the key of party \"%s\" is not this database's", federation.myself),
                            errdetail("This database's key is %s.", key)));
        }
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("\"%s\" is not among the parties", federation.myself)));
}

void Store(const Federation& federation, Jsonb* parties, Jsonb* servers, const ReadRelation* relation,
           Oid caller) {
    NameData name;
    namestrcpy(&name, federation.name);
    const bool party = federation.myself != nullptr;
    const Oid relation_ref = RelationRefType();
    CatalogWrite(
        "INSERT INTO dpboost.federation (name, parties, max_colluding, parties_per_unit, myself, relation, "
        "servers,"
        " set_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        {{NAMEOID, NameGetDatum(&name)},
         {JSONBOID, JsonbPGetDatum(parties)},
         Int4(federation.max_colluding),
         Int4(federation.parties_per_unit),
         party ? TextOf(federation.myself) : NullOf(TEXTOID),
         party ? Parameter{relation_ref,
                           RelationRef(relation->relid, relation->schema_name, relation->relation_name)}
               : NullOf(relation_ref),
         {JSONBOID, JsonbPGetDatum(servers), servers == nullptr},
         {RoleRefType(), CallerRef(caller)}});
}

}  // namespace

bytea* MakeBytea(const char* bytes, size_t size) {
    auto* value = static_cast<bytea*>(palloc(size + VARHDRSZ));
    SET_VARSIZE(value, size + VARHDRSZ);
    memcpy(VARDATA(value), bytes, size);
    return value;
}

ArrayType* NameArray(const char* const* names, int count) {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (count + 1)));
    for (int i = 0; i < count; ++i) {
        auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
        namestrcpy(name, names[i]);
        values[i] = NameGetDatum(name);
    }
    return construct_array(values, count, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

Federation* LoadFederation(const char* name) {
    CatalogScope scope;
    const MemoryContext caller_context = CurrentMemoryContext;
    CatalogBegin(&scope);
    const uint64 rows = CatalogRead(
        "SELECT p.key, p.value, f.servers ->> p.key, f.max_colluding, f.parties_per_unit, f.myself,"
        " f.relation::oid FROM dpboost.federation AS f, jsonb_each_text(f.parties) AS p WHERE f.name = "
        "$1::text::name"
        " ORDER BY p.key COLLATE \"C\"",
        {TextOf(name)});
    if (rows == 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("federation \"%s\" does not exist", name),
                        errhint("The database's owner creates it with dpboost_create_federation.")));
    const MemoryContext spi_context = MemoryContextSwitchTo(caller_context);
    auto* federation = static_cast<Federation*>(palloc0(sizeof(Federation)));
    federation->name = pstrdup(name);
    federation->count = static_cast<int>(rows);
    federation->parties = static_cast<FederationParty*>(palloc0(sizeof(FederationParty) * rows));
    for (uint64 i = 0; i < rows; ++i) {
        bool no_server, none;
        federation->parties[i].name = TextDatumGetCString(CatalogValue(i, 1));
        federation->parties[i].key = TextDatumGetCString(CatalogValue(i, 2));
        const Datum server = CatalogValue(i, 3, &no_server);
        federation->parties[i].server = no_server ? nullptr : TextDatumGetCString(server);
        federation->max_colluding = DatumGetInt32(CatalogValue(i, 4));
        federation->parties_per_unit = DatumGetInt32(CatalogValue(i, 5));
        const Datum myself = CatalogValue(i, 6, &none);
        federation->myself = none ? nullptr : TextDatumGetCString(myself);
        const Datum relid = CatalogValue(i, 7, &none);
        federation->relid = none ? InvalidOid : DatumGetObjectId(relid);
    }
    MemoryContextSwitchTo(spi_context);
    CatalogEnd(&scope);
    return federation;
}

Roster RosterOf(const Federation& federation) {
    std::vector<Party> parties;
    for (int i = 0; i < federation.count; ++i)
        parties.push_back({federation.parties[i].name, PartyKey::Parse(federation.parties[i].key)});
    if (federation.max_colluding < 0 || federation.parties_per_unit < 0)
        throw Error(ErrorCode::kInvalidParameter, "numbers of parties must not be negative");
    return Roster(federation.name, std::move(parties), static_cast<uint32_t>(federation.max_colluding),
                  static_cast<uint32_t>(federation.parties_per_unit));
}

void LoadPartySeed(Hash* seed) {
    CatalogScope scope;
    CatalogBegin(&scope);
    const bool found = ReadSeed(seed);
    CatalogEnd(&scope);
    if (!found)
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("this database has no key"),
             errhint("Its owner makes one with dpboost_party_key(), and all parties pin it. A dump holds no "
                     "key.")));
}

std::string DescribeSession(const Roster& roster, const Hash& session) {
    const auto hex = [](const Hash& hash) {
        PartyKey key;
        key.bytes = hash;
        return key.Text().substr(6);
    };
    JsonList description;
    description.Add("federation", JsonString(roster.federation()));
    description.Add("roster", JsonString(hex(roster.digest())));
    description.Add("session", JsonString(hex(session)));
    return description.Object();
}

int FederationTimeout() {
    return federation_timeout_ms;
}

void DefineFederationSettings() {
    DefineCustomIntVariable(
        "dpboost.federation_timeout",
        "Time that a server of a federation may take for one step of a training.",
        "A server that has stopped never answers. A training that is cut off after its charge is paid "
        "for all the same.",
        &federation_timeout_ms, 60000, 100, 86400000, PGC_USERSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
}

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_party_key(PG_FUNCTION_ARGS) {
    const Oid caller = GetUserId();
    CatalogScope scope;
    CatalogBegin(&scope);
    dpboost::Hash seed;
    if (!ReadSeed(&seed)) {
        CheckAdministers(caller);
        RequireWritable(fcinfo);
        MakeSeed(&seed);
    }
    CatalogEnd(&scope);
    PG_RETURN_TEXT_P(cstring_to_text(PublicKeyOf(&seed)));
}

Datum dpboost_create_federation(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    const Oid caller = GetUserId();
    RequireArgument(fcinfo, 0, "federation");
    RequireArgument(fcinfo, 1, "parties");
    RequireArgument(fcinfo, 4, "max_colluding");
    RequireArgument(fcinfo, 5, "parties_per_unit");
    if (PG_ARGISNULL(2) != PG_ARGISNULL(3))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"relation\" and \"myself\" go together"),
                 errdetail("A party brings a relation, and has a name among the parties.")));
    Jsonb* parties = PG_GETARG_JSONB_P(1);
    Jsonb* servers = PG_ARGISNULL(6) ? nullptr : PG_GETARG_JSONB_P(6);
    Federation federation;
    memset(static_cast<void*>(&federation), 0, sizeof federation);
    federation.name = NameStr(*PG_GETARG_NAME(0));
    federation.max_colluding = PG_GETARG_INT32(4);
    federation.parties_per_unit = PG_GETARG_INT32(5);
    ReadRelation relation;
    if (!PG_ARGISNULL(3)) {
        federation.myself = text_to_cstring(PG_GETARG_TEXT_PP(3));
        OpenGoverned(PG_GETARG_OID(2), caller, &relation);
    } else if (servers == nullptr) {
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("this server is neither a party nor a coordinator"),
                 errhint("Give \"relation\" and \"myself\" at a party, \"servers\" at a coordinator.")));
    }
    CatalogScope scope;
    const MemoryContext context = CurrentMemoryContext;
    CatalogBegin(&scope);
    CheckAdministers(caller);
    const MemoryContext spi_context = MemoryContextSwitchTo(context);
    ReadParties(parties, servers, &federation);
    MemoryContextSwitchTo(spi_context);
    CatalogEnd(&scope);
    CallCore([&] { RosterOf(federation); });
    if (federation.myself != nullptr)
        CheckMyself(federation);
    CatalogBegin(&scope);
    if (CatalogRead("SELECT FROM dpboost.federation WHERE name = $1::text::name", {TextOf(federation.name)},
                    1) > 0)
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
                        errmsg("federation \"%s\" already exists", federation.name),
                        errhint("Drop it first with dpboost_drop_federation.")));
    Store(federation, parties, servers, &relation, caller);
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}

Datum dpboost_drop_federation(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    const Oid caller = GetUserId();
    RequireArgument(fcinfo, 0, "federation");
    const char* name = NameStr(*PG_GETARG_NAME(0));
    CatalogScope scope;
    CatalogBegin(&scope);
    CheckAdministers(caller);
    if (CatalogWrite("DELETE FROM dpboost.federation WHERE name = $1::text::name", {TextOf(name)}) == 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("federation \"%s\" does not exist", name)));
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}
