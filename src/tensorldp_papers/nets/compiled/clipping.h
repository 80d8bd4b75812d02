// Sums over records of their clipped gradients. One thread.
//
// Gradients are float32; norms, scalings and sums are float64, so that no rounding that depends on other records comes
// near the noise, and a record's gradient is the same beside any others. One that is not finite counts as zero.

#pragma once
#include <cmath>

#include "layers.h"
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace {

typedef float Half __attribute__((vector_size(2 * WIDTH), aligned(4), may_alias));  // as many as doubles in a register
typedef double Wide __attribute__((vector_size(4 * WIDTH)));
typedef double WideAt __attribute__((vector_size(4 * WIDTH), aligned(8), may_alias));
constexpr int DOUBLES = WIDTH / 2;

inline void add_wide(double* p, Wide v) { *reinterpret_cast<WideAt*>(p) += v; }

#if defined(__AVX512F__)  // GCC 12 has no single instruction for these
inline Reg smaller(Reg a, Reg b) { return (Reg)_mm512_min_ps((__m512)a, (__m512)b); }
inline Reg larger(Reg a, Reg b) { return (Reg)_mm512_max_ps((__m512)a, (__m512)b); }
inline Wide wide(Half g) { return (Wide)_mm512_cvtps_pd((__m256)g); }
inline Half first_half(Reg g) { return (Half)_mm512_castps512_ps256((__m512)g); }
inline Half second_half(Reg g) { return (Half)_mm256_castpd_ps(_mm512_extractf64x4_pd((__m512d)g, 1)); }
#elif defined(__AVX__)
inline Reg smaller(Reg a, Reg b) { return (Reg)_mm256_min_ps((__m256)a, (__m256)b); }
inline Reg larger(Reg a, Reg b) { return (Reg)_mm256_max_ps((__m256)a, (__m256)b); }
inline Wide wide(Half g) { return (Wide)_mm256_cvtps_pd((__m128)g); }
inline Half first_half(Reg g) { return (Half)_mm256_castps256_ps128((__m256)g); }
inline Half second_half(Reg g) { return (Half)_mm256_extractf128_ps((__m256)g, 1); }
#else
inline Reg smaller(Reg a, Reg b) { return a < b ? a : b; }
inline Reg larger(Reg a, Reg b) { return a > b ? a : b; }
inline Wide wide(Half g) { return __builtin_convertvector(g, Wide); }
inline Half first_half(Reg g) { Half h; std::memcpy(&h, &g, sizeof h); return h; }
inline Half second_half(Reg g) { Half h; std::memcpy(&h, reinterpret_cast<char*>(&g) + sizeof h, sizeof h); return h; }
#endif

inline Wide load_wide(const float* p) { return wide(*reinterpret_cast<const Half*>(p)); }
inline Reg clamped(Reg g, float low, float high) {  // of finite numbers or infinities
  return larger(smaller(g, Reg{} + high), Reg{} + low);
}
inline float clamped(float g, float low, float high) { return g > high ? high : g < low ? low : g == g ? g : 0.0f; }

inline double squared_norm(const float* p, int64_t count) {  // of a row, and not of what fills it up
  Wide sums[LANES / DOUBLES] = {};
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES)
    for (int v = 0; v < LANES / DOUBLES; v++) {
      const Wide own = load_wide(p + i + v * DOUBLES);
      sums[v] += own * own;
    }
  double total = 0.0;
  for (const Wide& sum : sums)
    for (int k = 0; k < DOUBLES; k++) total += sum[k];
  for (; i < count; i++) total += double(p[i]) * p[i];
  return total;
}

struct Clipper {
  int64_t batch;
  std::vector<Layer> layers;
  std::vector<std::vector<float>> each;  // gradients by record, of convolutions
  std::vector<double> factors;           // of a record's gradient; 0 where it is not finite
  std::vector<double> scaled;            // gradients of one linear layer, times the factor
  std::vector<int64_t> kept;             // records whose gradient is finite
  std::vector<Spot> busy;                // of one linear layer: where a record's input begins, and a gradient
  std::vector<size_t> ends;              // of each output in `busy`

