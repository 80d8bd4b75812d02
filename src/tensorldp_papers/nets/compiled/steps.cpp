// Steps of SGD or Adam on cross-entropy for small networks in float32: stages of a convolution (stride 1) or a linear
// layer, each with an optional 2 x 2 maximum and an activation. Images have their channels innermost. One thread.
//
// What makes it quick: products run over vectors that stay in registers; and the gradient behind a maximum is
// zero at three of four pixels, and behind a ReLU at half of the rest, so that backward passes go over the others alone.

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
  int64_t in_size;                 // floats of one record's padded input
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
      weights = int64_t(s.outputs) * s.side * patch, in_size = (s.height + 2 * s.padding) * row;
      turned.resize(int64_t(s.side) * s.side * s.channels * lanes);
    } else {
      weights = s.channels * lanes, in_size = round_up(s.channels);
      turned.resize(s.outputs * in_size);
    }
    pixels = s.pool ? (high / 2) * (wide / 2) : high * wide;
    weight = parameters, bias = parameters + weights, weight_sum = gradients, bias_sum = gradients + weights;
    input.assign(batch * in_size + patch, 0.0f);  // the last rows of patches reach beyond the last image
    if (!first) input_gradient.assign(batch * in_size + patch, 0.0f);
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

  void backward(int64_t count) {
    const bool first = input_gradient.empty();
    for (int64_t i = 0; i < count * pixels * lanes; i += WIDTH)
      store(&gradient[i], behind(load(&gradient[i]), load(&output[i]), s.activation));
    for (int64_t v = 0; v < lanes; v += WIDTH) {
      Reg sum{};
      for (int64_t i = v; i < count * pixels * lanes; i += lanes) sum += load(&gradient[i]);
      store(bias_sum + v, sum);
    }
    if (!first) std::memset(input_gradient.data(), 0, 4 * count * in_size);
    if (!s.side) {
      multiply({input.data(), 1, in_size, 0, 1, int(count), gradient.data(), lanes, weight_sum, lanes, weight_sum, lanes},
               s.channels, lanes);
      if (!first)
        multiply({gradient.data(), lanes, 1, 0, 1, s.outputs, turned.data(), in_size, input_gradient.data(), in_size,
                  input_gradient.data(), in_size},
                 count, in_size);
      return;
    }
    for (int64_t r = 0; r < count; r++) {
      for (int64_t o = 0; o < s.outputs; o++) {
        const int64_t many = find_spots(r, o);
        for (int64_t y = 0; y < s.side; y++) {
          const int64_t at = r * in_size + y * row, own = (o * s.side + y) * patch;
          take_row(spots.data(), many, &input[at], weight + own, patch, weight_sum + own,
                   first ? nullptr : &input_gradient[at]);
        }
      }
    }
    const int64_t len = int64_t(s.side) * s.channels;  // beyond a patch's row lie its neighbours
    for (int64_t o = 0; o < int64_t(s.outputs) * s.side; o++)
      std::memset(weight_sum + o * patch + len, 0, 4 * (patch - len));
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

// Softmax cross-entropy's gradient by the scores, divided by the number of records, in place.
void loss_gradient(Layer& last, const int64_t* labels, const int64_t* records, int64_t count) {
  for (int64_t r = 0; r < count; r++) {
    const float* score = &last.output[r * last.lanes];
    float* own = &last.gradient[r * last.lanes];
    float top = score[0], sum = 0.0f;
    for (int64_t c = 1; c < last.s.outputs; c++) top = score[c] > top ? score[c] : top;
    for (int64_t c = 0; c < last.s.outputs; c++) sum += own[c] = std::exp(score[c] - top);
    for (int64_t c = 0; c < last.s.outputs; c++)
      own[c] = (own[c] / sum - (c == labels[records[r]] ? 1.0f : 0.0f)) / float(count);
  }
}

}  // namespace

extern "C" {

// Train in place. parameters: each stage's weights, then biases, as `layout.py` lays them out. records: of the data
// (each of `size` floats), labels: theirs. plan: (steps, batch) indices of records, -1 where a batch is short.
// adam: its first and second moments, each as long as the parameters, or null for SGD; `done` steps were taken before.
void tensorldp_train(const Stage* stages, int32_t depth, float* parameters, int64_t length, const float* records,
                     int64_t size, const int64_t* labels, const int64_t* plan, int64_t steps, int64_t batch, float rate,
                     float* adam, int64_t done) {
#if defined(__SSE2__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // denormal numbers count as zero
#endif
  std::vector<float> gradients(length);
  std::vector<Layer> layers;
  layers.reserve(depth);
  int64_t at = 0;
  for (int32_t i = 0; i < depth; i++) {
    layers.emplace_back(stages[i], parameters + at, gradients.data() + at, batch, i == 0);
    at += layers.back().parameters();
  }
  const float decay = 0.9f, decay2 = 0.999f, tiny = 1e-8f;
  for (int64_t step = 0; step < steps; step++) {
    const int64_t* chosen = plan + step * batch;
    int64_t count = 0;
    while (count < batch && chosen[count] >= 0) count++;
    for (Layer& layer : layers) layer.turn();
    for (int64_t r = 0; r < count; r++) layers[0].take(r, records + chosen[r] * size);
    for (int32_t i = 0; i < depth; i++) {
      if (i) layers[i].take(count, layers[i - 1]);
      layers[i].forward(count);
    }
    loss_gradient(layers[depth - 1], labels, chosen, count);
    std::fill(gradients.begin(), gradients.end(), 0.0f);
    for (int32_t i = depth - 1; i >= 0; i--) {
      layers[i].backward(count);
      if (i) layers[i].give(count, layers[i - 1]);
    }
    if (!adam) {
      for (int64_t i = 0; i < length; i++) parameters[i] -= rate * gradients[i];
      continue;
    }
    const double t = double(done + step + 1);
    const float first = float(rate / (1.0 - std::pow(0.9, t))), second = float(std::sqrt(1.0 - std::pow(0.999, t)));
    float *mean = adam, *square = adam + length;
    for (int64_t i = 0; i < length; i++) {
      const float g = gradients[i];
      mean[i] += (g - mean[i]) * (1.0f - decay);
      square[i] = square[i] * decay2 + (1.0f - decay2) * g * g;
      parameters[i] -= first * mean[i] / (std::sqrt(square[i]) / second + tiny);
    }
  }
#if defined(__SSE2__)
  _mm_setcsr(before);
#endif
}

}
