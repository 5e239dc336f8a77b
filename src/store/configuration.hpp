// SPDX-License-Identifier: Apache-2.0
// What a run was asked for, flat: the flags of its script, its device, variables of its environment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ullage::store {

/// Where a setting comes from.
enum class SettingGroup : std::uint8_t {
  script,       ///< an argument of the script
  launcher,     ///< words before the script
  environment,  ///< a variable that steers memory
  device,       ///< the GPU and its memory
  inputs,       ///< shapes of what the model was given
  stack,        ///< versions
  code,         ///< the commit
};
[[nodiscard]] const char* name_of(SettingGroup group);

enum class SettingType : std::uint8_t { toggle, integer, real, text };
[[nodiscard]] const char* name_of(SettingType type);

struct Setting {
  SettingGroup group = SettingGroup::script;
  std::string key;   ///< `--batch`, `PYTORCH_CUDA_ALLOC_CONF`, `gpu`
  std::string text;  ///< as it was given; of a toggle "true"
  SettingType type = SettingType::text;
  std::optional<double> number;  ///< of an integer or a real
};

/// A setting with the type that its text shows.
[[nodiscard]] Setting setting(SettingGroup group, std::string key, std::string text);

/// A command, taken apart.
struct CommandParts {
  std::string launcher;                ///< words before the script, without a bare Python and words of Ullage's own
  std::string script;                  ///< path, or the module of -m; the program itself where there is no script
  std::vector<std::string> arguments;  ///< of the script
};

/// The script is the first word that ends in `.py`, or what follows `-m` of a Python; `-c` is the script of a program
/// text. Without one the program is the script.
[[nodiscard]] CommandParts command_parts(std::span<const std::string> command);

/// `--key value`, `--key=value`, `-k value`, toggles, `key=value`, and other words as `argument N`. A word after a flag
/// is its value unless it looks like a flag itself. Values of a flag that is given several times are joined by a comma.
[[nodiscard]] std::vector<Setting> settings_of_arguments(std::span<const std::string> arguments);

/// What differs between two configurations.
struct SettingDifference {
  SettingGroup group = SettingGroup::script;
  std::string key;
  std::optional<std::string> before, after;  ///< nothing: not given
};

/// In the order of groups, then of keys.
[[nodiscard]] std::vector<SettingDifference> differences(std::span<const Setting> before,
                                                         std::span<const Setting> after);

/// True for what a person chose: arguments, launcher, environment, device. Not the stack, the code or the shapes.
[[nodiscard]] bool is_chosen(SettingGroup group);

/// Equal for equal choices: 16 hexadecimal digits. The folder of the script does not count.
[[nodiscard]] std::string configuration_hash(const std::string& script, std::span<const Setting> settings);

/// FNV-1a of a text, with the last mixing of MurmurHash3 so that all digits differ: 16 hexadecimal digits.
[[nodiscard]] std::string hash_of(std::string_view text);

}  // namespace ullage::store
