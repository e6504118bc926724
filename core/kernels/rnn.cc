// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One step of an LSTM and of a GRU, and their gradients. Sequences of a batch may have lengths of their own:
// past its end a sequence keeps its state, or with drop_states loses it.
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The common inputs: `first` of them before perhaps lengths, then the timestep.
struct Step {
  int64_t n = 0, d = 0;
  const int32_t* lengths = nullptr;
  int32_t t = 0;
  bool drop = false;
  size_t after = 0;  // the input behind the timestep

  bool valid(int64_t sequence) const { return !lengths || t < lengths[sequence]; }
};

Result<Step> FindStep(const KernelContext& c, size_t first, size_t gates, int64_t gate_count) {
  Step s;
  const Tensor& state = c.In(0);
  if (state.ndim() != 3 || state.dim(0) != 1)
    return c.Fail("the state must be [1, N, D], found ", DimsToString(state.dims()));
  s.n = state.dim(1);
  s.d = state.dim(2);
  s.drop = c.ArgB("drop_states", false);
  for (size_t i = 1; i < gates; ++i)
    if (c.In(i).numel() != s.n * s.d) return c.Fail(c.InName(i), " is ", DimsToString(c.In(i).dims()));
  if (c.In(gates).numel() != s.n * s.d * gate_count)
    return c.Fail("gates are ", DimsToString(c.In(gates).dims()), ", expected [1, ", s.n, ", ",
                  gate_count * s.d, "]");
  size_t at = first;
  if (c.ArgB("sequence_lengths", true)) {
    if (!c.has_input(at) || c.In(at).type() != DataType::kInt32 || c.In(at).numel() != s.n)
      return c.Fail("expected ", s.n, " int32 sequence lengths");
    s.lengths = c.In<int32_t>(at++);
  }
  if (!c.has_input(at) || c.In(at).type() != DataType::kInt32 || c.In(at).numel() != 1)
    return c.Fail("the timestep must be one int32");
  s.t = c.In<int32_t>(at)[0];
  s.after = at + 1;
  return s;
}

// Inputs H_prev, C_prev, gates (input, forget, output, candidate), lengths when used, timestep.
Result<void> LSTMUnit(KernelContext& c) {
  WEFT_TRY(const Step s, FindStep(c, 3, 2, 4));
  const double forget_bias = c.ArgF("forget_bias", 0);
  const float* h_prev = c.In<float>(0);
  const float* c_prev = c.In<float>(1);
  const float* x = c.In<float>(2);
  WEFT_TRY(float* h, c.Out<float>(0, {1, s.n, s.d}));
  WEFT_TRY(float* cell, c.Out<float>(1, {1, s.n, s.d}));
  for (int64_t n = 0; n < s.n; ++n) {
    const float* gates = x + n * 4 * s.d;
    for (int64_t d = 0; d < s.d; ++d) {
      const int64_t k = n * s.d + d;
      if (!s.valid(n)) {
        h[k] = s.drop ? 0 : h_prev[k];
        cell[k] = s.drop ? 0 : c_prev[k];
        continue;
      }
      const double i = Sigmoid(gates[d]), f = Sigmoid(gates[s.d + d] + forget_bias);
      const double o = Sigmoid(gates[2 * s.d + d]), g = std::tanh(double{gates[3 * s.d + d]});
      const double next = f * c_prev[k] + i * g;
      cell[k] = static_cast<float>(next);
      h[k] = static_cast<float>(o * std::tanh(next));
    }
  }
  return {};
}

