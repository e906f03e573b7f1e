// SPDX-License-Identifier: Apache-2.0
// SHA-256 over OpenSSL's EVP.
#include "base/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/escaping.h"
#include "base/fd.h"

namespace hopyard::base {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string hex() {
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    EVP_DigestFinal_ex(context_.get(), out, &length);
    return absl::BytesToHexString({reinterpret_cast<char*>(out), length});
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 sha;
  sha.add(bytes);
  return sha.hex();
}

absl::StatusOr<std::string> sha256_file_hex(const std::string& path) {
  HOPYARD_ASSIGN_OR_RETURN(Fd fd, open_file(path, O_RDONLY));
  Sha256 sha;
  char buffer[65536];
  ssize_t n;
  while ((n = ::read(fd.get(), buffer, sizeof buffer)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_status("read", path);
    sha.add({buffer, static_cast<size_t>(n)});
  }
  return sha.hex();
}

}  // namespace hopyard::base
