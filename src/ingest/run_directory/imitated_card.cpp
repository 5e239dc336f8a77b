// SPDX-License-Identifier: Apache-2.0
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include "ingest/file/mapped_file.hpp"
#include "ingest/run_directory/run_directory.hpp"

namespace ullage::ingest {

std::string imitated_card(const std::string& run_directory) {
  const auto file = MappedFile::open(run_directory + "/run.json");
  if (!file) return {};
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(reinterpret_cast<const char*>(file->bytes().data()),
                                                 file->bytes().size());
  if (document.HasParseError()) return {};
  const rapidjson::Value* name = rapidjson::Pointer("/device/short_name").Get(document);
  return name != nullptr && name->IsString() ? std::string(name->GetString(), name->GetStringLength()) : std::string();
}

}  // namespace ullage::ingest
