// SPDX-License-Identifier: Apache-2.0
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include "ingest/file/mapped_file.hpp"
#include "ingest/run_directory/run_directory.hpp"

namespace ullage::ingest {

ImitatedDevice imitated_device(const std::string& run_directory) {
  const auto file = MappedFile::open(run_directory + "/run.json");
  if (!file) return {};
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(reinterpret_cast<const char*>(file->bytes().data()),
                                                 file->bytes().size());
  if (document.HasParseError()) return {};
  const rapidjson::Value* name = rapidjson::Pointer("/device/short_name").Get(document);
  const rapidjson::Value* capacity = rapidjson::Pointer("/device/capacity_bytes").Get(document);
  ImitatedDevice device;
  if (name != nullptr && name->IsString()) device.short_name = {name->GetString(), name->GetStringLength()};
  if (capacity != nullptr && capacity->IsUint64()) device.capacity_bytes = capacity->GetUint64();
  return device;
}

}  // namespace ullage::ingest
