// SPDX-License-Identifier: Apache-2.0
// Reads the options once per message type, and words what they ask for.
#include "plan/schema.h"

#include <map>
#include <mutex>

#include "fmt/format.h"
#include "google/protobuf/descriptor.h"
#include "plan/problems.h"
#include "plan/quantity.h"

namespace hopyard::plan {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::vector<Key> read_keys(const Descriptor& message) {
  std::vector<Key> keys;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor* field = message.field(i);
    if (!field->options().HasExtension(v1::yaml)) continue;
    const v1::Yaml& rule = field->options().GetExtension(v1::yaml);
    keys.push_back({rule.key().empty() ? field->name() : rule.key(), field, &rule});
  }
  return keys;
}

std::string noun(const Key& key) {
  switch (key.rule->unit()) {
    case v1::UNIT_DURATION:
      return "a time with its unit";
    case v1::UNIT_RATE:
      return "a rate with its unit";
    case v1::UNIT_SIZE:
      return "a size with its unit";
    case v1::UNIT_PERCENT:
      return "a percentage with its `%`";
    default:
      return key.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING ? "a text" : "a whole number";
  }
}

std::string range(const v1::Yaml& rule) {
  const std::string low = rule.has_min() ? format_quantity(rule.min(), rule.unit()) : "";
  const std::string high = rule.has_max() ? format_quantity(rule.max(), rule.unit()) : "";
  if (!low.empty() && !high.empty()) return fmt::format(" from {} to {}", low, high);
  if (!low.empty()) return fmt::format(" of at least {}", low);
  return high.empty() ? "" : fmt::format(" of at most {}", high);
}

std::string one_value(const Key& key) {
  const v1::Yaml& rule = *key.rule;
  if (key.is_message()) return "keys out of " + enumerated(key_names(*key.field->message_type()), "and");
  if (rule.one_of_size() > 0) return enumerated({rule.one_of().begin(), rule.one_of().end()});
  if (key.is_flag()) return enumerated({kOn, kOff});
  std::string text = noun(key);
  const std::vector<std::string> units = unit_names(rule.unit());
  if (units.size() > 1) text += fmt::format(" ({})", enumerated(units));
  text += range(rule);
  if (!rule.pattern().empty()) text += fmt::format(" of the form `{}`", rule.pattern());
  return text;
}

}  // namespace

bool Key::is_message() const { return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE; }

bool Key::is_flag() const { return field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL; }

std::string Key::expectation() const {
  std::string text = one_value(*this);
  if (field->is_repeated()) text = (is_message() ? "a list, each item with " : "a list, each item ") + text;
  if (!rule->example().empty()) text += fmt::format(", such as `{}`", rule->example());
  return text;
}

const std::vector<Key>& keys_of(const Descriptor& message) {
  static std::mutex mutex;
  static std::map<const Descriptor*, std::vector<Key>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(&message);
  if (found != known.end()) return found->second;
  return known.emplace(&message, read_keys(message)).first->second;
}

const Key* find_key(const Descriptor& message, std::string_view name) {
  for (const Key& key : keys_of(message)) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::vector<std::string> key_names(const Descriptor& message) {
  std::vector<std::string> names;
  for (const Key& key : keys_of(message)) names.push_back(key.name);
  return names;
}

}  // namespace hopyard::plan
