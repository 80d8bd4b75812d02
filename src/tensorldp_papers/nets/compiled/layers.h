// Stages of a small network in float32: a convolution (stride 1) or a linear layer, each with an optional 2 x 2 maximum
// and an activation. Images have their channels innermost. One thread.
//
// What makes it quick: products run over vectors that stay in registers; and the gradient behind a maximum is
// zero at three of four pixels, and behind a ReLU at half of the rest, so that backward passes go over the others alone.

#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "vectors.h"
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace {

enum Activation { NONE, RELU, TANH, SIGMOID };

}  // namespace

extern "C" {

struct Stage {  // side 0: linear, of `channels` inputs; else a convolution of height x width x channels images
  int32_t side, padding, height, width, channels, outputs, pool, activation;
};

}

namespace {

Reg active(Reg v, int32_t activation) {
  switch (activation) {
    case RELU: return v < Reg{} ? Reg{} : v;
    case TANH: for (int i = 0; i < WIDTH; i++) v[i] = std::tanh(v[i]); return v;
    case SIGMOID: for (int i = 0; i < WIDTH; i++) v[i] = 1.0f / (1.0f + std::exp(-v[i])); return v;
    default: return v;
  }
}

Reg behind(Reg gradient, Reg out, int32_t activation) {  // the gradient by an activation's input, from its output
  switch (activation) {
    case RELU: return out == Reg{} ? Reg{} : gradient;
    case TANH: return gradient * (1.0f - out * out);
    case SIGMOID: return gradient * out * (1.0f - out);
    default: return gradient;
  }
}

struct Layer {
  Stage s;
  int64_t lanes;                   // outputs, rounded up
  int64_t row, patch;              // floats of a padded image's row, of a patch's row
  int64_t weights;                 // floats of all weights
  int64_t high, wide;              // of the sums, before pooling
  int64_t pixels;                  // of the output, 1 of a linear layer
  int64_t in_size;                 // floats of one record's padded input, and of what patches reach beyond it
  const float *weight, *bias;
  float *weight_sum, *bias_sum;    // gradients
  std::vector<float> turned;       // weights with outputs innermost (convolution) or outermost (linear)
  std::vector<float> input, input_gradient, sums;
  std::vector<float> output, gradient;  // (batch, pixels, lanes), after pooling and activation
  std::vector<int32_t> chosen;          // the largest of four pixels, as its place in the padded input
  std::vector<Spot> spots;              // of one record's output

  Layer(const Stage& stage, const float* parameters, float* gradients, int64_t batch, bool first) : s(stage) {
    lanes = round_up(s.outputs), high = wide = 1, row = patch = 0;
    if (s.side) {
      row = (s.width + 2 * s.padding) * int64_t(s.channels), patch = round_up(int64_t(s.side) * s.channels);
      high = s.height + 2 * s.padding - s.side + 1, wide = s.width + 2 * s.padding - s.side + 1;
      weights = int64_t(s.outputs) * s.side * patch;
      in_size = (s.height + 2 * s.padding) * row + patch;  // the last rows of patches reach beyond the image
      turned.resize(int64_t(s.side) * s.side * s.channels * lanes);
    } else {
      weights = s.channels * lanes, in_size = round_up(s.channels);
      turned.resize(s.outputs * in_size);
    }
    pixels = s.pool ? (high / 2) * (wide / 2) : high * wide;
    weight = parameters, bias = parameters + weights, weight_sum = gradients, bias_sum = gradients + weights;
    input.assign(batch * in_size, 0.0f);
    if (!first) input_gradient.assign(batch * in_size, 0.0f);
    sums.resize(s.side ? high * wide * lanes : batch * lanes);
    output.resize(batch * pixels * lanes), gradient.resize(batch * pixels * lanes);
    if (s.side) chosen.resize(batch * pixels * lanes), spots.resize(pixels);
  }

  int64_t parameters() const { return weights + lanes; }

