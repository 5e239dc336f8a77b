// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/options.hpp"

#include "apps/ullage/choice.hpp"
#include "apps/ullage/device.hpp"
#include "apps/ullage/planning/numbers.hpp"
#include "base/text.hpp"
#include "model/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace ullage::cli {
namespace {

tl::unexpected<Error> not_a_count(std::string_view text) {
  return fail(ErrorKind::usage, "not a number of parameters", "--params " + std::string(text),
              "a number such as 7B, 1.3B, 350M or 6738415616");
}

/// 7B, 1.3B, 350M, 6738415616.
Result<std::uint64_t> parse_parameters(std::string_view text) {
  const auto value = scaled_number(text);
  if (!value) return not_a_count(text);
  const double count = std::round(*value);
  if (!(count >= 1 && count <= static_cast<double>(model::most_elements))) return not_a_count(text);
  return static_cast<std::uint64_t>(count);
}

/// Of what is no number nothing: it is refused later.
std::uint64_t longest_sequence(const Arguments& arguments) {
  std::uint64_t longest = 0;
  for (const char* flag : {"seq", "cache"})
    for (const std::string& word : split(arguments.text(flag).value_or(""), ',')) {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error == std::errc{} && value <= most_tokens) longest = std::max(longest, value);
    }
  return longest;
}

/// The sizes, and the family that they make a model of where none is named.
void read_sizes(const Arguments& arguments, PlanOptions& options) {
  bool given = arguments.given("family");
  for (std::size_t i = 0; i < size_flags.size(); ++i) {
    options.sizes[i] = arguments.count(size_flags[i]);
    given = given || options.sizes[i];
  }
  if (given && options.model.empty()) options.family = arguments.text("family").value_or("llama");
  options.longest_sequence = longest_sequence(arguments);
}

Result<void> check_sizes(const Arguments& arguments, const PlanOptions& options) {
  if (!options.model.empty() && arguments.given("family"))
    return fail(ErrorKind::usage, "the model has a family", "--family with a MODEL", "one of the two");
  if (arguments.given("params") && !options.family.empty())
    return fail(ErrorKind::usage, "a bare number of parameters has no layers", "sizes with --params",
                "sizes, or --params");
  return {};
}

Result<void> read_model(const Arguments& arguments, PlanOptions& options) {
  const auto count = arguments.text("params");
  if (!arguments.positionals.empty()) options.model = arguments.positionals.front();
  read_sizes(arguments, options);
  if (const auto checked = check_sizes(arguments, options); !checked) return checked;
  if (!options.family.empty()) return {};
  if (options.model.empty() != count.has_value())
    return fail(ErrorKind::usage, count ? "both a model and --params" : "no model was named", {},
                "ullage plan MODEL, ullage plan --params 7B, or sizes: ullage plan --layers 24 --hidden 2048",
                "'ullage models' lists the catalogue; 'ullage plan --help' says what else MODEL can be");
  if (!count) return {};
  const auto parsed = parse_parameters(*count);
  if (!parsed) return tl::unexpected(parsed.error());
  options.parameters = *parsed;
  return {};
}

Result<void> read_precision(const Arguments& arguments, PlanOptions& options) {
  const std::string fallback = options.train ? "bf16-autocast" : "bf16";
  const auto precision =
      setup::find_precision(arguments.text("precision").value_or(fallback), arguments.text("framework").value_or(""));
  if (!precision) return tl::unexpected(precision.error());
  options.training.precision = *precision;
  return {};
}

Result<void> read_optimizer(const Arguments& arguments, PlanOptions& options) {
  if (!options.train) return {};
  const auto optimizer = setup::find_optimizer(arguments.text("optimizer").value_or("adamw"));
  if (!optimizer) return tl::unexpected(optimizer.error());
  options.training.optimizer = *optimizer;
  options.training.freeze = arguments.texts("freeze");
  if (options.parameters && !options.training.freeze.empty())
    return fail(ErrorKind::usage, "a bare number of parameters has no names", "--freeze with --params", "a MODEL");
  return {};
}

