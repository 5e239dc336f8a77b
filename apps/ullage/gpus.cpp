// SPDX-License-Identifier: Apache-2.0
// `ullage gpus`: the hardware catalogue, as a table or in detail.
#include "apps/ullage/choice.hpp"
#include "apps/ullage/command.hpp"
#include "apps/ullage/hardware/catalogue_view.hpp"
#include "apps/ullage/hardware/here_view.hpp"
#include "apps/ullage/hardware/own_gpus.hpp"
#include "apps/ullage/output.hpp"

namespace ullage::cli {
namespace {

Result<std::string> catalogue_text(const Arguments& arguments, std::span<const Gpu> own) {
  const bool json = arguments.given("json");
  if (arguments.positionals.empty()) {
    const auto all = all_gpus(own);
    return json ? gpus_json(all) : gpu_table(all);
  }
  return find_gpu(arguments.positionals.front(), own).map([&](const Gpu* gpu) {
    return json ? gpus_json({&gpu, 1}) : gpu_details(*gpu);
  });
}

Result<std::string> here_text(const Arguments& arguments) {
  if (!arguments.positionals.empty() || arguments.given("gpu-file"))
    return fail(ErrorKind::usage, "this machine has the GPUs that it has", "--here", "no NAME and no --gpu-file");
  const Machine machine = this_machine();
  return arguments.given("json") ? machine_json(machine) : machine_text(machine);
}

Result<std::string> text_of(const Arguments& arguments) {
  if (arguments.given("here")) return here_text(arguments);
  return own_gpus(arguments).and_then([&](std::span<const Gpu> own) { return catalogue_text(arguments, own); });
}

Result<ExitCode> run_gpus(const Arguments& arguments) {
  return text_of(arguments).and_then([](const std::string& text) { return print_result(text); }).map([] {
    return ExitCode::yes;
  });
}

constexpr Flag gpus_flags[] = {
    {"here", "", "what this machine has: GPUs, processor, memory, disk", FlagKind::toggle},
    gpu_file_flag,
    json_flag,
};

}  // namespace

const Command gpus_command{"gpus",
                           "list the known GPUs, or show one with every number's source",
                           "[NAME] [FLAGS]",
                           "NAME is a short name such as a100-40gb, or the name that CUDA shows. A short name without "
                           "a form factor means the SXM\n"
                           "form where there is one. Rates are dense: a vendor's figure \"with sparsity\" is twice as "
                           "high.",
                           {gpus_flags, 1, false},
                           run_gpus};

}  // namespace ullage::cli
