// SPDX-License-Identifier: Apache-2.0
// Changes calls as what they are: a message's fields, its bytes, or which calls there are. Changed as mere
// bytes hardly an input would be a request with a campaign in it.
#include <algorithm>
#include <cstdint>
#include <random>

#include "base/text.h"
#include "fuzz/rpc_calls.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace hopyard::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Random = std::minstd_rand;

constexpr size_t kGrowthBytes = 256;

size_t below(Random& random, size_t limit) { return random() % limit; }

void mutate_bytes(std::string& bytes) {
  const size_t size = bytes.size();
  bytes.resize(size + kGrowthBytes);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), size, bytes.size()));
}

// A text that is not UTF-8 would get no further than gRPC; where a request's bytes are changed there are
// such.
std::string mutated_text(std::string text) {
  mutate_bytes(text);
  text.resize(base::valid_utf8_prefix(text));
  return text;
}

uint64_t mutated_number(uint64_t number) {
  LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(&number), sizeof number, sizeof number);
  return number;
}

void mutate_text(Message& message, const FieldDescriptor& field, Random& random) {
  const auto& reflection = *message.GetReflection();
  if (!field.is_repeated()) {
    reflection.SetString(&message, &field, mutated_text(reflection.GetString(message, &field)));
    return;
  }
  const int size = reflection.FieldSize(message, &field);
  if (size == 0 || below(random, 4) == 0) return reflection.AddString(&message, &field, mutated_text(""));
  const int which = static_cast<int>(below(random, static_cast<size_t>(size)));
  reflection.SetRepeatedString(&message, &field, which,
                               mutated_text(reflection.GetRepeatedString(message, &field, which)));
}

// Requests hold texts, lists of texts, messages, enumerations and numbers of two sizes.
void mutate_field(Message& message, Random& random) {
  const auto& type = *message.GetDescriptor();
  if (type.field_count() == 0) return;
  const auto& reflection = *message.GetReflection();
  const FieldDescriptor& field =
      *type.field(static_cast<int>(below(random, static_cast<size_t>(type.field_count()))));
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return mutate_field(*reflection.MutableMessage(&message, &field), random);
    case FieldDescriptor::CPPTYPE_STRING:
      return mutate_text(message, field, random);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.SetEnumValue(&message, &field, static_cast<int>(below(random, 8)));
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.SetUInt32(
          &message, &field, static_cast<uint32_t>(mutated_number(reflection.GetUInt32(message, &field))));
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.SetUInt64(&message, &field, mutated_number(reflection.GetUInt64(message, &field)));
    default:
      return;
  }
}

void mutate_request(Call& call, Random& random) {
  const auto request = empty_message(*call.method->input_type());
  if (below(random, 8) == 0 || !request->ParseFromString(call.request)) return mutate_bytes(call.request);
  mutate_field(*request, random);
  call.request = request->SerializeAsString();
}

Call any_call(Random& random) {
  Call call{service().method(static_cast<int>(below(random, static_cast<size_t>(service().method_count())))),
            ""};
  mutate_request(call, random);
  return call;
}

void mutate(std::vector<Call>& calls, Random& random) {
  const size_t at = calls.empty() ? 0 : below(random, calls.size());
  const auto here = calls.begin() + static_cast<std::ptrdiff_t>(at);
  switch (calls.empty() ? 0 : below(random, 8)) {
    case 0:
      calls.insert(here, any_call(random));
      return;
    case 1:
      calls.push_back(any_call(random));
      return;
    case 2:
      calls.erase(here);
      return;
    default:
      mutate_request(*here, random);
  }
}

}  // namespace
}  // namespace hopyard::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using namespace hopyard::fuzz;
  Random random(seed);
  std::vector<Call> calls = read_calls({reinterpret_cast<const char*>(data), size});
  mutate(calls, random);
  const std::string changed = write_calls(calls);
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