  void turn() {
    const int64_t len = int64_t(s.side) * s.channels;
    for (int64_t o = 0; s.side && o < s.outputs; o++)
      for (int64_t y = 0; y < s.side; y++)
        for (int64_t k = 0; k < len; k++) turned[(y * len + k) * lanes + o] = weight[(o * s.side + y) * patch + k];
    if (s.side || input_gradient.empty()) return;
    for (int64_t i = 0; i < s.channels; i += LANES)  // in squares, which lie in the cache
      for (int64_t o = 0; o < s.outputs; o++)
        for (int64_t k = i; k < std::min(i + LANES, int64_t(s.channels)); k++)
          turned[o * in_size + k] = weight[k * lanes + o];
  }

  // Where a record's pixel lies in `input` and `input_gradient`; of a linear layer pixels lie one after the other.
  int64_t place(int64_t record, int64_t pixel, int64_t channels) const {
    if (!s.side) return record * in_size + pixel * channels;
    return record * in_size + (pixel / s.width + s.padding) * row + (pixel % s.width + s.padding) * s.channels;
  }

  void take(int64_t record, const float* from) {  // (height, width, channels), or (channels)
    const int64_t rows = s.side ? s.height : 1, own = s.side ? int64_t(s.width) * s.channels : s.channels;
    for (int64_t y = 0; y < rows; y++)
      std::memcpy(&input[place(record, y * s.width, s.channels)], from + y * own, 4 * own);
  }

  void take(int64_t count, const Layer& before) {
    for (int64_t r = 0, i = 0; r < count; r++)
      for (int64_t p = 0; p < before.pixels; p++, i += before.lanes)
        std::memcpy(&input[place(r, p, before.s.outputs)], &before.output[i], 4 * before.s.outputs);
  }

  void give(int64_t count, Layer& before) const {
    for (int64_t r = 0, i = 0; r < count; r++)
      for (int64_t p = 0; p < before.pixels; p++, i += before.lanes)
        std::memcpy(&before.gradient[i], &input_gradient[place(r, p, before.s.outputs)], 4 * before.s.outputs);
  }

  void forward(int64_t count) {
    if (!s.side) {
      multiply({input.data(), in_size, 1, 0, 1, s.channels, weight, lanes, bias, 0, sums.data(), lanes}, count, lanes);
      for (int64_t i = 0; i < count * lanes; i += WIDTH) store(&output[i], active(load(&sums[i]), s.activation));
      return;
    }
    for (int64_t r = 0; r < count; r++) {
      for (int64_t y = 0; y < high; y++)
        multiply({&input[r * in_size + y * row], s.channels, 1, row, s.side, s.side * s.channels, turned.data(), lanes,
                  bias, 0, &sums[y * wide * lanes], lanes},
                 wide, lanes);
      pool(r);
    }
  }

  void pool(int64_t record) {
    const int64_t step = s.pool ? 2 : 1, below = s.pool ? wide * lanes : 0, beside = s.pool ? lanes : 0;
    int64_t i = record * pixels * lanes;
    for (int64_t y = 0; y + step <= high; y += step)
      for (int64_t x = 0; x + step <= wide; x += step)
        for (int64_t v = 0; v < lanes; v += WIDTH, i += WIDTH) {
          const float* p = &sums[(y * wide + x) * lanes + v];
          const int32_t at = int32_t(y * row + x * s.channels), next = at + s.channels, under = at + int32_t(row);
          Reg top = load(p);
          Ints where = Ints{} + at;
          if (s.pool) {
            const Reg q = load(p + beside), u = load(p + below), w = load(p + below + beside);
            where = q > top ? Ints{} + next : where, top = q > top ? q : top;
            where = u > top ? Ints{} + under : where, top = u > top ? u : top;
            where = w > top ? Ints{} + (under + s.channels) : where, top = w > top ? w : top;
          }
          store(&output[i], active(top, s.activation));
          std::memcpy(&chosen[i], &where, sizeof where);
        }
  }

