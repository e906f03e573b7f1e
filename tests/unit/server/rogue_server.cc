// SPDX-License-Identifier: Apache-2.0
// A server that takes nginx's place and misbehaves in the way its program's name says. It reads the
// configuration as far as the socket it names, and serves one connection.
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace {

struct Connection {
  int fd;
  SSL* ssl;

  bool write(std::string_view bytes) const {
    return SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
  }
  void write_raw(std::string_view bytes) const { (void)!::write(fd, bytes.data(), bytes.size()); }
  std::string read_request() const {
    std::string request;
    char bytes[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const int got = SSL_read(ssl, bytes, sizeof bytes);
      if (got <= 0) return {};
      request.append(bytes, static_cast<size_t>(got));
    }
    return request;
  }
  // Until the client has gone.
  void drain() const {
    char bytes[4096];
    while (::read(fd, bytes, sizeof bytes) > 0) {
    }
  }
};

constexpr size_t kBody = 20000;

std::string head() { return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBody) + "\r\n\r\n"; }
std::string body(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 256);
  return bytes;
}

[[noreturn]] void wait_for_a_signal() {
  while (true) ::pause();
}

using Script = std::function<void(const Connection&)>;

const std::map<std::string, Script> kScripts = {
    {"never-answers", [](const Connection& client) { client.drain(); }},
    {"drips",  // the next byte would come in a minute
     [](const Connection& client) {
       client.read_request();
       client.write("H");
       client.drain();
     }},
    {"closes-mid-record",
     [](const Connection& client) {
       client.read_request();
       client.write(head() + body(5000));
       client.write_raw(std::string("\x17\x03\x03\x10\x00", 5) + std::string(95, 'x'));
     }},
    {"wrong-body",
     [](const Connection& client) {
       client.read_request();
       std::string wrong = body(kBody);
       wrong[kBody / 2] ^= 1;
       client.write(head());
       client.write(wrong);
       client.drain();
     }},
    {"large-records",  // of 16384 bytes, where 4096 were promised
     [](const Connection& client) {
       client.read_request();
       client.write(head() + body(kBody));
       SSL_shutdown(client.ssl);
     }},
    {"impossible-record",
     [](const Connection& client) {
       client.read_request();
       client.write(head());
       client.write_raw(std::string("\x17\x03\x03\x41\x01", 5));
       client.drain();
     }},
    {"broken-frame",  // SETTINGS, then DATA on the stream that carries none
     [](const Connection& client) {
       client.write(std::string("\0\0\0\4\0\0\0\0\0", 9));
       client.write(std::string("\0\0\5\0\0\0\0\0\0hello", 14));
       client.drain();
     }},
    {"crashes",
     [](const Connection& client) {
       client.read_request();
       client.write(head() + body(5000));
       ::signal(SIGSEGV, SIG_DFL);
       ::raise(SIGSEGV);
     }},
    {"ignores-quit",
     [](const Connection& client) {
       ::signal(SIGQUIT, SIG_IGN);
       client.read_request();
       client.write(head() + body(kBody));
       SSL_shutdown(client.ssl);
     }},
};

std::string value_of(const std::string& config, const std::string& key) {
  std::istringstream words(config);
  for (std::string word; words >> word;) {
    if (word != key) continue;
    words >> word;
    if (!word.empty() && word.back() == ';') word.pop_back();
    return word;
  }
  return {};
}

int choose_alpn(SSL*, const uint8_t** out, uint8_t* size, const uint8_t* offered, unsigned, void*) {
  *size = offered[0];
  *out = offered + 1;
  return SSL_TLSEXT_ERR_OK;
}

int listen_at(const std::string& place) {
  constexpr std::string_view kPrefix = "unix:";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!place.starts_with(kPrefix)) return -1;
  std::strncpy(address.sun_path, place.c_str() + kPrefix.size(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  return ::listen(fd, 8) == 0 ? fd : -1;
}

SSL_CTX* context_for(const std::string& config) {
  SSL_CTX* context = SSL_CTX_new(TLS_method());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_alpn_select_cb(context, choose_alpn, nullptr);
  const bool loaded = SSL_CTX_use_certificate_file(context, value_of(config, "ssl_certificate").c_str(),
                                                   SSL_FILETYPE_PEM) == 1 &&
                      SSL_CTX_use_PrivateKey_file(context, value_of(config, "ssl_certificate_key").c_str(),
                                                  SSL_FILETYPE_PEM) == 1;
  return loaded ? context : nullptr;
}

int serve(const Script& script, const std::string& config) {
  SSL_CTX* context = context_for(config);
  const int listener = listen_at(value_of(config, "listen"));
  if (context == nullptr || listener < 0) return 3;
  while (true) {
    const int fd = ::accept(listener, nullptr, nullptr);
    SSL* ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    // The first connection only asks whether somebody listens.
    if (SSL_accept(ssl) == 1) {
      script({fd, ssl});
      ::close(fd);
      wait_for_a_signal();
    }
    SSL_free(ssl);
    ::close(fd);
  }
}

}  // namespace

// -p FOLDER -c CONFIGURATION -e LOG; started in FOLDER.
int main(int, char** argv) {
  const std::string name = std::string(argv[0]).substr(std::string(argv[0]).rfind('/') + 1);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGQUIT, [](int) { ::_exit(0); });
  if (name == "never-listens") wait_for_a_signal();
  if (name == "dies-at-start") ::raise(SIGKILL);
  const auto script = kScripts.find(name);
  if (script == kScripts.end()) return 2;
  std::stringstream config;
  config << std::ifstream("nginx.conf").rdbuf();
  return serve(script->second, config.str());
}
