// SPDX-License-Identifier: Apache-2.0
#include "launch/trackers.hpp"

#include <string_view>

namespace ullage {
namespace {

using Changes = std::map<std::string, std::optional<std::string>>;

void add_wandb(Changes& changes, const Variables& variables, const std::string& folder) {
  const std::string mode = variables("WANDB_MODE");
  if (mode != "disabled" && mode != "dryrun") changes["WANDB_MODE"] = "offline";
  changes["WANDB_DIR"] = folder;
  changes["WANDB_DATA_DIR"] = folder + "/wandb-data";
  changes["WANDB_ERROR_REPORTING"] = "false";
  // The command line, in which a secret may be, and the load of this machine.
  changes["WANDB__DISABLE_META"] = "true";
  changes["WANDB__DISABLE_STATS"] = "true";
}

/// A path, or an address of a file or of a database in a file.
bool on_this_machine(std::string_view address) {
  return !address.empty() && (address.starts_with("file:") || address.starts_with("sqlite:") ||
                              (address.find("://") == address.npos && !address.starts_with("databricks")));
}

void add_mlflow(Changes& changes, const Variables& variables, const std::string& folder) {
  const bool local = on_this_machine(variables("MLFLOW_TRACKING_URI"));
  if (!local) changes["MLFLOW_TRACKING_URI"] = "file://" + folder + "/mlruns";
  if (!on_this_machine(variables("MLFLOW_REGISTRY_URI"))) changes["MLFLOW_REGISTRY_URI"] = std::nullopt;
  // Newer versions want a database by default, for which not every installation has the packages.
  changes["MLFLOW_ALLOW_FILE_STORE"] = "true";
  changes["MLFLOW_DISABLE_TELEMETRY"] = "true";
}

void add_comet(Changes& changes, const Variables& variables, const std::string& folder) {
  const std::string mode = variables("COMET_MODE");
  if (mode != "DISABLED" && mode != "disabled") changes["COMET_MODE"] = "OFFLINE";
  changes["COMET_START_ONLINE"] = "false";
  changes["COMET_AUTO_LOG_CLI_ARGUMENTS"] = "false";  // a secret may be among them
  // Offline too, it asks for the machine's addresses and for the metadata of a cloud.
  changes["COMET_AUTO_LOG_ENV_DETAILS"] = "false";
  changes["COMET_ERROR_TRACKING_ENABLE"] = "false";
  changes["COMET_OFFLINE_DIRECTORY"] = folder + "/comet";
}

void add_trackio(Changes& changes, const std::string& folder) {
  changes["TRACKIO_DIR"] = folder + "/trackio";
  for (const char* name :
       {"TRACKIO_SPACE_ID", "TRACKIO_DATASET_ID", "TRACKIO_BUCKET_ID", "TRACKIO_SERVER_URL", "TRACKIO_WEBHOOK_URL"})
    changes[name] = std::nullopt;
}

}  // namespace

std::map<std::string, std::optional<std::string>> local_trackers(const Variables& variables,
                                                                 const std::string& run_directory) {
  const std::string folder = run_directory + "/trackers";
  Changes changes;
  add_wandb(changes, variables, folder);
  add_mlflow(changes, variables, folder);
  add_comet(changes, variables, folder);
  add_trackio(changes, folder);
  changes["NEPTUNE_MODE"] = variables("NEPTUNE_MODE") == "debug" ? "debug" : "offline";
  changes["CLEARML_OFFLINE_MODE"] = "1";
  changes["SWANLAB_MODE"] = variables("SWANLAB_MODE") == "disabled" ? "disabled" : "offline";
  return changes;
}

}  // namespace ullage
