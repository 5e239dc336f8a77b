// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/files/resolve.hpp"

#include "virtual_gpu/files/store.hpp"
#include "virtual_gpu/files/system.hpp"

#include <cerrno>
#include <climits>
#include <vector>

namespace ullage::files {
namespace {

constexpr int most_links = 40;

std::string link_target(const std::string& path) {
  char text[PATH_MAX];
  const auto size = sys::read_link(path.c_str(), text, sizeof text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::string working_folder() {
  char text[PATH_MAX];
  return ::syscall(SYS_getcwd, text, sizeof text) > 0 ? text : "";
}

std::string absolute(int folder, const char* path) {
  if (path[0] == '/') return path;
  std::string base = folder == AT_FDCWD ? working_folder() : path_of(folder);
  return base.empty() || base[0] != '/' ? std::string() : base + "/" + path;
}

/// Walks a path component by component.
class Walk {
 public:
  Walk(const Marks& marks, std::string rest, bool follow)
      : marks_(marks), rest_(std::move(rest)), follow_(follow || rest_.ends_with('/')) {}

  Place place() {
    while (place_.error == 0 && take_component()) step();
    place_.path = levels_.empty() ? "/" : levels_.back().path;
    place_.physical = levels_.empty() ? "/" : levels_.back().physical;
    place_.elsewhere |= place_.physical != place_.path;
    if (place_.error == 0) look();
    return std::move(place_);
  }

 private:
  struct Level {
    std::string path, physical;
  };

  bool take_component() {
    const std::size_t begin = rest_.find_first_not_of('/', at_);
    if (begin == std::string::npos) return false;
    const std::size_t end = rest_.find('/', begin);
    component_ = rest_.substr(begin, end - begin);
    at_ = end == std::string::npos ? rest_.size() : end;
    return true;
  }

  [[nodiscard]] bool last() const { return rest_.find_first_not_of('/', at_) == std::string::npos; }

  void step() {
    if (component_ == ".") return;
    if (component_ == "..") {
      if (!levels_.empty()) levels_.pop_back();
      return;
    }
    enter();
    if (last() && !follow_) return;
    if (marks_.of(levels_.back().path) == FileMark::deleted) {
      if (!last()) place_.error = ENOENT;
      return;
    }
    follow_link();
  }

  void enter() {
    const std::string above = levels_.empty() ? "" : levels_.back().path;
    const std::string above_physical = levels_.empty() ? "" : levels_.back().physical;
    Level level{above + "/" + component_, above_physical + "/" + component_};
    if (marks_.of(level.path) == FileMark::shadowed) level.physical = Store::shadow_of(level.path);
    levels_.push_back(std::move(level));
  }

  void follow_link() {
    const Level here = levels_.back();
    errno = 0;
    const std::string target = link_target(here.physical);
    if (target.empty()) {  // no link
      if (!last() && errno != EINVAL) place_.error = errno;
      return;
    }
    if (lies_in(here.path, "/proc")) {
      place_.through_kernel |= target[0] == '/' || target.find(':') != std::string::npos;
      if (target.find(':') != std::string::npos && target[0] != '/') return;  // pipe:[123], anon_inode:[eventfd]
    }
    if (++links_ > most_links) {
      place_.error = ELOOP;
      return;
    }
    // A link of the shadow leads where it would from its own place.
    place_.elsewhere |= here.physical != here.path;
    levels_.pop_back();
    if (target[0] == '/') levels_.clear();
    rest_ = target + rest_.substr(at_);
    at_ = 0;
  }

  void look() {
    place_.mark = marks_.of(place_.path);
    struct stat status;
    if (place_.mark != FileMark::deleted && sys::status(place_.physical, &status) == 0)
      place_.type = status.st_mode & S_IFMT;
  }

  const Marks& marks_;
  std::string rest_;
  std::size_t at_ = 0;
  std::string component_;
  std::vector<Level> levels_;
  bool follow_;
  int links_ = 0;
  Place place_;
};

}  // namespace

Place resolve(const Marks& marks, int folder, const char* path, bool follow) {
  Place nowhere;
  nowhere.error = EFAULT;
  if (path == nullptr || path[0] == '\0') return nowhere;
  std::string full = absolute(folder, path);
  if (full.empty()) return nowhere;
  return Walk(marks, std::move(full), follow).place();
}

std::string path_of(int descriptor) {
  return link_target("/proc/self/fd/" + std::to_string(descriptor));
}

Standing standing(const Marks& marks, const Place& place) {
  if (place.type == 0) return Standing::absent;
  if (place.mark == FileMark::shadowed) return Standing::shadowed;
  const bool kept = S_ISREG(place.type) || S_ISLNK(place.type) || S_ISDIR(place.type);
  if (!kept || place.physical != place.path || marks.created(place.path)) return Standing::free;
  return written_through(place.path, Store::through()) ? Standing::free : Standing::existing;
}

bool on_disk(const std::string& path) {
  struct stat status;
  return sys::status(path, &status) == 0;
}

}  // namespace ullage::files
