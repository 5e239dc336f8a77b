// SPDX-License-Identifier: Apache-2.0
#include "ledger/texts.hpp"

#include <algorithm>

namespace ullage::ledger {

std::string frame_text(const timeline::Timeline& timeline, timeline::FrameId id) {
  const timeline::Frame& frame = timeline.stacks.frame(id);
  std::string text(timeline.strings.text(frame.file));
  text += ':' + std::to_string(frame.line) + ' ';
  return text.append(timeline.strings.text(frame.name));
}

std::string line_text(const timeline::Timeline& timeline, timeline::StackId stack) {
  const timeline::UserLine found = timeline::user_line(timeline, stack);
  return found.outside_torch ? frame_text(timeline, *found.outside_torch) : std::string();
}

namespace {

bool is_number(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
}

}  // namespace

std::string_view numbered_layer(std::string_view module) {
  for (std::size_t begin = 0; begin < module.size();) {
    const std::size_t end = std::min(module.find('.', begin), module.size());
    if (begin > 0 && is_number(module.substr(begin, end - begin))) return module.substr(0, end);
    begin = end + 1;
  }
  return {};
}

std::string layers_as_stars(std::string_view module) {
  std::string result;
  while (!module.empty()) {
    const std::string_view part = module.substr(0, module.find('.'));
    module.remove_prefix(std::min(part.size() + 1, module.size()));
    if (!result.empty()) result += '.';
    result += is_number(part) ? std::string_view("*") : part;
  }
  return result;
}

const std::string& LineTexts::of(timeline::StackId stack) {
  const auto [it, added] = known_.try_emplace(stack);
  if (added) it->second = line_text(timeline_, stack);
  return it->second;
}

}  // namespace ullage::ledger
