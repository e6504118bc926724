// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole LSTM in one operator, as other frameworks export it: layers, one or both directions.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Cell {
  const float *from_input, *from_hidden, *input_bias = nullptr, *hidden_bias = nullptr;
};

// One direction of one layer over [T, N, inputs]; writes its part of [T, N, width] from column `column` on.
void RunDirection(const Cell& cell, const std::vector<float>& x, int64_t steps, int64_t batch, int64_t inputs,
                  int64_t size, bool backwards, float* hidden, float* state, std::vector<float>& y,
                  int64_t width, int64_t column) {
  std::vector<double> gates(static_cast<size_t>(4 * size));
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t t = backwards ? steps - 1 - step : step;
    for (int64_t b = 0; b < batch; ++b) {
      const float* in = x.data() + (t * batch + b) * inputs;
      float* h = hidden + b * size;
      float* s = state + b * size;
      for (int64_t g = 0; g < 4 * size; ++g) {
        double sum = cell.input_bias ? double{cell.input_bias[g]} + cell.hidden_bias[g] : 0;
        for (int64_t k = 0; k < inputs; ++k) sum += double{cell.from_input[g * inputs + k]} * in[k];
        for (int64_t k = 0; k < size; ++k) sum += double{cell.from_hidden[g * size + k]} * h[k];
        gates[g] = sum;
      }
      for (int64_t k = 0; k < size; ++k) {
        const double kept = Sigmoid(gates[size + k]) * s[k],
                     added = Sigmoid(gates[k]) * std::tanh(gates[2 * size + k]);
        s[k] = static_cast<float>(kept + added);
        h[k] = static_cast<float>(Sigmoid(gates[3 * size + k]) * std::tanh(double{s[k]}));
        y[(t * batch + b) * width + column + k] = h[k];
      }
    }
  }
}

// Swaps the first two dimensions of [A, B, C].
std::vector<float> Swapped(const float* x, int64_t a, int64_t b, int64_t c) {
  std::vector<float> out(static_cast<size_t>(a * b * c));
  for (int64_t i = 0; i < a; ++i)
    for (int64_t j = 0; j < b; ++j) std::copy_n(x + (i * b + j) * c, c, out.data() + (j * a + i) * c);
  return out;
}

// Inputs X [T, N, I], first hidden and cell states [layers and directions, N, H], then of each layer and
// direction the weights of input and hidden state [4 H, ...] and, with biases, both biases [4 H]; gates are
// in, forget, cell, out.
Result<void> InferenceLSTM(KernelContext& c) {
  WEFT_ENSURE(c, c.num_inputs() >= 3, "expected an input and two states");
  const Tensor& in = c.In(0);
  const Tensor& h0 = c.In(1);
  const Tensor& c0 = c.In(2);
  const bool biased = c.ArgB("has_biases", true), batch_first = c.ArgB("batch_first", false);
  const int64_t layers = c.ArgI("num_layers", 1), directions = c.ArgB("bidirectional", false) ? 2 : 1;
  WEFT_ENSURE(c, in.ndim() == 3 && h0.ndim() == 3 && SameDims(h0, c0), "expected X [T, N, I] and two states ",
              "[layers, N, H], found ", DimsToString(in.dims()), ", ", DimsToString(h0.dims()), " and ",
              DimsToString(c0.dims()));
  const int64_t steps = in.dim(batch_first ? 1 : 0), batch = in.dim(batch_first ? 0 : 1), size = h0.dim(2);
  const int64_t per = biased ? 4 : 2, width = size * directions;
  WEFT_ENSURE(c,
              layers > 0 && layers <= h0.dim(0) && h0.dim(0) == layers * directions && h0.dim(1) == batch &&
                  static_cast<int64_t>(c.num_inputs()) - 3 == h0.dim(0) * per,
              "states ", DimsToString(h0.dims()), " and ", c.num_inputs() - 3, " weights do not fit ", layers,
              " layers, ", directions, " directions and a batch of ", batch);
  WEFT_ENSURE(c, steps > 0, "there are no steps");
  WEFT_TRY_VOID(c.CheckRoom({steps, batch, width, 4}));
  std::vector<float> x = batch_first ? Swapped(in.data<float>(), batch, steps, in.dim(2))
                                     : std::vector<float>(in.data<float>(), in.data<float>() + in.numel());
  std::vector<float> hidden(h0.data<float>(), h0.data<float>() + h0.numel()),
      state(c0.data<float>(), c0.data<float>() + c0.numel());
  int64_t inputs = in.dim(2);
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<float> y(static_cast<size_t>(steps * batch * width));
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t at = layer * directions + d, first = 3 + at * per;
      const auto fits = [&](int64_t input, int64_t columns) {
        const Tensor& t = c.In(static_cast<size_t>(input));
        return columns ? t.ndim() == 2 && t.dim(0) == 4 * size && t.dim(1) == columns
                       : t.ndim() == 1 && t.dim(0) == 4 * size;
      };
      WEFT_ENSURE(c,
                  inputs > 0 && size > 0 && fits(first, inputs) && fits(first + 1, size) &&
                      (!biased || (fits(first + 2, 0) && fits(first + 3, 0))),
                  "the weights of layer ", layer, " are not [", 4 * size, ", ", inputs, "], [", 4 * size,
                  ", ", size, "]", biased ? " and two biases" : "");
      Cell cell{c.In<float>(first), c.In<float>(first + 1)};
      if (biased) {
        cell.input_bias = c.In<float>(first + 2);
        cell.hidden_bias = c.In<float>(first + 3);
      }
      RunDirection(cell, x, steps, batch, inputs, size, d == 1, hidden.data() + at * batch * size,
                   state.data() + at * batch * size, y, width, d * size);
    }
    x = std::move(y);
    inputs = width;
  }
  if (batch_first) x = Swapped(x.data(), steps, batch, width);
  const Dims states(h0.dims());
  WEFT_TRY(float* out, c.Out<float>(0, {in.dim(0), in.dim(1), width}));
  std::copy(x.begin(), x.end(), out);
  WEFT_TRY(float* last_hidden, c.Out<float>(1, states));
  std::copy(hidden.begin(), hidden.end(), last_hidden);
  WEFT_TRY(float* last_state, c.Out<float>(2, states));
  std::copy(state.begin(), state.end(), last_state);
  return {};
}

constexpr KernelRow kRows[] = {
    {"InferenceLSTM", InferenceLSTM, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily RnnInferenceKernels() { return kernels::kRows; }

}  // namespace weft
