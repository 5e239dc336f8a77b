// SPDX-License-Identifier: Apache-2.0
// rename: of what the run made, of what was there (it stays, the script's view moves), onto either.
#include "virtual_gpu/files/copy.hpp"
#include "virtual_gpu/files/listing.hpp"
#include "virtual_gpu/files/route.hpp"
#include "virtual_gpu/files/store.hpp"
#include "virtual_gpu/files/system.hpp"

#include <linux/fs.h>

#include <cerrno>

namespace ullage::files {
namespace {

using Records = std::vector<FileRecord>;

constexpr unsigned keep_target = RENAME_NOREPLACE;

/// Where a file of the script goes when it gets this name, and what is written down then.
struct Destination {
  int error = 0;
  std::string path;
  Records records;
};

Destination destination(const Marks& marks, const Place& target) {
  Destination to;
  to.path = target.physical;
  const Standing kind = standing(marks, target);
  if (kind == Standing::existing) {
    to.error = may_change_name(target.path);
    to.path = Store::shadow_of(target.path);
    to.records = {{FileMark::shadowed, target.path}};
    if (to.error == 0) to.error = make_parents(to.path);
  } else if (kind == Standing::absent) {
    const Route route = making(marks, target);
    to.error = route.error;
    if (!route.path.empty()) to.path = route.path;
    if (route.records) to.records = {route.record};
  }
  return to;
}

/// Writes what happened; an answer for the caller.
Route settled(Store& store, int error, const Records& records) {
  if (error != 0) return failing(error);
  return records.empty() || store.write(records) ? finished() : failing(errno);
}

/// The source's own name no longer stands for it. What was created below it is now below another name.
void forget(const Marks& marks, const Place& source, Records& records) {
  if (marks.of(source.path) != FileMark::none) records.push_back({FileMark::none, source.path});
  for (const auto& path : marks.below(source.path)) records.push_back({FileMark::none, path});
}

int renamed(const std::string& from, const std::string& to) {
  return sys::rename(from, to) == 0 ? 0 : errno;
}

/// The file stays under its old name; the new one is a copy.
Route rename_existing(Store& store, const Place& source, Destination to) {
  if (const int error = may_change_name(source.path)) return failing(error);
  to.records.push_back({FileMark::deleted, source.path});
  return settled(store, copy_over(source.path, to.path, Store::temporary()), to.records);
}

Route rename_file(Store& store, const Place& source, const Place& target) {
  if (S_ISDIR(target.type)) return failing(EISDIR);
  Destination to = destination(store.marks(), target);
  if (to.error != 0) return failing(to.error);
  const Standing kind = standing(store.marks(), source);
  if (kind == Standing::existing) return rename_existing(store, source, std::move(to));
  const bool same_disk = source.physical == source.path && to.path == target.path;
  const int error =
      same_disk ? renamed(source.physical, to.path) : move_over(source.physical, to.path, Store::temporary());
  if (error != 0) return failing(error);
  if (kind == Standing::shadowed)
    to.records.push_back({gone(source.path), source.path});
  else
    forget(store.marks(), source, to.records);
  return settled(store, 0, to.records);
}

bool is_folder(const std::string& path) {
  struct stat status;
  return sys::status(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int merge(const std::string& from, const std::string& to, Records& records);

/// One entry of a new folder moves into a folder that is there; records are of what was done.
int merge_entry(const std::string& source, const std::string& target, Records& records) {
  if (is_folder(source) && is_folder(target)) return merge(source, target, records);
  const bool hidden = on_disk(target);
  const std::string to = hidden ? Store::shadow_of(target) : target;
  if (hidden)
    if (const int error = make_parents(to)) return error;
  if (const int error = hidden ? move_over(source, to, Store::temporary()) : renamed(source, to)) return error;
  records.push_back({hidden ? FileMark::shadowed : FileMark::created, target});
  return 0;
}

/// The contents of a new folder become those of one that is there, of which the script sees nothing.
int merge(const std::string& from, const std::string& to, Records& records) {
  const auto names = names_in(from);
  if (!names) return EACCES;
  records.push_back({FileMark::none, to});
  for (const auto& name : *names)
    if (const int error = merge_entry(from + "/" + name, to + "/" + name, records)) return error;
  return sys::remove_folder(from) == 0 ? 0 : errno;
}

Route merge_folder(Store& store, const Place& source, const Place& target) {
  Records records;
  forget(store.marks(), source, records);
  const int error = merge(source.physical, target.path, records);
  const Route answer = settled(store, 0, records);
  return error != 0 ? failing(error) : answer;
}

Route rename_folder(Store& store, const Place& source, const Place& target) {
  if (target.type != 0 && !S_ISDIR(target.type)) return failing(ENOTDIR);
  // Tools then copy the files and delete them one by one, which is what can be protected.
  if (standing(store.marks(), source) == Standing::existing) return failing(EXDEV);
  if (lies_in(target.path, source.path)) return failing(EINVAL);
  const bool there = standing(store.marks(), target) == Standing::existing;
  if (there && !looks_empty(store.marks(), target.path)) return failing(ENOTEMPTY);
  if (there || (target.mark == FileMark::deleted && is_folder(target.path))) return merge_folder(store, source, target);
  Destination to = destination(store.marks(), target);
  if (to.error != 0) return failing(to.error);
  if (const int error = renamed(source.physical, to.path)) return failing(error);
  if (source.mark == FileMark::shadowed)
    to.records.push_back({gone(source.path), source.path});
  else
    forget(store.marks(), source, to.records);
  return settled(store, 0, to.records);
}

bool is_kept(const Marks& marks, const Place& place) {
  const Standing kind = standing(marks, place);
  return kind == Standing::existing || kind == Standing::shadowed;
}

}  // namespace

Route route_rename(int old_folder, const char* old_path, int new_folder, const char* new_path, unsigned flags) {
  Store store;
  const Place source = resolve(store.marks(), old_folder, old_path, false);
  if (source.error != 0) return barred(source);
  const Place target = resolve(store.marks(), new_folder, new_path, false);
  if (target.error != 0) return barred(target);
  if (source.type == 0) return failing(ENOENT);
  if ((flags & keep_target) != 0 && target.type != 0) return failing(EEXIST);
  if ((flags & ~keep_target) != 0)
    return is_kept(store.marks(), source) || is_kept(store.marks(), target) ? failing(EINVAL) : Route{};
  if (source.path == target.path) return finished();
  return S_ISDIR(source.type) ? rename_folder(store, source, target) : rename_file(store, source, target);
}

}  // namespace ullage::files
