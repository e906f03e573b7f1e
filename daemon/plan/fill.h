// SPDX-License-Identifier: Apache-2.0
// A tree -> a message, key by key, by reflection. Knows the schema and no particular key.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "plan/problems.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace hopyard::plan {

struct Node;

// Where each value of a message was written, by its path: "paths[0].rtt", "cells[2].cases[1]".
class Places {
 public:
  void set(const std::string& path, Place key, Place value);
  bool written(const std::string& path) const { return places_.contains(path); }
  // Of a path that was not written: of the nearest one around it.
  Place key(std::string path) const { return find(std::move(path)).key; }
  Place value(std::string path) const { return find(std::move(path)).value; }

 private:
  struct Both {
    Place key;
    Place value;
  };
  Both find(std::string path) const;
  std::unordered_map<std::string, Both> places_;
};

// Fills `message` from `node`, lists everything the schema refuses, and notes every place. A text that breaks
// its pattern is kept, so that references to it are not refused as well; a number out of range is not. `path`
// is the message's own, where it is part of another.
void fill(const Node& node, google::protobuf::Message& message, Places& places, Problems& problems,
          const std::string& path = "");

}  // namespace hopyard::plan
