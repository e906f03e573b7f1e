// SPDX-License-Identifier: Apache-2.0
// Walks the message by its descriptor, so that a new field is part of the digest unless it is named here.
#include "run/trial_digest.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/str_join.h"
#include "base/digest.h"
#include "fmt/format.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"

namespace hopyard::run {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Of the machine, not of the trial.
const std::set<std::string_view> kLeftOut = {"trial_id",
                                             "checks",
                                             "reason",
                                             "server.user_cpu_ns",
                                             "server.config",
                                             "server.errors",
                                             "server.nginx_version",
                                             "server.system_cpu_ns",
                                             "server.max_rss_bytes",
                                             "environment.load_1m",
                                             "environment.kernel_version",
                                             "environment.kernel_release",
                                             "started_ns",
                                             "finished_ns"};

// Times on the trial's clock; other ns are durations.
bool is_instant(const FieldDescriptor& field) {
  const auto& name = field.name();
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 && name.size() > 3 &&
         name.compare(name.size() - 3, 3, "_ns") == 0;
}

class Walker {
 public:
  explicit Walker(int64_t start_ns) : start_ns_(start_ns) {}

  // `path` without indices decides what is left out; `shown` is for readers.
  void walk(const Message& message, const std::string& path, const std::string& shown) {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const auto* field : fields) {
      const std::string below = path.empty() ? field->name() : path + "." + field->name();
      if (kLeftOut.contains(below)) continue;
      const std::string name = shown.empty() ? field->name() : shown + "." + field->name();
      if (field->is_map())
        add_map(message, *field, name);
      else if (field->is_repeated())
        add_list(message, *field, below, name);
      else
        add(message, *field, -1, below, name);
    }
  }

  std::vector<std::string> lines() {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.at_ns < b.at_ns; });
    std::vector<std::string> lines;
    for (const Event& event : events_) lines.push_back(fmt::format("{} {}", event.at_ns, event.text));
    return lines;
  }

 private:
  struct Event {
    int64_t at_ns;
    std::string text;
  };

  void add_list(const Message& message, const FieldDescriptor& field, const std::string& path,
                const std::string& shown) {
    const int size = message.GetReflection()->FieldSize(message, &field);
    for (int i = 0; i < size; ++i) add(message, field, i, path, fmt::format("{}[{}]", shown, i));
  }

  // Maps of names to numbers have no order of their own.
  void add_map(const Message& message, const FieldDescriptor& field, const std::string& shown) {
    const Reflection& entries = *message.GetReflection();
    std::map<std::string, std::string> sorted;
    for (int i = 0; i < entries.FieldSize(message, &field); ++i) {
      const Message& entry = entries.GetRepeatedMessage(message, &field, i);
      const auto* descriptor = entry.GetDescriptor();
      sorted[text(entry, *descriptor->FindFieldByNumber(1), -1)] =
          text(entry, *descriptor->FindFieldByNumber(2), -1);
    }
    for (const auto& [key, value] : sorted) note(fmt::format("{}.{} {}", shown, key, value));
  }

  void add(const Message& message, const FieldDescriptor& field, int index, const std::string& path,
           const std::string& shown) {
    const Reflection& reflection = *message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      walk(index < 0 ? reflection.GetMessage(message, &field)
                     : reflection.GetRepeatedMessage(message, &field, index),
           path, shown);
    } else if (is_instant(field) && index < 0) {
      events_.push_back({reflection.GetInt64(message, &field) - start_ns_, shown});
      now_ns_ = events_.back().at_ns;
    } else {
      note(fmt::format("{} {}", shown, text(message, field, index)));
    }
  }

  // What has no time of its own stands with the last time before it.
  void note(const std::string& line) { events_.push_back({now_ns_, line}); }

  static std::string text(const Message& message, const FieldDescriptor& field, int index) {
    std::string out;
    google::protobuf::TextFormat::PrintFieldValueToString(message, &field, index, &out);
    return out;
  }

  const int64_t start_ns_;
  int64_t now_ns_ = 0;
  std::vector<Event> events_;
};

}  // namespace

std::vector<std::string> trial_events(const v1::TrialResult& result) {
  Walker walker(result.client().connect_start_ns());
  walker.walk(result, "", "");
  return walker.lines();
}

std::string trial_digest(const v1::TrialResult& result) {
  return base::sha256_hex(absl::StrJoin(trial_events(result), "\n"));
}

std::string first_difference(const v1::TrialResult& one, const v1::TrialResult& other) {
  const auto a = trial_events(one);
  const auto b = trial_events(other);
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at.first == a.end() && at.second == b.end()) return "";
  return fmt::format("event {}: {} | {}", at.first - a.begin(), at.first == a.end() ? "none" : *at.first,
                     at.second == b.end() ? "none" : *at.second);
}

}  // namespace hopyard::run
