// SPDX-License-Identifier: Apache-2.0
// The step program of a configuration as text, for the test against the requests of a rehearsal
// (tests/rehearse/test_plan_program.py): `a NUMBER BYTES ROLE PHASE STEP OPERATOR MODULE` and `f NUMBER`. With
// `--work yes` what the operators of the last step do instead: `PASS CLASS FLOPS BYTES LAUNCHES`
// (tests/rehearse/test_plan_flops.py).
#include "cost/step/work.hpp"
#include "hardware/catalogue.hpp"
#include "lowering/lower.hpp"
#include "model/families.hpp"
#include "planner/step_plan.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

namespace {

using namespace ullage;

lowering::Setup setup_of(std::map<std::string, std::string> flags) {
  lowering::Setup setup;
  const std::string precision = flags["precision"];
  setup.weights = precision == "bf16" ? lowering::DType::bf16 : lowering::DType::fp32;
  setup.autocast = precision.ends_with("-autocast");
  setup.autocast_type = precision == "fp16-autocast" ? lowering::DType::fp16 : lowering::DType::bf16;
  setup.tf32 = precision == "tf32";
  setup.train = flags["mode"] != "infer";
  setup.attention = flags["attention"] == "eager"   ? lowering::Attention::eager
                    : flags["attention"] == "flash" ? lowering::Attention::flash
                                                    : lowering::Attention::sdpa;
  setup.padding = flags.contains("padding");
  setup.checkpoint_every = flags["checkpoint"] == "full" ? 1 : 0;
  setup.accumulate = static_cast<std::uint64_t>(std::atoll(flags["accumulate"].c_str()));
  const std::map<std::string, lowering::OptimizerKind> optimizers{
      {"adamw-fused", lowering::OptimizerKind::adamw_fused},
      {"adamw-forloop", lowering::OptimizerKind::adamw_forloop},
      {"sgd", lowering::OptimizerKind::sgd},
      {"adafactor", lowering::OptimizerKind::adafactor},
      {"adamw-8bit", lowering::OptimizerKind::adamw_8bit}};
  if (const auto found = optimizers.find(flags["optimizer"]); found != optimizers.end())
    setup.optimizer = found->second;
  setup.cache = std::atoll(flags["cache"].c_str());
  setup.micro_batch = std::atoll(flags["micro-batch"].c_str());
  setup.sequence = std::atoll(flags["seq"].c_str());
  return setup;
}

void print(const program::Program& program) {
  std::size_t mark = 0;
  for (std::size_t i = 0; i < program.events.size(); ++i) {
    while (mark + 1 < program.marks.size() && program.marks[mark + 1].event <= i) ++mark;
    const program::Event event = program.events[i];
    const program::TensorId id = program::tensor_of(event);
    if (!program::is_request(event)) {
      std::printf("f %u\n", id);
      continue;
    }
    const program::Tensor& tensor = program.tensors[id];
    const program::Operator& by = program.operators[tensor.by];
    std::printf("a %u %llu %d %s %u %s %s\n", id, static_cast<unsigned long long>(tensor.bytes),
                static_cast<int>(tensor.role), std::string(program::name_of(program.marks[mark].phase)).c_str(),
                program.marks[mark].step, by.name, program.module_path(by.module).c_str());
  }
}

/// Of one step; without one of the last.
void print_work(const program::Program& program, std::optional<std::uint32_t> step) {
  const cost::StepWork work = cost::work_of(program, step);
  for (const cost::Pass pass : cost::passes)
    for (const cost::OperatorWork kind : cost::operator_classes) {
      const cost::WorkTotal& total = work.of(pass, kind);
      if (total.operators > 0)
        std::printf("%s %s %.0f %.0f %llu\n", std::string(cost::name_of(pass)).c_str(),
                    std::string(cost::name_of(kind)).c_str(), total.flops, total.bytes,
                    static_cast<unsigned long long>(total.launches));
    }
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> flags{
      {"micro-batch", "1"}, {"seq", "1024"}, {"gpu", "a100-40gb"}, {"accumulate", "1"}, {"steps", "3"}};
  for (int i = 2; i < count; ++i) {
    const bool toggle = i + 1 == count || std::strncmp(words[i + 1], "--", 2) == 0;
    flags[words[i] + 2] = toggle ? "yes" : words[i + 1];
    i += toggle ? 0 : 1;
  }
  std::ifstream file(count > 1 ? words[1] : "");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto model = ullage::model::describe(text, "config");
  if (!model) return std::fprintf(stderr, "%s\n", model.error().what.c_str()), 1;
  const auto gpu = ullage::find_gpu(flags["gpu"]);
  if (!gpu) return std::fprintf(stderr, "%s\n", gpu.error().what.c_str()), 1;
  const auto program = ullage::lowering::lower(*model, setup_of(flags), ullage::lowering::facts_of(**gpu));
  if (!program) return std::fprintf(stderr, "%s\n", program.error().what.c_str()), 1;
  if (flags.contains("peaks")) {
    const auto plan = ullage::planner::run_program(*program, {});
    std::printf("%llu %llu\n", static_cast<unsigned long long>(plan.peak_allocated),
                static_cast<unsigned long long>(plan.peak_reserved));
    return 0;
  }
  if (!flags.contains("work")) return print(*program), 0;
  if (flags["work"] != "all") return print_work(*program, std::nullopt), 0;
  for (std::uint32_t step = 1; step <= program->marks.back().step; ++step) print_work(*program, step);
  return 0;
}
