// SPDX-License-Identifier: Apache-2.0
// Drives BoringSSL over two memory BIOs and tells records apart by what came out of them.
#include "probe/tls_engine.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "probe/record_reader.h"

namespace hopyard::probe {
namespace {

// The server's certificate is Ed25519, whose signatures have one length; the others serve servers not ours.
constexpr std::array<uint16_t, 5> kSignatures = {
    SSL_SIGN_ED25519, SSL_SIGN_ECDSA_SECP256R1_SHA256, SSL_SIGN_RSA_PSS_RSAE_SHA256,
    SSL_SIGN_ECDSA_SECP384R1_SHA384, SSL_SIGN_RSA_PSS_RSAE_SHA384};

constexpr uint32_t kAlertBytes = 2;  // level and description

std::string last_error() {
  const uint32_t code = ERR_peek_last_error();
  if (code == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : absl::StrCat("error ", code);
}

bool configure(SSL_CTX* context, std::string_view alpn) {
  constexpr int kGroups[] = {NID_X25519};
  std::string protocols(1, static_cast<char>(alpn.size()));
  protocols.append(alpn);
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  // BoringSSL's only way to offer one TLS 1.3 cipher: this policy's is TLS_AES_256_GCM_SHA384. What else the
  // policy sets is set again below.
  return SSL_CTX_set_compliance_policy(context, ssl_compliance_policy_wpa3_192_202304) == 1 &&
         SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set1_curves(context, kGroups, 1) == 1 &&
         SSL_CTX_set_verify_algorithm_prefs(context, kSignatures.data(), kSignatures.size()) == 1 &&
         // Returns 0 on success, unlike all others.
         SSL_CTX_set_alpn_protos(context, reinterpret_cast<const uint8_t*>(protocols.data()),
                                 protocols.size()) == 0;
}

}  // namespace

absl::StatusOr<TlsEngine> TlsEngine::make(std::string_view host, std::string_view alpn) {
  TlsEngine engine;
  ERR_clear_error();
  engine.context_.reset(SSL_CTX_new(TLS_method()));
  if (engine.context_ == nullptr || !configure(engine.context_.get(), alpn)) {
    return absl::InternalError(absl::StrCat("set up TLS: context: ", last_error()));
  }
  engine.ssl_.reset(SSL_new(engine.context_.get()));
  bssl::UniquePtr<BIO> input(BIO_new(BIO_s_mem()));
  bssl::UniquePtr<BIO> output(BIO_new(BIO_s_mem()));
  if (engine.ssl_ == nullptr || input == nullptr || output == nullptr ||
      SSL_set_tlsext_host_name(engine.ssl_.get(), std::string(host).c_str()) != 1) {
    return absl::InternalError(absl::StrCat("set up TLS: connection: ", last_error()));
  }
  engine.seen_ = std::make_unique<Seen>();
  engine.plaintext_ = std::make_unique<uint8_t[]>(kMaxPlaintextBytes);
  engine.input_ = input.get();
  engine.output_ = output.get();
  SSL_set_bio(engine.ssl_.get(), input.release(), output.release());
  SSL_set_msg_callback(engine.ssl_.get(), &TlsEngine::on_message);
  SSL_set_msg_callback_arg(engine.ssl_.get(), engine.seen_.get());
  SSL_set_connect_state(engine.ssl_.get());
  return engine;
}

void TlsEngine::on_message(int is_write, int, int content_type, const void* bytes, size_t size, SSL*,
                           void* seen) {
  if (is_write != 0 || content_type != SSL3_RT_ALERT || size != kAlertBytes) return;
  const auto* alert = static_cast<const uint8_t*>(bytes);
  *static_cast<Seen*>(seen) = {.alert = true, .alert_level = alert[0], .alert_description = alert[1]};
}

absl::Status TlsEngine::start() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ) return absl::OkStatus();
  return failure("start handshake", result);
}

