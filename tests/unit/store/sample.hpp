// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/record.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <filesystem>
#include <string>

namespace ullage::store {

/// A small result as `ullage rehearse` writes it.
inline std::string sample_json(const std::string& verdict = "fits", int batch = 4, std::uint64_t reserved = 3000) {
  return fmt::format(R"({{
  "schema_version": 1, "command": "rehearse", "verdict": "{}", "script_exit_code": 0,
  "device": {{"name": "NVIDIA A100", "short_name": "a100-40gb", "capacity_bytes": 42298834944}},
  "stack": {{"torch": "2.11.0+cu130", "cuda": "13.0", "python": "3.11.2"}},
  "peak": {{"allocated_bytes": 2000, "reserved_bytes": {}, "requested_bytes": 1900, "used_bytes": 3500}},
  "needed_bytes": 3500, "needed_reserved_bytes": {}, "headroom": {{"bytes": 100, "fraction": 0.5}}, "steps": 2,
  "phases": [
    {{"name": "load", "allocated_bytes": 100, "reserved_bytes": 200, "peak_allocated_bytes": 150, "peak_reserved_bytes": 200}},
    {{"name": "optimizer", "step": 1, "allocated_bytes": 500, "reserved_bytes": 600, "peak_allocated_bytes": 550, "peak_reserved_bytes": 600}},
    {{"name": "optimizer", "step": 2, "allocated_bytes": 512, "reserved_bytes": 600, "peak_allocated_bytes": 560, "peak_reserved_bytes": 600}}
  ],
  "ledger": {{"id": "used", "name": "used on the device", "bytes": 3500, "children": [
    {{"id": "context", "name": "context", "bytes": 500}},
    {{"id": "reserved", "name": "PyTorch reserved", "bytes": 3000, "children": [
      {{"id": "parameters", "name": "parameters", "bytes": 1000}},
      {{"id": "cached", "name": "cached", "bytes": 2000}}]}}]}},
  "findings": [{{"id": "growth", "level": "problem", "title": "grows"}}, {{"id": "copies", "level": "opportunity", "title": "copies"}}],
  "out_of_memory": [], "evidence": {{"partial": false, "missing": []}}, "notes": [],
  "copies": [{{"count": 1, "bytes": 30}}, {{"count": 2, "bytes": 12}}],
  "run": {{"name": "train", "started": "2026-11-30T15:15:47.123Z", "environment": {{"CUDA_VISIBLE_DEVICES": "0"}},
           "input_shapes": ["[[4,16]]"], "code": {{"commit": "0123456789012345678901234567890123456789", "dirty": true}}}},
  "script": ["python", "dir/train.py", "--batch", "{}", "--bf16", "lr=0.1", "-v"], "run_directory": "/runs/a"
}})",
                     verdict, reserved, reserved, batch);
}

inline Record sample(const std::string& id = "a", const std::string& json = sample_json()) {
  return record_of({id, "/runs/" + id, 1000, json}).value();
}

/// A file that is gone with the test.
class TemporaryStore {
 public:
  TemporaryStore() {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() / fmt::format("ullage-store-test-{}-{}", getpid(), ++count);
    std::filesystem::create_directory(folder_);
  }
  ~TemporaryStore() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return (folder_ / "store.db").string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace ullage::store
