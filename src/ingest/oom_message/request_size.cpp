// SPDX-License-Identifier: Apache-2.0
#include "ingest/oom_message/request_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"

namespace ullage::ingest {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 50;

// A product with its text; 0 elements where a factor is not known or the product is absurd.
struct Shape {
  std::string text;
  std::uint64_t elements = 1;

  Shape& times(const char* name, std::uint64_t value) {
    elements = value == 0 || elements == 0 || value > most_elements / elements ? 0 : elements * value;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " x ", name, *name != '\0' ? " " : "", value);
    return *this;
  }
};

class Finder {
 public:
  Finder(const PrintedSize& requested, const ModelDimensions& model, std::uint64_t batch, std::uint64_t sequence)
      : requested_(requested), m_(model), batch_(batch), sequence_(sequence) {}

  std::vector<RequestCandidate> run() {
    if (batch_ > 0 && sequence_ > 0) activations();
    weights();
    parameters();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Shape tokens() const {
    Shape shape;
    return shape.times("micro batch", batch_).times("sequence", sequence_);
  }

  void activations() {
    Shape scores;
    scores.times("micro batch", batch_)
        .times("heads", m_.heads)
        .times("sequence", sequence_)
        .times("sequence", sequence_);
    add("attention scores or probabilities of one layer", scores);
    add("logits", tokens().times("vocabulary", m_.vocabulary));
    if (sequence_ > 1) {
      Shape shifted;
      shifted.times("micro batch", batch_).times("(sequence - 1)", sequence_ - 1).times("vocabulary", m_.vocabulary);
      add("logits without the last token", shifted);
    }
    add("hidden states", tokens().times("hidden", m_.hidden));
    add("queries, keys and values together", tokens().times("3 hidden", 3 * m_.hidden));
    add("inner activations of one MLP", tokens().times("intermediate", m_.intermediate));
    add("gate and inner activations of one MLP together", tokens().times("2 intermediate", 2 * m_.intermediate));
  }

  void weights() {
    Shape embedding, mlp, square, qkv;
    add("embedding or output layer", embedding.times("vocabulary", m_.vocabulary).times("hidden", m_.hidden));
    add("matrix of one MLP", mlp.times("hidden", m_.hidden).times("intermediate", m_.intermediate));
    add("matrix of one attention", square.times("hidden", m_.hidden).times("hidden", m_.hidden));
    add("query, key and value matrices together",
        qkv.times("hidden", m_.hidden).times("query, key and value width", qkv_width()));
  }

  [[nodiscard]] std::uint64_t qkv_width() const {
    const std::uint64_t kv = m_.kv_heads > 0 ? m_.kv_heads : m_.heads;
    return m_.head * (m_.heads + 2 * kv);
  }

  // Matrices and norms of one layer: a FlatParameter of FSDP. Whole: an optimizer's shard, or all of it.
  void parameters() {
    const std::uint64_t most = std::uint64_t{1} << 24;
    if (m_.hidden == 0 || m_.heads == 0 || m_.intermediate == 0 || m_.hidden > most || m_.intermediate > most ||
        m_.heads > most || m_.head > most || m_.layers > 4096 || m_.vocabulary > most)
      return;
    const std::uint64_t attention = m_.hidden * qkv_width() + m_.heads * m_.head * m_.hidden;
    const std::uint64_t layer = attention + (m_.gated ? 3 : 2) * m_.hidden * m_.intermediate + 2 * m_.hidden;
    Shape one;
    add("all parameters of one layer", one.times("parameters", layer));
    if (m_.layers == 0 || m_.vocabulary == 0) return;
    const std::uint64_t all = m_.layers * layer + (m_.tied ? 1 : 2) * m_.vocabulary * m_.hidden + m_.hidden;
    for (const std::uint64_t ranks : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
      Shape shard;
      shard.times("parameters", (all + ranks - 1) / ranks);
      if (ranks > 1) shard.text = fmt::format("parameters {} / {} ranks", all, ranks);
      add(ranks == 1 ? "one number per parameter of the whole model" : "one rank's share of such numbers", shard);
    }
  }

  void add(const char* what, const Shape& shape) {
    for (const std::uint64_t width : {4U, 2U, 1U}) {
      const std::uint64_t bytes = shape.elements * width;
      const std::uint64_t request = device_request(bytes);
      if (bytes == 0 || request < requested_.low || request > requested_.high) continue;
      out_.push_back({what, fmt::format("{} x {} B", shape.text, width), bytes, request});
    }
  }

  const PrintedSize& requested_;
  const ModelDimensions& m_;
  std::uint64_t batch_, sequence_;
  std::vector<RequestCandidate> out_;
};

}  // namespace

void complete(ModelDimensions& model) {
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.head == 0 && model.heads > 0) model.head = model.hidden / model.heads;
  if (model.intermediate == 0) model.intermediate = 4 * std::min(model.hidden, std::uint64_t{1} << 40);
}

std::uint64_t device_request(std::uint64_t bytes) {
  if (bytes <= mib) return 2 * mib;
  if (bytes < 10 * mib) return 20 * mib;
  return (bytes + 2 * mib - 1) / (2 * mib) * (2 * mib);
}

std::vector<RequestCandidate> request_candidates(const PrintedSize& requested, const ModelDimensions& model,
                                                 std::optional<std::uint64_t> micro_batch,
                                                 std::optional<std::uint64_t> sequence) {
  if (requested.bytes <= 2 * mib || requested.bytes == 20 * mib) return {};
  return Finder(requested, model, micro_batch.value_or(0), sequence.value_or(0)).run();
}

}  // namespace ullage::ingest
