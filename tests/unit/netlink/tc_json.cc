// SPDX-License-Identifier: Apache-2.0
// Just enough JSON for tc's: it may hold the same key twice, which strict readers refuse.
#include "unit/netlink/tc_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "fmt/format.h"

namespace hopyard::netlink_test {
namespace {

using netlink::QdiscInfo;
using netlink::QdiscValue;

// Leaves of one object in order: "options/delay/jitter" -> text of the scalar, strings without quotes.
using Leaves = std::vector<std::pair<std::string, std::string>>;

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::vector<Leaves> list() {
    std::vector<Leaves> objects;
    expect('[');
    while (peek() != ']') {
      objects.emplace_back();
      value("", objects.back());
      if (peek() == ',') expect(',');
    }
    return objects;
  }

 private:
  char peek() {
    at_ = text_.find_first_not_of(" \n\t", at_);
    if (at_ == std::string::npos) throw std::runtime_error("tc's JSON ends early");
    return text_[at_];
  }
  void expect(char c) {
    if (peek() != c) throw std::runtime_error(fmt::format("tc's JSON: no '{}' at {}", c, at_));
    ++at_;
  }
  std::string text_until(const char* ends) {
    const size_t end = text_.find_first_of(ends, at_);
    std::string taken = text_.substr(at_, end - at_);
    at_ = end;
    return taken;
  }
  std::string string() {
    expect('"');
    std::string taken = text_until("\"");
    expect('"');
    return taken;
  }
  void value(const std::string& path, Leaves& leaves) {
    if (peek() == '{') return object(path, leaves);
    leaves.emplace_back(path, peek() == '"' ? string() : text_until(",}] \n\t"));
  }
  void object(const std::string& path, Leaves& leaves) {
    expect('{');
    while (peek() != '}') {
      const std::string key = string();
      expect(':');
      value(path.empty() ? key : path + "/" + key, leaves);
      if (peek() == ',') expect(',');
    }
    expect('}');
  }

