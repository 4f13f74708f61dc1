#include "base/checksum.h"

#include <sodium.h>

namespace dpboost {

std::string Checksum(std::string_view bytes) {
    std::string sum(kChecksumBytes, '\0');
    crypto_generichash(reinterpret_cast<unsigned char*>(sum.data()), sum.size(),
                       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
    return sum;
}

}  // namespace dpboost
