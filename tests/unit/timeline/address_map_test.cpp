// SPDX-License-Identifier: Apache-2.0
#include "timeline/address_map.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <unordered_map>

namespace ullage::timeline {
namespace {

TEST(AddressMap, BehavesAsAMap) {
  EXPECT_TRUE(rc::check("like std::unordered_map", [](const std::vector<std::pair<std::uint8_t, bool>>& operations) {
    AddressMap map;
    std::unordered_map<std::uint64_t, std::uint32_t> reference;
    std::uint32_t next = 0;
    for (const auto& [key, add] : operations) {
      if (add) {
        map.set(key, next);
        reference[key] = next++;
      } else {
        map.erase(key);
        reference.erase(key);
      }
    }
    RC_ASSERT(map.size() == reference.size());
    for (std::uint64_t key = 0; key < 256; ++key) {
      const auto it = reference.find(key);
      RC_ASSERT(map.find(key) == (it == reference.end() ? AddressMap::none : it->second));
    }
  }));
}

}  // namespace
}  // namespace ullage::timeline
