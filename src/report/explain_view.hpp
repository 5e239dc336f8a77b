// SPDX-License-Identifier: Apache-2.0
// What `ullage explain` prints: what failed or what the peak consists of, whose it is, what to try.
#pragma once

#include "ledger/chart.hpp"
#include "report/difference_view.hpp"
#include "report/ledger_view.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::report {

/// A stated size. `id` is its field in the JSON: `peak.allocated_bytes`. Bytes.
struct StatedSize {
  std::string id;
  std::string title;    ///< "allocated by PyTorch"
  std::string printed;  ///< as the source has it; empty where it is exact
  std::uint64_t bytes = 0;
  std::uint64_t low = 0, high = 0;
};

/// Signed bytes: nothing but that the value lies in between.
struct Between {
  std::int64_t low = 0, high = 0;
};

struct Failure {
  std::string kind;   ///< `fragmentation`
  std::string title;  ///< "fragmentation"
  bool certain = false;
  std::string reason;
  std::vector<std::string> beside;
};

struct Suggestion {
  std::string text, basis;
  std::optional<Between> saves;
};

struct HeldBy {
  std::string pid, printed;
  std::optional<std::uint64_t> bytes;  ///< nothing where the number cannot be true
};

struct Candidate {
  std::string what, formula;
  std::uint64_t bytes = 0, request = 0;
};

/// One out-of-memory text.
struct MessageView {
  std::string wording, backend, torch, origin;
  std::optional<int> gpu, rank;
  std::uint64_t line = 0, offset = 0, times = 1;
  bool cut = false;
  std::vector<StatedSize> sizes;
  std::vector<HeldBy> processes;
  std::optional<Between> outside_pytorch, own_outside_pytorch, other_processes;
  Failure failure;
  std::vector<Candidate> candidates;
};

struct OwnerView {
  std::string text;  ///< "activations hold ..."; "the text cannot say"
  std::string id;    ///< of the ledger's line; empty when not known
  std::uint64_t bytes = 0;
};

/// The last run of the same script that fitted, and what is different now.
struct LastFit {
  std::string id, name, kind, started;
  std::vector<std::string> command;
  std::string moment;                            ///< what its ledger is of
  std::uint64_t peak_allocated = 0;              ///< bytes
  std::vector<ChangedSetting> settings;          ///< from then to now; empty where those of now are not known
  bool settings_known = false;                   ///< of now
  std::optional<ledger::Difference> difference;  ///< from then to now; nothing where now has no ledger
};

/// The same run with nothing refused: what it needs, and what the changes save of that. Bytes.
struct WholeRun {
  std::uint64_t needed = 0, missing = 0;  ///< missing: more than the device has; 0 where that is not known
  std::vector<Suggestion> changes;
};

struct ExplainView {
  std::string source, format, producer;
  std::optional<Failure> failure;  ///< nothing: no request failed
  std::string peak;                ///< without a failure: the peak and what it consists of
  OwnerView owner;
  std::vector<Suggestion> changes;  ///< the first to try first; empty without a failure
  std::vector<StatedSize> sizes;    ///< of the device, the failed request, the peak
  std::optional<int> gpu;
  std::vector<MessageView> messages;
  std::string moment;
  std::optional<ledger::Line> ledger;
  FindingsView found;
  EvidenceView evidence;
  std::optional<WholeRun> whole;  ///< of a rehearsal that ran out of memory
  std::optional<LastFit> last_fit;
  std::vector<std::string> notes;
  std::string verify;  ///< the command that would check it
};

[[nodiscard]] std::string explain_text(const ExplainView& view);
/// docs/schemas/explain.schema.json. Several sources: an object with a list of `results`.
[[nodiscard]] std::string explain_json(const std::vector<ExplainView>& views);

}  // namespace ullage::report
