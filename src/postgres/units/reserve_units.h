// The persons' part of a charge, for trainings and evaluations.
#pragma once

#include <string>

#include "postgres/boundary/boundary.h"
#include "postgres/ledger/ledger.h"
#include "postgres/units/unit_state.h"

namespace dpboost {

// Opens the accounts of a release, if it has any, and puts what each person reserves into the request. Who cannot pay is
// left out from here on, and nothing tells.
template <class Core>
void ReserveUnits(UnitState* units, CoreState<Core>* core, ChargeRequest* request) {
    request->units = units;
    if (units->id == 0)
        return;
    OpenUnits(units, (*core)->account());
    CallCore([&] {
        PgInterrupt interrupt;
        const std::string& bytes = (*core)->ReserveUnits(interrupt);
        request->unit_bytes = bytes.data();
        request->unit_size = bytes.size();
        request->settle_size = (*core)->account()->SettleSize();
    });
}

}  // namespace dpboost
