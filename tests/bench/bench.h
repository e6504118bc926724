// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Timing for benches: one table row per measurement, native and under node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#endif

namespace weft::bench {

/// Seconds of processor time that this process has used: machines are shared.
inline double ProcessorSeconds() {
#ifdef __EMSCRIPTEN__
  return EM_ASM_DOUBLE({
    const used = process.cpuUsage();
    return (used.user + used.system) / 1e6;
  });
#else
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#endif
}

/// Calls `work` until half a second is spent (once when there are few items), and prints the best time, in
/// milliseconds and in nanoseconds per item. Returns the best time in seconds.
template <typename Work>
double Measure(std::string_view name, size_t items, Work work) {
  const double enough = items < 10000 ? 0 : 0.5;
  double best = 1e300, spent = -1;
  while (spent < enough) {
    const double start = ProcessorSeconds();
    work();
    const double seconds = ProcessorSeconds() - start;
    best = std::min(best, seconds);
    spent = std::max(spent, 0.0) + seconds;
  }
  std::printf("%-32.*s %9zu items %10.3f ms %9.1f ns/item\n", static_cast<int>(name.size()), name.data(),
              items, best * 1e3, best * 1e9 / static_cast<double>(items));
  return best;
}

/// The sizes to measure: the program's arguments, or 10,000, 100,000 and 1,000,000.
inline std::vector<size_t> Sizes(int argc, char** argv) {
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {10000, 100000, 1000000};
  return sizes;
}

}  // namespace weft::bench
