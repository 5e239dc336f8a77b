// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/run_facts.hpp"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "ingest/run_directory/json_fields.hpp"

namespace ullage::ingest {

namespace {

using ledger::MarkName;
using ledger::TensorClass;

constexpr std::string_view line_head = "{\"c\":\"";
constexpr std::string_view line_middle = "\",\"r\":";
constexpr std::size_t checksum_digits = 8;
constexpr int deepest_config = 6;
constexpr unsigned parse_flags = rapidjson::kParseIterativeFlag;

std::optional<MarkName> mark_name(std::string_view text) {
  constexpr std::pair<std::string_view, MarkName> names[] = {{"load_begin", MarkName::load_begin},
                                                             {"forward_begin", MarkName::forward_begin},
                                                             {"forward_end", MarkName::forward_end},
                                                             {"backward_begin", MarkName::backward_begin},
                                                             {"backward_end", MarkName::backward_end},
                                                             {"optimizer_begin", MarkName::optimizer_begin},
                                                             {"optimizer_end", MarkName::optimizer_end},
                                                             {"run_end", MarkName::run_end},
                                                             {"step_end", MarkName::step_end}};
  for (const auto& [name, value] : names) {
    if (name == text) return value;
  }
  return std::nullopt;
}

std::optional<TensorClass> tensor_class(std::string_view text) {
  constexpr std::array<std::string_view, ledger::tensor_classes> names = {
      "parameter", "buffer", "gradient", "optimizer_state", "input", "held", "output"};
  const auto it = std::ranges::find(names, text);
  if (it == names.end()) return std::nullopt;
  return static_cast<TensorClass>(it - names.begin());
}

// The record inside a line, when the line has the right form and checksum.
std::optional<std::string_view> checked_record(std::string_view line) {
  constexpr std::size_t start = line_head.size() + checksum_digits + line_middle.size();
  if (line.size() <= start || !line.starts_with(line_head) || !line.ends_with('}')) return std::nullopt;
  if (line.substr(line_head.size() + checksum_digits, line_middle.size()) != line_middle) return std::nullopt;
  const std::string_view digits = line.substr(line_head.size(), checksum_digits);
  std::uint32_t stated = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), stated, 16);
  if (failed != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  const std::string_view record = line.substr(start, line.size() - start - 1);
  const auto* bytes = reinterpret_cast<const Bytef*>(record.data());
  if (crc32_z(0, bytes, record.size()) != stated) return std::nullopt;
  return record;
}

ledger::MarkCounters counters_of(const JsonFields& r) {
  ledger::MarkCounters c;
  c.allocs = r.count("allocs");
  c.frees = r.count("frees");
  c.segments_allocated = r.count("segments_allocated");
  c.segments_freed = r.count("segments_freed");
  c.allocated = r.count("allocated");
  c.reserved = r.count("reserved");
  c.requested = r.count("requested");
  c.active = r.count("active");
  c.peak_allocated = r.count("peak_allocated");
  c.peak_reserved = r.count("peak_reserved");
  c.retries = r.count("retries");
  c.ooms = r.count("ooms");
  c.since_known = r.find("since_allocated") != nullptr;
  c.since_allocated = r.count("since_allocated");
  c.since_reserved = r.count("since_reserved");
  c.since_requested = r.count("since_requested");
  c.time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(r.integer("time_ns"), 0));
  return c;
}

std::optional<bool> known_flag(const JsonFields& r, const char* key) {
  return r.find(key) == nullptr ? std::nullopt : std::optional(r.flag(key));
}

class FactsReader {
 public:
  RunFacts run(std::string_view text) {
    std::size_t offset = 0;
    while (offset < text.size()) {
      const std::size_t end = std::min(text.find('\n', offset), text.size());
      const std::string_view line = text.substr(offset, end - offset);
      if (!line.empty() && !take_line(line)) {
        set_damage(offset, text.size() - offset, end == text.size());
        break;
      }
      offset = end + 1;
    }
    place_lists();
    return std::move(facts_);
  }

 private:
  using Handler = void (FactsReader::*)(const JsonFields&);

  bool take_line(std::string_view line) {
    const auto record = checked_record(line);
    if (!record) return false;
    rapidjson::Document document;
    document.Parse<parse_flags>(record->data(), record->size());
    if (document.HasParseError() || !document.IsObject()) return false;
    ++facts_.records;
    const JsonFields fields(document, facts_.bad_values);
    if (const Handler handler = handler_for(fields.text("kind"))) (this->*handler)(fields);
    return true;
  }

