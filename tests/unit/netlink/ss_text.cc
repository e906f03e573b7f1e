// SPDX-License-Identifier: Apache-2.0
// One table: ss's word, the kernel's name, the unit between them.
#include "unit/netlink/ss_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <vector>

namespace hopyard::netlink_test {
namespace {

using netlink::SocketInfo;

struct Figure {
  std::string_view word;  // "rtt", "skmem/rb"
  size_t part;            // of several numbers between slashes or commas
  std::string_view name;  // in SocketInfo::values
  double scale = 1;       // ss's number times this is the kernel's
  double cut = 0;         // ss cuts off less than this, in the kernel's unit
  // Kernel values that ss does not show, from…to.
  uint64_t hidden_from = 0;
  uint64_t hidden_to = 0;
};

constexpr double kMs = 1000;        // us in a ms
constexpr double kBits = 1.0 / 8;   // bytes in a bit
constexpr double kGain = 256;       // BBR's gains are fixed point
constexpr uint64_t kShown = ~0ull;  // hidden_from: never hidden
const Figure kFigures[] = {
    {"skmem/r", 0, "skmem_rmem_alloc"},
    {"skmem/rb", 0, "skmem_rcvbuf"},
    {"skmem/t", 0, "skmem_wmem_alloc"},
    {"skmem/tb", 0, "skmem_sndbuf"},
    {"skmem/f", 0, "skmem_fwd_alloc"},
    {"skmem/w", 0, "skmem_wmem_queued"},
    {"skmem/o", 0, "skmem_optmem"},
    {"skmem/bl", 0, "skmem_backlog"},
    {"skmem/d", 0, "skmem_drops"},
    {"wscale", 0, "tcpi_snd_wscale"},
    {"wscale", 1, "tcpi_rcv_wscale"},
    {"rto", 0, "tcpi_rto", kMs, 0, kShown},
    {"backoff", 0, "tcpi_backoff"},
    {"rtt", 0, "tcpi_rtt", kMs},
    {"rtt", 1, "tcpi_rttvar", kMs, 0, 0, ~0ull},
    {"ato", 0, "tcpi_ato", kMs},
    {"mss", 0, "tcpi_snd_mss", 1, 0, kShown},
    {"pmtu", 0, "tcpi_pmtu"},
    {"rcvmss", 0, "tcpi_rcv_mss"},
    {"advmss", 0, "tcpi_advmss"},
    {"cwnd", 0, "tcpi_snd_cwnd", 1, 0, kShown},
    {"ssthresh", 0, "tcpi_snd_ssthresh", 1, 0, 0xffff, ~0ull},
    {"bytes_sent", 0, "tcpi_bytes_sent"},
    {"bytes_retrans", 0, "tcpi_bytes_retrans"},
    {"bytes_acked", 0, "tcpi_bytes_acked"},
    {"bytes_received", 0, "tcpi_bytes_received"},
    {"segs_out", 0, "tcpi_segs_out"},
    {"segs_in", 0, "tcpi_segs_in"},
    {"data_segs_out", 0, "tcpi_data_segs_out"},
    {"data_segs_in", 0, "tcpi_data_segs_in"},
    {"bbr/bw", 0, "bbr_bw", kBits, 0, 0, ~0ull},
    {"bbr/mrtt", 0, "bbr_min_rtt", kMs, 0, 0, ~0ull},
    {"bbr/pacing_gain", 0, "bbr_pacing_gain", kGain},
    {"bbr/cwnd_gain", 0, "bbr_cwnd_gain", kGain},
    {"lastsnd", 0, "tcpi_last_data_sent"},
    {"lastrcv", 0, "tcpi_last_data_recv"},
    {"lastack", 0, "tcpi_last_ack_recv"},
    {"pacing_rate", 0, "tcpi_pacing_rate", kBits},
    {"pacing_rate", 1, "tcpi_max_pacing_rate", kBits, 0, 0, ~0ull},
    {"delivery_rate", 0, "tcpi_delivery_rate", kBits},
    {"delivered", 0, "tcpi_delivered"},
    {"delivered_ce", 0, "tcpi_delivered_ce"},
    {"busy", 0, "tcpi_busy_time", kMs, kMs, 0, 0},
    {"rwnd_limited", 0, "tcpi_rwnd_limited", kMs, kMs},
    {"sndbuf_limited", 0, "tcpi_sndbuf_limited", kMs, kMs},
    {"unacked", 0, "tcpi_unacked"},
    {"retrans", 0, "tcpi_retrans"},
    {"retrans", 1, "tcpi_total_retrans"},
    {"lost", 0, "tcpi_lost"},
    {"sacked", 0, "tcpi_sacked"},
    {"dsack_dups", 0, "tcpi_dsack_dups"},
    {"reordering", 0, "tcpi_reordering", 1, 0, 3, 3},
    {"reord_seen", 0, "tcpi_reord_seen"},
    {"rcv_rtt", 0, "tcpi_rcv_rtt", kMs},
    {"rcv_space", 0, "tcpi_rcv_space"},
    {"rcv_ssthresh", 0, "tcpi_rcv_ssthresh"},
    {"notsent", 0, "tcpi_notsent_bytes"},
    {"minrtt", 0, "tcpi_min_rtt", kMs},
    {"rcv_ooopack", 0, "tcpi_rcv_ooopack"},
    {"snd_wnd", 0, "tcpi_snd_wnd"},
};

// Words without a number, and the bit each stands for.
struct Flag {
  std::string_view word;
  std::string_view name;
  uint64_t bit;
};
const Flag kFlags[] = {
    {"ts", "tcpi_options", 1},        {"sack", "tcpi_options", 2},
    {"ecn", "tcpi_options", 8},       {"ecnseen", "tcpi_options", 16},
    {"fastopen", "tcpi_options", 32}, {"app_limited", "tcpi_delivery_rate_app_limited", 1},
};

// word -> its numbers; flags have none.
using Words = std::map<std::string, std::vector<double>, std::less<>>;

std::vector<double> numbers_in(std::string text) {
  // "10,10", "0.02/0.01", "12ms(3.4%)", "800bps/900bps": a number leads each part.
  text = text.substr(0, text.find('('));
  std::replace(text.begin(), text.end(), ',', '/');
  std::vector<double> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '/');)
    numbers.push_back(std::strtod(part.c_str(), nullptr));
  return numbers;
}

