// SPDX-License-Identifier: Apache-2.0
// Wordings that the published messages do not have, and logs of several processes.
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "base/bytes.hpp"
#include "ingest/oom_message/diagnosis.hpp"
#include "ingest/oom_message/oom_log.hpp"
#include "ingest/oom_message/request_size.hpp"
#include "test_data.hpp"

namespace ullage {
namespace {

using ingest::FailureKind;
using ingest::OomBackend;
using ingest::OomMessage;

ingest::OomLog read(const std::string& text) {
  auto source = ingest::Source::of(test::bytes_of(text), "log");
  return ingest::read_oom_log(source);
}

OomMessage one(const std::string& text) {
  const auto log = read(text);
  EXPECT_EQ(log.messages.size(), 1U) << text;
  return log.messages.empty() ? OomMessage{} : log.messages[0];
}

constexpr const char* f3 =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 39.39 GiB "
    "of "
    "which 1.00 GiB is free. Including non-PyTorch memory, this process has 38.39 GiB memory in use. Of the allocated "
    "memory 37.50 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated. If reserved but "
    "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";

TEST(OomLog, TheFirstWording) {
  const auto m =
      one("RuntimeError: CUDA out of memory. Tried to allocate 164.50 GiB (GPU 2; 10.92 GiB total capacity; 19.66 MiB "
          "already "
          "allocated; 10.40 GiB free; 14.34 MiB cached)");
  EXPECT_EQ(m.wording, "F1");
  EXPECT_EQ(m.torch, "1.0 to 1.3");
  EXPECT_EQ(m.gpu, 2);
  EXPECT_EQ(m.unallocated->printed, "14.34 MiB");  // smaller than what is allocated: the rest, not the whole
  EXPECT_EQ(m.reserved()->bytes, m.allocated->bytes + m.unallocated->bytes);
  EXPECT_EQ(ingest::diagnose(m).kind, FailureKind::impossible_request);
}

TEST(OomLog, AStatedLimit) {
  const auto m = one(
      "CUDA out of memory. Tried to allocate 304.00 MiB (GPU 0; 8.00 GiB total capacity; 142.76 MiB already allocated; "
      "6.32 GiB free; 400.00 MiB allowed; 158.00 MiB reserved in total by PyTorch)");
  EXPECT_EQ(m.limit->printed, "400.00 MiB");
  EXPECT_EQ(ingest::diagnose(m).kind, FailureKind::fraction_limit);
  const auto newer =
      one("CUDA out of memory. Tried to allocate 304.00 MiB. GPU 0 has a total capacity of 8.00 GiB of which 6.32 GiB "
          "is free. "
          "Including non-PyTorch memory, this process has 1.20 GiB memory in use. 400.00 MiB allowed; Of the allocated "
          "memory "
          "142.76 MiB is allocated by PyTorch, and 15.24 MiB is reserved by PyTorch but unallocated.");
  EXPECT_EQ(newer.limit->printed, "400.00 MiB");
  EXPECT_EQ(newer.allocated->printed, "142.76 MiB");
  EXPECT_EQ(ingest::diagnose(newer).kind, FailureKind::fraction_limit);
}

TEST(OomLog, OtherProcessesByNumber) {
  const auto m = one(
      "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 200.00 MiB is "
      "free. Process 1234 has 10.00 GiB memory in use. Process 99 has 512.00 MiB memory in use. Including non-PyTorch "
      "memory, this process has 12.98 GiB memory in use. Of the allocated memory 12.00 GiB is allocated by PyTorch, "
      "and "
      "500.00 MiB is reserved by PyTorch but unallocated.");
  ASSERT_EQ(m.processes.size(), 2U);
  EXPECT_EQ(m.processes[0].pid, "1234");
  EXPECT_EQ(m.processes[1].bytes->bytes, 512 * mib);
  const auto diagnosis = ingest::diagnose(m);
  EXPECT_EQ(diagnosis.kind, FailureKind::other_process);
  EXPECT_TRUE(diagnosis.certain);
  EXPECT_NEAR(static_cast<double>(diagnosis.change.saves->low), 10.5 * gib, 0.02 * gib);
}

TEST(OomLog, XpuAndAsync) {
  const auto xpu =
      one("XPU out of memory. Tried to allocate 26.00 MiB. GPU 0 has a total capacity of 15.56 GiB of which 10.00 MiB "
          "is free. "
          "Of the allocated memory 14.20 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but "
          "unallocated. "
          "Please use `empty_cache` to release all unoccupied cached memory.");
  EXPECT_EQ(xpu.backend, OomBackend::xpu);
  EXPECT_EQ(xpu.wording, "F3-XPU");
  const auto async =
      one("torch.OutOfMemoryError: Allocation on device 1 would exceed allowed memory. (out of memory)\n"
          "Currently allocated     : 9.22 GiB\n"
          "Requested               : 120.00 MiB\n"
          "Device limit            : 15.77 GiB\n"
          "Free (according to CUDA): 17.38 MiB\n"
          "PyTorch limit (set by user-supplied memory fraction)\n"
          "                        : 17179869184.00 GiB\n");
  EXPECT_EQ(async.wording, "async");
  EXPECT_EQ(async.gpu, 1);
  EXPECT_EQ(async.requested->printed, "120.00 MiB");
  EXPECT_EQ(async.capacity->printed, "15.77 GiB");
  EXPECT_FALSE(async.limit);
}

TEST(OomLog, MpsAndNpu) {
  const auto mps =
      one("RuntimeError: MPS backend out of memory (MPS allocated: 8.65 GB, other allocations: 352.55 MB, max allowed: "
          "9.07 "
          "GB). Tried to allocate 160.00 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper "
          "limit "
          "for memory allocations (may cause system failure).");
  EXPECT_EQ(mps.backend, OomBackend::mps);
  EXPECT_EQ(mps.requested->bytes, 160 * mib);
  EXPECT_EQ(mps.limit->printed, "9.07 GB");
  EXPECT_EQ(mps.variable, "PYTORCH_MPS_HIGH_WATERMARK_RATIO");
  const auto broken =
      one("MPS backend out of memory (MPS allocated: 1.49 GiB, other allocations: 67108914.49 GiB, max allowed: 30.19 "
          "GiB).");
  EXPECT_FALSE(broken.other_allocations);
  const auto npu =
      one("NPU out of memory. NPUWorkspaceAllocator tried to allocate 1.89 GiB(NPU 7; 60.96 GiB total "
          "capacity; 1.82 GiB free). If you want to reduce memory usage, ...");
  EXPECT_EQ(npu.gpu, 7);
  EXPECT_EQ(npu.requested->printed, "1.89 GiB");
}

TEST(OomLog, TheHostsMemory) {
  const auto host =
      one("RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you "
          "tried "
          "to allocate 48000000000 bytes. Error code 12 (Cannot allocate memory)");
  EXPECT_EQ(host.backend, OomBackend::cpu);
  EXPECT_EQ(host.requested->bytes, 48000000000U);
  EXPECT_TRUE(host.requested->exact());
  EXPECT_EQ(ingest::diagnose(host).kind, FailureKind::host_memory);
  const auto windows =
      one("RuntimeError: [enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate "
          "6291456 bytes.");
  EXPECT_EQ(windows.requested->bytes, 6291456U);
}

TEST(OomLog, ErrorsWithoutNumbers) {
  EXPECT_EQ(one("RuntimeError: CUDA error: out of memory\n").wording, "error");
  EXPECT_EQ(one("NCCL WARN Cuda failure 2 'out of memory'\n").wording, "error");
  EXPECT_EQ(one("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`").wording,
            "cublas");
  EXPECT_EQ(one("RuntimeError: CUDA out of memory.").wording, "short");
  for (const char* none : {"torch.OutOfMemoryError was caught\n", "Out of memory: Killed process 77 (python)\n",
                           "except torch.cuda.OutOfMemoryError:\n", "we must not run out of memory here\n"})
    EXPECT_TRUE(read(none).messages.empty()) << none;
}

TEST(OomLog, RanksThatWriteBetweenEachOther) {
  std::string log;
  const std::string texts[] = {
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 39.39 GiB of which 1.00 GiB is "
      "free. ",
      "CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total capacity of 39.39 GiB of which 1.25 GiB is "
      "free. "};
  for (std::size_t at = 0; at < texts[0].size(); at += 40) {
    for (int rank = 0; rank < 2; ++rank)
      log += "[rank" + std::to_string(rank) + "]: " + texts[rank].substr(at, 40) + "\n";
  }
  const auto read_back = read(log);
  ASSERT_EQ(read_back.messages.size(), 2U);
  EXPECT_EQ(read_back.messages[0].rank, 0);
  EXPECT_EQ(read_back.messages[1].rank, 1);
  EXPECT_EQ(read_back.messages[0].free->printed, "1.00 GiB");
  EXPECT_EQ(read_back.messages[1].free->printed, "1.25 GiB");
  EXPECT_EQ(read_back.messages[1].line, 2U);
}

TEST(OomLog, ARepeatedMessageStandsOnce) {
  const std::string text = std::string("first line\n[rank1]: ") + f3 + "\nsummary:\n  " + f3 + "\n";
  const auto log = read(text);
  ASSERT_EQ(log.messages.size(), 1U);
  EXPECT_EQ(log.messages[0].times, 2U);
  EXPECT_EQ(log.messages[0].line, 2U);
  EXPECT_EQ(log.messages[0].offset, 11U);
  EXPECT_EQ(log.messages[0].rank, 1);
}

TEST(OomLog, AMessageInsideALongLineOfJson) {
  const std::string text = "{\"log\": \"" + std::string(200000, 'x') + "\\nRuntimeError: " + f3 + "\\n\"}\n" + "next\n";
  const auto m = one(text);
  EXPECT_EQ(m.requested->printed, "2.00 GiB");
  EXPECT_EQ(m.unallocated->printed, "120.00 MiB");
  EXPECT_EQ(m.line, 1U);
}

TEST(OomLog, ImpossibleProcessValuesAreUnknown) {
  const auto m =
      one("CUDA out of memory. Tried to allocate 7.83 GiB. GPU 0 has a total capacity of 8.00 GiB of which 0 bytes is "
          "free. "
          "Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of the allocated memory "
          "5.86 GiB is "
          "allocated by PyTorch, and 1.97 GiB is reserved by PyTorch but unallocated.");
  EXPECT_FALSE(m.in_use);
  EXPECT_EQ(m.in_use_printed, "17179869184.00 GiB");
  EXPECT_FALSE(m.own_outside_pytorch());
}

TEST(OomLog, MemoryThatIsLeftIsNotNegative) {
  const auto m = one(
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 39.39 GiB of which 1.20 GiB is "
      "free. Including non-PyTorch memory, this process has 38.19 GiB memory in use. Of the allocated memory 36.00 GiB "
      "is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.");
  ASSERT_TRUE(m.other_processes());
  EXPECT_EQ(m.other_processes()->low, 0);
  EXPECT_GT(m.other_processes()->high, 0);
  EXPECT_GT(m.own_outside_pytorch()->low, 0);
}

TEST(OomLog, IntervalsHoldWhatPrintsLikeIt) {
  const auto mib774 = *ingest::printed_size("774.00", "mib");
  EXPECT_EQ(mib774.bytes, 774 * mib);
  EXPECT_EQ(mib774.low, 774 * mib - 5242);
  EXPECT_EQ(mib774.high, 774 * mib + 5242);
  EXPECT_TRUE(ingest::printed_size("512", "bytes")->exact());
  EXPECT_EQ(ingest::printed_size("14.9", "gib")->low, static_cast<std::uint64_t>(14.85 * gib) + 1);
  EXPECT_FALSE(ingest::printed_size("17179869184.00", "gib"));
  EXPECT_FALSE(ingest::printed_size("1.00", "furlong"));
}

TEST(OomLog, ADamagedCompressedLogIsReadAsFarAsItGoes) {
  std::string text = std::string(f3) + "\n";
  for (int i = 0; i < 20000; ++i) text += "step " + std::to_string(i * 7919 % 10007) + "\n";
  std::string packed(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(text.data()), stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data()), stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  auto whole = ingest::Source::of(test::bytes_of(packed), "log.gz");
  EXPECT_FALSE(ingest::read_oom_log(whole).damage);
  packed.resize(packed.size() / 2);
  auto cut = ingest::Source::of(test::bytes_of(packed), "log.gz");
  const auto log = ingest::read_oom_log(cut);
  EXPECT_EQ(log.messages.size(), 1U);
  ASSERT_TRUE(log.damage);
  EXPECT_NE(log.damage->where.find("byte "), std::string::npos);
}

ingest::OomLog read_text(std::string_view text) {
  auto source = ingest::Source::of(std::as_bytes(std::span(text)), "log");
  return ingest::read_oom_log(source);
}

TEST(StatedDimensions, EverySpelling) {
  const auto stated = read_text(
                          "Model config GPT2Config {\n  \"n_embd\": 768,\n  \"n_head\": 12,\n"
                          "  \"vocab_size\": 50257,\n  \"n_inner\": null\n}\n"
                          "TrainingArguments(per_device_train_batch_size=8, learning_rate=5e-05)\n"
                          "[rank0]: torchrun train.py --Seq-Length 1024 --hidden-dropout 0.1\n"
                          "  num_layers ...................................... 24\n")
                          .stated;
  const auto model = stated.model(100);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->hidden, 768u);
  EXPECT_EQ(model->heads, 12u);
  EXPECT_EQ(model->head, 64u);
  EXPECT_EQ(model->vocabulary, 50257u);
  EXPECT_EQ(model->intermediate, 3072u);
  EXPECT_EQ(model->layers, 24u);
  EXPECT_EQ(stated.micro_batch(100), 8u);
  EXPECT_EQ(stated.sequence(100), 1024u);
  EXPECT_EQ(stated.used(100).front().key, "n_embd");
  EXPECT_EQ(stated.used(100).front().line, 2u);
}

TEST(StatedDimensions, OnlyWhatStandsBeforeAndAgrees) {
  const auto stated = read_text("hidden_size: 1024\nvision: hidden_size=768\nbatch_size = 4\n").stated;
  EXPECT_EQ(stated.model(2)->hidden, 1024u);
  EXPECT_FALSE(stated.model(3)) << "two values";
  ASSERT_EQ(stated.contradictory(3).size(), 1u);
  EXPECT_EQ(stated.contradictory(3).front(), "hidden_size 1024 (line 1) and hidden_size 768 (line 2)");
  EXPECT_FALSE(stated.micro_batch(3));
  EXPECT_EQ(stated.micro_batch(4), 4u);
}

TEST(StatedDimensions, WhatIsNoStatement) {
  for (const char* text : {"the hidden_size 768 is large", "hidden_size=768.5", "hidden_size=4k", "my_hidden_size=768",
                           "hidden_size=-1", "hidden_size=99999999999999999999", "hidden_size=", "hidden_size"})
    EXPECT_FALSE(read_text(text).stated.model(100)) << text;
}

TEST(RequestSize, TensorsThatPrintLikeTheRequest) {
  ingest::ModelDimensions gpt2{768, 12, 12, 64, 12, 50304, 3072, false, true};
  const auto logits = ingest::request_candidates(*ingest::printed_size("394.00", "mib"), gpt2, 2, 1024);
  ASSERT_EQ(logits.size(), 2U);  // with and without the last token: both are 394 MiB to the device
  EXPECT_EQ(logits[0].what, "logits");
  EXPECT_EQ(logits[0].bytes, 2ULL * 1024 * 50304 * 4);
  EXPECT_EQ(logits[0].request, 394 * mib);
  const auto scores = ingest::request_candidates(*ingest::printed_size("384.00", "mib"), gpt2, 8, 1024);
  ASSERT_FALSE(scores.empty());
  EXPECT_EQ(scores[0].formula, "micro batch 8 x heads 12 x sequence 1024 x sequence 1024 x 4 B");
  ingest::ModelDimensions llama{4096, 32, 32, 128, 32, 32000, 11008, true, false};
  const auto layer =
      ingest::request_candidates(*ingest::printed_size("388.00", "mib"), llama, std::nullopt, std::nullopt);
  ASSERT_EQ(layer.size(), 1U);
  EXPECT_EQ(layer[0].bytes, 202383360ULL * 2);
  const auto shard =
      ingest::request_candidates(*ingest::printed_size("3.14", "gib"), llama, std::nullopt, std::nullopt);
  ASSERT_FALSE(shard.empty());  // 8 ranks with 4 bytes are 4 ranks with 2
  EXPECT_EQ(shard.back().formula, "parameters 6738415616 / 8 ranks x 4 B");
  EXPECT_TRUE(ingest::request_candidates(*ingest::printed_size("20.00", "mib"), llama, 1, 1024).empty());
}

}  // namespace
}  // namespace ullage