  static Handler handler_for(std::string_view kind) {
    constexpr std::pair<std::string_view, Handler> handlers[] = {{"process", &FactsReader::on_process},
                                                                 {"history", &FactsReader::on_history},
                                                                 {"history_end", &FactsReader::on_history_end},
                                                                 {"mark", &FactsReader::on_mark},
                                                                 {"tensors", &FactsReader::on_tensors},
                                                                 {"oom", &FactsReader::on_oom},
                                                                 {"caught_oom", &FactsReader::on_caught},
                                                                 {"exception", &FactsReader::on_exception},
                                                                 {"stop", &FactsReader::on_stop},
                                                                 {"note", &FactsReader::on_note},
                                                                 {"saw", &FactsReader::on_saw},
                                                                 {"policy", &FactsReader::on_policy},
                                                                 {"allocator", &FactsReader::on_allocator},
                                                                 {"batch", &FactsReader::on_batch},
                                                                 {"setup", &FactsReader::on_setup},
                                                                 {"optimizer_setup", &FactsReader::on_optimizer},
                                                                 {"mask", &FactsReader::on_mask},
                                                                 {"zero_grad", &FactsReader::on_zero_grad},
                                                                 {"kept_gradients", &FactsReader::on_kept_gradients},
                                                                 {"loader", &FactsReader::on_loader},
                                                                 {"host", &FactsReader::on_host},
                                                                 {"loads", &FactsReader::on_loads},
                                                                 {"pinning", &FactsReader::on_pinning},
                                                                 {"compiler", &FactsReader::on_compiler},
                                                                 {"recording", &FactsReader::on_recording},
                                                                 {"device", &FactsReader::on_device},
                                                                 {"sample", &FactsReader::on_sample},
                                                                 {"tokens", &FactsReader::on_tokens},
                                                                 {"work", &FactsReader::on_work},
                                                                 {"left_out", &FactsReader::on_left_out},
                                                                 {"end", &FactsReader::on_end}};
    for (const auto& [name, handler] : handlers) {
      if (name == kind) return handler;
    }
    return nullptr;
  }

  void set_damage(std::size_t offset, std::size_t lost, bool last_line) {
    const std::string what = last_line ? "the last line is cut or damaged" : "a line does not match its checksum";
    facts_.lost_bytes = lost;
    facts_.damage =
        Error{ErrorKind::bad_input, what + "; the " + std::to_string(lost) + " bytes from there on are lost",
              "byte " + std::to_string(offset), "{\"c\":\"CRC-32\",\"r\":RECORD}", "what stands before it was read"};
  }

  void on_process(const JsonFields& r) {
    ProcessFacts process;
    process.pid = r.integer("pid");
    if (const auto* argv = r.list("argv")) {
      for (const auto& argument : argv->GetArray()) process.argv.push_back(r.text_of(argument));
    }
    process.python = r.text("python");
    process.torch = r.text("torch");
    process.cuda = r.text("cuda");
    process.cwd = r.text("cwd");
    process.cudnn = text_or_number(r, "cudnn");
    process.hook_version = text_or_number(r, "hook_version");
    facts_.process = std::move(process);
  }

  static std::string text_or_number(const JsonFields& r, const char* key) {
    const auto* value = r.find(key);
    if (value != nullptr && value->IsInt64()) return std::to_string(value->GetInt64());
    return r.text(key);
  }

  void on_history(const JsonFields& r) {
    HistoryStart history;
    history.stacks = r.text("stacks");
    if (r.find("max_entries") != nullptr) history.max_entries = r.count("max_entries");
    history.device = static_cast<int>(r.small_count("device") & 0xffff);
    history.counters = counters_of(r);
    history.marks_before = facts_.marks.size();
    facts_.history = std::move(history);
  }

  void on_history_end(const JsonFields&) {
    if (facts_.history) facts_.history->marks_until = facts_.marks.size();
  }

  void on_mark(const JsonFields& r) {
    ledger::Mark mark;
    mark.index = r.small_count("index");
    mark.name = mark_name(r.text("name")).value_or(MarkName::other);
    mark.step = r.small_count("step");
    mark.micro_batch = r.small_count("micro_batch");
    mark.optimizer = text_or_number(r, "optimizer");
    mark.grad_enabled = known_flag(r, "grad_enabled");
    mark.training = known_flag(r, "training");
    mark.counters = counters_of(r);
    facts_.marks.push_back(std::move(mark));
  }

  void on_tensors(const JsonFields& r) {
    ledger::TensorList list;
    list.mark = r.small_count("index");  // the mark's index until place_lists
    if (const auto* complete = r.list("complete")) {
      for (const auto& name : complete->GetArray()) {
        if (const auto known = tensor_class(r.text_of(name))) list.complete[static_cast<std::size_t>(*known)] = true;
      }
    }
    if (const auto* tensors = r.list("tensors")) {
      for (const auto& row : tensors->GetArray()) take_tensor(row, r, list);
    }
    facts_.lists.push_back(std::move(list));
  }

