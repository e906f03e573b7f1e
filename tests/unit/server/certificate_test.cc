// SPDX-License-Identifier: Apache-2.0
// Certificates differ, but never in size.
#include "server/certificate.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <set>

#include "gtest/gtest.h"

namespace hopyard::server {
namespace {

TEST(MakeCertificate, AlwaysHasTheSameLengthAndNeverTheSameKey) {
  std::set<size_t> lengths;
  std::set<std::string> keys;
  for (int i = 0; i < 20; ++i) {
    const auto made = make_certificate();
    ASSERT_TRUE(made.ok()) << made.status();
    lengths.insert(made->certificate_pem.size());
    keys.insert(made->key_pem);
  }
  EXPECT_EQ(lengths.size(), 1u);
  EXPECT_EQ(keys.size(), 20u);
}

TEST(MakeCertificate, IsSignedByItsOwnKey) {
  const auto made = make_certificate();
  ASSERT_TRUE(made.ok());
  bssl::UniquePtr<BIO> bio(
      BIO_new_mem_buf(made->certificate_pem.data(), static_cast<int>(made->certificate_pem.size())));
  bssl::UniquePtr<X509> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ASSERT_TRUE(certificate);
  bssl::UniquePtr<EVP_PKEY> key(X509_get_pubkey(certificate.get()));
  EXPECT_EQ(X509_verify(certificate.get(), key.get()), 1);
  EXPECT_EQ(EVP_PKEY_id(key.get()), EVP_PKEY_ED25519);
}

}  // namespace
}  // namespace hopyard::server
