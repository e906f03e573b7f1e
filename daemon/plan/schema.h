// SPDX-License-Identifier: Apache-2.0
// The YAML keys of each message, as the (yaml) options of campaign.proto state them: the only list of keys.
// Knows no YAML text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hopyard/v1/campaign.pb.h"

namespace hopyard::plan {

// A flag's two words, as nginx writes them.
inline constexpr char kOn[] = "on";
inline constexpr char kOff[] = "off";

struct Key {
  std::string name;  // as written in YAML
  const google::protobuf::FieldDescriptor* field;
  const v1::Yaml* rule;

  bool is_message() const;
  bool is_flag() const;
  // What a right value looks like: "a time with its unit (ns, us, ms or s) from 0ns to 10s, such as `20ms`".
  std::string expectation() const;
};

// In the order of campaign.proto; fields without the option cannot be written and are absent.
const std::vector<Key>& keys_of(const google::protobuf::Descriptor& message);
const Key* find_key(const google::protobuf::Descriptor& message, std::string_view name);
std::vector<std::string> key_names(const google::protobuf::Descriptor& message);

}  // namespace hopyard::plan