  // Sums the gradients of all records into weight_sum and bias_sum. With `each`, those of a convolution are left there
  // for every record, as the parameters lie, and those of a linear layer are the products of `gradient` and `input`.
  void backward(int64_t count, float* each = nullptr) {
    const bool first = input_gradient.empty();
    for (int64_t i = 0; i < count * pixels * lanes; i += WIDTH)
      store(&gradient[i], behind(load(&gradient[i]), load(&output[i]), s.activation));
    if (!each) add_pixels(0, count * pixels, bias_sum);
    if (!first) std::memset(input_gradient.data(), 0, 4 * count * in_size);
    if (!s.side) {
      if (!each)
        multiply({input.data(), 1, in_size, 0, 1, int(count), gradient.data(), lanes, weight_sum, lanes, weight_sum,
                  lanes},
                 s.channels, lanes);
      if (!first)
        multiply({gradient.data(), lanes, 1, 0, 1, s.outputs, turned.data(), in_size, input_gradient.data(), in_size,
                  input_gradient.data(), in_size},
                 count, in_size);
      return;
    }
    for (int64_t r = 0; r < count; r++) {
      float* sum = each ? each + r * parameters() : weight_sum;
      if (each) std::memset(sum, 0, 4 * weights), add_pixels(r * pixels, pixels, sum + weights);
      for (int64_t o = 0; o < s.outputs; o++) {
        const int64_t many = find_spots(r, o);
        for (int64_t y = 0; y < s.side; y++) {
          const int64_t at = r * in_size + y * row, own = (o * s.side + y) * patch;
          take_row(spots.data(), many, &input[at], weight + own, patch, sum + own, first ? nullptr : &input_gradient[at]);
        }
      }
      if (each || r + 1 == count) clear_neighbours(sum);
    }
  }

  void add_pixels(int64_t from, int64_t many, float* to) const {  // of the gradient, by output
    for (int64_t v = 0; v < lanes; v += WIDTH) {
      Reg sum{};
      for (int64_t i = v; i < many * lanes; i += lanes) sum += load(&gradient[from * lanes + i]);
      store(to + v, sum);
    }
  }

  void clear_neighbours(float* sum) const {  // which lie beyond a patch's row
    const int64_t len = int64_t(s.side) * s.channels;
    for (int64_t o = 0; o < int64_t(s.outputs) * s.side; o++) std::memset(sum + o * patch + len, 0, 4 * (patch - len));
  }

  int64_t find_spots(int64_t record, int64_t output_index) {  // where that output's gradient is not zero
    const int64_t first = record * pixels * lanes + output_index;
    int64_t many = 0;
    for (int64_t p = first; p < first + pixels * lanes; p += lanes) {
      spots[many] = {chosen[p], gradient[p]};
      many += gradient[p] != 0.0f;
    }
    return many;
  }
};

// Softmax cross-entropy's gradient by the scores, divided by a number of records, in place.
void loss_gradient(Layer& last, const int64_t* labels, int64_t count, float divisor) {
  for (int64_t r = 0; r < count; r++) {
    const float* score = &last.output[r * last.lanes];
    float* own = &last.gradient[r * last.lanes];
    float top = score[0], sum = 0.0f;
    for (int64_t c = 1; c < last.s.outputs; c++) top = score[c] > top ? score[c] : top;
    for (int64_t c = 0; c < last.s.outputs; c++) sum += own[c] = std::exp(score[c] - top);
    for (int64_t c = 0; c < last.s.outputs; c++)
      own[c] = (own[c] / sum - (c == labels[r] ? 1.0f : 0.0f)) / divisor;
  }
}

std::vector<Layer> make_layers(const Stage* stages, int32_t depth, const float* parameters, float* gradients,
                               int64_t batch) {
  std::vector<Layer> layers;
  layers.reserve(depth);
  int64_t at = 0;
  for (int32_t i = 0; i < depth; i++) {
    layers.emplace_back(stages[i], parameters + at, gradients ? gradients + at : nullptr, batch, i == 0);
    at += layers.back().parameters();
  }
  return layers;
}

void forward(std::vector<Layer>& layers, int64_t count) {  // from records that the first layer has taken
  for (size_t i = 0; i < layers.size(); i++) {
    if (i) layers[i].take(count, layers[i - 1]);
    layers[i].forward(count);
  }
}

struct NoDenormals {  // they count as zero
#if defined(__SSE2__)
  unsigned before = _mm_getcsr();
  NoDenormals() { _mm_setcsr(before | 0x8040); }
  ~NoDenormals() { _mm_setcsr(before); }
#endif
};

}  // namespace
