// SPDX-License-Identifier: Apache-2.0
// Mounts, modules, serial lines and the end of a UML guest.
#include "lab/guest_init.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "lab/cover.h"

namespace hopyard::lab {
namespace {

using base::errno_status;
using base::Fd;

constexpr long kHostfsMagic = 0x00c0ffee;  // fs/hostfs/hostfs_kern.c; in no header

absl::Status mount_on(const char* type, const char* target) {
  if (::mount(type, target, type, 0, nullptr) == 0 || errno == EBUSY) return absl::OkStatus();
  return errno_status(fmt::format("mount {}", type), target);
}

std::string module_folder() {
  utsname names{};
  ::uname(&names);
  return fmt::format("/usr/lib/uml/modules/{}/", names.release);
}

// The path's last part without ".ko".
std::string_view module_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.rfind(".ko"));
}

absl::Status insert_module(const std::string& path) {
  HOPYARD_ASSIGN_OR_RETURN(const Fd file, base::open_file(path, O_RDONLY));
  if (::syscall(SYS_finit_module, file.get(), "", 0) == 0 || errno == EEXIST) return absl::OkStatus();
  return errno_status("load module", path);
}

// The entries of modules.dep: each module's path, then those of all it needs, the deepest last.
class ModuleIndex {
 public:
  explicit ModuleIndex(const std::string& text) {
    for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      std::vector<std::string> paths = absl::StrSplit(line, absl::ByAnyChar(": "), absl::SkipEmpty());
      lines_.push_back(std::move(paths));
    }
  }
  // The module and what it needs, in the order of modules.dep; null if there is none.
  const std::vector<std::string>* find(std::string_view name) const {
    const auto line = std::find_if(lines_.begin(), lines_.end(),
                                   [&](const auto& paths) { return module_name(paths.front()) == name; });
    return line == lines_.end() ? nullptr : &*line;
  }
  // Names of the modules in `folder`, whose names start with `prefix`.
  std::vector<std::string> names_in(std::string_view folder, std::string_view prefix) const {
    std::vector<std::string> names;
    for (const auto& paths : lines_) {
      const std::string& path = paths.front();
      if (path.starts_with(folder) && module_name(path).starts_with(prefix)) {
        names.emplace_back(module_name(path));
      }
    }
    return names;
  }

 private:
  std::vector<std::vector<std::string>> lines_;
};

absl::Status load_from(const ModuleIndex& index, const std::vector<std::string>& names) {
  const std::string folder = module_folder();
  const std::string builtin = base::read_file(folder + "modules.builtin").value_or("");
  for (const auto& name : names) {
    const auto* paths = index.find(name);
    if (paths == nullptr) {
      if (builtin.find("/" + name + ".ko") != std::string::npos) continue;
      return absl::NotFoundError(fmt::format("load module: {}: not in {}", name, folder));
    }
    for (auto path = paths->rbegin(); path != paths->rend(); ++path) {
      HOPYARD_RETURN_IF_ERROR(insert_module(folder + *path));
    }
  }
  return absl::OkStatus();
}

absl::Status load_path_modules() {
  const auto text = base::read_file(module_folder() + "modules.dep");
  if (!text.ok()) return absl::OkStatus();  // a kernel built with everything in
  const ModuleIndex index(*text);
  std::vector<std::string> names = index.names_in("kernel/net/ipv4/", "tcp_");
  names.insert(names.end(), {"veth", "sch_fq", "sch_netem"});
  return load_from(index, names);
}

// A namespace other than the first may use only these, and only the first may change the list.
absl::Status allow_all_congestion_controls() {
  const std::string folder = "/proc/sys/net/ipv4/";
  HOPYARD_ASSIGN_OR_RETURN(const std::string available,
                           base::read_file(folder + "tcp_available_congestion_control"));
  return base::write_existing(folder + "tcp_allowed_congestion_control", available);
}

absl::Status mount_all(Tmp tmp) {
  HOPYARD_RETURN_IF_ERROR(mount_on("proc", "/proc"));
  HOPYARD_RETURN_IF_ERROR(mount_on("sysfs", "/sys"));
  HOPYARD_RETURN_IF_ERROR(mount_on("devtmpfs", "/dev"));
  for (const char* folder : {"/dev/shm", "/dev/pts"}) {
    if (::mkdir(folder, 0755) != 0 && errno != EEXIST) return errno_status("mkdir", folder);
  }
  HOPYARD_RETURN_IF_ERROR(mount_on("devpts", "/dev/pts"));
  HOPYARD_RETURN_IF_ERROR(cover_with_tmpfs("/dev/shm", Beneath::kHidden));
  HOPYARD_RETURN_IF_ERROR(cover_with_tmpfs("/run", Beneath::kHidden));
  return tmp == Tmp::kPrivate ? cover_with_tmpfs("/tmp", Beneath::kVisible) : absl::OkStatus();
}

}  // namespace

bool on_guest_root() {
  struct statfs root {};
  return ::statfs("/", &root) == 0 && root.f_type == kHostfsMagic;
}

bool is_guest_init() { return ::getpid() == 1 && on_guest_root(); }

absl::Status become_guest_init(Tmp tmp) {
  ::umask(022);
  HOPYARD_RETURN_IF_ERROR(mount_all(tmp));
  HOPYARD_RETURN_IF_ERROR(load_path_modules());
  return allow_all_congestion_controls();
}

absl::Status load_modules(const std::vector<std::string>& names) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string text, base::read_file(module_folder() + "modules.dep"));
  return load_from(ModuleIndex(text), names);
}

absl::StatusOr<Fd> open_serial(int line) {
  const std::string path = fmt::format("/dev/ttyS{}", line);
  HOPYARD_ASSIGN_OR_RETURN(Fd serial, base::open_file(path, O_RDWR | O_NOCTTY));
  termios settings{};
  if (::tcgetattr(serial.get(), &settings) != 0) return errno_status("read settings", path);
  ::cfmakeraw(&settings);
  if (::tcsetattr(serial.get(), TCSANOW, &settings) != 0) return errno_status("set raw", path);
  return serial;
}

void drain_serial(const Fd& serial) { ::tcdrain(serial.get()); }

void power_off() {
  ::sync();
  ::reboot(RB_POWER_OFF);
  ::_exit(1);  // only where this is no first process
}

}  // namespace hopyard::lab
