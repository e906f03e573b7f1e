// SPDX-License-Identifier: Apache-2.0
// Content-addressed guest kernels: a source, a configuration and patches in, one program out, kept under the
// hash of all that went in. Does not know how a guest is booted.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "variant/builder.h"
#include "variant/catalogue.h"
#include "variant/progress.h"

namespace hopyard::variant {

// A finished kernel. Exists only whole.
struct KernelBuild {
  std::string kernel;
  std::string sha256;          // content hash of all inputs; the kernel's identity
  std::string program;         // absolute path of the UML executable
  std::string program_sha256;  // of that file
  std::string config_sha256;   // of the whole configuration it was made with, which lies beside it
  std::string release;         // `linux --version`: "6.12.57-1f2e3d4c", the key's first digits behind
  std::vector<std::string> inputs;
};

// As safe as Builder with threads and other processes on one cache.
class KernelBuilder {
 public:
  explicit KernelBuilder(BuilderOptions options = {});

  absl::StatusOr<std::string> content_hash(const Kernel& kernel) const;
  // Nothing if there is none or its program was altered.
  std::optional<KernelBuild> cached(const Kernel& kernel) const;
  // Made now if need be: some four minutes of one processor, 2 GB of disk meanwhile, nothing of it as root.
  // Errors name the file, patch, option or command at fault. CANCELLED once `stop` is requested.
  absl::StatusOr<KernelBuild> build(const Kernel& kernel, const ProgressSink& sink,
                                    std::stop_token stop = {});

 private:
  BuilderOptions options_;
};

}  // namespace hopyard::variant