  const std::string& text_;
  size_t at_ = 0;
};

// tc's nested option names, flattened as qdisc.h says.
const std::map<std::string, std::string, std::less<>> kFlatNames = {
    {"delay/delay", "delay"},
    {"delay/jitter", "jitter"},
    {"delay/correlation", "delay_correlation"},
    {"loss-random/loss", "loss"},
    {"loss-random/correlation", "loss_correlation"},
    {"loss-gemodel/p", "loss_gemodel_p"},
    {"loss-gemodel/r", "loss_gemodel_r"},
    {"loss-gemodel/1-h", "loss_gemodel_1-h"},
    {"loss-gemodel/1-k", "loss_gemodel_1-k"},
    {"loss-state/p13", "loss_state_p13"},
    {"loss-state/p31", "loss_state_p31"},
    {"loss-state/p32", "loss_state_p32"},
    {"loss-state/p23", "loss_state_p23"},
    {"loss-state/p14", "loss_state_p14"},
    {"duplicate/duplicate", "duplicate"},
    {"duplicate/correlation", "duplicate_correlation"},
    {"reorder/reorder", "reorder"},
    {"reorder/correlation", "reorder_correlation"},
    {"corrupt/corrupt", "corrupt"},
    {"corrupt/correlation", "corrupt_correlation"},
    {"rate/rate", "rate"},
    {"rate/packetoverhead", "packetoverhead"},
    {"rate/cellsize", "cellsize"},
    {"rate/celloverhead", "celloverhead"},
    {"slot/min-delay", "slot_min-delay"},
    {"slot/max-delay", "slot_max-delay"},
    {"slot/packets", "slot_packets"},
    {"slot/bytes", "slot_bytes"},
};

// fq's statistics: tc's words are shorter than the kernel's, and one stands for two things.
const std::map<std::string, std::string, std::less<>> kStatNames = {
    {"flows", "flows"},
    {"inactive", "inactive_flows"},
    {"throttled", "throttled_flows"},
    {"throttled#2", "throttled"},
    {"next_packet_delay", "time_next_delayed_flow"},
    {"gc", "gc_flows"},
    {"highprio", "highprio_packets"},
    {"retrans", "tcp_retrans"},
    {"latency", "unthrottle_latency_ns"},
    {"ce_mark", "ce_mark"},
    {"flows_plimit", "flows_plimit"},
    {"too_long", "pkts_too_long"},
    {"pkts_too_long", "pkts_too_long"},
    {"alloc_errors", "allocation_errors"},
    {"horizon_drops", "horizon_drops"},
    {"horizon_caps", "horizon_caps"},
};

// Shown by tc only where it differs from what is usual; then the usual value is this.
const std::map<std::string, double, std::less<>> kUsual = {
    {"pacing", 1}, {"maxrate", 4294967295.0}, {"ce_threshold", 4294967295.0}};

double number(const QdiscValue& entry) {
  return std::visit([](auto value) { return static_cast<double>(value); }, entry.value);
}

const QdiscValue* find(const std::vector<QdiscValue>& values, std::string_view name) {
  for (const QdiscValue& entry : values) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// Whole numbers tc prints in full, fractions with six digits, netem's times in whole microseconds.
double tolerance(const QdiscValue& entry) {
  if (entry.name == "delay" || entry.name == "jitter") return 1.1e-6;
  return std::holds_alternative<double>(entry.value) ? std::abs(number(entry)) * 1e-5 : 0;
}

void expect_value(const std::vector<QdiscValue>& values, const std::string& name, const std::string& tc) {
  const QdiscValue* ours = find(values, name);
  if (ours == nullptr) {
    ADD_FAILURE() << "tc shows " << name << " " << tc << ", which is missing here";
    return;
  }
  if (tc == "true" || tc == "false") {
    EXPECT_EQ(number(*ours), tc == "true" ? 1 : 0) << name;
    return;
  }
  const double theirs = std::strtod(tc.c_str(), nullptr);
  EXPECT_NEAR(number(*ours), theirs, tolerance(*ours)) << name;
}

struct Seen {
  std::set<std::string, std::less<>> options;
  std::set<std::string, std::less<>> stats;
  size_t compared = 0;
};

void expect_option(const std::string& key, const std::string& tc, const QdiscInfo& info, Seen& seen) {
  std::string name = key;
  std::string value = tc;
  if (const auto flat = kFlatNames.find(key); flat != kFlatNames.end()) name = flat->second;
  if (key == "horizon_drop") value = "true";  // tc: null
  if (key == "horizon_cap") {
    name = "horizon_drop";
    value = "false";
  }
  expect_value(info.options, name, value);
  seen.options.insert(name);
}

// Keys of the qdisc itself.
bool expect_counter(const std::string& key, const std::string& tc, const QdiscInfo& info) {
  const std::map<std::string, uint64_t, std::less<>> counters = {
      {"bytes", info.bytes},           {"packets", info.packets},   {"drops", info.drops},
      {"overlimits", info.overlimits}, {"requeues", info.requeues}, {"backlog", info.backlog_bytes},
      {"qlen", info.backlog_packets}};
  const auto counter = counters.find(key);
  if (counter == counters.end()) return false;
  EXPECT_EQ(std::to_string(counter->second), tc) << key;
  return true;
}

void expect_identity(const std::string& key, const std::string& tc, const QdiscInfo& info) {
  std::string ours = info.kind;
  if (key == "handle") ours = fmt::format("{:x}:", info.handle >> 16);
  if (key == "root") ours = info.parent == 0xffffffffu ? "true" : "false";
  EXPECT_EQ(ours, tc) << key;
}

void expect_rest_is_nothing(const std::vector<QdiscValue>& values,
                            const std::set<std::string, std::less<>>& shown) {
  for (const QdiscValue& entry : values) {
    if (shown.contains(entry.name) || entry.name == "time_next_delayed_flow") continue;
    const auto usual = kUsual.find(entry.name);
    EXPECT_NEAR(number(entry), usual == kUsual.end() ? 0 : usual->second, tolerance(entry))
        << "tc does not show " << entry.name;
  }
}

void compare_leaf(const std::string& key, const std::string& tc, const QdiscInfo& info, Seen& seen) {
  if (key == "dev" || key == "refcnt") return;
  ++seen.compared;
  if (key == "kind" || key == "handle" || key == "root") return expect_identity(key, tc, info);
  if (key.starts_with("options/")) return expect_option(key.substr(8), tc, info, seen);
  if (expect_counter(key, tc, info)) return;
  std::string known = key;
  if (key == "throttled" && seen.stats.contains("throttled_flows")) known = "throttled#2";
  const auto stat = kStatNames.find(known);
  if (stat == kStatNames.end()) {
    ADD_FAILURE() << "tc shows " << key << ", which nothing here stands for";
    return;
  }
  // The time left until then is another at each look.
  if (key != "next_packet_delay") expect_value(info.xstats, stat->second, tc);
  seen.stats.insert(stat->second);
}

}  // namespace

size_t expect_as_tc_says(const std::string& json, const std::string& link_name, const QdiscInfo& info) {
  Seen seen;
  for (const Leaves& leaves : Reader(json).list()) {
    if (std::find(leaves.begin(), leaves.end(), std::pair<std::string, std::string>("dev", link_name)) ==
        leaves.end()) {
      continue;
    }
    for (const auto& [key, value] : leaves) compare_leaf(key, value, info, seen);
  }
  EXPECT_GT(seen.compared, 0u) << "tc shows nothing of " << link_name << ": " << json;
  expect_rest_is_nothing(info.options, seen.options);
  expect_rest_is_nothing(info.xstats, seen.stats);
  return seen.compared;
}

}  // namespace hopyard::netlink_test
