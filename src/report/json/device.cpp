// SPDX-License-Identifier: Apache-2.0
#include "report/json/device.hpp"

namespace ullage::report {

void write_device(JsonWriter& json, const DeviceInfo& device) {
  json.begin_object("device");
  json.field("name", std::string_view(device.name));
  if (!device.short_name.empty()) json.field("short_name", std::string_view(device.short_name));
  json.field("capacity_bytes", device.capacity_bytes);
  json.field("compute_capability", std::string_view(device.compute_capability));
  json.field("count", 1);
  if (device.context.source.empty()) return json.end_object();
  json.begin_object("context");
  json.field("bytes", device.context.bytes);
  json.field("low", device.context.low);
  json.field("high", device.context.high);
  json.field("known_by", std::string_view(device.context.known_by));
  json.field("source", std::string_view(device.context.source));
  json.end_object();
  json.end_object();
}

}  // namespace ullage::report
