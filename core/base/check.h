// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// WEFT_CHECK stops the program when our own code broke a promise. Bad input never ends here: it is an Error
// (base/result.h); a finding about a net is a Diagnostic (check/diagnostic.h).
#pragma once

namespace weft::internal {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}

#define WEFT_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::weft::internal::CheckFailed(#condition, __FILE__, __LINE__))
