// SPDX-License-Identifier: Apache-2.0
// Built from yaml-cpp's events and not from its nodes: those drop one of two equal keys in silence, and
// expand aliases.
#include "plan/tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <deque>
#include <sstream>
#include <unordered_map>

#include "base/text.h"
#include "fmt/format.h"

namespace hopyard::plan {
namespace {

// The document cannot be read any further; the problem is listed already.
struct Stop {};

class Builder : public YAML::EventHandler {
 public:
  Builder(Place origin, Problems& problems) : origin_(origin), problems_(problems) {}

  Node root;
  bool has_root = false;

  Place place(const YAML::Mark& mark) const {
    if (mark.is_null()) return origin_;
    Place place = origin_;
    place.line += static_cast<uint32_t>(mark.line);
    place.column = static_cast<uint32_t>(mark.column) + (mark.line == 0 ? origin_.column : 1);
    return place;
  }

  [[noreturn]] void stop(const YAML::Mark& mark, std::string_view message, std::string_view expected) {
    problems_.add(place(mark), message, expected);
    throw Stop();
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_root) stop(mark, "a second document begins", "one campaign in one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    leaf(mark, anchor, Node::Kind::kNull, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    stop(mark, "an alias (`*name`) is used", "the value written out: campaigns have no anchors or aliases");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    leaf(mark, anchor, Node::Kind::kScalar, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, anchor, Node::Kind::kList);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, anchor, Node::Kind::kMap);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  // A list or map whose end has not come.
  struct Open {
    Node* node;
    bool has_key = false;
    bool drop_value = false;  // its key was there before
    std::string key;
    Place key_place;
    Node dropped;
    std::unordered_map<std::string, Place> keys;
  };

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    const bool plain = tag.empty() || tag == "?" || tag == "!";
    if (!plain) stop(mark, "a tag is used: " + quoted(tag), "the value without a tag");
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node->kind == Node::Kind::kMap && !open_.back().has_key;
  }

  void take_key(const YAML::Mark& mark, Node::Kind kind, const std::string& text) {
    if (kind != Node::Kind::kScalar || text.empty()) stop(mark, "a key is not a word", "`key: value`");
    Open& map = open_.back();
    map.has_key = true;
    map.key = text;
    map.key_place = place(mark);
    const auto [first, fresh] = map.keys.emplace(text, map.key_place);
    map.drop_value = !fresh;
    if (fresh) return;
    problems_.add(
        map.key_place, quoted(text) + " is written twice",
        fmt::format("it once; the first is on line {}, column {}", first->second.line, first->second.column));
  }

  // The new node, put where the document has come to.
  Node& append(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (anchor != 0)
      stop(mark, "an anchor (`&name`) is used", "no anchor: campaigns have no anchors or aliases");
    if (++nodes_ > kMaxNodes)
      stop(mark, "the document has too many values", fmt::format("at most {}", kMaxNodes));
    Node* node = &root;
    if (!open_.empty()) node = &child_of(open_.back());
    has_root = true;
    node->kind = kind;
    node->place = place(mark);
    return *node;
  }

  static Node& child_of(Open& parent) {
    Node child;
    child.key = std::move(parent.key);
    child.key_place = parent.key_place;
    parent.has_key = false;
    if (parent.drop_value) return parent.dropped = std::move(child);
    // Only the innermost open node grows, so pointers to the nodes around it stay good.
    return parent.node->children.emplace_back(std::move(child));
  }

  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind, const std::string& text) {
    if (expects_key() && anchor == 0) return take_key(mark, kind, text);
    append(mark, anchor, kind).text = text;
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (expects_key()) take_key(mark, kind, "");
    if (open_.size() >= kMaxDepth) {
      stop(mark, "values are nested too deep", fmt::format("at most {} levels", kMaxDepth));
    }
    Node& node = append(mark, anchor, kind);
    open_.push_back(Open{&node});
  }

  const Place origin_;
  Problems& problems_;
  std::deque<Open> open_;  // children of a dropped value point into it
  size_t nodes_ = 0;
};

// Lists each line's first character that no campaign may hold; true if there was none.
bool check_characters(std::string_view text, Place origin, Problems& problems) {
  bool good = true;
  Place place = origin;
  bool line_reported = false;
  for (size_t i = 0; i < text.size(); ++i, ++place.column) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      ++place.line;
      place.column = 0;
      line_reported = false;
      continue;
    }
    const bool line_end = byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if ((byte >= 0x20 && byte != 0x7f) || line_end || line_reported) continue;
    good = false;
    line_reported = true;
    problems.add(place, byte == '\t' ? "a tab" : fmt::format("a control character (0x{:02x})", byte),
                 "spaces");
  }
  return good;
}

bool check_text(std::string_view text, Place origin, Problems& problems) {
  if (text.size() > kMaxDocumentBytes) {
    problems.add(origin, fmt::format("the document has {} bytes", text.size()),
                 fmt::format("at most {}", kMaxDocumentBytes));
    return false;
  }
  if (const size_t good = base::valid_utf8_prefix(text); good < text.size()) {
    Place place = origin;
    for (const char byte : text.substr(0, good)) {
      ++place.column;
      if (byte != '\n') continue;
      ++place.line;
      place.column = 1;
    }
    problems.add(place, "a byte that is not UTF-8", "text in UTF-8");
    return false;
  }
  return check_characters(text, origin, problems);
}

}  // namespace

Node* Node::find(std::string_view wanted) {
  for (Node& child : children) {
    if (child.key == wanted) return &child;
  }
  return nullptr;
}

std::optional<Node> read_tree(std::string_view text, Place origin, Problems& problems) {
  if (!check_text(text, origin, problems)) return std::nullopt;
  Builder builder(origin, problems);
  try {
    std::istringstream input{std::string(text)};
    YAML::Parser parser(input);
    while (parser.HandleNextDocument(builder)) continue;
  } catch (const YAML::Exception& error) {
    problems.add(builder.place(error.mark), "not YAML: " + error.msg,
                 "`key: value` lines, indented by spaces");
    return std::nullopt;
  } catch (const Stop&) {
    return std::nullopt;
  }
  if (!builder.has_root) builder.root.place = origin;
  return std::move(builder.root);
}

}  // namespace hopyard::plan