Result<void> read_ranks(const Arguments& arguments, PlanOptions& options) {
  constexpr std::uint64_t most_ranks = 1'000'000;
  const std::uint64_t ranks = arguments.count("world").value_or(1);
  if (ranks < 1 || ranks > most_ranks)
    return fail(ErrorKind::usage, "not a number of ranks", fmt::format("--world {}", ranks), "1 to 1000000");
  const std::uint64_t zero = arguments.count("zero").value_or(0);
  const bool megatron = options.training.precision->framework == setup::Framework::megatron;
  if (zero > (megatron ? 1 : 3))
    return fail(ErrorKind::usage, "no such stage", fmt::format("--zero {}", zero),
                megatron ? "0, or 1 for Megatron's distributed optimizer" : "0, 1, 2 or 3");
  const bool searched = arguments.text("fit") == "world";
  if (zero > 0 && !arguments.given("world") && !searched)
    return fail(ErrorKind::usage, "among how many ranks?", "--zero", "--world N as well, or --fit world");
  if (zero > 0 && ranks == 1 && !searched)
    return fail(ErrorKind::usage, "one rank has nobody to share with", fmt::format("--zero {} with --world 1", zero),
                "--world of 2 or more, or --fit world");
  if (zero == 0 && searched)
    return fail(ErrorKind::usage, "more ranks change nothing", "--fit world without --zero", "--zero 1, 2 or 3",
                "where they share nothing, each needs the same");
  options.training.ranks = ranks;
  options.training.zero = static_cast<unsigned>(zero);
  return {};
}

Result<void> read_devices(const Arguments& arguments, PlanOptions& options) {
  const auto gpus = chosen_gpus(arguments);
  if (!gpus) return tl::unexpected(gpus.error());
  options.gpus = *gpus;
  options.memory_bytes = arguments.size("memory");
  options.headroom = arguments.share("headroom").value_or(options.headroom);
  options.reserve_bytes = arguments.size("reserve").value_or(0);
  for (const char* flag : {"memory", "headroom", "reserve", "gpu-file"})
    if (options.gpus.empty() && arguments.given(flag))
      return fail(ErrorKind::usage, "of which GPU?", fmt::format("--{}", flag), "--gpu NAME as well",
                  "'ullage gpus' lists the names");
  if (options.memory_bytes)
    for (const Gpu* gpu : options.gpus)
      if (const auto checked = check_capacity(*gpu, *options.memory_bytes); !checked) return checked;
  return {};
}

/// True when another framework has a precision of the same name.
bool ambiguous(const setup::Precision& precision) {
  return std::ranges::any_of(setup::precisions(), [&](const setup::Precision& other) {
    return other.name == precision.name && other.framework != precision.framework;
  });
}

void note_assumed(const Arguments& arguments, PlanOptions& options) {
  const auto note = [&](const char* flag) {
    if (!arguments.given(flag)) options.assumed.emplace_back(flag);
  };
  note("mode");
  if (!options.family.empty()) note("family");
  note("precision");
  if (options.train) note("optimizer");
  if (options.train && ambiguous(*options.training.precision)) note("framework");
}

}  // namespace

Result<void> refuse_in_inference(const Arguments& arguments, std::initializer_list<const char*> flags) {
  for (const char* flag : flags)
    if (arguments.given(flag))
      return fail(ErrorKind::usage, "inference has no such thing", fmt::format("--{} with --mode infer", flag),
                  "one of the two");
  return {};
}

Result<PlanOptions> plan_options(const Arguments& arguments) {
  PlanOptions options;
  constexpr std::array<std::string_view, 2> modes{"train", "infer"};
  const auto mode = choice(arguments, "mode", modes);
  if (!mode) return tl::unexpected(mode.error());
  options.train = *mode == 0;
  if (!options.train)
    if (const auto checked = refuse_in_inference(arguments, {"optimizer", "freeze", "world", "zero", "framework"});
        !checked)
      return tl::unexpected(checked.error());
  for (const auto read : {read_model, read_precision, read_optimizer, read_ranks, read_devices})
    if (const auto done = read(arguments, options); !done) return tl::unexpected(done.error());
  const auto length = training_length(arguments);
  if (!length) return tl::unexpected(length.error());
  options.length = *length;
  if (!options.train && options.length.tokens)
    return fail(ErrorKind::usage, "inference has no such thing", "--tokens with --mode infer", "one of the two");
  options.explain = arguments.given("explain");
  note_assumed(arguments, options);
  return options;
}

}  // namespace ullage::cli
