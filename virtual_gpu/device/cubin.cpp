// SPDX-License-Identifier: Apache-2.0
// A cubin is an ELF file; a section .nv.info.<kernel> lists attributes, among them one per parameter, and .nv.info
// those of all kernels (what the compiler's own tools print as registers and stack).
#include <algorithm>

#include "virtual_gpu/device/bytes_view.hpp"
#include "virtual_gpu/device/kernel_layout.hpp"

namespace ullage::vgpu {
namespace {

constexpr std::string_view info_prefix = ".nv.info.";
constexpr std::uint8_t with_payload = 4;  // format of an attribute: a length and that many bytes follow
constexpr std::uint8_t parameter_info = 0x17;
constexpr std::uint8_t frame_size = 0x11;
constexpr std::uint8_t register_count = 0x2f;
constexpr std::string_view shared_prefix = ".nv.shared.";
constexpr std::uint32_t symbol_table = 2;  // type of a section
constexpr std::size_t section_bytes = 64, symbol_bytes = 24;

struct Section {
  std::uint32_t name;
  std::uint32_t type;
  std::uint64_t flags, address, offset, bytes;
  std::uint32_t link, info;
  std::uint64_t alignment, entry_bytes;
};
static_assert(sizeof(Section) == section_bytes);

struct Sections {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  std::uint64_t names = 0;  ///< index of the section that holds the names
};

/// Files with very many sections keep count and index in section 0.
Sections find_sections(const BytesView& view) {
  Sections found;
  found.offset = view.at<std::uint64_t>(40).value_or(0);
  found.count = view.at<std::uint16_t>(60).value_or(0);
  found.names = view.at<std::uint16_t>(62).value_or(0);
  const auto first = view.at<Section>(found.offset);
  if (found.offset == 0 || !first) return {};
  if (found.count == 0) found.count = first->bytes;
  if (found.names == 0xffff) found.names = first->link;
  found.count = std::min<std::uint64_t>(found.count, view.size() / section_bytes);
  return found;
}

/// The attribute's payload: u32 index, u16 ordinal, u16 offset, u32 with the size in the upper 14 bits.
void add_parameter(const BytesView& payload, std::vector<ParameterSlot>* slots) {
  const auto ordinal = payload.at<std::uint16_t>(4);
  const auto offset = payload.at<std::uint16_t>(6);
  const auto word = payload.at<std::uint32_t>(8);
  if (!ordinal || !offset || !word || *ordinal >= 4096) return;
  if (slots->size() <= *ordinal) slots->resize(*ordinal + 1u);
  (*slots)[*ordinal] = {*offset, static_cast<std::uint16_t>(*word >> 18)};
}

template <class Action>
void for_each_attribute(std::span<const std::byte> bytes, Action action) {
  const BytesView view(bytes);
  for (std::uint64_t at = 0; at + 4 <= bytes.size();) {
    const auto format = *view.at<std::uint8_t>(at);
    const auto length = *view.at<std::uint16_t>(at + 2);
    if (format == with_payload) action(*view.at<std::uint8_t>(at + 1), BytesView(view.range(at + 4, length)));
    at += 4u + (format == with_payload ? length : 0u);
  }
}

std::vector<ParameterSlot> read_attributes(std::span<const std::byte> bytes) {
  std::vector<ParameterSlot> slots;
  for_each_attribute(bytes, [&slots](std::uint8_t attribute, const BytesView& payload) {
    if (attribute == parameter_info) add_parameter(payload, &slots);
  });
  return slots;
}

bool is_elf64(const BytesView& view) {
  return view.at<std::uint32_t>(0) == 0x464c457fu && view.at<std::uint8_t>(4) == std::uint8_t{2};
}

/// Calls action(name, section) for each section of a cubin.
template <class Action>
void for_each_section(const BytesView& view, Action action) {
  if (!is_elf64(view)) return;
  const Sections sections = find_sections(view);
  const auto names = view.at<Section>(sections.offset + sections.names * section_bytes);
  if (!names) return;
  const BytesView texts(view.range(names->offset, names->bytes));
  for (std::uint64_t i = 0; i < sections.count; ++i) {
    const auto section = view.at<Section>(sections.offset + i * section_bytes);
    if (!section) return;
    action(texts.text(section->name), *section);
  }
}

/// Names of the symbols of a symbol table, by index.
std::vector<std::string_view> symbol_names(const BytesView& view, const Section& table) {
  const auto strings = view.at<Section>(find_sections(view).offset + table.link * section_bytes);
  if (!strings) return {};
  const BytesView texts(view.range(strings->offset, strings->bytes));
  const BytesView symbols(view.range(table.offset, table.bytes));
  std::vector<std::string_view> names;
  for (std::uint64_t at = 0; at + symbol_bytes <= symbols.size(); at += symbol_bytes)
    names.push_back(texts.text(*symbols.at<std::uint32_t>(at)));
  return names;
}

/// The attributes of the whole file: u32 index of the symbol, u32 value.
void take_counts(const BytesView& view, const Section& section, const std::vector<std::string_view>& symbols,
                 ResourceTable* table) {
  for_each_attribute(view.range(section.offset, section.bytes), [&](std::uint8_t attribute, const BytesView& payload) {
    const auto symbol = payload.at<std::uint32_t>(0), value = payload.at<std::uint32_t>(4);
    if (!symbol || !value || *symbol >= symbols.size()) return;
    if (attribute != register_count && attribute != frame_size) return;
    KernelResources& kernel = (*table)[std::string(symbols[*symbol])];
    (attribute == register_count ? kernel.registers : kernel.local_bytes) = *value;
  });
}

}  // namespace

ParameterTable read_cubin(std::span<const std::byte> image) {
  const BytesView view(image);
  ParameterTable table;
  for_each_section(view, [&](std::string_view name, const Section& section) {
    if (name.starts_with(info_prefix))
      table.emplace(name.substr(info_prefix.size()), read_attributes(view.range(section.offset, section.bytes)));
  });
  return table;
}

ResourceTable read_resources(std::span<const std::byte> image) {
  const BytesView view(image);
  std::vector<std::string_view> symbols;
  for_each_section(view, [&](std::string_view, const Section& section) {
    if (section.type == symbol_table) symbols = symbol_names(view, section);
  });
  ResourceTable table;
  for_each_section(view, [&](std::string_view name, const Section& section) {
    if (name == ".nv.info") take_counts(view, section, symbols, &table);
  });
  for_each_section(view, [&](std::string_view name, const Section& section) {
    if (!name.starts_with(shared_prefix)) return;
    if (const auto kernel = table.find(name.substr(shared_prefix.size())); kernel != table.end())
      kernel->second.shared_bytes = section.bytes;
  });
  return table;
}

}  // namespace ullage::vgpu