OpenedRecord TlsEngine::open(std::span<const uint8_t> record) {
  OpenedRecord opened;
  *seen_ = {};
  ERR_clear_error();
  if (BIO_write(input_, record.data(), static_cast<int>(record.size())) != static_cast<int>(record.size())) {
    opened.status = absl::ResourceExhaustedError("open record: memory buffer: cannot hold it");
    return opened;
  }
  if (handshake_done_) {
    read_application(opened);
  } else {
    opened.content = Content::handshake;
    const int result = SSL_do_handshake(ssl_.get());
    opened.decrypted_ns = base::monotonic_ns();
    handshake_done_ = result == 1;
    if (result != 1 && SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ) {
      opened.status = failure("handshake", result);
    }
  }
  if (seen_->alert) {
    opened.content = Content::alert;
    opened.close_notify = seen_->alert_description == SSL3_AD_CLOSE_NOTIFY;
    // One before there are keys comes in the clear.
    if (record[0] == SSL3_RT_APPLICATION_DATA) opened.plaintext_bytes = kAlertBytes;
  }
  if (opened.status.ok() && BIO_pending(input_) != 0) {
    opened.status = absl::InternalError("open record: TLS engine: left part of a record unread");
  }
  return opened;
}

void TlsEngine::read_application(OpenedRecord& opened) {
  const int size = SSL_read(ssl_.get(), plaintext_.get(), kMaxPlaintextBytes);
  opened.decrypted_ns = base::monotonic_ns();
  if (size > 0) {
    opened.content = Content::data;
    opened.plaintext = {plaintext_.get(), static_cast<size_t>(size)};
    opened.plaintext_bytes = static_cast<uint32_t>(size);
    // One record never holds more than the buffer, so there is nothing left to read.
    if (SSL_pending(ssl_.get()) != 0) {
      opened.status = absl::InternalError("open record: TLS engine: a record held more than 16384 bytes");
    }
    return;
  }
  const int error = SSL_get_error(ssl_.get(), size);
  if (error == SSL_ERROR_WANT_READ) {
    opened.content = Content::post_handshake;
  } else if (error != SSL_ERROR_ZERO_RETURN) {
    opened.status = failure("open record", size);
  }
}

absl::Status TlsEngine::seal(std::span<const uint8_t> plaintext) {
  if (plaintext.empty()) return absl::OkStatus();
  ERR_clear_error();
  const int result = SSL_write(ssl_.get(), plaintext.data(), static_cast<int>(plaintext.size()));
  if (result == static_cast<int>(plaintext.size())) return absl::OkStatus();
  return failure("seal record", result);
}

void TlsEngine::close() {
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

absl::Status TlsEngine::failure(std::string_view attempt, int result) const {
  if (seen_->alert) {
    return absl::AbortedError(absl::StrCat(std::string(attempt), ": server: sent alert '",
                                           SSL_alert_desc_string_long(seen_->alert_description), "'"));
  }
  return absl::AbortedError(absl::StrCat(std::string(attempt), ": TLS engine: ", last_error(), " (SSL error ",
                                         SSL_get_error(ssl_.get(), result), ")"));
}

std::span<const uint8_t> TlsEngine::output() const {
  const uint8_t* bytes = nullptr;
  size_t size = 0;
  if (BIO_mem_contents(output_, &bytes, &size) != 1) return {};
  return {bytes, size};
}

void TlsEngine::consume(size_t bytes) {
  std::array<uint8_t, 4096> sink;
  while (bytes > 0) {
    const int taken = BIO_read(output_, sink.data(), static_cast<int>(std::min(bytes, sink.size())));
    if (taken <= 0) return;
    bytes -= static_cast<size_t>(taken);
  }
}

std::string TlsEngine::version() const { return SSL_get_version(ssl_.get()); }

std::string TlsEngine::cipher() const {
  const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl_.get());
  return cipher != nullptr ? SSL_CIPHER_standard_name(cipher) : "";
}

std::string TlsEngine::alpn() const {
  const uint8_t* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return std::string(reinterpret_cast<const char*>(name), size);
}

}  // namespace hopyard::probe
