// SPDX-License-Identifier: Apache-2.0
// Content-addressed server builds: a variant's inputs in, one nginx binary out, kept under the hash of all
// that went in. Does not know what a trial is: a gate's verdict is bytes to it.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "variant/catalogue.h"
#include "variant/progress.h"

namespace hopyard::variant {

// A finished build. Exists only whole: it is renamed into place as the last step.
struct Build {
  std::string variant;
  std::string sha256;               // content hash of all inputs; the variant's identity
  std::string nginx_path;           // absolute
  std::string binary_sha256;        // of the file at nginx_path
  std::vector<std::string> inputs;  // "nginx nginx_1.26.3.orig.tar.gz sha256:…", "compiler …", one a line
  RecordPolicy records;
};

// What a gate said about one build.
struct GateRecord {
  std::string bytes;  // as the gate gave them
  bool passed = false;
};

struct BuilderOptions {
  std::string cache_dir;  // sources/, boringssl/, trees/, builds/ below it; empty: base::cache_dir()
  std::string cc;         // empty: $CC, else "cc"
  std::string cxx;        // empty: $CXX, else "c++"
  unsigned jobs = 0;      // 0: one per processor
};

// Empty fields filled in, the cache's path absolute.
BuilderOptions with_defaults(BuilderOptions options);

// Safe to use from several threads, and beside other processes on the same cache: work on one key is done
// once, under a lock, and others wait for it.
class Builder {
 public:
  explicit Builder(BuilderOptions options = {});

  // The hash of everything a build of `variant` depends on: tarballs' hashes, patches' bytes, flags, records,
  // compiler, linker, libc, recipe. Reads the patches (NOT_FOUND names a missing one), not the tarballs.
  absl::StatusOr<std::string> content_hash(const Variant& variant) const;
  // The finished build, its binary's hash checked; nothing if there is none or the binary was altered.
  std::optional<Build> cached(const Variant& variant) const;
  // The finished build, made now if need be. Errors name the tarball (with the hash wanted and seen), the
  // patch (with the hunk) or the command (with its last lines) at fault. CANCELLED once `stop` is requested.
  // Tarballs that are at hand are verified even if the build is cached. Patches may apply with an offset,
  // never with fuzz.
  absl::StatusOr<Build> build(const Variant& variant, const ProgressSink& sink, std::stop_token stop = {});
  // A prefix with include/openssl and lib/lib{ssl,crypto}.a of a static BoringSSL, made now if need be.
  absl::StatusOr<std::string> boringssl(const Pin& pin, const ProgressSink& sink, std::stop_token stop = {});

  // The verdict is kept beside the build and holds for exactly this binary.
  absl::Status record_gate(const Build& build, const std::string& gate_bytes, bool passed);
  std::optional<GateRecord> gate(const Build& build) const;

 private:
  BuilderOptions options_;
};

}  // namespace hopyard::variant
