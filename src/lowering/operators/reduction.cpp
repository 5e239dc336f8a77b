// SPDX-License-Identifier: Apache-2.0
// Reductions, and the memory that a kernel takes when several blocks work on one output
// (aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig).
#include "lowering/operators.hpp"
#include "lowering/operators/arithmetic.hpp"

#include <algorithm>
#include <bit>

namespace ullage::lowering {
namespace {

using Value = std::int64_t;

struct Dimension {
  Value size = 1, input = 0, output = 0;  ///< strides in elements
  bool reduced = false;
};

/// What TensorIterator makes of a reduction: reduced dimensions first, inner before outer, joined where they follow
/// each other in memory.
struct Iterator {
  std::array<Dimension, 6> dimensions{};
  std::size_t count = 0, reduced = 0;
};

bool joins(const Dimension& inner, const Dimension& outer) {
  return inner.reduced == outer.reduced && inner.size * inner.input == outer.input &&
         (inner.reduced || inner.size * inner.output == outer.output);
}

Iterator iterator_of(const TensorBody& input, const TensorBody& output, unsigned over) {
  std::array<Dimension, 6> all{};
  std::size_t count = 0;
  for (std::size_t i = input.sizes.count(); i-- > 0;)
    if (input.sizes[i] != 1) {
      const bool reduced = (over >> i & 1U) != 0;
      all[count++] = {input.sizes[i], input.strides[i], reduced ? 0 : output.strides[i], reduced};
    }
  std::stable_sort(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
      [](const Dimension& a, const Dimension& b) { return a.reduced != b.reduced ? a.reduced : a.input < b.input; });
  Iterator iterator;
  for (std::size_t i = 0; i < count; ++i) {
    if (iterator.count > 0 && joins(iterator.dimensions[iterator.count - 1], all[i])) {
      iterator.dimensions[iterator.count - 1].size *= all[i].size;
    } else {
      iterator.dimensions[iterator.count++] = all[i];
      iterator.reduced += all[i].reduced;
    }
  }
  return iterator;
}

Value last_power_of_two(Value value) {
  return static_cast<Value>(std::bit_floor(static_cast<std::uint64_t>(std::max<Value>(value, 1))));
}

/// How a reduction is spread over a device's threads.
struct Configuration {
  Value outputs = 1, inputs = 1, vector = 1;
  Value width = 1, height = 1;
  Value step_input = 1, step_output = 1, blocks_per_output = 1;
  bool reduces_in_row = false;

