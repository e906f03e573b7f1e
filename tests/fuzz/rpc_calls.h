// SPDX-License-Identifier: Apache-2.0
// An input of rpc_fuzz as calls of the service, one after another, and back.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hopyard::fuzz {

struct Call {
  const google::protobuf::MethodDescriptor* method;
  std::string request;  // any bytes
};

// Any bytes are calls. A text is a campaign's file, which is submitted; else each call is the method's
// number, the length of the request in two bytes, and the request.
std::vector<Call> read_calls(std::string_view input);
std::string write_calls(const std::vector<Call>& calls);

const google::protobuf::ServiceDescriptor& service();
std::unique_ptr<google::protobuf::Message> empty_message(const google::protobuf::Descriptor& type);

}  // namespace hopyard::fuzz
