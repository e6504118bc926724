// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The one loop over matrix products that reference kernels share.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::kernels {

/// A matrix over somebody else's elements, with steps from row to row and column to column.
template <typename T>
struct Matrix {
  const T* data;
  int64_t rows, columns;
  int64_t row_step, column_step;

  /// Rows after rows in memory; seen transposed when asked.
  static Matrix Of(const T* data, int64_t rows, int64_t columns, bool transposed = false) {
    if (transposed) return {data, columns, rows, 1, columns};
    return {data, rows, columns, columns, 1};
  }
};

/// For every i, j: store(i, j, start(i, j) + sum over k, in order, of a[i, k] * b[k, j]), in double.
/// REQUIRES: a.columns == b.rows.
template <typename T, typename Start, typename Store>
void MatrixProductTo(const Matrix<T>& a, const Matrix<T>& b, Start start, Store store) {
  std::vector<double> row(b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < b.columns; ++j) row[j] = start(i, j);
    for (int64_t k = 0; k < a.columns; ++k) {
      const double x = a.data[i * a.row_step + k * a.column_step];
      const T* from = b.data + k * b.row_step;
      if (b.column_step == 1) {
        for (int64_t j = 0; j < b.columns; ++j) row[j] += x * from[j];
      } else {
        for (int64_t j = 0; j < b.columns; ++j) row[j] += x * from[j * b.column_step];
      }
    }
    for (int64_t j = 0; j < b.columns; ++j) store(i, j, row[j]);
  }
}

/// The same into rows after rows at `out`, which overlaps neither.
template <typename T, typename Start>
void MatrixProduct(const Matrix<T>& a, const Matrix<T>& b, T* out, Start start) {
  MatrixProductTo(a, b, start, [&](int64_t i, int64_t j, double value) {
    out[i * b.columns + j] = static_cast<T>(value);
  });
}

}  // namespace weft::kernels
