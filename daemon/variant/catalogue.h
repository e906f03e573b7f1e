// SPDX-License-Identifier: Apache-2.0
// Pins, variants and kernels as data: what patches/variants.yaml, patches/kernels.yaml and a person's own
// file say. Fetches and builds nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace hopyard::variant {

// What a variant promises about its TLS records (plaintext bytes). Mirrors the proto message of this name.
struct RecordPolicy {
  uint32_t fragment_bytes = 16384;    // largest record once the early budget is spent
  uint32_t early_fragment_bytes = 0;  // 0: no early regime
  uint32_t early_budget_bytes = 0;    // successfully written application bytes under the early limit
  uint32_t transitions = 0;           // "fragment restored" log lines once the budget is exceeded
  uint32_t settings = 0;              // "fragment set" log lines per connection
  bool dynamic = false;               // the case's ssl_dyn_rec_* settings decide, within fragment_bytes

  bool operator==(const RecordPolicy&) const = default;
};

// One source tarball. The hash decides what it is; the rest says where it may be found, tried in this order:
// `path`, the cache, Debian's archive, `urls`.
struct Pin {
  std::string name;            // "nginx-1.26.3"
  std::string file;            // the tarball's file name; Debian's, where Debian has it
  std::string sha256;          // lower-case hex, 64 characters
  std::string debian_source;   // source package; empty: none
  std::string debian_package;  // binary package that is the file itself, with its version; empty: none
  std::string debian_version;
  std::string debian_release;  // "trixie"
  std::vector<std::string> urls;
  std::string path;    // absolute; empty: none. If the file exists it must have the hash.
  std::string recipe;  // absolute path of the CMakeLists.txt that builds it (BoringSSL pins); nginx: empty
};

struct Variant {
  std::string name;
  std::string note;
  Pin nginx;
  Pin boringssl;
  std::vector<std::string> patches;    // absolute paths, in the order they are applied
  std::vector<std::string> configure;  // nginx's ./configure arguments
  std::vector<std::string> cflags;     // further compiler flags for nginx (--with-cc-opt)
  RecordPolicy records;
  std::vector<std::string>
      directives;  // that this server has and others do not, as keys of a case's `server`
};

// A guest's kernel, built from source. Its name is what a campaign's `kernel` says.
struct Kernel {
  std::string name;
  std::string note;
  Pin source;                         // Debian's linux-source package, or a tarball
  std::string config;                 // absolute path: options over tinyconfig
  std::vector<std::string> patches;   // absolute paths, in the order they are applied
  std::vector<std::string> boot;      // further words for its command line
  std::vector<std::string> controls;  // congestion controls it has
  uint32_t objects = 0;               // about how many files are compiled, to tell how far a build is
};

class Catalogue {
 public:
  // The tree's patches/variants.yaml and kernels.yaml, then $XDG_CONFIG_HOME/hopyard/variants.yaml if there
  // is one.
  static std::vector<std::string> default_files();
  // Reads all files; later ones may use pins of earlier ones, and may add but not redefine. Patches and paths
  // are relative to the file that names them. INVALID_ARGUMENT with "file:line:column: …".
  static absl::StatusOr<Catalogue> load(const std::vector<std::string>& files);

  const std::vector<Variant>& variants() const { return variants_; }
  const std::vector<Kernel>& kernels() const { return kernels_; }
  // NOT_FOUND names the variants there are. The pointer lives as long as the catalogue.
  absl::StatusOr<const Variant*> find(const std::string& name) const;
  absl::StatusOr<const Kernel*> find_kernel(const std::string& name) const;
  // The BoringSSL every variant gets unless it says otherwise; the worker links it too.
  const Pin& boringssl() const { return pins_.at(default_boringssl_); }

 private:
  friend class CatalogueReader;
  std::map<std::string, Pin> pins_;
  std::vector<Variant> variants_;
  std::vector<Kernel> kernels_;
  std::string default_nginx_;
  std::string default_boringssl_;
  std::vector<std::string> default_configure_;
};

}  // namespace hopyard::variant
