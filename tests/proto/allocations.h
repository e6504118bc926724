// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the bytes that the test program holds through operator new, to hold code to a memory bound. Linking
// allocations.cc replaces operator new and delete. One thread.
#pragma once

#include <cstddef>

namespace weft::test {

/// The most bytes held at once while `work` ran, beyond those held before it.
template <typename Work>
size_t PeakBytes(Work work);

size_t HeldBytes();
void ResetPeak();
size_t PeakHeldBytes();

template <typename Work>
size_t PeakBytes(Work work) {
  const size_t before = HeldBytes();
  ResetPeak();
  work();
  return PeakHeldBytes() - before;
}

}  // namespace weft::test
