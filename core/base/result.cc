// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.h"

namespace weft {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kParse:
      return "parse";
    case ErrorCode::kLimit:
      return "limit";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kUnknownOperator:
      return "unknown_operator";
    case ErrorCode::kSchema:
      return "schema";
    case ErrorCode::kNameConflict:
      return "name_conflict";
    case ErrorCode::kVersionConflict:
      return "version_conflict";
    case ErrorCode::kMixedGradients:
      return "mixed_gradients";
    case ErrorCode::kDeviceMismatch:
      return "device_mismatch";
    case ErrorCode::kNoGradient:
      return "no_gradient";
    case ErrorCode::kMissingGradient:
      return "missing_gradient";
    case ErrorCode::kOrphanStopGradient:
      return "orphan_stop_gradient";
    case ErrorCode::kControlFlow:
      return "control_flow";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kIo:
      return "io";
  }
  return "unknown";
}

}  // namespace weft
