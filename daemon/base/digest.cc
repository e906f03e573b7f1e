// SPDX-License-Identifier: Apache-2.0
// SHA-256 over OpenSSL's EVP.
#include "base/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "absl/strings/escaping.h"
#include "base/fd.h"

namespace hopyard::base {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

namespace {

// Fetched once: EVP_sha256() is looked up anew at each start, which costs more than a short digest.
const EVP_MD* algorithm() {
  static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return fetched;
}

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  EVP_DigestInit_ex(context_->state.get(), algorithm(), nullptr);
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(context_->state.get(), bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(context_->state.get(), out, &length);
  EVP_DigestInit_ex(context_->state.get(), algorithm(), nullptr);
  return {reinterpret_cast<char*>(out), length};
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 sha;
  sha.add(bytes);
  return absl::BytesToHexString(sha.finish());
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
  return absl::BytesToHexString(sha.finish());
}

}  // namespace hopyard::base