  void take_tensor(const rapidjson::Value& row, const JsonFields& r, ledger::TensorList& list) {
    if (!row.IsArray() || row.Size() < 6 || !row[4].IsUint64()) {
      ++facts_.bad_values;
      return;
    }
    const auto known = tensor_class(r.text_of(row[0]));
    if (!known) return;
    ledger::Tensor tensor;
    tensor.tensor_class = *known;
    tensor.name = r.text_of(row[1]);
    tensor.state = r.text_of(row[2]);
    tensor.dtype = r.text_of(row[3]);
    tensor.address = row[4].GetUint64();
    tensor.bytes = r.count_of(row[5]);
    tensor.frozen = row.Size() > 7 && row[7].IsFalse();
    if (row.Size() > 6 && row[6].IsString()) tensor.optimizer = r.text_of(row[6]);
    if (row.Size() > 6 && row[6].IsUint64()) tensor.optimizer = std::to_string(row[6].GetUint64());
    list.tensors.push_back(std::move(tensor));
  }

  void on_oom(const JsonFields& r) {
    OutOfMemory oom;
    oom.requested_bytes = r.count("requested_bytes");
    oom.total_bytes = r.count("total_bytes");
    oom.free_bytes = r.count("free_bytes");
    oom.step = r.small_count("step");
    oom.micro_batch = r.small_count("micro_batch");
    oom.phase = r.text("phase");
    oom.module = r.text("module");
    oom.line = r.text("line");
    oom.text = r.text("text");
    oom.marks_before = facts_.marks.size();
    oom.counters = counters_of(r);
    facts_.ooms.push_back(std::move(oom));
  }

  void on_caught(const JsonFields& r) { facts_.caught_ooms = r.count("count"); }
  void on_exception(const JsonFields& r) {
    facts_.exception = ScriptException{r.text("type"), r.text("text"), r.flag("oom")};
  }
  void on_stop(const JsonFields& r) { facts_.stop = StopFacts{r.text("reason"), r.small_count("steps")}; }
  void on_note(const JsonFields& r) { facts_.notes.push_back(r.text("text")); }
  void on_end(const JsonFields& r) {
    facts_.end = EndFacts{r.text("status"), r.text("snapshot_error"), r.flag("snapshot"), r.count("problems")};
  }

  void on_recording(const JsonFields& r) {
    RecordingFacts recording;
    recording.name = r.text("name");
    recording.host = r.text("host");
    if (r.find("rank") != nullptr) recording.rank = r.small_count("rank");
    recording.world_size = r.small_count("world_size");
    recording.rehearsal = r.flag("rehearsal");
    facts_.recording = std::move(recording);
  }

  void on_device(const JsonFields& r) {
    facts_.device =
        DeviceFacts{r.text("name"), r.text("compute_capability"), r.small_count("number"), r.count("total_bytes")};
  }

  void on_sample(const JsonFields& r) {
    facts_.samples.push_back({r.count("time_ns"), r.count("resident_bytes"), r.count("pinned_bytes"),
                              r.count("children"), r.count("children_bytes"), r.count("reserved_bytes"),
                              r.count("device_used_bytes"), r.count("process_used_bytes")});
  }

  void on_tokens(const JsonFields& r) {
    TokenFacts tokens{r.small_count("step"), r.count("tokens"), {}};
    if (r.find("effective") != nullptr) tokens.effective = r.count("effective");
    facts_.tokens.push_back(tokens);
  }

  void on_work(const JsonFields& r) {
    facts_.work = WorkFacts{r.count("flops_per_token"), r.text("rule"), r.text("precision"), r.count("peak_flops")};
  }

  void on_left_out(const JsonFields& r) { facts_.left_out.push_back({r.small_count("step"), r.text("why")}); }

  void on_allocator(const JsonFields& r) { facts_.allocator = r.text("backend"); }
  void on_policy(const JsonFields& r) { facts_.policies.push_back({r.text("policy"), r.text("line"), r.text("text")}); }

  void on_compiler(const JsonFields& r) {
    facts_.compiler = CompilerFacts{r.count("graphs"), r.count("compiled"), r.count("timed")};
  }

  void on_saw(const JsonFields& r) {
    std::string what = r.text("what");
    if (std::ranges::find(facts_.saw, what) == facts_.saw.end()) facts_.saw.push_back(std::move(what));
  }

  void on_host(const JsonFields& r) {
    facts_.host.push_back({r.count("time_ns"), r.flag("end"), r.count("peak_resident_bytes"),
                           r.count("device_pages_bytes"), r.count("pinned_bytes"), r.count("pinned_touched_bytes"),
                           r.count("hook_bytes"), r.count("operator_entries"), r.count("history_entries")});
  }

