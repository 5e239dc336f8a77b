// SPDX-License-Identifier: Apache-2.0
// The catalogue of GPUs: every number with its range, how it is known, and its source. Data compiled in from gpus.csv,
// quantities.csv and sources.csv; nothing is read at run time.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace ullage {

/// A quantity of a GPU; names, units and meanings are in facts.def.
enum class Fact : std::uint8_t {
#define ULLAGE_FACT(name, unit, meaning) name,
#include "hardware/facts.def"
#undef ULLAGE_FACT
};

/// What a Fact is, for tables and JSON.
struct FactInfo {
  Fact fact;
  std::string_view name;     ///< as in quantities.csv and in JSON
  std::string_view unit;     ///< B, B/s, FLOP/s, Hz, W, bit, or empty for a count
  std::string_view meaning;  ///< a few words
};

/// All facts in the order of facts.def.
[[nodiscard]] std::span<const FactInfo> facts();

/// A number and the evidence for it.
struct Quantity {
  double value;  ///< in `unit`
  double low;    ///< smallest plausible value; equal to `value` where it is exact
  double high;   ///< largest plausible value
  std::string_view unit;
  std::string_view known_by;  ///< measured, published or estimated; of a user's own GPU also given or assumed
  std::string_view source;    ///< where it is from; never empty
  std::string_view note;      ///< what to know about it; may be empty
};

/// One quantity of one GPU.
struct KnownFact {
  Fact fact;
  Quantity quantity;
};

/// One GPU variant.
struct Gpu {
  std::string_view short_name;    ///< as on the command line: a100-40gb
  std::string_view cuda_name;     ///< as cudaGetDeviceProperties and NVML spell it
  std::string_view architecture;  ///< Ampere, Hopper ...
  int cc_major;                   ///< compute capability
  int cc_minor;
  std::string_view form_factor;               ///< SXM, PCIe or superchip
  std::string_view host_link;                 ///< PCIe 4.0 x16
  std::string_view gpu_link;                  ///< NVLink 4; none
  std::span<const std::string_view> aliases;  ///< other names that find_gpu takes
  std::string_view note;                      ///< may be empty
  std::span<const KnownFact> known;           ///< in the order of facts.def

  /// The quantity, or nullptr when it is not known or does not apply (bf16 on a T4).
  [[nodiscard]] const Quantity* find(Fact fact) const;
  /// The value in the fact's unit, or `fallback`.
  [[nodiscard]] double value(Fact fact, double fallback = 0) const;
  /// The value of a fact counted in bytes or pieces, or 0.
  [[nodiscard]] std::uint64_t count(Fact fact) const { return static_cast<std::uint64_t>(value(fact)); }
  /// Memory that CUDA shows, in bytes.
  [[nodiscard]] std::uint64_t capacity_bytes() const { return count(Fact::capacity); }
  /// What the context takes off the capacity, in bytes, for a CUDA major version (other majors: the nearest known).
  [[nodiscard]] const Quantity& context(int cuda_major) const;
  /// True when the short name does not say a form factor and this is the SXM form: output should say so.
  [[nodiscard]] bool sxm_by_default() const;
};

/// All GPUs, by architecture from old to new.
[[nodiscard]] std::span<const Gpu> gpus();

/// The GPU of that short name, alias or CUDA name, among a user's own first, then in the catalogue; case is ignored.
/// Errors: `usage`, naming the nearest known names.
[[nodiscard]] Result<const Gpu*> find_gpu(std::string_view name, std::span<const Gpu> own = {});

/// The GPU of the catalogue that is most like one with this compute capability and number of multiprocessors: the
/// nearest capability of the same major version, then the nearest number. Null when the major version is not known.
[[nodiscard]] const Gpu* most_alike(int cc_major, int cc_minor, std::uint64_t sm_count);

}  // namespace ullage
