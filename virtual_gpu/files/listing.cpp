// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/files/listing.hpp"

#include "virtual_gpu/files/resolve.hpp"
#include "virtual_gpu/files/system.hpp"

#include <algorithm>
#include <cstdint>

namespace ullage::files {
namespace {

/// As getdents64 gives it.
struct Entry {
  std::uint64_t inode;
  std::int64_t next;
  unsigned short length;
  unsigned char type;
  char name[1];
};

void take_names(const char* bytes, long size, std::vector<std::string>& names) {
  for (long offset = 0; offset < size;) {
    const auto* entry = reinterpret_cast<const Entry*>(bytes + offset);
    const std::string name = static_cast<const char*>(entry->name);
    if (name != "." && name != "..") names.push_back(name);
    offset += entry->length;
  }
}

}  // namespace

std::optional<std::vector<std::string>> names_in(const std::string& folder) {
  const sys::Descriptor opened(sys::open(folder, O_RDONLY | O_DIRECTORY));
  if (!opened.open()) return std::nullopt;
  std::vector<std::string> names;
  alignas(8) char buffer[16384];
  for (long size; (size = ::syscall(SYS_getdents64, opened.get(), static_cast<char*>(buffer), sizeof buffer)) > 0;)
    take_names(static_cast<const char*>(buffer), size, names);
  return names;
}

bool looks_empty(const Marks& marks, const std::string& folder) {
  const auto names = names_in(folder);
  const auto hidden = [&](const std::string& name) { return marks.of(folder + "/" + name) == FileMark::deleted; };
  return names && std::all_of(names->begin(), names->end(), hidden);
}

FileMark gone(const std::string& path) {
  return on_disk(path) ? FileMark::deleted : FileMark::none;
}

}  // namespace ullage::files
