// SPDX-License-Identifier: Apache-2.0
#include "base/json_numbers.hpp"

#include <gtest/gtest.h>

namespace ullage {
namespace {

TEST(HasInexactNumber, IsTrueOfWhatRapidJsonMustNotReadExactly) {
  for (const char* json :
       {"0E0080", "[0e99]", "0.0e-400", "-0e30", "0.00000000000000000000-1", "0.000000000018446744073709551615744",
        "18446744073709551616.5", "[0.00000000000000000000000000000000000000]", "-0.000000000000000",
        "0.00000000000000000000.5", R"({"a0e": 0e9})"})
    EXPECT_TRUE(has_inexact_number(json));
  for (const char* json : {"1e80", "[0.5, 1.50e-10, true]", "", "e", "10e5", "0.0, 0, 0.00", "1844674407370955161",
                           "0.00001234567890123456", "1.7976931348623157e308", "0.0000000001", R"({"c": "0e80\"0e9"})"})
    EXPECT_FALSE(has_inexact_number(json));
}

}  // namespace
}  // namespace ullage
