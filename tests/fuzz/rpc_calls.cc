// SPDX-License-Identifier: Apache-2.0
// See rpc_calls.h.
#include "fuzz/rpc_calls.h"

#include <algorithm>

#include "base/text.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::fuzz {
namespace {

constexpr size_t kMostCalls = 8;
constexpr size_t kHeadBytes = 3;
constexpr char kFirstOfText = ' ';  // no method has so high a number

// What is not UTF-8 would get no further than gRPC.
std::vector<Call> submission_of(std::string_view campaign) {
  v1::SubmitRequest submit;
  submit.mutable_campaign()->set_file("fuzz.yaml");
  submit.mutable_campaign()->set_yaml(std::string(campaign.substr(0, base::valid_utf8_prefix(campaign))));
  return {{service().FindMethodByName("Submit"), submit.SerializeAsString()}};
}

}  // namespace

const google::protobuf::ServiceDescriptor& service() {
  return *v1::CampaignRef::descriptor()->file()->FindServiceByName("Hopyard");
}

std::unique_ptr<google::protobuf::Message> empty_message(const google::protobuf::Descriptor& type) {
  auto& factory = *google::protobuf::MessageFactory::generated_factory();
  return std::unique_ptr<google::protobuf::Message>(factory.GetPrototype(&type)->New());
}

std::vector<Call> read_calls(std::string_view input) {
  if (!input.empty() && input[0] >= kFirstOfText) return submission_of(input);
  std::vector<Call> calls;
  while (input.size() >= kHeadBytes && calls.size() < kMostCalls) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(input[i]); };
    const size_t length = std::min<size_t>(byte(1) * 256u + byte(2), input.size() - kHeadBytes);
    calls.push_back({service().method(byte(0) % service().method_count()),
                     std::string(input.substr(kHeadBytes, length))});
    input.remove_prefix(kHeadBytes + length);
  }
  return calls;
}

std::string write_calls(const std::vector<Call>& calls) {
  std::string input;
  for (const auto& call : calls) {
    const size_t length = std::min<size_t>(call.request.size(), 0xffff);
    input +=
        {static_cast<char>(call.method->index()), static_cast<char>(length >> 8), static_cast<char>(length)};
    input += call.request.substr(0, length);
  }
  return input;
}

}  // namespace hopyard::fuzz
