// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "report/text/sections.hpp"

namespace ullage::report {
namespace {

TEST(WorkspacesSection, NamesThePurposeTheLargestAndTheRange) {
  RunResult result;
  EXPECT_EQ(workspaces_section(result), "");
  EXPECT_NE(honesty_section(result).find("the context is estimated"), std::string::npos);
  result.workspaces.push_back({"convolution, forward", 53, 3u << 20, 0, 7u << 20});
  const std::string text = workspaces_section(result);
  for (const char* part : {"convolution, forward", "53", "3.00 MiB", "0 B", "7.00 MiB", "estimated"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(honesty_section(result).find("cuDNN's scratch memory are estimated"), std::string::npos);
}

}  // namespace
}  // namespace ullage::report