  Clipper(const Stage* stages, int32_t depth, const float* parameters, int64_t batch)
      : batch(batch), layers(make_layers(stages, depth, parameters, nullptr, batch)), factors(batch) {
    int64_t most = 0;
    for (const Layer& layer : layers) {
      each.emplace_back(layer.s.side ? batch * layer.parameters() : 0);
      most = std::max(most, int64_t(layer.s.outputs));
    }
    scaled.resize(batch * most);
  }

  // Weights of a linear layer lie with inputs innermost; all else lies as the parameters do.
  static int64_t length(const Layer& layer) {
    return layer.s.side ? layer.parameters() : layer.s.outputs * layer.in_size + layer.lanes;
  }

  void add(const float* records, int64_t size, const int64_t* labels, int64_t count, float low, float high, double norm,
           double* sums) {
    for (Layer& layer : layers) layer.turn();
    for (int64_t from = 0; from < count; from += batch) {
      const int64_t many = std::min(batch, count - from);
      for (int64_t r = 0; r < many; r++) layers[0].take(r, records + (from + r) * size);
      forward(layers, many);
      loss_gradient(layers.back(), labels + from, many, 1.0f);
      for (size_t i = layers.size(); i-- > 0;) {
        layers[i].backward(many, layers[i].s.side ? each[i].data() : &unused);
        if (i) layers[i].give(many, layers[i - 1]);
      }
      find_factors(many, norm);
      double* own = sums;
      for (size_t i = 0; i < layers.size(); own += length(layers[i++])) {
        if (layers[i].s.side) norm > 0.0 ? weigh(i, many, own) : clamp(i, many, low, high, own);
        else add_products(layers[i], many, low, high, norm > 0.0, own);
      }
    }
  }

  void find_factors(int64_t many, double norm) {
    for (int64_t r = 0; r < many; r++) {
      double square = 0.0;
      for (size_t i = 0; i < layers.size(); i++) {
        const Layer& layer = layers[i];
        const int64_t outputs = layer.s.outputs, channels = layer.s.channels;
        if (layer.s.side) {
          const float* own = &each[i][r * layer.parameters()];
          square += squared_norm(own, layer.weights) + squared_norm(own + layer.weights, outputs);
        } else
          square += squared_norm(&layer.gradient[r * layer.lanes], outputs) *
                    (1.0 + squared_norm(&layer.input[r * layer.in_size], channels));
      }
      const double length = std::sqrt(square);
      factors[r] = !std::isfinite(length) ? 0.0 : norm > 0.0 && length > norm ? norm / length : 1.0;
    }
  }

  void weigh(size_t i, int64_t many, double* sums) const {
    const int64_t length = layers[i].parameters();
    for (int64_t r = 0; r < many; r++)
      for (int64_t k = 0; factors[r] > 0.0 && k < length; k += DOUBLES)
        add_wide(sums + k, load_wide(&each[i][r * length + k]) * factors[r]);
  }

  void clamp(size_t i, int64_t many, float low, float high, double* sums) const {
    const int64_t length = layers[i].parameters();
    for (int64_t r = 0; r < many; r++) {
      const float* own = &each[i][r * length];
      if (factors[r] > 0.0)
        for (int64_t k = 0; k < length; k += WIDTH) {
          const Reg g = clamped(load(own + k), low, high);
          add_wide(sums + k, wide(first_half(g))), add_wide(sums + k + DOUBLES, wide(second_half(g)));
        }
      else
        for (int64_t k = 0; k < length; k++) sums[k] += clamped(own[k], low, high);
    }
  }