// The inputs of LSTMUnit, then H, C, dH, dC; outputs dH_prev, dC_prev, dgates.
Result<void> LSTMUnitGradient(KernelContext& c) {
  WEFT_TRY(const Step s, FindStep(c, 3, 2, 4));
  WEFT_ENSURE(c, c.num_inputs() >= s.after + 4, "expected ", s.after + 4, " inputs");
  for (size_t i = s.after; i < s.after + 4; ++i)
    WEFT_ENSURE(c, c.In(i).type() == DataType::kFloat && c.In(i).numel() == s.n * s.d, c.InName(i), " is ",
                DimsToString(c.In(i).dims()));
  const double forget_bias = c.ArgF("forget_bias", 0);
  const float* c_prev = c.In<float>(1);
  const float* x = c.In<float>(2);
  const float* cell = c.In<float>(s.after + 1);
  const float* dh = c.In<float>(s.after + 2);
  const float* dc = c.In<float>(s.after + 3);
  WEFT_TRY(float* dh_prev, c.Out<float>(0, {1, s.n, s.d}));
  WEFT_TRY(float* dc_prev, c.Out<float>(1, {1, s.n, s.d}));
  WEFT_TRY(float* dx, c.Out<float>(2, c.In(2).dims()));
  for (int64_t n = 0; n < s.n; ++n) {
    const float* gates = x + n * 4 * s.d;
    float* dgates = dx + n * 4 * s.d;
    for (int64_t d = 0; d < s.d; ++d) {
      const int64_t k = n * s.d + d;
      if (!s.valid(n)) {
        dh_prev[k] = s.drop ? 0 : dh[k];
        dc_prev[k] = s.drop ? 0 : dc[k];
        for (int64_t gate = 0; gate < 4; ++gate) dgates[gate * s.d + d] = 0;
        continue;
      }
      const double i = Sigmoid(gates[d]), f = Sigmoid(gates[s.d + d] + forget_bias);
      const double o = Sigmoid(gates[2 * s.d + d]), g = std::tanh(double{gates[3 * s.d + d]});
      const double squashed = std::tanh(double{cell[k]});
      const double through = dc[k] + dh[k] * o * (1 - squashed * squashed);
      dh_prev[k] = 0;
      dc_prev[k] = static_cast<float>(through * f);
      dgates[d] = static_cast<float>(through * g * i * (1 - i));
      dgates[s.d + d] = static_cast<float>(through * c_prev[k] * f * (1 - f));
      dgates[2 * s.d + d] = static_cast<float>(dh[k] * squashed * o * (1 - o));
      dgates[3 * s.d + d] = static_cast<float>(through * i * (1 - g * g));
    }
  }
  return {};
}

// Inputs H_prev, gates (reset, update, output; the reset gate was applied before), lengths when used,
// timestep.
Result<void> GRUUnit(KernelContext& c) {
  WEFT_TRY(const Step s, FindStep(c, 2, 1, 3));
  const float* h_prev = c.In<float>(0);
  const float* x = c.In<float>(1);
  WEFT_TRY(float* h, c.Out<float>(0, {1, s.n, s.d}));
  for (int64_t n = 0; n < s.n; ++n) {
    const float* gates = x + n * 3 * s.d;
    for (int64_t d = 0; d < s.d; ++d) {
      const int64_t k = n * s.d + d;
      if (!s.valid(n)) {
        h[k] = s.drop ? 0 : h_prev[k];
        continue;
      }
      const double u = Sigmoid(gates[s.d + d]);
      h[k] = static_cast<float>(h_prev[k] * u + std::tanh(double{gates[2 * s.d + d]}) * (1 - u));
    }
  }
  return {};
}

// The inputs of GRUUnit, then H, dH; outputs dH_prev, dgates.
Result<void> GRUUnitGradient(KernelContext& c) {
  WEFT_TRY(const Step s, FindStep(c, 2, 1, 3));
  WEFT_ENSURE(c,
              c.num_inputs() >= s.after + 2 && c.In(s.after + 1).type() == DataType::kFloat &&
                  c.In(s.after + 1).numel() == s.n * s.d,
              "the gradient of H must be given");
  const float* h_prev = c.In<float>(0);
  const float* x = c.In<float>(1);
  const float* dh = c.In<float>(s.after + 1);
  WEFT_TRY(float* dh_prev, c.Out<float>(0, {1, s.n, s.d}));
  WEFT_TRY(float* dx, c.Out<float>(1, c.In(1).dims()));
  for (int64_t n = 0; n < s.n; ++n) {
    const float* gates = x + n * 3 * s.d;
    float* dgates = dx + n * 3 * s.d;
    for (int64_t d = 0; d < s.d; ++d) {
      const int64_t k = n * s.d + d;
      dgates[d] = 0;
      if (!s.valid(n)) {
        dh_prev[k] = s.drop ? 0 : dh[k];
        dgates[s.d + d] = dgates[2 * s.d + d] = 0;
        continue;
      }
      const double u = Sigmoid(gates[s.d + d]), out = std::tanh(double{gates[2 * s.d + d]});
      dh_prev[k] = static_cast<float>(dh[k] * u);
      dgates[s.d + d] = static_cast<float>((h_prev[k] - out) * dh[k] * u * (1 - u));
      dgates[2 * s.d + d] = static_cast<float>((1 - u) * dh[k] * (1 - out * out));
    }
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"LSTMUnit", LSTMUnit, "fff*"},
    {"LSTMUnitGradient", LSTMUnitGradient, "fff*"},
    {"GRUUnit", GRUUnit, "ff*"},
    {"GRUUnitGradient", GRUUnitGradient, "ff*"},
};

}  // namespace
}  // namespace kernels

KernelFamily RnnKernels() { return kernels::kRows; }

}  // namespace weft
