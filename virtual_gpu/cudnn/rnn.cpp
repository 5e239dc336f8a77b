// SPDX-License-Identifier: Apache-2.0
// cuDNN recurrent networks: where each weight lies in the weight space, so that LSTM, GRU and RNN can be built.
// The space holds all matrices, pseudo-layer by pseudo-layer, and behind them all biases.
#include <cstddef>

#include "virtual_gpu/cudnn/tensors.hpp"
#include "virtual_gpu/cudnn/workspace/recurrent.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::cudnn;

namespace {

enum Mode : int { rnn_relu = 0, rnn_tanh = 1, lstm = 2, gru = 3 };
constexpr int forward_training = 1;  // CUDNN_FWD_MODE_TRAINING

struct Rnn {
  int mode = 0, bias_mode = 2, bidirectional = 0, data_type = 0;
  int input = 0, hidden = 0, projection = 0, layers = 0;

  int gates() const { return mode == lstm ? 4 : mode == gru ? 3 : 1; }
  bool projects() const { return projection > 0 && projection != hidden; }
  int output() const { return projects() ? projection : hidden; }
  int directions() const { return bidirectional != 0 ? 2 : 1; }
  int pseudo_layers() const { return layers * directions(); }
  int matrices() const { return 2 * gates() + (projects() ? 1 : 0); }
};

struct Extent {
  int rows = 0, columns = 0;
  std::uint64_t elements() const { return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns); }
};

Extent matrix(const Rnn& rnn, int layer, int id) {
  if (id == 2 * rnn.gates()) return {rnn.projection, rnn.hidden};
  if (id >= rnn.gates()) return {rnn.hidden, rnn.output()};
  const bool first = layer < rnn.directions();
  return {rnn.hidden, first ? rnn.input : rnn.output() * rnn.directions()};
}

/// Input and recurrent matrices have a bias each, unless the mode says none (0) or one (1 input, 3 recurrent).
bool has_bias(const Rnn& rnn, int id) {
  if (id >= 2 * rnn.gates() || rnn.bias_mode == 0) return false;
  if (rnn.bias_mode == 1) return id < rnn.gates();
  return rnn.bias_mode == 3 ? id >= rnn.gates() : true;
}

/// Elements before the weight (layer, id); with layer = pseudo_layers(): all of them.
std::uint64_t matrix_offset(const Rnn& rnn, int layer, int id) {
  std::uint64_t offset = 0;
  for (int l = 0; l <= layer && l < rnn.pseudo_layers(); ++l)
    for (int i = 0; i < (l == layer ? id : rnn.matrices()); ++i) offset += matrix(rnn, l, i).elements();
  return offset;
}

std::uint64_t bias_offset(const Rnn& rnn, int layer, int id) {
  std::uint64_t count = 0;
  for (int l = 0; l <= layer && l < rnn.pseudo_layers(); ++l)
    for (int i = 0; i < (l == layer ? id : rnn.matrices()); ++i) count += has_bias(rnn, i) ? 1 : 0;
  return matrix_offset(rnn, rnn.pseudo_layers(), 0) + count * static_cast<std::uint64_t>(rnn.hidden);
}

Rnn rnn_of(const void* handle) {
  Rnn result;
  handles<Rnn>().with(handle, [&](Rnn& found) { result = found; });
  return result;
}

void describe(void* descriptor, int data_type, Extent extent) {
  handles<Tensor>().with(descriptor, [&](Tensor& found) {
    found = Tensor{data_type, {1, extent.rows, extent.columns}, {extent.rows * extent.columns, extent.columns, 1}};
  });
}

void* address(const void* space, std::uint64_t elements, int data_type) {
  return const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(space)) + elements * element_bytes(data_type);
}

/// A padded batch of sequences.
struct Sequences {
  std::uint64_t steps = 0, batch = 0;
  std::uint64_t tokens = 0;  ///< of the sequences' own lengths
};

RecurrentShape shape_of(const void* descriptor, const void* data, bool training) {
  const Rnn rnn = rnn_of(descriptor);
  Sequences sequences;
  handles<Sequences>().with(data, [&](Sequences& found) { sequences = found; });
  RecurrentShape shape;
  shape.cell = rnn.mode == lstm ? Cell::lstm : rnn.mode == gru ? Cell::gru : Cell::plain;
  shape.training = training;
  shape.layers = static_cast<std::uint64_t>(rnn.layers);
  shape.directions = static_cast<std::uint64_t>(rnn.directions());
  shape.hidden = static_cast<std::uint64_t>(rnn.hidden);
  shape.output = static_cast<std::uint64_t>(rnn.output());
  shape.steps = sequences.steps;
  shape.batch = sequences.batch;
  shape.tokens = sequences.tokens;
  shape.element_bytes = element_bytes(rnn.data_type);
  shape.weight_bytes = matrix_offset(rnn, rnn.pseudo_layers(), 0) * shape.element_bytes;
  return shape;
}

