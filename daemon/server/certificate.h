// SPDX-License-Identifier: Apache-2.0
// The server's key and self-signed certificate, made at run time. Knows nothing of nginx.
#pragma once

#include <string>

#include "base/status.h"

namespace hopyard::server {

// PEM texts. Ed25519, so that every signature has the same length (64 bytes) and no handshake differs in
// size.
struct Certificate {
  std::string certificate_pem;
  std::string key_pem;
};

// A certificate for "hopyard.test" with fixed validity and serial number.
absl::StatusOr<Certificate> make_certificate();

}  // namespace hopyard::server
