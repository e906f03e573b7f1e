// SPDX-License-Identifier: Apache-2.0
// The client's TLS 1.3 (BoringSSL) between memory buffers: given one complete record, says what it held.
// Knows no socket and no HTTP.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace hopyard::probe {

// What a record held; the outer type does not tell.
enum class Content {
  unknown,  // it could not be opened
  handshake,
  data,
  post_handshake,  // tickets, key updates, or nothing
  alert,
};

struct OpenedRecord {
  Content content = Content::unknown;
  std::span<const uint8_t> plaintext;  // application bytes; valid until the next open()
  uint32_t plaintext_bytes = 0;  // what decryption yielded: of data all of it, of an alert its 2; else 0
  int64_t decrypted_ns = 0;      // SSL_read, or the handshake step, returned
  bool close_notify = false;
  absl::Status status;  // why the connection cannot go on; OK if it can
};

class TlsEngine {
 public:
  // Offers TLS 1.3, TLS_AES_256_GCM_SHA384, X25519 and `alpn` alone; no resumption, no early data, no
  // certificate verification (the handshake's signature is checked all the same).
  static absl::StatusOr<TlsEngine> make(std::string_view host, std::string_view alpn);

  // Queues the ClientHello.
  absl::Status start();
  // Takes exactly one record, header included, and drains it.
  OpenedRecord open(std::span<const uint8_t> record);
  // Queues `plaintext` as records of up to 16384 bytes.
  absl::Status seal(std::span<const uint8_t> plaintext);
  // Queues close_notify.
  void close();

  // Queued wire bytes not yet consumed; valid until the next call of anything but consume().
  std::span<const uint8_t> output() const;
  void consume(size_t bytes);

  bool handshake_done() const { return handshake_done_; }
  std::string version() const;  // "TLSv1.3"
  std::string cipher() const;   // "TLS_AES_256_GCM_SHA384"
  std::string alpn() const;     // as the server chose; empty if it chose none

 private:
  // What the engine's message callback saw while one record was opened. On the heap, for the callback holds
  // its address and the engine can move.
  struct Seen {
    bool alert = false;
    uint8_t alert_level = 0;
    uint8_t alert_description = 0;
  };

  TlsEngine() = default;
  static void on_message(int is_write, int version, int content_type, const void* bytes, size_t size,
                         SSL* ssl, void* seen);
  void read_application(OpenedRecord& opened);
  absl::Status failure(std::string_view attempt, int result) const;

  bssl::UniquePtr<SSL_CTX> context_;
  bssl::UniquePtr<SSL> ssl_;
  BIO* input_ = nullptr;   // owned by ssl_
  BIO* output_ = nullptr;  // owned by ssl_
  std::unique_ptr<Seen> seen_;
  std::unique_ptr<uint8_t[]> plaintext_;
  bool handshake_done_ = false;
};

}  // namespace hopyard::probe
