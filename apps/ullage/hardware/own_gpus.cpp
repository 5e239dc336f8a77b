// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/hardware/own_gpus.hpp"

#include "ingest/file/source.hpp"

#include <algorithm>
#include <utility>

namespace ullage::cli {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;

Result<OwnGpus> read_gpu_file(const std::string& path) {
  auto source = ingest::Source::open_once(path);
  if (!source) return tl::unexpected(source.error());
  std::string text(most_bytes + 1, '\0');
  std::size_t used = 0;
  while (used < text.size()) {
    const std::size_t got = source->read(std::as_writable_bytes(std::span(text).subspan(used)));
    if (got == 0) break;
    used += got;
  }
  if (source->damage()) return tl::unexpected(*source->damage());
  if (used > most_bytes) return fail(ErrorKind::bad_input, "too large for a file of GPUs", path, "at most 4 MiB");
  return parse_gpu_file(std::string_view(text).substr(0, used), path);
}

}  // namespace

std::string_view OwnGpus::keep(std::string text) {
  return texts_.emplace_back(std::move(text));
}

void OwnGpus::add(Gpu gpu, std::vector<KnownFact> known) {
  std::ranges::sort(known, {}, &KnownFact::fact);
  gpu.known = known_.emplace_back(std::move(known));
  gpus_.push_back(gpu);
}

Result<std::span<const Gpu>> own_gpus(const Arguments& arguments) {
  static std::deque<OwnGpus> kept;
  const auto path = arguments.text("gpu-file");
  if (!path) return std::span<const Gpu>();
  auto own = read_gpu_file(*path);
  if (!own) return tl::unexpected(own.error());
  return kept.emplace_back(std::move(*own)).gpus();
}

}  // namespace ullage::cli