// "skmem:(r0,rb131072,…)", "bbr:(bw:0bps,mrtt:0.02)"
void take_group(const std::string& name, const std::string& inside, Words& words) {
  std::istringstream members(inside);
  for (std::string member; std::getline(members, member, ',');) {
    const size_t name_end = member.find_first_of(":0123456789");
    const size_t number = member.find_first_of("0123456789");
    words[name + "/" + member.substr(0, name_end)] = numbers_in(member.substr(number));
  }
}

struct Line {
  std::string state;
  double rqueue = 0;
  double wqueue = 0;
  std::string local;
  std::string remote;
  std::string timer = "off";
  Words words;
};

Line parse(const std::string& text) {
  Line line;
  std::istringstream in(text);
  in >> line.state >> line.rqueue >> line.wqueue >> line.local >> line.remote;
  for (std::string word; in >> word;) {
    const size_t colon = word.find(':');
    if (word.starts_with("timer:(")) {  // "timer:(on,204ms,0)"
      line.timer = word.substr(7, word.find(',') - 7);
    } else if (word == "send" || word == "pacing_rate" || word == "delivery_rate") {
      std::string value;
      in >> value;
      line.words[word] = numbers_in(value);
    } else if (colon != std::string::npos && word[colon + 1] == '(') {
      take_group(word.substr(0, colon), word.substr(colon + 2, word.size() - colon - 3), line.words);
    } else if (colon != std::string::npos) {
      line.words[word.substr(0, colon)] = numbers_in(word.substr(colon + 1));
    } else {
      line.words[word] = {};
    }
  }
  return line;
}

void expect_hidden(const Figure& figure, const SocketInfo& info) {
  const auto value = info.value(figure.name);
  if (!value) return;
  // Read in between, the kernel's number may just have become something.
  EXPECT_TRUE(*value >= figure.hidden_from && *value <= figure.hidden_to)
      << "ss shows no " << figure.word << ", but " << figure.name << " is " << *value;
}

bool compare(const Figure& figure, const Words& words, const SocketInfo& before, const SocketInfo& after) {
  const auto word = words.find(figure.word);
  if (word == words.end() || word->second.size() <= figure.part) {
    expect_hidden(figure, before);
    return false;
  }
  const auto first = before.value(figure.name);
  const auto second = after.value(figure.name);
  if (!first || !second) {
    ADD_FAILURE() << "ss shows " << figure.word << ", but there is no " << figure.name;
    return false;
  }
  const double shown = word->second[figure.part] * figure.scale;
  const double slack = std::abs(shown) * 1e-5;  // ss prints six digits
  EXPECT_GE(shown, static_cast<double>(std::min(*first, *second)) - slack - figure.cut) << figure.word;
  EXPECT_LE(shown, static_cast<double>(std::max(*first, *second)) + slack) << figure.word;
  return true;
}

void expect_only_known_words(const Line& line, const SocketInfo& info) {
  for (const auto& [word, numbers] : line.words) {
    const std::string& name = word;
    const bool known =
        name == "send" ||  // computed by ss
        name == info.congestion_control ||
        std::any_of(std::begin(kFigures), std::end(kFigures),
                    [&](const auto& f) { return f.word == name; }) ||
        std::any_of(std::begin(kFlags), std::end(kFlags), [&](const auto& f) { return f.word == name; });
    EXPECT_TRUE(known) << "ss shows " << name << ", which nothing here stands for";
  }
}

}  // namespace

size_t expect_as_ss_says(const std::string& ss_line, const SocketInfo& before, const SocketInfo& after) {
  const Line line = parse(ss_line);
  EXPECT_EQ(line.state, before.state);
  EXPECT_EQ(line.local, before.local);
  EXPECT_EQ(line.remote, before.remote);
  EXPECT_EQ(line.rqueue, static_cast<double>(before.value("rqueue").value_or(~0u)));
  EXPECT_EQ(line.wqueue, static_cast<double>(before.value("wqueue").value_or(~0u)));
  EXPECT_TRUE(line.words.contains(before.congestion_control)) << before.congestion_control;
  constexpr std::string_view kTimers[] = {"off", "on", "keepalive", "timewait", "persist"};
  EXPECT_EQ(line.timer, kTimers[std::min<uint64_t>(before.value("timer").value_or(0), 4)]);
  expect_only_known_words(line, before);
  size_t compared = 6;
  for (const Figure& figure : kFigures) compared += compare(figure, line.words, before, after);
  for (const Flag& flag : kFlags) {
    EXPECT_EQ(line.words.contains(flag.word), (before.value(flag.name).value_or(0) & flag.bit) != 0)
        << flag.word;
  }
  return compared;
}

}  // namespace hopyard::netlink_test
