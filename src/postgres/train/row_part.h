// How parallel workers read rows for a training, see reading/parallel_scan.h: they are told the encodings of its columns.
#pragma once

#include "postgres/reading/row_sink.h"

namespace dpboost {

extern const RowSharing kTrainingSharing;

}  // namespace dpboost
