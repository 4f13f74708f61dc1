// The column by whose levels dpboost_train_groups makes several models: one for each level that is public, whether rows have it
// or not. Which levels rows have is not public, so it must not show in which models there are.
#pragma once

#include <string>

#include "dataset/encoder.h"
#include "training/columns.h"

namespace dpboost {

class Groups {
  public:
    // Throws Error unless the column has at most `most` public levels, each of which can be part of a model's name.
    Groups(const PublicColumn& column, size_t most);

    size_t count() const { return spec_.levels().size(); }
    const std::string& level(size_t group) const { return spec_.levels()[group]; }
    // From values to the number of the group; anything else is missing and belongs to none.
    const Encoder& encoder() const { return encoder_; }

  private:
    FeatureSpec spec_;
    Encoder encoder_;
};

}  // namespace dpboost
