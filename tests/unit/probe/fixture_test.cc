// SPDX-License-Identifier: Apache-2.0
// The fixture is what the documents say, and any other byte is noticed.
#include "probe/fixture.h"

#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "tls_server.h"

namespace hopyard::probe {
namespace {

std::span<const uint8_t> bytes_of(const std::string& text) {
  return std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

TEST(Fixture, HasThePublishedDigest) {
  const std::string body = fixture(131072);
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(bytes_of(body).data(), body.size(), reinterpret_cast<uint8_t*>(digest.data()));
  EXPECT_EQ(absl::BytesToHexString(digest),
            "59f410ae5e17962412e2aed4f815918f634932f2abf084f00bb638c4db017850");
}

TEST(Fixture, ContinuesFromAnyOffset) {
  const std::string whole = fixture(100000);
  for (const size_t offset : {0u, 1u, 255u, 256u, 16384u, 16385u, 50001u}) {
    EXPECT_EQ(fixture(30000, offset), whole.substr(offset, 30000)) << offset;
  }
}

TEST(FixtureCheck, AgreesWhateverThePieces) {
  const std::string body = fixture(70000);
  for (const size_t step : {1u, 7u, 255u, 1024u, 16384u, 70000u}) {
    FixtureCheck check;
    for (size_t at = 0; at < body.size(); at += step) check.feed(bytes_of(body.substr(at, step)));
    EXPECT_TRUE(check.equal()) << step;
    EXPECT_EQ(check.bytes(), body.size());
  }
}

TEST(FixtureCheck, NoticesOneChangedByteAnywhere) {
  for (const size_t at : {0u, 1u, 16383u, 16384u, 39999u}) {
    std::string body = fixture(40000);
    body[at] = static_cast<char>(body[at] + 1);
    FixtureCheck check;
    check.feed(bytes_of(body));
    EXPECT_FALSE(check.equal()) << at;
  }
}

TEST(FixtureCheck, NoticesAMissingByte) {
  FixtureCheck check;
  check.feed(bytes_of(fixture(10)));
  check.feed(bytes_of(fixture(10, 11)));
  EXPECT_FALSE(check.equal());
}

}  // namespace
}  // namespace hopyard::probe
