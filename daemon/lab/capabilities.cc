// SPDX-License-Identifier: Apache-2.0
// Which modules are there, and a link pair that tries them.
#include "lab/capabilities.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

#include "absl/strings/str_split.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "netlink/qdisc.h"
#include "netlink/route.h"

namespace hopyard::lab {
namespace {

// A function of the module tells whether it is there, loaded or built in, where no list names it.
struct Module {
  const char* capability;
  const char* name;
  const char* function;
};
constexpr Module kVeth = {"veth", "veth", "veth_xmit"};
constexpr Module kFq = {"fq", "sch_fq", "fq_enqueue"};
constexpr Module kNetem = {"netem", "sch_netem", "netem_enqueue"};
constexpr Module kTcpDiag = {"tcp_diag", "tcp_diag", "tcp_diag_get_info"};

bool has_line_with(const std::string& path, std::string_view text) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

std::string modules_folder() {
  utsname names{};
  ::uname(&names);
  return fmt::format("/lib/modules/{}/", names.release);
}

bool is_present(const Module& module) {
  return ::access(fmt::format("/sys/module/{}", module.name).c_str(), F_OK) == 0 ||
         has_line_with("/proc/modules", fmt::format("{} ", module.name)) ||
         has_line_with(modules_folder() + "modules.builtin", fmt::format("/{}.ko", module.name)) ||
         has_line_with("/proc/kallsyms", fmt::format(" {}", module.function));
}

absl::Status check_present(const Module& module) {
  if (is_present(module)) return absl::OkStatus();
  // A kernel that names nothing and loads nothing has to be tried.
  if (::access("/proc/modules", F_OK) != 0 && ::access("/proc/kallsyms", F_OK) != 0) return absl::OkStatus();
  if (has_line_with(modules_folder() + "modules.dep", fmt::format("/{}.ko", module.name))) {
    return absl::FailedPreconditionError(
        fmt::format("the module {0} is not loaded; root can load it: modprobe {0}", module.name));
  }
  return absl::UnimplementedError(fmt::format("this kernel was built without {}", module.name));
}

class Attempt {
 public:
  absl::Status make_links() {
    HOPYARD_RETURN_IF_ERROR(check_present(kVeth));
    HOPYARD_ASSIGN_OR_RETURN(auto routes, netlink::RouteSocket::open());
    netlink::RouteBatch batch;
    batch.add_veth({.name = "probe0"}, {.name = "probe1"});
    HOPYARD_RETURN_IF_ERROR(routes.run(batch));
    HOPYARD_ASSIGN_OR_RETURN(first_, routes.link_index("probe0"));
    HOPYARD_ASSIGN_OR_RETURN(second_, routes.link_index("probe1"));
    return absl::OkStatus();
  }
  absl::Status add_fq() { return add(kFq, first_, netlink::FqOptions{.pacing = true}); }
  absl::Status add_netem() {
    return add(kNetem, second_,
               netlink::NetemOptions{
                   .limit_packets = 1000, .delay = std::chrono::milliseconds(10), .rate_bps = 20'000'000});
  }
  void remove_links() {
    auto routes = netlink::RouteSocket::open();
    if (first_ == 0 || !routes.ok()) return;
    netlink::RouteBatch batch;
    batch.delete_link(first_);
    (void)routes->run(batch);  // the namespace's end would take them too
  }

 private:
  template <typename Options>
  absl::Status add(const Module& module, int link, const Options& options) {
    HOPYARD_RETURN_IF_ERROR(check_present(module));
    if (link == 0) return absl::OkStatus();  // no link to try it on; veth's own finding says why
    HOPYARD_ASSIGN_OR_RETURN(auto qdiscs, netlink::QdiscSocket::open());
    return qdiscs.add_root(link, options);
  }
  int first_ = 0;
  int second_ = 0;
};

}  // namespace

std::vector<Capability> find_capabilities() {
  Attempt attempt;
  std::vector<Capability> found;
  found.push_back({kVeth.capability, attempt.make_links()});
  found.push_back({kFq.capability, attempt.add_fq()});
  found.push_back({kNetem.capability, attempt.add_netem()});
  found.push_back({kTcpDiag.capability, check_present(kTcpDiag)});
  attempt.remove_links();
  return found;
}

std::vector<std::string> allowed_congestion_controls() {
  const auto text = base::read_file("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  return absl::StrSplit(text.value_or(""), absl::ByAnyChar(" \n"), absl::SkipEmpty());
}

}  // namespace hopyard::lab
