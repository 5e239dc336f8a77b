// SPDX-License-Identifier: Apache-2.0
// Names that come and go: unlink, rmdir, mkdir, links.
#include "virtual_gpu/files/copy.hpp"
#include "virtual_gpu/files/listing.hpp"
#include "virtual_gpu/files/route.hpp"
#include "virtual_gpu/files/store.hpp"
#include "virtual_gpu/files/system.hpp"

#include <cerrno>

namespace ullage::files {
namespace {

Route removing(const Marks& marks, const Place& place) {
  Route route = at(place);
  if (place.mark == FileMark::none) return route;
  route.records = true;
  route.record = {marks.of(place.path) == FileMark::shadowed ? gone(place.path) : FileMark::none, place.path};
  return route;
}

/// Marks an existing name as deleted.
Route hide(Store& store, const Place& place) {
  if (const int error = may_change_name(place.path)) return failing(error);
  return store.write(FileMark::deleted, place.path) ? finished() : failing(errno);
}

Route remake_folder(Store& store, const Place& place) {
  if (const int error = may_change_name(place.path)) return failing(error);
  return store.write(FileMark::none, place.path) ? finished() : failing(errno);
}

bool folder_on_disk(const std::string& path) {
  struct stat status;
  return sys::status(path, &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Route route_unlink(int folder, const char* path) {
  Store store;
  const Place place = resolve(store.marks(), folder, path, false);
  if (place.error != 0) return barred(place);
  switch (standing(store.marks(), place)) {
    case Standing::absent:
      return place.mark == FileMark::deleted ? failing(ENOENT) : at(place);
    case Standing::existing:
      return S_ISDIR(place.type) ? failing(EISDIR) : hide(store, place);
    default:
      return removing(store.marks(), place);
  }
}

Route route_rmdir(int folder, const char* path) {
  Store store;
  const Place place = resolve(store.marks(), folder, path, false);
  if (place.error != 0) return barred(place);
  switch (standing(store.marks(), place)) {
    case Standing::absent:
      return place.mark == FileMark::deleted ? failing(ENOENT) : at(place);
    case Standing::existing:
      if (!S_ISDIR(place.type)) return failing(ENOTDIR);
      return looks_empty(store.marks(), place.path) ? hide(store, place) : failing(ENOTEMPTY);
    default:
      return removing(store.marks(), place);
  }
}

Route route_mkdir(int folder, const char* path) {
  Store store;
  const Place place = resolve(store.marks(), folder, path, false);
  if (place.error != 0) return barred(place);
  if (place.type != 0) return at(place);
  if (place.mark == FileMark::deleted && folder_on_disk(place.path)) return remake_folder(store, place);
  return making(store.marks(), place);
}

Route route_make(int folder, const char* path) {
  const Store store;
  const Place place = resolve(store.marks(), folder, path, false);
  if (place.error != 0) return barred(place);
  return place.type != 0 ? at(place) : making(store.marks(), place);
}

Route route_link(int old_folder, const char* old_path, bool follow, int new_folder, const char* new_path,
                 std::string* from) {
  Store store;
  const Place source = resolve(store.marks(), old_folder, old_path, follow);
  // A file without a name yet: an empty path, or /proc/self/fd of one made with O_TMPFILE.
  const bool nameless = source.error == EFAULT || (source.through_kernel && source.type == 0);
  if (source.error != 0 && !nameless) return barred(source);
  if (source.mark == FileMark::deleted) return failing(ENOENT);
  const Place target = resolve(store.marks(), new_folder, new_path, false);
  if (target.error != 0) return barred(target);
  if (target.type != 0) return failing(EEXIST);
  if (source.elsewhere && !nameless) *from = source.physical;
  Route route = making(store.marks(), target);
  const Standing kind = standing(store.marks(), source);
  const bool copies = (kind == Standing::existing && !S_ISDIR(source.type)) || kind == Standing::shadowed;
  if (route.error != 0 || nameless || !copies) return route;
  // A second name of an existing file would be a way to write into it.
  const std::string& to = route.path.empty() ? target.path : route.path;
  route.error = copy_over(source.physical, to, Store::temporary());
  if (route.error == 0 && route.records && !store.write({route.record})) route.error = errno;
  route.done = route.error == 0;
  return route;
}

}  // namespace ullage::files
