// SPDX-License-Identifier: Apache-2.0
// docs/campaign-reference.md states every key as campaign.proto does, word for word, and no other.
#include <set>

#include "absl/strings/str_replace.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "places.h"
#include "plan/reader.h"
#include "plan/schema.h"
#include "unit/plan/known.h"

namespace hopyard::plan {
namespace {

std::string row(const Key& key) {
  // A bar inside a table's cell would end it.
  const std::string expected = absl::StrReplaceAll(key.expectation(), {{"|", "\\|"}});
  return fmt::format("| `{}` | {} | {} |\n", key.name, key.rule->required() ? "yes" : "no", expected);
}

void add_tables(const google::protobuf::Descriptor& message, const std::string& where, std::string& text) {
  text += fmt::format("### {}\n\n| key | required | value |\n|---|---|---|\n", where);
  for (const Key& key : keys_of(message)) text += row(key);
  text += "\n";
  for (const Key& key : keys_of(message)) {
    if (!key.is_message()) continue;
    const std::string inside =
        where == "The campaign" ? fmt::format("`{}`", key.name) : fmt::format("{} › `{}`", where, key.name);
    add_tables(*key.field->message_type(), inside, text);
  }
}

TEST(CampaignReference, HoldsTheTablesOfTheSchema) {
  const auto document = base::read_file(HOPYARD_SOURCE_DIR "/docs/campaign-reference.md");
  ASSERT_TRUE(document.ok()) << document.status();
  std::string tables;
  add_tables(*v1::Campaign::descriptor(), "The campaign", tables);
  EXPECT_THAT(*document, testing::HasSubstr(tables))
      << "put these tables between the document's two rulers:\n"
      << tables;
}

TEST(CampaignReference, OpensWithACampaignThatCanBeRead) {
  const auto document = base::read_file(HOPYARD_SOURCE_DIR "/docs/campaign-reference.md");
  ASSERT_TRUE(document.ok()) << document.status();
  const size_t begin = document->find("```yaml\n") + 8;
  v1::CampaignText text;
  text.set_yaml(document->substr(begin, document->find("```", begin) - begin));
  EXPECT_EQ(describe(read_campaign(text, known()).problems), "");
}

TEST(Schema, HasARuleForEveryFieldOfACampaign) {
  std::set<const google::protobuf::Descriptor*> open{v1::Campaign::descriptor()};
  while (!open.empty()) {
    const auto* message = *open.begin();
    open.erase(open.begin());
    EXPECT_EQ(static_cast<int>(keys_of(*message).size()), message->field_count()) << message->name();
    for (const Key& key : keys_of(*message)) {
      if (key.is_message()) open.insert(key.field->message_type());
    }
  }
}

}  // namespace
}  // namespace hopyard::plan
