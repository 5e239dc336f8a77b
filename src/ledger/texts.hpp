// SPDX-License-Identifier: Apache-2.0
// Texts by which lines of a ledger are grouped.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "timeline/timeline.hpp"

namespace ullage::ledger {

/// `a.0.b.12.c` -> `a.*.b.*.c`: the same module of all layers.
std::string layers_as_stars(std::string_view module);

/// `transformer.h.12` of `transformer.h.12.attn.c_attn`: up to the first part that is a number, not the first of all;
/// empty where there is none.
std::string_view numbered_layer(std::string_view module);

/// "file:line function".
std::string frame_text(const timeline::Timeline& timeline, timeline::FrameId id);

/// "file:line function" of the innermost frame outside torch; empty when there is none.
std::string line_text(const timeline::Timeline& timeline, timeline::StackId stack);

/// The same, worked out once per stack.
class LineTexts {
 public:
  explicit LineTexts(const timeline::Timeline& timeline) : timeline_(timeline) {}
  const std::string& of(timeline::StackId stack);

 private:
  const timeline::Timeline& timeline_;
  std::unordered_map<timeline::StackId, std::string> known_;
};

}  // namespace ullage::ledger
