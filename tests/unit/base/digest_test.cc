// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the published vectors (FIPS 180-2, appendix B).
#include "base/digest.h"

#include "gtest/gtest.h"

namespace hopyard::base {
namespace {

TEST(Sha256, AgreesWithThePublishedVectors) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, NamesAMissingFile) { EXPECT_TRUE(absl::IsNotFound(sha256_file_hex("/no/such/file").status())); }

}  // namespace
}  // namespace hopyard::base
