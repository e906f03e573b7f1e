// SPDX-License-Identifier: Apache-2.0
// One walk over the tree beside the descriptors; values are checked by their (yaml) rule alone.
#include "plan/fill.h"

#include <algorithm>
#include <map>
#include <regex>

#include "absl/strings/str_split.h"
#include "base/text.h"
#include "fmt/format.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "plan/quantity.h"
#include "plan/schema.h"
#include "plan/tree.h"

namespace hopyard::plan {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A pattern is never tried on more: std::regex recurses with the length of its text.
constexpr size_t kMaxPatternBytes = 200;

// No list of a campaign that could be planned is longer.
constexpr size_t kMaxItems = 1000;

std::string_view kind_name(Node::Kind kind) {
  constexpr std::string_view kNames[] = {"nothing", "a single value", "a list", "a set of keys"};
  return kNames[static_cast<size_t>(kind)];
}

bool is_unprintable(char byte) {
  return static_cast<unsigned char>(byte) < 0x20 ? byte != '\n' : byte == 0x7f;
}

class Filler {
 public:
  Filler(Places& places, Problems& problems) : places_(places), problems_(problems) {}

  void fill_message(const Node& node, Message& message, const std::string& path) {
    const auto& descriptor = *message.GetDescriptor();
    if (node.kind != Node::Kind::kMap) {
      problems_.add(node.place, fmt::format("{} stands where keys should", kind_name(node.kind)),
                    "keys out of " + enumerated(key_names(descriptor), "and"));
      return;
    }
    for (const Node& child : node.children) {
      const Key* key = find_key(descriptor, child.key);
      if (key == nullptr) {
        if (!refuse_block(child, descriptor)) refuse_key(child, key_names(descriptor));
        continue;
      }
      fill_field(child, *key, message, path.empty() ? key->name : path + "." + key->name);
    }
    for (const Key& key : keys_of(descriptor)) {
      if (!key.rule->required() || has_child(node, key.name)) continue;
      problems_.add(node.place, quoted(key.name) + " is missing", key.expectation());
    }
  }

 private:
  static bool has_child(const Node& node, std::string_view name) {
    return std::any_of(node.children.begin(), node.children.end(),
                       [name](const Node& child) { return child.key == name; });
  }

  void refuse_key(const Node& child, const std::vector<std::string>& names) {
    problems_.add(child.key_place, quoted(child.key) + " is no key here" + suggestion(child.key, names),
                  "one of " + enumerated(names));
  }

  // The directive of nginx called `name` that is a key here, or of a message that is one.
  static const Key* find_directive(const google::protobuf::Descriptor& descriptor, std::string_view name) {
    if (const Key* key = find_key(descriptor, name)) return key->rule->blocks().empty() ? nullptr : key;
    for (const Key& key : keys_of(descriptor)) {
      const Key* inside = key.is_message() ? find_key(*key.field->message_type(), name) : nullptr;
      if (inside != nullptr && !inside->rule->blocks().empty()) return inside;
    }
    return nullptr;
  }

  // A block of nginx's configuration with directives inside that are keys elsewhere. True if it was one.
  bool refuse_block(const Node& block, const google::protobuf::Descriptor& descriptor) {
    bool refused = false;
    for (const Node& child : block.children) {
      const Key* key = find_directive(descriptor, child.key);
      if (key == nullptr) continue;
      const std::vector<std::string> blocks = absl::StrSplit(key->rule->blocks(), ' ');
      const bool taken = std::count(blocks.begin(), blocks.end(), block.key) > 0;
      std::string message = fmt::format("{} in a {} block", quoted(child.key), quoted(block.key));
      if (!taken) {
        message += fmt::format(", where nginx refuses it (\"{}\" directive is not allowed here)", key->name);
      }
      problems_.add(child.key_place, message,
                    fmt::format("{} as a key of `server`, which is nginx's server block", quoted(key->name)));
      refused = true;
    }
    return refused;
  }

  void refuse(const Node& node, const Key& key, std::string_view what) {
    problems_.add(node.place, fmt::format("`{}`: {}", key.name, what), key.expectation());
  }

  void fill_field(const Node& node, const Key& key, Message& message, const std::string& path) {
    places_.set(path, node.key_place, node.kind == Node::Kind::kNull ? node.key_place : node.place);
    if (node.kind == Node::Kind::kNull) {
      problems_.add(node.key_place, quoted(key.name) + " has no value", key.expectation());
    } else if (key.field->is_repeated()) {
      fill_list(node, key, message, path);
    } else if (key.is_message()) {
      fill_message(node, *message.GetReflection()->MutableMessage(&message, key.field), path);
    } else {
      fill_scalar(node, key, message);
    }
  }

  void fill_list(const Node& node, const Key& key, Message& message, const std::string& path) {
    // A list of one may be written as that one.
    if (node.kind == Node::Kind::kScalar && !key.is_message()) return fill_item(node, key, message, path);
    if (node.kind != Node::Kind::kList)
      return refuse(node, key, fmt::format("{} is no list", kind_name(node.kind)));
    if (node.children.empty()) return refuse(node, key, "the list is empty");
    if (node.children.size() > kMaxItems) {
      return refuse(node, key, fmt::format("{} items, of at most {}", node.children.size(), kMaxItems));
    }
    for (const Node& item : node.children) fill_item(item, key, message, path);
    if (key.is_message()) refuse_equal_names(node, key);
  }