  void on_loads(const JsonFields& r) {
    LoadFacts loads;
    loads.step = r.small_count("step");
    if (const auto* times = r.list("ns")) {
      for (const auto& time : times->GetArray()) loads.ns.push_back(r.count_of(time));
    }
    facts_.loads.push_back(std::move(loads));
  }

  void on_pinning(const JsonFields& r) {
    facts_.pinning.times += r.count("times");
    facts_.pinning.requested_bytes += r.count("requested_bytes");
    facts_.pinning.taken_bytes += r.count("taken_bytes");
  }

  static std::string json_of(const rapidjson::Value& value) {
    rapidjson::StringBuffer text;
    rapidjson::Writer<rapidjson::StringBuffer> writer(text);
    value.Accept(writer);
    return {text.GetString(), text.GetSize()};
  }

  static std::string shapes_of(const JsonFields& r) {
    const auto* shapes = r.list("shapes");
    return shapes != nullptr && flat(*shapes, 3) ? json_of(*shapes) : "";
  }

  void on_batch(const JsonFields& r) { facts_.batches.push_back({r.small_count("step"), shapes_of(r)}); }

  void on_setup(const JsonFields& r) {
    const auto* config = r.find("config");
    if (config == nullptr || !config->IsObject() || !shallow(*config, deepest_config)) return;
    SetupFacts setup;
    setup.config = json_of(*config);
    setup.shapes = shapes_of(r);
    if (const auto* dtypes = r.list("dtypes"))
      for (const auto& dtype : dtypes->GetArray()) setup.dtypes.push_back(r.text_of(dtype));
    setup.attention = r.text("attention");
    setup.autocast = r.text("autocast");
    setup.tf32 = r.flag("tf32");
    setup.checkpointing = r.flag("checkpointing");
    setup.parameters = r.count("parameters");
    setup.trained_parameters = r.count("trained_parameters");
    facts_.setup = std::move(setup);
  }

  void on_optimizer(const JsonFields& r) {
    facts_.optimizer = OptimizerFacts{r.text("module"),       r.text("class"),   known_flag(r, "foreach"),
                                      known_flag(r, "fused"), r.flag("amsgrad"), r.flag("momentum")};
  }

  void on_mask(const JsonFields& r) {
    facts_.masks.push_back({r.text("name"), r.small_count("step"), r.count("rows"), r.count("columns"), r.count("kept"),
                            r.count("kept_squared"), r.text("line")});
  }

  void on_kept_gradients(const JsonFields& r) {
    facts_.kept_gradients.push_back({r.small_count("step"), r.text("line"), r.count("count"), r.count("bytes")});
  }

  void on_loader(const JsonFields& r) {
    facts_.loaders.push_back({r.count("workers"), r.flag("pin_memory"), r.count("prefetch_factor"),
                              r.count("batch_bytes"), r.count("host_capacity_bytes")});
  }

  void on_zero_grad(const JsonFields& r) {
    facts_.zero_grads.push_back({r.text("line"), r.flag("set_to_none"), r.text("phase"), r.count("bytes")});
  }

  // Writing recurses, so deep values are not written.
  static bool flat(const rapidjson::Value& value, int depth) {
    if (value.IsObject() || depth == 0) return false;
    if (!value.IsArray()) return true;
    return std::ranges::all_of(value.GetArray(), [depth](const auto& item) { return flat(item, depth - 1); });
  }

  static bool shallow(const rapidjson::Value& value, int depth) {
    if (depth == 0) return !value.IsObject() && !value.IsArray();
    const auto below = [depth](const auto& item) { return shallow(item, depth - 1); };
    if (value.IsArray()) return std::ranges::all_of(value.GetArray(), below);
    if (!value.IsObject()) return true;
    return std::ranges::all_of(value.GetObject(), [&](const auto& member) { return below(member.value); });
  }

  // From the index of a mark to its position; lists of marks that are not there are dropped.
  void place_lists() {
    std::unordered_map<std::size_t, std::size_t> positions;
    for (std::size_t i = 0; i < facts_.marks.size(); ++i) positions.emplace(facts_.marks[i].index, i);
    std::erase_if(facts_.lists, [&](ledger::TensorList& list) {
      const auto it = positions.find(list.mark);
      if (it == positions.end()) return ++facts_.bad_values, true;
      list.mark = it->second;
      return false;
    });
    std::ranges::stable_sort(facts_.lists, {}, &ledger::TensorList::mark);
    for (const auto& list : facts_.lists)
      if (const auto& mark = facts_.marks[list.mark]; mark.name != MarkName::run_end)
        facts_.named_until = std::max(facts_.named_until, mark.step);
  }

  RunFacts facts_;
};

}  // namespace

RunFacts read_run_facts(std::string_view text) {
  return FactsReader().run(text);
}

}  // namespace ullage::ingest
