// SPDX-License-Identifier: Apache-2.0
// `ullage plan`: from a model's configuration to the memory of its states, without PyTorch.
#include "apps/ullage/command.hpp"
#include "apps/ullage/hardware/own_gpus.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/planning/described.hpp"
#include "apps/ullage/planning/options.hpp"
#include "apps/ullage/planning/run_file.hpp"
#include "apps/ullage/planning/whole.hpp"

#include <algorithm>

namespace ullage::cli {
namespace {

Result<ExitCode> print_plan(const PlanOptions& options, const Arguments& arguments, const RunFileUse& file) {
  const auto found = described(options);
  if (!found) return tl::unexpected(found.error());
  auto shown = whole_plan(arguments, options, *found);
  if (!shown) return tl::unexpected(shown.error());
  report::PlanView& view = *shown;
  view.run_file = {file.path, file.training_arguments, file.ignored, file.unplanned};
  const bool json = arguments.given("json");
  const report::PlanPoint& first = view.points.front();
  const bool nothing = first.step && first.step->fit_value == 0U;
  const bool no = view.points.size() == 1 && (first.fits_not || nothing);
  return print_result(json ? report::plan_json(view) : report::plan_text(view, arguments.given("explain"))).map([no] {
    return no ? ExitCode::no : ExitCode::yes;
  });
}

constexpr Flag plan_flags[] = {
    {"run-file", "FILE", "settings from a file, YAML or JSON: these flags by name, or TrainingArguments; flags win"},
    {"params", "N", "a number of parameters instead of a MODEL: 7B, 350M"},
    {"family", "NAME", "of a model that the sizes below make, instead of a MODEL; without it llama"},
    {"layers", "N", "layers, instead of the MODEL's", FlagKind::count},
    {"hidden", "N", "width of the residual stream", FlagKind::count},
    {"heads", "N", "attention heads", FlagKind::count},
    {"kv-heads", "N", "heads of keys and values, where the family can have fewer", FlagKind::count},
    {"intermediate", "N", "width inside the feed-forward layers", FlagKind::count},
    {"vocab", "N", "entries of the vocabulary", FlagKind::count},
    {"precision", "NAME",
     "fp32, tf32, bf16-autocast, fp16-autocast, bf16, bf16-master, bf16-master-fp32-grad, fp16-master, "
     "fp16-master-fp32-grad; without it bf16-autocast, in inference bf16"},
    {"optimizer", "NAME", "adamw, adamw-fused, adamw-forloop, sgd, adamw-8bit, adafactor; without it adamw"},
    {"framework", "NAME",
     "whose bookkeeping: pytorch, deepspeed, megatron; without it the first that has the precision"},
    {"freeze", "PATTERN", "parameters that are not trained: names with * and ?; may be given several times"},
    {"mode", "MODE", "train or infer", FlagKind::text, "train"},
    {"world", "N", "ranks of a data-parallel training; the numbers are those of one", FlagKind::count},
    {"zero", "STAGE", "what the ranks share: 0 nothing, 1 optimizer state, 2 gradients too, 3 parameters too",
     FlagKind::count},
    {"micro-batch", "B,...", "sequences at once; with --seq a whole step is planned; several make a table"},
    {"seq", "S,...", "tokens of a sequence; several make a table"},
    {"attention", "KIND",
     "sdpa (the kernel that PyTorch chooses on that GPU), flash (FlashAttention or an error) or eager", FlagKind::text,
     "sdpa"},
    {"checkpoint", "WHICH", "activation checkpointing: none, full (every layer), every:N", FlagKind::text, "none"},
    {"accumulate", "K", "micro batches before an optimizer step", FlagKind::count},
    {"global-batch", "G", "sequences of an optimizer step, of all ranks, instead of --accumulate", FlagKind::count},
    {"keep-gradients", "", "gradients are zeroed, not given up: zero_grad(set_to_none=False)", FlagKind::toggle},
    {"padding", "", "the batch has padding, and a mask that says where", FlagKind::toggle},
    {"cache", "N", "inference with a KV cache: --seq tokens at once, then one by one until it holds N",
     FlagKind::count},
    {"tokens", "T", "tokens of the whole training, as 300B: what it takes in hours"},
    {"flops-rate", "R", "with --tokens: the time at this rate, as 140TFLOP/s, by 6 x parameters x tokens"},
    {"fit", "WHAT",
     "the largest micro-batch (to 4096), seq (to 2^20) or layers (to 1024) with headroom, or the smallest world"},
    {"what-if", "", "single changes to the setup, ranked by the memory that they save", FlagKind::toggle},
    {"compare-rules", "", "the popular closed forms beside the plan", FlagKind::toggle},
    {"gpu", "NAME,...|all", "which GPUs, as 'ullage gpus' lists them, or the one in ULLAGE_GPU"},
    gpu_file_flag,
    {"memory", "SIZE", "total memory that CUDA shows, context included, instead of the GPU's own", FlagKind::size},
    {"headroom", "SHARE", "less than this left is tight", FlagKind::share, "15%"},
    {"reserve", "SIZE", "memory to keep free for what the plan cannot see", FlagKind::size},
    {"explain", "", "how each line comes about, and when it is there first", FlagKind::toggle},
    json_flag,
};
constexpr Shape shape{plan_flags, 1, false};

Result<ExitCode> run_plan(const Arguments& arguments) {
  const auto combined = with_run_file(shape, arguments);
  if (!combined) return tl::unexpected(combined.error());
  return plan_options(combined->arguments)
      .and_then([&](const PlanOptions& options) { return print_plan(options, combined->arguments, combined->use); })
      .map_error([&](Error error) { return placed(std::move(error), combined->places); });
}

}  // namespace

const Command plan_command{
    "plan",
    "what a training needs, from a model's configuration",
    "[MODEL] [FLAGS]",
    "With --seq a whole step is planned on a GPU: what a plain PyTorch loop allocates, what its allocator reserves for "
    "that,\n"
    "when most, and whose it is, its FLOPs and about how long it takes; it ends with 1 where it does not fit. Without, "
    "only states are: what lies on the "
    "device from\n"
    "one step to the next (parameters, gradients, the optimizer's state), and what they leave.\n"
    "MODEL is, in this order: a config.json of the Hugging Face hub or a folder with one ('-' for stdin); a name of "
    "the\n"
    "catalogue such as llama-3.1-8b, or its hub id; a model in the hub's cache (HF_HUB_CACHE, HF_HOME); ORG/NAME on "
    "the hub\n"
    "(HF_ENDPOINT, HF_TOKEN; not with HF_HUB_OFFLINE=1). Families: gemma2, gpt2, gpt_neox, llama, mistral, opt, phi3, "
    "qwen2,\n"
    "qwen3.",
    shape,
    run_plan};

}  // namespace ullage::cli
