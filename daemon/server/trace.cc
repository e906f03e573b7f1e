// SPDX-License-Identifier: Apache-2.0
// One pass over the log, line by line, a state per connection.
#include "server/trace.h"

#include <charconv>
#include <map>
#include <optional>

#include "base/text.h"

namespace hopyard::server {
namespace {

struct Line {
  std::string_view level;  // "debug"
  std::optional<uint64_t> connection;
  std::string_view text;
};

template <typename Integer>
std::optional<Integer> leading_number(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

// "2026/11/30 22:15:44 [debug] 1#1: *2 text"; the part between "]" and the text may lack "*2".
std::optional<Line> split(std::string_view line) {
  const size_t open = line.find(" [");
  if (open == std::string_view::npos) return std::nullopt;
  const size_t close = line.find("] ", open);
  const size_t colon = line.find(": ", close);
  if (close == std::string_view::npos || colon == std::string_view::npos) return std::nullopt;
  Line result{line.substr(open + 2, close - open - 2), std::nullopt, line.substr(colon + 2)};
  if (const auto starred = after(result.text, "*")) {
    result.connection = leading_number<uint64_t>(*starred);
    const size_t space = result.text.find(' ');
    if (!result.connection || space == std::string_view::npos) return std::nullopt;
    result.text.remove_prefix(space + 1);
  }
  return result;
}

class Reader {
 public:
  void add(std::string_view line);
  Trace finish() &&;

 private:
  struct State {
    ConnectionTrace trace;
    std::optional<uint32_t> requested;  // an SSL_write whose result has not been logged yet
  };
  void add_connection_line(State& state, std::string_view text);
  void add_fragment_line(State& state, std::string_view text);
  std::map<uint64_t, State> states_;
  std::vector<uint64_t> order_;
  Trace trace_;
};

void Reader::add(std::string_view text) {
  const auto line = split(text);
  if (!line) return;
  const bool serious = line->level != "debug" && line->level != "info" && line->level != "notice";
  if (serious && trace_.errors.size() < kErrorBytes) {
    const std::string_view part = base::cut_utf8(text, kErrorBytes - trace_.errors.size() - 1);
    trace_.errors.append(base::printable(part)).append("\n");
  }
  if (line->level == "notice" && line->text.starts_with("nginx/")) trace_.nginx_version = line->text;
  if (!line->connection) return;
  const auto [at, fresh] = states_.try_emplace(*line->connection);
  if (fresh) {
    order_.push_back(*line->connection);
    at->second.trace.connection = *line->connection;
  }
  add_connection_line(at->second, line->text);
}

void Reader::add_connection_line(State& state, std::string_view text) {
  ConnectionTrace& trace = state.trace;
  if (const auto size = after(text, "SSL to write: ")) {
    state.requested = leading_number<uint32_t>(*size);
  } else if (const auto result = after(text, "SSL_write: ")) {
    const auto returned = leading_number<int32_t>(*result);  // "SSL_write: want read" is not a result
    if (!returned || !state.requested) return;
    v1::SslWrite write;
    write.set_seq(static_cast<uint32_t>(trace.writes.size()));
    write.set_requested(*std::exchange(state.requested, std::nullopt));
    write.set_returned(*returned);
    write.set_response(trace.requests);
    trace.writes.push_back(write);
  } else if (text.starts_with("http request line: ") || text.starts_with("http2 request line: ")) {
    ++trace.requests;
  } else {
    add_fragment_line(state, text);
  }
}

void Reader::add_fragment_line(State& state, std::string_view text) {
  const auto rest = after(text, "SSL ");
  const size_t word = rest ? rest->find(" fragment: ") : std::string_view::npos;
  const auto restored = after(text, "SSL fragment restored: ");
  if (!restored &&
      (word == std::string_view::npos || rest->substr(0, word).find(' ') != std::string_view::npos)) {
    return;
  }
  const std::string_view tail =
      restored ? *restored : rest->substr(word + std::string_view(" fragment: ").size());
  const auto size = leading_number<uint32_t>(tail);
  if (!size) return;
  v1::FragmentEvent event;
  event.set_before_write(static_cast<uint32_t>(state.trace.writes.size()));
  event.set_fragment_bytes(*size);
  event.set_restored(restored.has_value());
  if (const size_t rc = tail.rfind("rc:"); rc != std::string_view::npos) {
    event.set_returned(leading_number<int32_t>(tail.substr(rc + 3)).value_or(0));
  }
  state.trace.fragments.push_back(event);
}

Trace Reader::finish() && {
  for (const uint64_t connection : order_) {
    ConnectionTrace& trace = states_.at(connection).trace;
    if (trace.requests > 0) trace_.connections.push_back(std::move(trace));
  }
  return std::move(trace_);
}

}  // namespace

Trace parse_log(std::string_view log) {
  Reader reader;
  while (!log.empty()) {
    const size_t end = log.find('\n');
    reader.add(log.substr(0, end));
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
  }
  return std::move(reader).finish();
}

}  // namespace hopyard::server
