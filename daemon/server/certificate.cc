// SPDX-License-Identifier: Apache-2.0
// X.509 by BoringSSL, without a configuration file or a child process.
#include "server/certificate.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

namespace hopyard::server {
namespace {

constexpr size_t kEd25519KeyBytes = 32;
// Fixed instants, so that the encoded lengths never change: 2020-01-01 and 2049-12-31 (UTCTime's last year).
constexpr char kNotBefore[] = "200101000000Z";
constexpr char kNotAfter[] = "491231235959Z";

absl::Status failed(std::string_view step) {
  return absl::InternalError("make certificate: Ed25519: " + std::string(step) + " failed");
}

std::string contents(BIO* bio) {
  const uint8_t* data = nullptr;
  size_t length = 0;
  BIO_mem_contents(bio, &data, &length);
  return {reinterpret_cast<const char*>(data), length};
}

bool fill(X509* certificate, EVP_PKEY* key) {
  X509_NAME* name = X509_get_subject_name(certificate);
  return X509_set_version(certificate, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), 1) == 1 &&
         ASN1_UTCTIME_set_string(X509_getm_notBefore(certificate), kNotBefore) == 1 &&
         ASN1_UTCTIME_set_string(X509_getm_notAfter(certificate), kNotAfter) == 1 &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                    reinterpret_cast<const uint8_t*>("hopyard.test"), -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
         X509_sign(certificate, key, nullptr) > 0;
}

}  // namespace

absl::StatusOr<Certificate> make_certificate() {
  uint8_t seed[kEd25519KeyBytes];
  RAND_bytes(seed, sizeof seed);
  bssl::UniquePtr<EVP_PKEY> key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed, sizeof seed));
  bssl::UniquePtr<X509> certificate(X509_new());
  if (!key || !certificate || !fill(certificate.get(), key.get())) return failed("signing");
  bssl::UniquePtr<BIO> certificate_bio(BIO_new(BIO_s_mem())), key_bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificate_bio.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return failed("PEM encoding");
  }
  return Certificate{contents(certificate_bio.get()), contents(key_bio.get())};
}

}  // namespace hopyard::server
