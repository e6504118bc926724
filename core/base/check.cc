// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weft::internal {

void CheckFailed(const char* condition, const char* file, int line) {
  // The only output core ever makes: the program is about to die of our own fault.
  std::fprintf(stderr, "%s:%d: WEFT_CHECK(%s) failed\n", file, line, condition);
  std::abort();
}

}  // namespace weft::internal