  void add_products(const Layer& layer, int64_t many, float low, float high, bool weighted, double* sums) {
    double* bias = sums + layer.s.outputs * layer.in_size;
    kept.clear();
    for (int64_t r = 0; r < many; r++) {
      const float *d = &layer.gradient[r * layer.lanes], *a = &layer.input[r * layer.in_size];
      if (factors[r] > 0.0) kept.push_back(r);
      for (int64_t o = 0; o < layer.s.outputs; o++) {
        if (weighted) scaled[r * layer.s.outputs + o] = factors[r] * d[o];
        if (!weighted || factors[r] > 0.0) bias[o] += weighted ? factors[r] * d[o] : clamped(d[o], low, high);
        for (int64_t c = 0; !weighted && factors[r] == 0.0 && c < layer.s.channels; c++)
          sums[o * layer.in_size + c] += clamped(d[o] * a[c], low, high);
      }
    }
    if (!weighted) find_busy(layer);
    for (int64_t c = 0; c < layer.in_size; c += 4 * LANES) {  // in blocks, whose inputs lie in the cache
      const int64_t end = std::min(c + 4 * LANES, layer.in_size);
      int64_t o = 0;
      for (; weighted && o + 4 <= layer.s.outputs; o += 4)
        for (int64_t k = c; k < end; k += LANES) weigh_tile<4>(layer, o, k, sums);
      for (; o < layer.s.outputs; o++)
        for (int64_t k = c, next; k < end; k = next) {
          next = !weighted && k + ROW * LANES <= end ? k + ROW * LANES : k + LANES;
          if (weighted) weigh_tile<1>(layer, o, k, sums);
          else next > k + LANES ? clamp_row<ROW>(layer, o, k, low, high, sums) : clamp_row<1>(layer, o, k, low, high, sums);
        }
    }
  }

  void find_busy(const Layer& layer) {  // where each output's gradient is not zero, as half are behind a ReLU
    busy.clear(), ends.clear();
    for (int64_t o = 0; o < layer.s.outputs; o++) {
      for (const int64_t r : kept)
        if (const float d = layer.gradient[r * layer.lanes + o]; d != 0.0f)
          busy.push_back({int32_t(r * layer.in_size), d});
      ends.push_back(busy.size());
    }
  }

  template <int M>  // of M outputs and LANES inputs
  void weigh_tile(const Layer& layer, int64_t o, int64_t c, double* sums) const {
    constexpr int V = LANES / DOUBLES;
    Wide total[M][V] = {};
    for (const int64_t r : kept) {
      const double* d = &scaled[r * layer.s.outputs + o];
      for (int v = 0; v < V; v++) {
        const Wide a = load_wide(&layer.input[r * layer.in_size + c + v * DOUBLES]);
        for (int m = 0; m < M; m++) total[m][v] += d[m] * a;
      }
    }
    add_tile<M>(total, sums + o * layer.in_size + c, layer.in_size);
  }

  static constexpr int ROW = WIDTH >= 16 ? 4 : 2;  // times LANES sums stay in registers

  template <int M>  // of one output and M times LANES inputs
  void clamp_row(const Layer& layer, int64_t o, int64_t c, float low, float high, double* sums) const {
    constexpr int V = M * LANES / WIDTH;
    Wide total[V][2] = {};
    const Spot* end = busy.data() + ends[o];
    for (const Spot* spot = busy.data() + (o ? ends[o - 1] : 0); spot < end; spot++)
      for (int v = 0; v < V; v++) {
        const Reg g = clamped(spot->value * load(&layer.input[spot->at + c + v * WIDTH]), low, high);
        total[v][0] += wide(first_half(g)), total[v][1] += wide(second_half(g));
      }
    for (int v = 0; v < 2 * V; v++) add_wide(sums + o * layer.in_size + c + v * DOUBLES, total[v / 2][v % 2]);
  }

  template <int M>
  static void add_tile(const Wide (&total)[M][LANES / DOUBLES], double* to, int64_t row) {
    for (int m = 0; m < M; m++)
      for (int v = 0; v < LANES / DOUBLES; v++) add_wide(to + m * row + v * DOUBLES, total[m][v]);
  }

  float unused = 0.0f;  // a linear layer's gradients by record are never written out
};

}  // namespace