int run(void* handle, const void* descriptor, double passes) {
  if (!handles<Context>().with(handle, [](Context&) {})) return not_initialized;
  const Rnn rnn = rnn_of(descriptor);
  Work work;
  work.kind = Work::Kind::kernel;
  work.bytes = passes * static_cast<double>(bias_offset(rnn, rnn.pseudo_layers(), 0) * element_bytes(rnn.data_type));
  ullage_machine()->submit(work, stream_of(handle), "simulated_rnn");
  return success;
}

}  // namespace

extern "C" {

int cudnnCreateRNNDescriptor(void** out) {
  if (out == nullptr) return bad_param_null;
  *out = handles<Rnn>().create();
  return success;
}

int cudnnDestroyRNNDescriptor(void* handle) {
  return handles<Rnn>().destroy(handle) ? success : bad_param;
}

int cudnnSetRNNDescriptor_v8(void* handle, int /*algorithm*/, int mode, int bias_mode, int direction,
                             int /*input_mode*/, int data_type, int /*precision*/, int /*math*/, std::int32_t input,
                             std::int32_t hidden, std::int32_t projection, std::int32_t layers, void* /*dropout*/,
                             std::uint32_t /*flags*/) {
  const Rnn rnn{mode, bias_mode, direction, data_type, input, hidden, projection, layers};
  return handles<Rnn>().with(handle, [&](Rnn& found) { found = rnn; }) ? success : bad_param;
}

int cudnnGetRNNWeightSpaceSize(void* /*handle*/, void* descriptor, std::size_t* bytes) {
  if (bytes == nullptr) return bad_param_null;
  const Rnn rnn = rnn_of(descriptor);
  *bytes = bias_offset(rnn, rnn.pseudo_layers(), 0) * element_bytes(rnn.data_type);
  return success;
}

int cudnnGetRNNWeightParams(void* /*handle*/, void* descriptor, std::int32_t layer, std::size_t /*bytes*/,
                            const void* space, std::int32_t id, void* matrix_descriptor, void** matrix_address,
                            void* bias_descriptor, void** bias_address) {
  const Rnn rnn = rnn_of(descriptor);
  if (layer < 0 || layer >= rnn.pseudo_layers() || id < 0) return bad_param;
  const bool exists = id < rnn.matrices(), biased = exists && has_bias(rnn, id);
  describe(matrix_descriptor, rnn.data_type, exists ? matrix(rnn, layer, id) : Extent{});
  describe(bias_descriptor, rnn.data_type, biased ? Extent{rnn.hidden, 1} : Extent{});
  // Callers that want one of the two pass null for the other.
  if (matrix_address != nullptr)
    *matrix_address = exists ? address(space, matrix_offset(rnn, layer, id), rnn.data_type) : nullptr;
  if (bias_address != nullptr)
    *bias_address = biased ? address(space, bias_offset(rnn, layer, id), rnn.data_type) : nullptr;
  return success;
}

int cudnnCreateRNNDataDescriptor(void** out) {
  if (out == nullptr) return bad_param_null;
  *out = handles<Sequences>().create();
  return success;
}

int cudnnDestroyRNNDataDescriptor(void* handle) {
  return handles<Sequences>().destroy(handle) ? success : bad_param;
}

int cudnnSetRNNDataDescriptor(void* handle, int /*type*/, int /*layout*/, int steps, int batch, int /*width*/,
                              const int* lengths, void* /*padding*/) {
  if (steps < 1 || batch < 1) return bad_param;
  Sequences made{static_cast<std::uint64_t>(steps), static_cast<std::uint64_t>(batch), 0};
  for (int i = 0; i < batch; ++i)
    made.tokens += static_cast<std::uint64_t>(lengths != nullptr && lengths[i] > 0 ? lengths[i] : steps);
  return handles<Sequences>().with(handle, [&](Sequences& found) { found = made; }) ? success : bad_param;
}

int cudnnGetRNNTempSpaceSizes(void* /*handle*/, void* descriptor, int mode, void* data, std::size_t* workspace,
                              std::size_t* reserve) {
  const RecurrentShape shape = shape_of(descriptor, data, mode == forward_training);
  const WorkspaceRange scratch = recurrent_workspace(shape), kept = recurrent_reserve(shape);
  if (workspace != nullptr) *workspace = bytes_to_ask(scratch);
  if (reserve != nullptr) *reserve = bytes_to_ask(kept);
  ullage_machine()->use_workspace("recurrent net, one call", workspace != nullptr ? scratch : WorkspaceRange{});
  ullage_machine()->use_workspace("recurrent net, kept for backward", reserve != nullptr ? kept : WorkspaceRange{});
  return success;
}

int cudnnRNNForward(void* handle, void* descriptor) {
  return run(handle, descriptor, 1);
}
int cudnnRNNBackwardData_v8(void* handle, void* descriptor) {
  return run(handle, descriptor, 1);
}
int cudnnRNNBackwardWeights_v8(void* handle, void* descriptor) {
  return run(handle, descriptor, 2);
}

}  // extern "C"