  [[nodiscard]] Value values_per_thread() const { return divide_up(inputs, step_input); }
  [[nodiscard]] Value grid() const { return divide_up(outputs / vector, step_output); }
  void set_block(Value inner, Value outer) {
    const Value most = 512 / vector, inner_power = inner < most ? last_power_of_two(inner) : most,
                outer_power = outer < most ? last_power_of_two(outer) : most;
    width = std::min<Value>(inner_power, 32);
    height = std::min(outer_power, most / width);
    width = std::min(inner_power, most / height);
  }
};

/// Elements of the output that one thread works on.
Value output_vector(const Iterator& iterator) {
  Value vector = 4;
  const auto must_divide = [&](Value value) {
    while (value % vector != 0) vector /= 2;
  };
  must_divide(iterator.dimensions[iterator.reduced].size);
  for (std::size_t i = 0; i < iterator.count; ++i)
    if (i != iterator.reduced) must_divide(iterator.dimensions[i].input);
  return vector;
}

constexpr Value least_values = 16, most_values = 256;  ///< of a thread

/// Blocks that work on one output: so many that they fill the device. Of threads of a block, blocks of the outputs,
/// values of a thread.
Value blocks_of_output(const DeviceFacts& device, const QuestionSizes& sizes) {
  const auto [threads, grid, values, unused, none] = sizes;
  const Value target = device.multiprocessors * (device.threads_per_multiprocessor / threads);
  if (grid > target) return 1;
  return std::max(std::min(divide_up(target, grid), divide_up(values, least_values)), divide_up(values, most_values));
}

Configuration configuration_of(const Iterator& iterator, Value elements, Value outputs, Context& context) {
  Configuration found;
  found.outputs = outputs;
  found.inputs = elements / outputs;
  const bool in_row =
      iterator.reduced == iterator.count || iterator.dimensions[0].input < iterator.dimensions[iterator.reduced].input;
  Value inner = in_row ? found.inputs : outputs;
  const Value outer = in_row ? outputs : found.inputs;
  const Value fastest = iterator.count == 0 ? 1 : iterator.dimensions[in_row ? 0 : iterator.reduced].input;
  if (fastest == 1 && in_row && inner > 128 && iterator.count == 1) {
    inner /= 4;
  } else if (fastest == 1 && !in_row) {
    found.vector = output_vector(iterator);
    inner /= found.vector;
  }
  found.set_block(inner, outer);
  found.reduces_in_row = iterator.count == 0 || in_row;
  (found.reduces_in_row ? found.step_input : found.step_output) *= found.width;
  const bool split = found.values_per_thread() >= std::min(found.height * 16, most_values);
  (split ? found.step_input : found.step_output) *= found.height;
  if (split && found.values_per_thread() >= most_values)
    found.blocks_per_output = context.answers.ask(
        context.device, blocks_of_output, {found.width * found.height, found.grid(), found.values_per_thread()});
  return found;
}

/// `accumulator`: bytes of what a thread carries; 0 for a number as wide as the input, at least fp32.
void take_staging(Context& context, const TensorBody& input, const TensorBody& output, unsigned over,
                  Value accumulator = 0) {
  if (output.elements() == 0 || input.elements() == 0) return;
  const Iterator iterator = iterator_of(input, output, over);
  const Configuration spread = configuration_of(iterator, input.elements(), output.elements(), context);
  if (spread.blocks_per_output <= 1) return;
  if (accumulator == 0) accumulator = std::max<Value>(4, static_cast<Value>(bytes_of(input.type)));
  Value bytes = accumulator * spread.outputs * spread.blocks_per_output;
  if (!spread.reduces_in_row) bytes *= spread.width * spread.vector;
  const Tensor staging = context.scratch(static_cast<std::uint64_t>(bytes));
  const Tensor semaphores = context.scratch(static_cast<std::uint64_t>(4 * spread.grid()));
}

Extents without(const Extents& sizes, unsigned over) {
  Extents kept;
  for (std::size_t i = 0; i < sizes.count(); ++i)
    if ((over >> i & 1U) == 0) kept.push(sizes[i]);
  return kept;
}

}  // namespace

Tensor sum_raw(Context& context, const Tensor& tensor, unsigned over, bool keep, const char* name) {
  program::Operator& op = context.op(name);
  op.work = program::Work::reduction;
  Extents sizes = tensor->sizes;
  for (std::size_t i = 0; i < sizes.count(); ++i)
    if ((over >> i & 1U) != 0) sizes[i] = 1;
  Tensor result = context.make(sizes, tensor->type);
  op.bytes = tensor->bytes_behind() + static_cast<double>(result->bytes());
  take_staging(context, *tensor, *result, over);
  if (keep) return result;
  result->sizes = without(tensor->sizes, over);
  result->strides = contiguous_strides(result->sizes);
  return result;
}

// sum() of bool: the result is int64, and so is the copy that is summed
Tensor count_raw(Context& context, const Tensor& flags) {
  program::Operator& op = context.op("aten::sum");
  op.work = program::Work::reduction;
  op.bytes = 18.0 * static_cast<double>(flags->elements());
  op.launches = 2;
  Tensor result = context.make({}, DType::int64);
  const Tensor wide = context.make(flags->sizes, DType::int64);
  take_staging(context, *wide, *context.alias(result, {1, 1}, {1, 1}), 3);
  return result;
}

Tensor sum_to(Context& context, const Tensor& tensor, const Extents& sizes) {
  const std::size_t leading = tensor->sizes.count() - sizes.count();
  unsigned over = (1U << leading) - 1;
  for (std::size_t i = leading; i < tensor->sizes.count(); ++i)
    if (sizes[i - leading] == 1 && tensor->sizes[i] != 1) over |= 1U << i;
  if (over == 0) return tensor;
  Tensor sum = sum_raw(context, tensor, over, true);
  return leading == 0 ? sum : context.alias(sum, sizes, contiguous_strides(sizes));
}

Tensor argmax_last(Context& context, const Tensor& tensor) {
  program::Operator& op = context.op("aten::argmax");
  op.work = program::Work::reduction;
  op.bytes = tensor->bytes_behind();
  Extents sizes = tensor->sizes;
  sizes[sizes.count() - 1] = 1;
  const Tensor result = context.make(sizes, DType::int64);
  constexpr Value number_and_place = 16;
  take_staging(context, *tensor, *result, 1U << (sizes.count() - 1), number_and_place);
  sizes.resize(sizes.count() - 1);
  return context.alias(result, sizes, contiguous_strides(sizes));
}

Tensor mean_last(Context& context, const Tensor& tensor) {
  const unsigned last = 1U << (tensor->sizes.count() - 1);
  Tensor result = sum_raw(context, tensor, last, true, "aten::mean");
  if (!context.records({&tensor})) return result;
  context.attach("MeanBackward1", result, {&tensor},
                 [sizes = tensor->sizes](Context& c, Gradients& in, Gradients& out) {
                   out[0] = div_number(c, expand(c, in[0], sizes));
                 });
  return result;
}

}  // namespace ullage::lowering
