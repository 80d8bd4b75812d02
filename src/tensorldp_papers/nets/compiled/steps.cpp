// Steps of SGD or Adam on cross-entropy for small networks, and sums of the clipped gradients of a lot's records.

#include "clipping.h"
#include "layers.h"

extern "C" {

// Train in place. parameters: each stage's weights, then biases, as `Layout` lays them out. records: of the data
// (each of `size` floats), labels: theirs. plan: (steps, batch) indices of records, -1 where a batch is short.
// adam: its first and second moments, each as long as the parameters, or null for SGD; `done` steps were taken before.
void tensorldp_train(const Stage* stages, int32_t depth, float* parameters, int64_t length, const float* records,
                     int64_t size, const int64_t* labels, const int64_t* plan, int64_t steps, int64_t batch, float rate,
                     float* adam, int64_t done) {
  const NoDenormals mode;
  std::vector<float> gradients(length);
  std::vector<Layer> layers = make_layers(stages, depth, parameters, gradients.data(), batch);
  std::vector<int64_t> own(batch);
  const float decay = 0.9f, decay2 = 0.999f, tiny = 1e-8f;
  for (int64_t step = 0; step < steps; step++) {
    const int64_t* chosen = plan + step * batch;
    int64_t count = 0;
    while (count < batch && chosen[count] >= 0) count++;
    for (Layer& layer : layers) layer.turn();
    for (int64_t r = 0; r < count; r++) layers[0].take(r, records + chosen[r] * size);
    forward(layers, count);
    for (int64_t r = 0; r < count; r++) own[r] = labels[chosen[r]];
    loss_gradient(layers[depth - 1], own.data(), count, float(count));
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
}

// A network for sums of clipped gradients, `batch` records at a time; the parameters are read at each sum.
void* tensorldp_clipper(const Stage* stages, int32_t depth, const float* parameters, int64_t batch) {
  return new Clipper(stages, depth, parameters, batch);
}

void tensorldp_free_clipper(void* clipper) { delete static_cast<Clipper*>(clipper); }

// Adds to `sums`, which lie as `Clipper::length` says, the clipped gradients of all records: each element to [low, high];
// or, with a `norm` above 0, each record's whole gradient to that l2 norm.
void tensorldp_clipped_sums(void* clipper, const float* records, int64_t size, const int64_t* labels, int64_t count,
                            float low, float high, double norm, double* sums) {
  const NoDenormals mode;
  static_cast<Clipper*>(clipper)->add(records, size, labels, count, low, high, norm, sums);
}

}
