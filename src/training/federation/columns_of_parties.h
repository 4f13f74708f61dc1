// What is public about a training that several servers do together: the columns as each party's schema and owner declare
// them, the encodings that follow for all, and the call that the coordinator announces. All of it travels as bytes that
// are the same at every server, because they are signed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanism/parties/hash.h"
#include "training/columns.h"

namespace dpboost {

// The target and the features of one party.
struct PartyColumns {
    PublicColumn target;
    std::vector<PublicColumn> features;

    std::string Serialize() const;
    // Throws kInvalidParameter for anything that Serialize could not have written.
    static PartyColumns Parse(std::string_view bytes);
};

// The columns of all parties as one: the hull of ranges, the sorted union of levels, nothing where one of them says
// nothing. Any public range is safe, because no sensitivity depends on it. Throws kInvalidParameter, with the parties'
// names, if their columns are not the same, by name and kind; the features' order is the first party's.
PartyColumns MergeColumns(const std::vector<std::string>& parties, const std::vector<PartyColumns>& columns);

// Throws kInvalidParameter unless values of a party's own column can be read as the announced one says.
void CheckReadable(const PublicColumn& own, const PublicColumn& announced);

// What servers do together.
enum class FederatedKind : uint8_t { kTraining = 0, kUpdate = 1, kEvaluation = 2 };

// The model that an update goes on from, or that is evaluated, as the coordinator's catalog has it. It need not be true: any
// model is a choice of the question, which the accounting allows.
struct SharedModel {
    std::string content;  // Model::Serialize
    uint32_t version = 0;
    std::string method;
    std::string options;  // JSON, of its training
    std::optional<std::string> positive;
};

// A call as all servers get it.
struct FederatedCall {
    FederatedKind kind = FederatedKind::kTraining;
    std::string model;    // its name at the coordinator, for the ledgers
    std::string options;  // JSON, as the caller gave it
    double epsilon = 0;
    std::optional<double> delta;
    std::optional<SharedModel> shared;  // unless it is a training from the start
    PartyColumns columns;               // merged
    Hash encodings{};                   // EncodingsHash of the coordinator

    std::string Serialize() const;
    static FederatedCall Parse(std::string_view bytes);
};

// The encodings that a server has made of the call. They must be the same everywhere, and a machine whose logarithms have other
// last digits is to notice before it has charged: the model's bytes hold them.
Hash EncodingsHash(const std::vector<FeatureSpec>& features);
// Throws kUnsupported if they are not those of the call.
void CheckEncodings(const FederatedCall& call, const std::vector<FeatureSpec>& features);

}  // namespace dpboost
