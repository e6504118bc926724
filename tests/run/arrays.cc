// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/run/arrays.h"

#include <cmath>
#include <cstring>

#include "core/base/str.h"

namespace weft::test {

namespace {

std::string FromBase64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (char ch : text) {
    int value;
    if (ch >= 'A' && ch <= 'Z') {
      value = ch - 'A';
    } else if (ch >= 'a' && ch <= 'z') {
      value = ch - 'a' + 26;
    } else if (ch >= '0' && ch <= '9') {
      value = ch - '0' + 52;
    } else if (ch == '+') {
      value = 62;
    } else if (ch == '/') {
      value = 63;
    } else {
      break;
    }
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  return out;
}

}  // namespace

Tensor TensorFromJson(const Json& array) {
  const std::string dtype = array.at("dtype");
  const std::vector<int64_t> dims = array.at("shape");
  Tensor out;
  if (dtype == "string") {
    WEFT_CHECK(out.Allocate(DataType::kString, dims));
    for (int64_t i = 0; i < out.numel(); ++i) out.mutable_data<std::string>()[i] = array.at("data")[i];
    return out;
  }
  const std::optional<DataType> type = ParseDataType(dtype);
  WEFT_CHECK(type.has_value());
  WEFT_CHECK(out.Allocate(*type, dims));
  const std::string bytes = FromBase64(array.at("b64").get<std::string>());
  WEFT_CHECK(bytes.size() == out.nbytes());
  if (!bytes.empty()) std::memcpy(out.mutable_raw(), bytes.data(), bytes.size());
  return out;
}

std::string Difference(const Tensor& found, const Tensor& expected, double absolute, double relative) {
  if (found.type() != expected.type())
    return StrCat("type ", DataTypeName(found.type()), ", expected ", DataTypeName(expected.type()));
  const std::string dims = DimsToString(found.dims());
  if (dims != DimsToString(expected.dims()))
    return StrCat("shape ", dims, ", expected ", DimsToString(expected.dims()));
  const bool exact = expected.type() != DataType::kFloat && expected.type() != DataType::kDouble &&
                     expected.type() != DataType::kFloat16;
  for (int64_t i = 0; i < expected.numel(); ++i) {
    if (expected.type() == DataType::kString) {
      const std::string& a = found.data<std::string>()[i];
      const std::string& b = expected.data<std::string>()[i];
      if (a != b) return StrCat("element ", i, " is \"", a, "\", expected \"", b, "\"");
      continue;
    }
    if (expected.type() == DataType::kInt64 && found.data<int64_t>()[i] != expected.data<int64_t>()[i])
      return StrCat("element ", i, " is ", found.data<int64_t>()[i], ", expected ",
                    expected.data<int64_t>()[i]);
    const double a = NumberAt(found, i), b = NumberAt(expected, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!exact && std::isfinite(b) && std::fabs(a - b) <= absolute + relative * std::fabs(b)) continue;
    return StrCat("element ", i, " of ", dims, " is ", a, ", expected ", b);
  }
  return "";
}

}  // namespace weft::test
