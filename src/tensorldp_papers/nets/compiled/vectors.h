// Products and patches over vectors that stay in the processor's registers. One thread.

#pragma once
#include <cstdint>

namespace {

constexpr int LANES = 16;  // to which rows are padded, on every processor
#if defined(__AVX512F__)
constexpr int WIDTH = 16, TALL = 8;  // floats of a register, and rows of a product at a time
#elif defined(__AVX__)
constexpr int WIDTH = 8, TALL = 4;
#else
constexpr int WIDTH = 4, TALL = 4;
#endif
typedef float Vec __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
typedef float Reg __attribute__((vector_size(4 * WIDTH)));
typedef int32_t Ints __attribute__((vector_size(4 * WIDTH)));

inline Reg load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline void store(float* p, Reg v) { *reinterpret_cast<Vec*>(p) = v; }
inline int64_t round_up(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

// c[m, n] = init[m, n] + sum over s, k of a[m am + s as + k ak] b[(s len + k) ldb + n]
struct Product {
  const float* a; int64_t am, ak, as; int segments, len;
  const float* b; int64_t ldb;
  const float* init; int64_t ldi;
  float* c; int64_t ldc;
};

template <int M, int NV>
void tile(const Product& p, int64_t m, int64_t n) {
  Reg sum[M][NV];
  for (int i = 0; i < M; i++)
    for (int v = 0; v < NV; v++) sum[i][v] = load(p.init + (m + i) * p.ldi + n + v * WIDTH);
  const float* b = p.b + n;
  for (int s = 0; s < p.segments; s++) {
    const float* a = p.a + m * p.am + s * p.as;
    for (int k = 0; k < p.len; k++, a += p.ak, b += p.ldb) {
      Reg own[NV];
      for (int v = 0; v < NV; v++) own[v] = load(b + v * WIDTH);
      for (int i = 0; i < M; i++) {
        const float left = a[i * p.am];
        for (int v = 0; v < NV; v++) sum[i][v] += left * own[v];
      }
    }
  }
  for (int i = 0; i < M; i++)
    for (int v = 0; v < NV; v++) store(p.c + (m + i) * p.ldc + n + v * WIDTH, sum[i][v]);
}

template <int NV>
void column(const Product& p, int64_t rows, int64_t n) {
  int64_t m = 0;
  for (; m + TALL <= rows; m += TALL) tile<TALL, NV>(p, m, n);
  if (TALL > 4 && m + 4 <= rows) tile<4, NV>(p, m, n), m += 4;
  if (m + 2 <= rows) tile<2, NV>(p, m, n), m += 2;
  if (m < rows) tile<1, NV>(p, m, n);
}

inline void multiply(const Product& p, int64_t rows, int64_t columns) {  // columns: a multiple of LANES
  int64_t n = 0;
  for (; n + 2 * WIDTH <= columns; n += 2 * WIDTH) column<2>(p, rows, n);
  if (n < columns) column<1>(p, rows, n);
}

// One pixel of a gradient: where its patch begins in the image, and how much it is.
struct Spot { int32_t at; float value; };

template <int V>  // sum += value * image there, of V vectors
void add(const Spot* spots, int64_t count, const float* image, float* sum) {
  Reg even[V], odd[V];
  for (int v = 0; v < V; v++) even[v] = load(sum + v * WIDTH), odd[v] = Reg{};
  int64_t i = 0;
  for (; i + 2 <= count; i += 2)
    for (int v = 0; v < V; v++) {
      even[v] += spots[i].value * load(image + spots[i].at + v * WIDTH);
      odd[v] += spots[i + 1].value * load(image + spots[i + 1].at + v * WIDTH);
    }
  if (i < count)
    for (int v = 0; v < V; v++) even[v] += spots[i].value * load(image + spots[i].at + v * WIDTH);
  for (int v = 0; v < V; v++) store(sum + v * WIDTH, even[v] + odd[v]);
}

template <int V>  // image there += value * weight, of V vectors
void spread(const Spot* spots, int64_t count, const float* weight, float* image) {
  Reg own[V];
  for (int v = 0; v < V; v++) own[v] = load(weight + v * WIDTH);
  for (int64_t i = 0; i < count; i++)
    for (int v = 0; v < V; v++) {
      float* there = image + spots[i].at + v * WIDTH;
      store(there, load(there) + spots[i].value * own[v]);
    }
}

template <int V>
void both(const Spot* spots, int64_t count, const float* image, const float* weight, float* sum, float* back) {
  add<V>(spots, count, image, sum);
  if (back) spread<V>(spots, count, weight, back);
}

// Of one row of patches, `patch` floats long: the gradients by the weights and, unless `back` is null, by the image.
inline void take_row(const Spot* spots, int64_t count, const float* image, const float* weight, int64_t patch, float* sum,
                     float* back) {
  for (int64_t v = 0; v < patch;) {
    float* there = back ? back + v : nullptr;
    const int64_t left = (patch - v) / WIDTH;
    if (left >= 4) both<4>(spots, count, image + v, weight + v, sum + v, there), v += 4 * WIDTH;
    else if (left == 3) both<3>(spots, count, image + v, weight + v, sum + v, there), v += 3 * WIDTH;
    else if (left == 2) both<2>(spots, count, image + v, weight + v, sum + v, there), v += 2 * WIDTH;
    else both<1>(spots, count, image + v, weight + v, sum + v, there), v += WIDTH;
  }
}

}  // namespace
