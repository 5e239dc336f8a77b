// SPDX-License-Identifier: Apache-2.0
// Whether a series grows, without believing anything of how its values are distributed.
#pragma once

#include <span>

namespace ullage::findings {

/// How sure it is that the values rise from first to last: 1 less the one-sided p-value of the Mann-Kendall test (Mann
/// 1945, Kendall 1975), with its correction for ties and for continuity. 0.5 and less: they do not. 0 for fewer than
/// four values. Takes a time that is quadratic in their number.
double confidence_of_rise(std::span<const double> values);

/// The median slope between any two values (Theil 1950, Sen 1968), by position. Quadratic, too. 0 for fewer than two.
double median_slope(std::span<const double> values);

/// 0 for no values.
double median(std::span<const double> values);

}  // namespace ullage::findings
