// SPDX-License-Identifier: Apache-2.0
// `ullage batches`: what padding costs, for each way of putting sequences into batches.
#include "planner/batches.hpp"
#include "apps/ullage/choice.hpp"
#include "apps/ullage/command.hpp"
#include "apps/ullage/hardware/own_gpus.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/planning/one_step.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "ingest/lengths/lengths.hpp"
#include "report/json/json_writer.hpp"

#include <fmt/format.h>

#include <vector>

namespace ullage::cli {
namespace {

using planner::BatchingCost;
using planner::BatchOptions;

/// What was asked, read and computed.
struct Answer {
  std::string file;
  BatchOptions options;
  std::string field;
  std::uint64_t empty = 0;
  planner::Batches batches;
  std::vector<report::PlanPoint> plans;  ///< of the largest batch of each way, with --model
};

/// What is planned besides the batch itself.
constexpr const char* plan_flags[] = {"gpu", "gpu-file", "precision", "optimizer", "attention", "checkpoint"};

/// A step with the largest batch of a way, in the words of `ullage plan`.
std::vector<std::string> plan_words(const Arguments& arguments, const BatchingCost& way) {
  std::vector<std::string> words{*arguments.text("model"), fmt::format("--micro-batch={}", way.largest.sequences),
                                 fmt::format("--seq={}", way.largest.length)};
  if (way.padding > 0) words.emplace_back("--padding");
  for (const char* flag : plan_flags)
    if (const auto value = arguments.text(flag)) words.push_back(fmt::format("--{}={}", flag, *value));
  return words;
}

Result<Answer> with_plans(const Arguments& arguments, Answer answer) {
  if (!arguments.given("model")) {
    for (const char* flag : plan_flags)
      if (arguments.given(flag))
        return fail(ErrorKind::usage, "of which model?", fmt::format("--{}", flag), "--model MODEL as well");
    return answer;
  }
  if (const auto gpus = chosen_gpus(arguments); gpus && gpus->size() > 1)
    return fail(ErrorKind::usage, "batches are planned on one GPU", "--gpu " + *arguments.text("gpu"), "one name");
  std::vector<std::vector<std::string>> plans;
  for (const BatchingCost& way : answer.batches.ways) plans.push_back(plan_words(arguments, way));
  return plan_steps(plans).map([&](std::vector<report::PlanPoint> points) {
    answer.plans = std::move(points);
    return std::move(answer);
  });
}

Result<std::uint64_t> count_of(const Arguments& arguments, const char* flag, std::uint64_t most) {
  const std::uint64_t count = arguments.count(flag).value_or(1);
  if (count >= 1 && count <= most) return count;
  return fail(ErrorKind::usage, "not a number that makes sense here", fmt::format("--{} {}", flag, count),
              fmt::format("1 to {}", grouped(most)));
}

Result<BatchOptions> options_of(const Arguments& arguments) {
  constexpr std::uint64_t most_sequences = 1'000'000, most_buckets = 100'000;
  const auto micro_batch = count_of(arguments, "micro-batch", most_sequences);
  if (!micro_batch) return tl::unexpected(micro_batch.error());
  const auto buckets = count_of(arguments, "buckets", most_buckets);
  if (!buckets) return tl::unexpected(buckets.error());
  const auto length = count_of(arguments, "max-length", planner::longest_sequence);
  if (!length) return tl::unexpected(length.error());
  BatchOptions options{*micro_batch, {}, *buckets, arguments.count("seed").value_or(0)};
  if (arguments.given("max-length")) options.max_length = static_cast<std::uint32_t>(*length);
  return options;
}

Result<Answer> answer(const std::string& file, const BatchOptions& options) {
  auto source = ingest::Source::open_once(file);
  if (!source) return tl::unexpected(source.error());
  const auto lengths = ingest::read_lengths(*source);
  if (!lengths) return tl::unexpected(lengths.error());
  return planner::plan_batches(lengths->tokens, options)
      .map([&](const planner::Batches& batches) {
        return Answer{file, options, lengths->field, lengths->empty, batches, {}};
      })
      .map_error([&](Error error) {
        if (error.where.empty()) error.where = file;
        return error;
      });
}

std::string meaning(const BatchingCost& way, const Answer& answer) {
  switch (way.batching) {
    case planner::Batching::maximum:
      return answer.options.max_length ? fmt::format("padded to {}", *answer.options.max_length)
                                       : std::string("padded to the longest");
    case planner::Batching::random:
      return "random order, padded in each batch";
    case planner::Batching::sorted:
      return "sorted by length, padded in each batch";
    case planner::Batching::bucketed:
      return fmt::format("{} buckets by length, padded in each", answer.options.buckets);
  }
  return {};
}

std::string head_text(const Answer& answer) {
  const auto& [lengths, truncated, cut, tokens, ways] = answer.batches;
  std::string text = fmt::format("{}: {} sequences, {} tokens\n", printable(answer.file, false),
                                 grouped(lengths.sequences), grouped(lengths.tokens));
  text += fmt::format("length: mean {:.1f}, median {:.10g}, 90 % up to {}, 99 % up to {}, longest {}\n", lengths.mean,
                      lengths.median, lengths.p90, lengths.p99, lengths.longest);
  if (answer.options.max_length)
    text += fmt::format("cut to {}: {} sequences, {} tokens lost ({:.1f} %)\n", *answer.options.max_length,
                        grouped(truncated), grouped(cut),
                        100 * static_cast<double>(cut) / static_cast<double>(lengths.tokens));
  if (answer.empty > 0) text += fmt::format("{} sequences have no token\n", grouped(answer.empty));
  return text;
}

std::string text_of(const Answer& answer) {
  std::vector<Table::Column> columns{{"batches of " + std::to_string(answer.options.micro_batch)},
                                     {"tokens computed", Align::right},
                                     {"padding", Align::right},
                                     {"batches", Align::right},
                                     {"largest batch", Align::right}};
  if (!answer.plans.empty()) columns.insert(columns.end(), {{"needs", Align::right}, {"verdict"}});
  Table table(columns);
  for (std::size_t i = 0; i < answer.batches.ways.size(); ++i) {
    const BatchingCost& way = answer.batches.ways[i];
    std::vector<std::string> cells{
        meaning(way, answer), grouped(way.tokens), fmt::format("{:.1f} %", 100 * way.padding_share()),
        grouped(way.batches),
        fmt::format("{} x {} = {}", way.largest.sequences, way.largest.length, grouped(way.largest.tokens()))};
    if (!answer.plans.empty())
      cells.insert(cells.end(), {format_bytes(answer.plans[i].at_least),
                                 answer.plans[i].fits_not ? "does not fit" : answer.plans[i].step->verdict});
    table.add(std::move(cells));
  }
  const std::string where = answer.plans.empty() ? ""
                                                 : fmt::format("planned on {}; what a way pads has a mask\n",
                                                               answer.plans.front().device->short_name);
  return head_text(answer) + where + "\n" + table.text() +
         fmt::format(
             "\npadding is its share of the tokens computed, {} of which are real. The largest batch must fit: "
             "plan and rehearse with it.\n",
             grouped(answer.batches.tokens));
}

void write_lengths(JsonWriter& json, const Answer& answer) {
  const planner::LengthStatistics& lengths = answer.batches.lengths;
  json.begin_object("lengths");
  json.field("sequences", lengths.sequences);
  json.field("tokens", lengths.tokens);
  json.field("mean", lengths.mean);
  json.number_field("median", lengths.median);
  json.field("p90", std::uint64_t{lengths.p90});
  json.field("p99", std::uint64_t{lengths.p99});
  json.field("longest", std::uint64_t{lengths.longest});
  json.field("empty_sequences", answer.empty);
  json.field("truncated_sequences", answer.batches.truncated);
  json.field("truncated_tokens", answer.batches.cut);
  json.end_object();
}

void write_way(JsonWriter& json, const BatchingCost& way, const report::PlanPoint* plan) {
  json.begin_object();
  json.field("name", planner::name_of(way.batching));
  json.field("tokens", way.tokens);
  json.field("padding_tokens", way.padding);
  json.field("padding_share", way.padding_share());
  json.field("batches", way.batches);
  json.begin_object("largest_batch");
  json.field("sequences", way.largest.sequences);
  json.field("length", std::uint64_t{way.largest.length});
  json.field("tokens", way.largest.tokens());
  if (plan != nullptr) {
    json.field("needed_bytes", plan->at_least);
    json.field("verdict", std::string_view(plan->step->verdict));
  }
  json.end_object();
  json.end_object();
}

std::string json_of(const Answer& answer) {
  JsonWriter json;
  json.begin_result("batches");
  json.field("file", answer.file);
  if (!answer.field.empty()) json.field("field", answer.field);
  json.field("micro_batch", answer.options.micro_batch);
  if (answer.options.max_length) json.field("max_length", std::uint64_t{*answer.options.max_length});
  json.field("buckets", answer.options.buckets);
  if (!answer.plans.empty()) json.field("gpu", std::string_view(answer.plans.front().device->short_name));
  json.field("seed", answer.options.seed);
  write_lengths(json, answer);
  json.field("real_tokens", answer.batches.tokens);
  json.begin_array("batchings");
  for (std::size_t i = 0; i < answer.batches.ways.size(); ++i)
    write_way(json, answer.batches.ways[i], answer.plans.empty() ? nullptr : &answer.plans[i]);
  json.end_array();
  json.end_object();
  return json.text();
}

Result<ExitCode> run_batches(const Arguments& arguments) {
  if (arguments.positionals.empty())
    return fail(ErrorKind::usage, "no file was named", {}, "ullage batches LENGTHS", "'-' is the standard input");
  return options_of(arguments)
      .and_then([&](const BatchOptions& options) { return answer(arguments.positionals.front(), options); })
      .and_then([&](Answer done) { return with_plans(arguments, std::move(done)); })
      .and_then(
          [&](const Answer& done) { return print_result(arguments.given("json") ? json_of(done) : text_of(done)); })
      .map([] { return ExitCode::yes; });
}

constexpr Flag batches_flags[] = {
    {"micro-batch", "B", "sequences in a batch", FlagKind::count, "8"},
    {"max-length", "L", "longer sequences are cut to it; without it the longest stays", FlagKind::count},
    {"buckets", "K", "groups by length, of equal number", FlagKind::count, "8"},
    {"model", "MODEL", "plan a step with the largest batch of each way, as 'ullage plan MODEL' does; needs --gpu"},
    {"gpu", "NAME", "with --model: on which GPU, or the one in ULLAGE_GPU"},
    gpu_file_flag,
    {"precision", "NAME", "with --model, as in 'ullage plan'"},
    {"optimizer", "NAME", "with --model, as in 'ullage plan'"},
    {"attention", "KIND", "with --model, as in 'ullage plan'"},
    {"checkpoint", "WHICH", "with --model, as in 'ullage plan'"},
    {"seed", "S", "of the random order", FlagKind::count, "0"},
    json_flag,
};

}  // namespace

const Command batches_command{
    "batches",
    "what padding costs, for each way of batching sequences",
    "LENGTHS|- [FLAGS]",
    "LENGTHS has a line per sequence: its number of tokens, or a JSON object that has it as length, num_tokens, "
    "n_tokens or\n"
    "token_count, or as the list input_ids or tokens. gzip and zstd are unpacked.",
    {batches_flags, 1, false},
    run_batches};

}  // namespace ullage::cli
