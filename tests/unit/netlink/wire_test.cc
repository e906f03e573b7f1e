// SPDX-License-Identifier: Apache-2.0
// Reading of messages and attributes whose lengths lie.
#include "netlink/wire.h"

#include <gmock/gmock.h>

namespace hopyard::netlink::wire {
namespace {

using testing::ElementsAre;

using Buffer = std::vector<uint8_t>;

template <typename T>
void append(Buffer& buffer, const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  buffer.insert(buffer.end(), bytes, bytes + sizeof value);
}

void append_attribute(Buffer& buffer, uint16_t length, uint16_t type, std::string_view payload) {
  append(buffer, nlattr{length, type});
  buffer.insert(buffer.end(), payload.begin(), payload.end());
}

std::vector<std::pair<uint16_t, std::string>> attributes(const Buffer& buffer) {
  std::vector<std::pair<uint16_t, std::string>> seen;
  for_each_attribute(buffer, [&seen](uint16_t type, Bytes payload) {
    seen.emplace_back(type, std::string(payload.begin(), payload.end()));
  });
  return seen;
}

TEST(Attributes, AreReadInOrderWithTheirPadding) {
  Buffer buffer;
  append_attribute(buffer, 7, 1, "abcX");
  append_attribute(buffer, 8, 2 | NLA_F_NESTED, "defg");
  append_attribute(buffer, 4, 3, "");
  append_attribute(buffer, 5, 4, "h");  // the last one's padding may be missing
  EXPECT_THAT(attributes(buffer),
              ElementsAre(std::pair{1, "abc"}, std::pair{2, "defg"}, std::pair{3, ""}, std::pair{4, "h"}));
}

TEST(Attributes, ReadingStopsAtTheFirstThatDoesNotFit) {
  for (const uint16_t length : {0, 1, 3, 9, 500, 65535}) {
    Buffer buffer;
    append_attribute(buffer, 8, 1, "good");
    append_attribute(buffer, length, 2, "evil");
    EXPECT_THAT(attributes(buffer), ElementsAre(std::pair{1, "good"})) << length;
  }
}

TEST(Attributes, AnEndInsideAHeaderIsAnEnd) {
  Buffer buffer;
  append_attribute(buffer, 8, 1, "good");
  for (int extra = 1; extra <= 3; ++extra) {
    buffer.push_back(0);
    EXPECT_EQ(attributes(buffer).size(), 1u) << extra;
  }
  EXPECT_TRUE(attributes({}).empty());
}

std::vector<uint32_t> sequences(const Buffer& buffer) {
  std::vector<uint32_t> seen;
  for_each_message(buffer, [&seen](const nlmsghdr& header, Bytes) { seen.push_back(header.nlmsg_seq); });
  return seen;
}

TEST(Messages, ReadingStopsAtTheFirstThatDoesNotFit) {
  for (const uint32_t length : {0u, 15u, 17u, 0x7fffffffu, 0xffffffffu}) {
    Buffer buffer;
    append(buffer, nlmsghdr{.nlmsg_len = 16, .nlmsg_seq = 1});
    append(buffer, nlmsghdr{.nlmsg_len = length, .nlmsg_seq = 2});
    EXPECT_THAT(sequences(buffer), ElementsAre(1)) << length;
  }
}

// An NLMSG_ERROR payload: error, the request it quotes, the kernel's text.
Buffer error_payload(int error, uint32_t quoted_length, size_t quoted_bytes, std::string_view text) {
  Buffer payload;
  append(payload, nlmsgerr{.error = error, .msg = {.nlmsg_len = quoted_length}});
  payload.insert(payload.end(), quoted_bytes, 0);
  append_attribute(payload, static_cast<uint16_t>(4 + text.size()), NLMSGERR_ATTR_MSG, text);
  return payload;
}

TEST(Errors, CarryTheKernelsWords) {
  const absl::Status capped =
      error_of(NLM_F_CAPPED | NLM_F_ACK_TLVS, error_payload(-EEXIST, 400, 0, std::string_view("taken\0", 6)));
  EXPECT_TRUE(absl::IsAlreadyExists(capped));
  EXPECT_EQ(std::string(capped.message()), "File exists (taken)");
  const absl::Status whole = error_of(NLM_F_ACK_TLVS, error_payload(-EPERM, 16 + 8, 8, "no"));
  EXPECT_EQ(std::string(whole.message()), "Operation not permitted (no)");
  const absl::Status plain = error_of(NLM_F_CAPPED, error_payload(-ENODEV, 400, 0, "unannounced"));
  EXPECT_EQ(std::string(plain.message()), "No such device");
  EXPECT_TRUE(error_of(NLM_F_CAPPED, error_payload(0, 400, 0, "")).ok());
}

TEST(Errors, ThatAreCutOrLieAreStillErrors) {
  EXPECT_FALSE(error_of(0, {}).ok());
  const uint8_t two_bytes[2] = {1, 2};
  EXPECT_FALSE(error_of(NLM_F_ACK_TLVS, two_bytes).ok());
  for (const uint32_t quoted : {0u, 15u, 4000u, 0xfffffff0u, 0xffffffffu}) {
    const absl::Status status = error_of(NLM_F_ACK_TLVS, error_payload(-EPERM, quoted, 0, "x"));
    EXPECT_EQ(std::string(status.message()), "Operation not permitted") << quoted;
  }
}

TEST(Fields, LieAtTheirNaturalAlignment) {
  constexpr auto kFields = lay_out(std::to_array<Field>({{"a", 1}, {"b", 2}, {"c", 8}, {"d", 4, true}}));
  EXPECT_EQ(kFields[1].offset, 2);
  EXPECT_EQ(kFields[2].offset, 8);
  EXPECT_EQ(kFields[3].offset, 16);
  Buffer bytes(20, 0xff);
  EXPECT_EQ(kFields[0].value_in(bytes), 0xffu);
  EXPECT_EQ(kFields[1].value_in(bytes), 0xffffu);
  EXPECT_EQ(static_cast<int64_t>(kFields[3].value_in(bytes)), -1);
  bytes.resize(19);
  EXPECT_TRUE(kFields[2].present_in(bytes));
  EXPECT_FALSE(kFields[3].present_in(bytes));
}

}  // namespace
}  // namespace hopyard::netlink::wire
