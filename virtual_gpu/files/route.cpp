// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/files/route.hpp"

#include "virtual_gpu/files/copy.hpp"
#include "virtual_gpu/files/store.hpp"
#include "virtual_gpu/files/system.hpp"

#include <cerrno>

namespace ullage::files {
namespace {

/// The script's version begins as a copy. Another process may do the same at this moment: the first to give its copy
/// the name wins, and both use that one.
int make_shadow(const std::string& path, bool contents) {
  const std::string shadow = Store::shadow_of(path), first = Store::temporary();
  if (const int error = make_parents(shadow)) return error;
  if (const int error = copy_file(path, first, contents)) return error;
  const bool named = sys::link(first, shadow) == 0 || errno == EEXIST;
  const int error = named ? 0 : sys::rename(first, shadow) == 0 ? 0 : errno;
  sys::remove_file(first);
  return error;
}

/// Copying is long: other threads go on meanwhile. Nobody changes the file that is copied.
Route shadowed(const Place& place, bool contents) {
  if (sys::access(place.path, W_OK) != 0) return failing(errno);
  if (const int error = make_shadow(place.path, contents)) return failing(error);
  Store store;
  if (store.marks().of(place.path) != FileMark::shadowed && !store.write(FileMark::shadowed, place.path))
    return failing(errno);
  Route route;
  route.path = Store::shadow_of(place.path);
  return route;
}

bool changes_file(int flags) {
  if ((flags & O_TMPFILE) == O_TMPFILE || (flags & O_PATH) != 0) return false;
  return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
}

bool follows(int flags) {
  const bool exclusive = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
  return (flags & O_NOFOLLOW) == 0 && !exclusive;
}

/// Opens for writing, but for the copy. `copy` tells that one is needed.
Route open_known(const Marks& marks, const Place& place, int flags, bool* copy) {
  const bool exclusive = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
  switch (standing(marks, place)) {
    case Standing::absent:
      if ((flags & O_CREAT) != 0) return making(marks, place);
      return place.mark == FileMark::deleted ? failing(ENOENT) : at(place);
    case Standing::existing:
      *copy = S_ISREG(place.type) && !exclusive && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0);
      return at(place);
    default:
      return at(place);
  }
}

}  // namespace

Route at(const Place& place) {
  Route route;
  if (place.elsewhere) route.path = place.physical;
  return route;
}

Route making(const Marks& marks, const Place& place) {
  Route route = at(place);
  if (place.through_kernel || written_through(place.path, Store::through())) return route;
  const bool hidden = place.mark == FileMark::deleted && on_disk(place.path);
  const std::string database(database_of(place.path));
  if (hidden || (!database.empty() && marks.of(database) == FileMark::shadowed)) {
    route.path = Store::shadow_of(place.path);
    if ((route.error = make_parents(route.path)) != 0) return route;
    route.records = true;
    route.record = {FileMark::shadowed, place.path};
  } else if (place.physical == place.path && !marks.created(place.path)) {
    route.records = true;
    route.record = {FileMark::created, place.path};
  }
  return route;
}

int may_change_name(const std::string& path) {
  return sys::access(std::string(parent_of(path)), W_OK | X_OK) == 0 ? 0 : errno;
}

void succeeded(const Route& route) {
  if (!route.records) return;
  Store store;
  store.write(route.record.mark, route.record.path);
}

Route route_read(int folder, const char* path, bool follow) {
  const Store store;
  const Place place = resolve(store.marks(), folder, path, follow);
  if (place.error != 0) return barred(place);
  if (place.mark == FileMark::deleted) return failing(ENOENT);
  return at(place);
}

Route route_open(int folder, const char* path, int flags) {
  if (!changes_file(flags)) return diverged() ? route_read(folder, path, follows(flags)) : Route{};
  Place place;
  bool copy = false;
  Route route;
  {
    const Store store;
    place = resolve(store.marks(), folder, path, follows(flags));
    if (place.error != 0) return barred(place);
    route = open_known(store.marks(), place, flags, &copy);
  }
  return copy ? shadowed(place, (flags & O_TRUNC) == 0) : route;
}

Route route_change(int folder, const char* path, bool follow) {
  const Store store;
  const Place place = resolve(store.marks(), folder, path, follow);
  if (place.error != 0) return barred(place);
  if (place.mark == FileMark::deleted) return failing(ENOENT);
  return standing(store.marks(), place) == Standing::existing ? finished() : at(place);
}

bool keeps_attributes(int descriptor) {
  const Store store;
  const std::string path = path_of(descriptor);
  if (path.empty() || path[0] != '/') return false;
  return standing(store.marks(), resolve(store.marks(), AT_FDCWD, path.c_str(), false)) == Standing::existing;
}

void note_created(int folder, const char* path) {
  Route route;
  {
    const Store store;
    const Place place = resolve(store.marks(), folder, path, false);
    const bool known = place.error != 0 || place.physical != place.path || store.marks().created(place.path);
    if (known || written_through(place.path, Store::through())) return;
    route.records = true;
    route.record = {FileMark::created, place.path};
  }
  succeeded(route);
}

}  // namespace ullage::files
