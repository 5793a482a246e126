#include "wafer/study/half.h"

#include <openssl/evp.h>

#include <array>

#include "wafer/base/error.h"

namespace wafer::study {

Half half_of(std::string_view id) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  const int done = EVP_Digest(id.data(), id.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  WAFER_CHECK(done == 1, "libcrypto has SHA-256");
  return digest[0] % 2 == 0 ? Half::Fitted : Half::Held;
}

std::string_view name_of(Half half) { return half == Half::Fitted ? "fitted" : "held"; }

}  // namespace wafer::study