  void fill_item(const Node& item, const Key& key, Message& message, const std::string& path) {
    const auto& reflection = *message.GetReflection();
    const std::string item_path = fmt::format("{}[{}]", path, reflection.FieldSize(message, key.field));
    if (key.is_message()) {
      places_.set(item_path, item.place, item.place);
      return fill_message(item, *reflection.AddMessage(&message, key.field), item_path);
    }
    // Noted only if it was added: the index of the next one must not slip.
    if (fill_scalar(item, key, message)) places_.set(item_path, item.place, item.place);
  }

  // Items are told apart by their `name`, where their message has one.
  void refuse_equal_names(const Node& list, const Key& key) {
    std::map<std::string, Place> seen;
    for (const Node& item : list.children) {
      for (const Node& child : item.children) {
        if (child.key != "name" || child.kind != Node::Kind::kScalar) continue;
        const auto [first, fresh] = seen.emplace(child.text, child.place);
        if (fresh) continue;
        problems_.add(child.place,
                      fmt::format("{} is the name of two of the `{}`", quoted(child.text), key.name),
                      fmt::format("another name; the first is on line {}", first->second.line));
      }
    }
  }

  // True if the value is in the message now.
  bool fill_scalar(const Node& node, const Key& key, Message& message) {
    if (node.kind != Node::Kind::kScalar) {
      refuse(node, key, fmt::format("{} stands where a single value should", kind_name(node.kind)));
      return false;
    }
    if (key.is_flag()) return fill_flag(node, key, message);
    if (key.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) return fill_text(node, key, message);
    return fill_number(node, key, message);
  }

  bool fill_flag(const Node& node, const Key& key, Message& message) {
    if (node.text != kOn && node.text != kOff) {
      refuse(node, key, quoted(node.text));
      return false;
    }
    message.GetReflection()->SetBool(&message, key.field, node.text == kOn);
    return true;
  }

  bool fill_text(const Node& node, const Key& key, Message& message) {
    const bool printable = std::none_of(node.text.begin(), node.text.end(), is_unprintable);
    if (!printable || base::valid_utf8_prefix(node.text) != node.text.size()) {
      refuse(node, key, "characters that are no text");
      return false;
    }
    const v1::Yaml& rule = *key.rule;
    const bool allowed =
        rule.one_of_size() == 0 || std::count(rule.one_of().begin(), rule.one_of().end(), node.text) > 0;
    if (node.text.empty()) {
      refuse(node, key, "the text is empty");
    } else if (!allowed) {
      refuse(node, key, quoted(node.text));
    } else if (!rule.pattern().empty() && !matches(node.text, rule.pattern())) {
      refuse(node, key, quoted(node.text));
    }
    const auto& reflection = *message.GetReflection();
    if (key.field->is_repeated()) {
      reflection.AddString(&message, key.field, node.text);
    } else {
      reflection.SetString(&message, key.field, node.text);
    }
    return true;
  }

  bool matches(const std::string& text, const std::string& pattern) {
    const auto compiled = patterns_.try_emplace(pattern, pattern).first;
    return text.size() <= kMaxPatternBytes && std::regex_match(text, compiled->second);
  }

  bool fill_number(const Node& node, const Key& key, Message& message) {
    const Quantity quantity = parse_quantity(node.text, key.rule->unit());
    const std::string error = quantity.error.empty() ? range_error(quantity, key) : quantity.error;
    if (!error.empty()) {
      refuse(node, key, fmt::format("{} {}", quoted(node.text), error));
      return false;
    }
    store(quantity, *key.field, message);
    return true;
  }

  static std::string range_error(const Quantity& quantity, const Key& key) {
    const bool fraction = key.rule->unit() == v1::UNIT_PERCENT;
    const double value = fraction ? quantity.fraction : static_cast<double>(quantity.whole);
    if (key.rule->has_min() && value < key.rule->min()) return "is too small";
    if (key.rule->has_max() && value > key.rule->max()) return "is too large";
    const bool narrow = key.field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32;
    return narrow && quantity.whole > UINT32_MAX ? "is too large" : "";
  }

  static void store(const Quantity& quantity, const FieldDescriptor& field, Message& message) {
    const auto& reflection = *message.GetReflection();
    if (field.is_repeated())
      return reflection.AddUInt32(&message, &field, static_cast<uint32_t>(quantity.whole));
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_UINT32:
        return reflection.SetUInt32(&message, &field, static_cast<uint32_t>(quantity.whole));
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection.SetUInt64(&message, &field, quantity.whole);
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection.SetInt64(&message, &field, static_cast<int64_t>(quantity.whole));
      default:
        return reflection.SetDouble(&message, &field, quantity.fraction);
    }
  }

  Places& places_;
  Problems& problems_;
  std::map<std::string, std::regex> patterns_;  // compiling one costs more than all its matches
};

}  // namespace

void Places::set(const std::string& path, Place key, Place value) { places_[path] = {key, value}; }

Places::Both Places::find(std::string path) const {
  while (!path.empty()) {
    const auto found = places_.find(path);
    if (found != places_.end()) return found->second;
    const size_t end = path.find_last_of(".[");
    path.resize(end == std::string::npos ? 0 : end);
  }
  return {};
}

void fill(const Node& node, Message& message, Places& places, Problems& problems, const std::string& path) {
  Filler(places, problems).fill_message(node, message, path);
}

}  // namespace hopyard::plan
